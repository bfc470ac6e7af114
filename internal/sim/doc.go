// Package sim runs many machines of one repository in one process, on virtual
// time, with disks that fail, networks that lose and lie, and clocks that drift,
// jump and sleep. After every step it holds what there is against invariants.
//
// # What repeats
//
// A run is a function of its seed. There is one goroutine: the journal and the
// room start none, and whoever writes writes to the end. Time is a queue of
// events, ordered by moment and then by age. What a program draws from crypto/rand
// comes from the seed too, as tests set it (testing/cryptotest), so runs of one
// process cannot be parallel. Maps are walked in order wherever something is
// drawn or sent. The trace of a run ends in a digest of all its lines: the same
// seed gives the same digest.
//
// Not simulated: goroutines that race within one machine (the race detector and
// the packages' own tests are for those), and claims that queue, which block
// their caller. While a machine syncs its disk, though, everything that only
// reads is tried on it: what is seen then was not durable.
//
// # Use
//
// Tests call [Run]; a failure prints the seed. COMITY_SEED=n runs that seed alone
// and prints its trace.
package sim
