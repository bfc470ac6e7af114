package event_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/comity-dev/comity/coop/event"
)

func TestReportPartitionsItsOutcomes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		outcome := rapid.Custom(func(t *rapid.T) event.Outcome {
			o := event.Outcome{Status: event.Status(rapid.IntRange(1, 5).Draw(t, "status"))}
			if o.Status == event.Rejected {
				o.Reason = rapid.SampledFrom([]event.Reason{event.Oversized, event.BadSignature, event.Forked}).Draw(t, "reason")
			}
			return o
		})
		r := event.IngestReport{Outcomes: rapid.SliceOf(outcome).Draw(t, "outcomes"), Accepted: 7, Rejected: map[event.Reason]int{event.Capacity: 1}}
		r.Count()
		if r.Total() != len(r.Outcomes) {
			t.Fatalf("counters hold %d of %d outcomes: %+v", r.Total(), len(r.Outcomes), r)
		}
	})
	r := event.IngestReport{Outcomes: []event.Outcome{{Status: event.Accepted}, {Status: event.Duplicate}, {Status: event.Pending},
		{Status: event.NotStored}, {Status: event.Rejected, Reason: event.Forked}, {Status: event.Accepted}}}
	r.Count()
	want := event.IngestReport{Outcomes: r.Outcomes, Accepted: 2, Duplicate: 1, Pending: 1, NotStored: 1, Rejected: map[event.Reason]int{event.Forked: 1}}
	if d := cmp.Diff(want, r); d != "" {
		t.Errorf("Count (-want +got):\n%s", d)
	}
}
