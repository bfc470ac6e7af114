package room

import (
	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
)

// written tells of the last event of a batch, which is the one that was asked
// for, or of none.
func written(done []journal.Appended) api.Written {
	if len(done) == 0 {
		return api.Written{}
	}
	d := done[len(done)-1]
	w := api.Written{Event: d.Event.Key().String(), Lamport: d.Event.Lamport, Durability: api.Synced}
	if d.Durability == journal.Memory {
		w.Durability = api.Memory
	}
	return w
}

func (r *Room) sessionView(v look, id ident.SessionID) (api.Session, bool) {
	s, ok := v.State().Session(id)
	if !ok {
		return api.Session{}, false
	}
	return r.viewOf(v, s), true
}

func (r *Room) viewOf(v look, s fold.Session) api.Session {
	i := s.Info
	out := api.Session{
		Session: s.ID.SID, ID: s.ID.String(), Own: r.own(s.ID),
		Client: i.Client, By: i.By, Host: i.Host, Checkout: string(i.Checkout), Branch: i.Branch, Head: i.Head,
		Intent: i.Intent, Issue: i.Issue, Task: i.Task,
		State: string(s.State), Reason: s.Reason, Live: liveWord(v.Liveness(s.Stream)),
		OpenedAt: s.OpenedAt, AgeMS: r.ages.session(s.ID, s.OpenedAt), Claims: s.Claims,
	}
	if s.OpenedAt == 0 { // its opening was lost to damage
		out.AgeMS = 0
	}
	if out.State == api.SessionOpen && out.Live == api.LiveExpired {
		out.State = api.SessionExpired
	}
	if o := r.owners[s.ID.SID]; o != nil && out.Own {
		out.Owner, out.Worktree, out.Protection = o.String(), o.Worktree, o.protection()
		out.IdleMS = (r.clock.Boot() - o.last).Milliseconds()
		if over := r.over(s.ID.SID, o); over != "" { // its close is about to be written
			out.State, out.Reason = api.SessionClosed, over
		}
	}
	return out
}

func liveWord(l journal.Liveness) string {
	switch l {
	case journal.Own:
		return api.LiveOwn
	case journal.Live:
		return api.LiveLive
	case journal.Unknown:
		return api.LiveUnknown
	}
	return api.LiveExpired
}

// claimView shows a claim to the session sid.
func (r *Room) claimView(v look, c fold.Claim, sid string) api.Claim {
	s, _ := v.State().Session(c.Session)
	st := v.State().Standing(c.Key, r.gone(v))
	out := api.Claim{
		Claim: c.Key.String(), Short: r.names.short(c.Key), Epoch: c.Epoch, Standing: string(st.State),
		Confirmed: held(st) && !r.others, // alone, nobody has to acknowledge
		Scope:     c.Scope.Strings(), Mode: string(c.Mode), Session: c.Session.SID, SessionID: c.Session.String(),
		Client: s.Info.Client, Checkout: string(c.Checkout), Intent: c.Intent, Issue: c.Issue,
		Own: sid != "" && c.Session == r.id(sid), Live: liveWord(v.Liveness(c.Stream)),
		Fences: keyStrings(c.Fences), Reason: c.Reason, At: c.At, AgeMS: r.ages.claim(c.Key, c.At),
	}
	if st.By != (event.Key{}) {
		out.By = st.By.String()
	}
	if !c.Live() {
		out.Reason = c.EndReason
	}
	return out
}

func keyStrings(keys []event.Key) []string {
	var out []string
	for _, k := range keys {
		out = append(out, k.String())
	}
	return out
}
