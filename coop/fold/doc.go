// Package fold turns the events of many streams into what stands: sessions,
// claims, handovers and reviews, and a digest of them. It is pure: no I/O, no
// clock, no liveness; whose run is gone is an argument of the question.
//
// A [State] takes events one by one, each stream in sequence order, streams in
// any interleaving, and comes to the same answer. An event costs what it
// touches. Nothing is ever sorted and run again. docs/format-fold.md has the rules
// alone, for whoever writes them anew; here is why they can be followed event by event.
//
// # Why any interleaving gives the same state
//
// The state has two layers. The lower one is a set of facts, one per event,
// each at its place (stream, seq). Adding a fact is adding to a set: it
// commutes. The upper one is derived: each answer is a function of facts that
// never mentions when they came, and whenever a fact comes or goes, every
// answer that it is an input of is worked out anew, also when the fact refers
// to something that is not held yet: it waits under the name of that thing, and
// the thing finds it there. So two states with equal facts have equal answers.
// What is left to show is, for each rule, that it is a function of facts.
//
// Order in a runtime. a precedes b when both are in one stream and a's seq is
// lower, or when their streams begin with the same run record and a's run is
// lower. Both are facts. Streams that no record orders (one key used twice)
// are ordered by (lamport, stream, seq), which all runtimes share.
//
// Openness where a thing is written. Whether a session was open when it wrote a
// claim or a review is read from the claim's own stream: the mark before it
// there (opening or close), else the listing that begins the stream. That part
// of the stream is held before the claim is, so no other stream can change it,
// but for one point: a listing that is known to bring back what had ended does
// not count (below). Where an event before it is lost to damage, the doubt
// favours the claim.
//
// Close. A claim has ended when a close of its session is held that it
// precedes: there is such a close, or there is not. An opening is no input of
// that, so re-opening revives nothing.
//
// Succession. A claim in run r of a record has ended when some held first event
// of a later run does not list its session or does not name its stream: a
// disjunction over a set. So of several successions each may end, and none can
// revive. A stream without a first event of that kind, or under another record,
// is in no such set.
//
// Listing. A session is open when the latest run of its record shows it open:
// by its last mark there, else by listing it, whether or not an opening is held.
// A listing does not count when the latest end known before it (a close, or a
// run that did not list it) is followed neither by an opening held nor by a run
// that the listing's event names, where one could still come. All of that is a
// walk down the runs of the record, sorted by number, not by arrival.
//
// Release. A release counts when it names the claim and its own runtime and
// session are the claim's. It is kept under the claim's name, held or not.
//
// Fences. A fence of claim d by claim c counts when c lists d, their sessions
// differ, c's epoch is higher, their scopes meet and both exclude: in mode
// exclusive, or in a checkout that both sessions may have been in. Every input
// is in the two events but the checkout, and that is a set which only grows as
// earlier runs arrive. That either claim ends is no input. So a fence that
// counts counts for ever, and a fenced claim is never held again. (Only a
// checkpoint that leaves the fence out could take it back, for everybody.)
//
// Standing. Among live claims that are not fenced, going up in the order
// (lamport, stream, seq), a claim is held when no held one below excludes it. A
// claim's answer depends on those below only; a change is carried upwards in
// that order, through a heap, so each claim is judged after all that it depends
// on, and the outcome is that of one walk through all of them.
//
// Handovers. Publications, takings and declines meet in the set of their text's
// id, withdrawals under the publication's name: a taking that is held before
// the publication is simply there when it comes.
//
// Reviews. Answers and closes wait under the request's name; a request ends as
// a claim does.
//
// Checkpoints. Which are in force is worked out from the highest down, since
// one can only remove lower ones: a function of the checkpoints held and of
// which named events are held (all held and another digest: unreadable, of no
// force). An event is in effect when no checkpoint in force that speaks for its
// stream leaves it out. When that changes, facts leave or enter the set, and
// all else follows. A stream's first event, when it is a succession, is never
// removed: it says whose the stream is.
//
// Damage. A skipped place is a fact of its own. The stream is damaged while one
// is neither filled nor removed by a checkpoint, and digests leave it out.
//
// # What an event costs
//
// What it touches, and not what is held: in particular not how often its runtime
// was started. What runs of a record say of a session is kept in lists sorted by
// run, so that the walk down of a listing, the close that follows a claim and the
// checkout of a session are searches; how many later runs name a stream is
// counted. A change has looked at again only what finds it on such a walk. The
// first event of the latest run touches what it lists and names, and all that
// stands of its runtime, since that lives in it now. What is worth a walk through
// a stream, or through all that is said of a session, are rare turns: what was
// lost and comes late, a checkpoint, an undo. A checkpoint costs what all
// checkpoints of its runtime cover, and the events of the streams in which what
// they leave has changed.
//
// # What is kept
//
// A fact is kept as long as its stream: also what is released or closed can be
// an input of the digest over a part of the streams, which is folded anew from
// the facts of that part. A journal that compacts builds a new State.
//
// # Images
//
// [State.AppendImage] writes all objects of a state down, and [Restore] makes them
// again without their events. A graph numbers them, a section has those of one type,
// and one description serves both ways. What only finds them is made anew: see join.
package fold
