package room

import (
	"context"
	"fmt"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/journal"
)

// Doctor says what is known to be wrong with this repository's journal. It
// reads no disk: what was found when the journal was opened, and since.
func (r *Room) Doctor() []api.Check {
	h := r.journal.Health()
	return []api.Check{
		writableCheck(h), damageCheck(h), tailCheck(h), recordsCheck(h), userCheck(h),
		forsakenCheck(h), forkCheck(h), blockedCheck(h), withheldCheck(h), r.boundsCheck(h), r.compactCheck(h),
	}
}

func writableCheck(h journal.Health) api.Check {
	c := api.Check{Name: "journal", State: api.CheckOK, Detail: fmt.Sprintf("%s in %s, run %d, %s, opened %s", number(h.Events, "event"), number(h.Streams, "stream"), h.Run, h.Durability, opened(h.Image))}
	if h.ReadOnly != nil {
		c.State, c.Detail = api.CheckFail, fmt.Sprintf("takes no writes: %v", h.ReadOnly)
		c.Impact = "sessions, claims and handovers cannot be recorded; what was acknowledged is kept and can be read"
		c.Remedy = "see to the disk of the state folder; the next command opens the journal anew"
	}
	return c
}

// opened says what the state was made of when the journal was opened.
func opened(image journal.ImageUse) string {
	if image == journal.ImageTaken {
		return "by the image of the last stop"
	}
	return fmt.Sprintf("by its events (image: %s)", image)
}

// number is "1 event", "2 events".
func number[N int | uint64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func damageCheck(h journal.Health) api.Check {
	c := api.Check{Name: "damage", State: api.CheckOK, Detail: "no damaged place"}
	if len(h.Damage) == 0 && len(h.Damaged) == 0 {
		return c
	}
	c.State = api.CheckFail
	c.Detail = fmt.Sprintf("%d damaged places:", len(h.Damage))
	for _, d := range h.Damage {
		c.Detail += fmt.Sprintf(" %s at byte %d, %d bytes (%s)%s;", d.Segment, d.Offset, d.Length, d.Reason, recordsLost(d.Records))
	}
	for s, ranges := range h.Damaged {
		for _, g := range ranges {
			c.Detail += fmt.Sprintf(" stream %s lacks events %d to %d;", s.Instance(), g.First, g.Last)
		}
	}
	c.Detail = c.Detail[:len(c.Detail)-1]
	c.Impact = "the events in these places are lost here; every event before and after them is kept, and new ones are written"
	c.Remedy = "the damaged bytes are kept in the folder damage beside the log; copies of the lost events may be with other machines. Check the disk"
	return c
}

func recordsLost(g journal.Range) string {
	switch {
	case g.First == 0:
		return ""
	case g.First == g.Last || g.Last == 0:
		return fmt.Sprintf(", record %d", g.First)
	}
	return fmt.Sprintf(", records %d to %d", g.First, g.Last)
}

func tailCheck(h journal.Health) api.Check {
	c := api.Check{Name: "tail", State: api.CheckOK, Detail: "nothing was cut"}
	if h.DroppedBatches > 0 || h.DroppedBytes > 0 {
		c.State = api.CheckWarn
		c.Detail = fmt.Sprintf("a crash cut %d unacknowledged batches (%d bytes) from the end", h.DroppedBatches, h.DroppedBytes)
		c.Impact = "none: nobody was told that these were stored"
	}
	if h.Shortened > 0 {
		c.State = api.CheckFail
		c.Detail = fmt.Sprintf("the last %s that were there at the last clean stop are gone", number(h.Shortened, "record"))
		c.Impact = "what they said is lost here"
		c.Remedy = "was an older copy of the state folder put back? Else check the disk; copies of lost events may be with other machines"
	}
	if len(h.Suspects) > 0 {
		c.State = api.CheckFail
		c.Detail += fmt.Sprintf("; %d streams of this machine may have lost their end", len(h.Suspects))
		c.Impact = "their last events may be missing here"
		c.Remedy = "check the disk; copies may be with other machines"
	}
	return c
}

func recordsCheck(h journal.Health) api.Check {
	c := api.Check{Name: "records", State: api.CheckOK, Detail: "all read"}
	var refused, unknown uint64
	for _, n := range h.Refused {
		refused += n
	}
	for _, n := range h.Unknown {
		unknown += n
	}
	switch {
	case refused > 0 || h.BadMACs > 0:
		c.State = api.CheckFail
		c.Detail = fmt.Sprintf("%d records refused (%v), %d not sealed by this node", refused, h.Refused, h.BadMACs)
		c.Impact = "what they say counts for nothing here"
		c.Remedy = "somebody else wrote into the state folder, or its node key was changed: restore the key that belongs to it"
	case unknown > 0 || h.Newer > 0:
		c.State = api.CheckWarn
		c.Detail = fmt.Sprintf("%d records of a newer release", unknown+h.Newer)
		c.Impact = "they are kept and not understood"
		c.Remedy = "upgrade comity"
	}
	return c
}

func userCheck(h journal.Health) api.Check {
	c := api.Check{Name: "key", State: api.CheckOK, Detail: "this journal is the only user of its key"}
	if h.SecondUser() != "" {
		c.State = api.CheckFail
		c.Detail = fmt.Sprintf("a second user of this key: %d streams of another run record", len(h.SecondUsers))
		c.Impact = "the state folder was copied, or is shared with another machine; the sessions of the other copy are not taken over, and what they claimed counts until it is known that they are gone"
		c.Remedy = "give every machine a state folder of its own; a copied one begins anew as another node when its node key and the folder repos are moved away. Where the other copy is gone for good, as after a move to another disk, what it left is dropped after 30 days"
	}
	return c
}

// maxShown bounds the findings that a report spells out.
const maxShown = 20

// Verify checks every record of the journal on disk: canonical form, signature,
// chain, seal.
func (r *Room) Verify(ctx context.Context) (api.Report, error) {
	v, err := r.journal.Verify(ctx)
	if err != nil {
		return api.Report{}, failure(err)
	}
	checks := []api.Check{{
		Name: "signatures", State: api.CheckOK,
		Detail: fmt.Sprintf("%s of %s in %s: every signature and chain holds", number(v.Events, "event"), number(v.Streams, "stream"), number(v.Records, "record")),
	}}
	if !v.OK() {
		checks[0] = api.Check{
			Name: "signatures", State: api.CheckFail,
			Detail: fmt.Sprintf("%d findings in %d records", v.Found, v.Records),
			Impact: "what is named below does not count, or is lost here",
			Remedy: "comity doctor tells damage of the disk from other causes",
		}
	}
	for i, f := range v.Findings {
		if i == maxShown {
			break
		}
		name := fmt.Sprintf("record %d", f.Index)
		if f.Stream != "" {
			name = fmt.Sprintf("event %s/%d", f.Stream.Instance(), f.Seq)
		}
		checks = append(checks, api.Check{Name: name, State: api.CheckFail, Detail: f.What})
	}
	return api.NewReport(append(checks, damageCheck(r.journal.Health()))), nil
}
