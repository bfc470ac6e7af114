package room

import (
	"cmp"
	"context"
	"slices"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/fold"
)

// Status is the whole picture: who is here, on what, since when. The daemon's
// own words are left for its owner to fill in.
func (r *Room) Status(ctx context.Context, a Actor, _ api.StatusRequest) (api.Status, error) {
	h := r.journal.Health()
	out := api.Status{
		Repository: string(r.journal.Repository()),
		Node:       string(r.runtime.Node),
		Runtime:    string(r.runtime.ID),
		Damage:     len(h.Damage),
		Dropped:    h.Dropped,
		Compacted:  h.Compacted,
	}
	if h.ReadOnly != nil {
		out.ReadOnly = h.ReadOnly.Error()
	}
	var err error
	r.view(func(v look) { err = r.fillStatus(v, a, &out) })
	if err != nil {
		return api.Status{}, err
	}
	markStale(ctx, a, out.Reviews)
	out.Cursor = r.journal.End()
	return out, nil
}

func (r *Room) fillStatus(v look, a Actor, out *api.Status) error {
	sid, err := r.acting(v, a)
	if err != nil {
		return err
	}
	out.Session = sid
	out.Sessions = r.sessionViews(v, false)
	out.Claims = r.claimViews(v, sid)
	out.Handovers = r.handoverViews(v, false)
	out.Reviews = r.reviewViews(v, false)
	out.Waits = r.waitViews()
	if l := r.notices[sid]; l != nil {
		out.Notices = len(l.notices)
	}
	for s := range v.State().Streams() {
		out.Events += s.Head
		out.Streams = append(out.Streams, api.Stream{
			Stream: string(s.Stream), Own: s.Stream.Runtime() == r.runtime, Run: s.Run, Head: s.Head,
			Live: liveWord(v.Liveness(s.Stream)), Damaged: s.Damaged, Opaque: s.Opaque, Unreadable: s.Unreadable,
		})
	}
	out.Digest = v.State().Digest(nil)
	return nil
}

// claimViews lists the claims that stand, oldest first.
func (r *Room) claimViews(v look, sid string) []api.Claim {
	var all []fold.Claim
	for c := range v.State().Claims() {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b fold.Claim) int {
		return cmp.Or(cmp.Compare(a.Epoch, b.Epoch), a.Key.Compare(b.Key))
	})
	out := []api.Claim{}
	for _, c := range all {
		out = append(out, r.claimView(v, c, sid))
	}
	return out
}
