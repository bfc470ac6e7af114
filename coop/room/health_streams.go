package room

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
)

// maxNamed bounds the streams that one row of a report names.
const maxNamed = 5

// runName is a stream as people are shown it.
func runName(s ident.Stream) string { return fmt.Sprintf("%.8s of node %.8s", s.Instance(), s.Node()) }

// named lists the first maxNamed of several things.
func named[T any](all []T, name func(T) string) string {
	var shown []string
	for i, one := range all {
		if i == maxNamed {
			return strings.Join(shown, ", ") + fmt.Sprintf(" and %d more", len(all)-i)
		}
		shown = append(shown, name(one))
	}
	return strings.Join(shown, ", ")
}

func forsakenCheck(h journal.Health) api.Check {
	c := api.Check{Name: "own stream", State: api.CheckOK, Detail: "written by this daemon alone"}
	if len(h.Forsaken) > 0 {
		c.State = api.CheckFail
		c.Detail = fmt.Sprintf("%s given up, since others hold events of it that this machine did not write: %s", number(len(h.Forsaken), "run"), named(h.Forsaken, runName))
		c.Impact = "this machine was set back to an earlier state, or a copy of its state folder is in use; a new run began, and what the other wrote is taken for its own, not for ours"
		c.Remedy = "if there is a copy, stop it and give it a state folder of its own; a machine that was set back, and has no copy, needs nothing"
	}
	return c
}

func forkCheck(h journal.Health) api.Check {
	c := api.Check{Name: "forks", State: api.CheckOK, Detail: "no stream has two histories"}
	if len(h.Forked) > 0 {
		all := slices.Sorted(maps.Keys(h.Forked))
		c.State = api.CheckFail
		c.Detail = fmt.Sprintf("%s with two signed histories: %s", number(len(all), "stream"), named(all, func(s ident.Stream) string {
			return fmt.Sprintf("%s from event %d", runName(s), h.Forked[s])
		}))
		c.Impact = "what came first stands here, and nothing behind it is taken; other machines may hold the other history, and see other claims of that node"
		c.Remedy = "two daemons sign with the same key: find the machine whose state folder was copied or set back, and give it a folder of its own; do not trust a key whose owner cannot explain it"
	}
	return c
}

// waitingFor says in words why a stream gets no further.
func waitingFor(why event.Reason) string {
	if why == event.Waiting {
		return "not here yet"
	}
	return "refused: " + words(string(why))
}

func blockedCheck(h journal.Health) api.Check {
	c := api.Check{Name: "waiting", State: api.CheckOK, Detail: "no event waits for another"}
	if len(h.Blocked) > 0 {
		c.State = api.CheckWarn
		c.Detail = fmt.Sprintf("%s in %s: %s", number(h.Waiting, "event"), number(len(h.Blocked), "stream"), named(h.Blocked, func(b event.Blocked) string {
			return fmt.Sprintf("%s at event %d (%s)", runName(b.Stream), b.Seq, waitingFor(b.Why))
		}))
		c.Impact = "what comes behind the event named, in that stream only, does not count here yet"
		c.Remedy = "what is not here yet is asked of every machine that has it; look at the machine that wrote the stream if this stays"
	}
	return c
}

func withheldCheck(h journal.Health) api.Check {
	c := api.Check{Name: "trust", State: api.CheckOK, Detail: "every stream on disk is of a key that is trusted"}
	if h.Withheld > 0 {
		c.State = api.CheckWarn
		c.Detail = fmt.Sprintf("%s on disk of keys that are not trusted", number(h.Withheld, "stream"))
		c.Impact = "they count for nothing here, as if they had never come: claims in them do not stand in your way"
		c.Remedy = "none is needed if the trust was taken back on purpose; else trust the key again, and they count as before"
	}
	return c
}

// nearBound is the part of a bound from which on it is told, in percent.
const nearBound = 80

// boundsCheck tells what is near a bound of this journal, node by node.
func (r *Room) boundsCheck(h journal.Health) api.Check {
	lim, tallies := r.limits(), r.journal.Tallies()
	running := map[ident.NodeID]int{}
	r.view(func(v look) {
		for s := range v.State().Streams() {
			if !s.Succeeded {
				running[s.Stream.Node()]++
			}
		}
	})
	var near []string
	add := func(who, what string, got, limit int) {
		if got*100 >= limit*nearBound {
			near = append(near, fmt.Sprintf("%s: %d of %d %s", who, got, limit, what))
		}
	}
	nodes := slices.SortedFunc(maps.Keys(tallies), func(a, b ident.NodeID) int {
		return cmp.Or(-cmp.Compare(tallies[a].Events, tallies[b].Events), cmp.Compare(a, b))
	})
	add("in all", "streams", h.Streams, lim.Streams)
	add("in all", "waiting events", h.Waiting, lim.PendingTotal)
	for _, n := range nodes {
		who := fmt.Sprintf("node %.8s", n)
		if n == r.runtime.Node {
			who = "this node"
		}
		add(who, "events", tallies[n].Events+tallies[n].Waiting, lim.NodeEvents)
		add(who, "runs that did not end", running[n], lim.NodeStreams)
		add(who, "runs", tallies[n].Streams, lim.NodeRuns)
		add(who, "bytes", int(tallies[n].Bytes), int(lim.NodeSize))
	}
	for _, n := range slices.Sorted(maps.Keys(h.Crowded)) {
		near = append(near, fmt.Sprintf("node %.8s: names more than %d runtimes, where one is all that a machine has; %s refused", n, journal.MaxRuntimes, number(h.Crowded[n], "event or beat")))
	}
	c := api.Check{Name: "bounds", State: api.CheckOK, Detail: fmt.Sprintf("%s, none near a bound", number(len(nodes), "node"))}
	if len(nodes) > 0 {
		most := tallies[nodes[0]]
		c.Detail += fmt.Sprintf("; the most of one: %s of %d, %d bytes", number(most.Events, "event"), lim.NodeEvents, most.Bytes)
	}
	if len(near) > 0 {
		c.State = api.CheckWarn
		c.Detail = named(near, func(s string) string { return s })
		c.Impact = "beyond its bound nothing more of a node is taken by other machines, and its claims are not seen there; nothing is lost on its own"
		c.Remedy = "what has ended is dropped by itself: close sessions that are done, restart the daemon of that node with comity stop, and let it run for a quarter of an hour"
	}
	return c
}

// compactCheck tells what the journal has dropped, and whether it can.
func (r *Room) compactCheck(h journal.Health) api.Check {
	var failed error
	var ago time.Duration
	r.view(func(look) { failed, ago = r.upkept.failed, r.clock.Boot()-r.upkept.at })
	lim := r.limits()
	c := api.Check{Name: "compaction", State: api.CheckOK, Detail: "nothing was dropped"}
	if h.Dropped > 0 || h.Compacted > 0 {
		c.Detail = fmt.Sprintf("%s of runs that have ended %s dropped, with %s since the daemon opened the journal; comity log no longer shows them",
			number(h.Dropped, "stream"), was(h.Dropped), number(h.Compacted, "event"))
	}
	c.Detail += fmt.Sprintf("; done beyond %d events or %d streams, or of one node %d streams, %d that did not end, or %d bytes",
		lim.Events, lim.StreamsTrigger, lim.NodeRunsTrigger, lim.NodeTrigger, lim.NodeSizeTrigger)
	switch {
	case failed != nil:
		c.State = api.CheckWarn
		c.Detail = fmt.Sprintf("failed %s ago: %v", ago.Round(time.Second), failed)
		c.Impact = "the log keeps what nobody needs and grows; nothing is lost, and every command works as before"
		c.Remedy = fmt.Sprintf("see to the disk of the state folder; it is tried again within %s", compactBeats*lim.Heartbeat)
	case r.full.Load():
		c.State = api.CheckWarn
		c.Detail += "; not done while the disk is full"
		c.Impact = "the log keeps what nobody needs"
		c.Remedy = "free space on the disk of the state folder; the next claim shows that there is room"
	}
	return c
}

func was(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}
