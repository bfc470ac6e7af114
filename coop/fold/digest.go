package fold

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/canon"
)

// Digest returns 32 hex digits that say what stands in a set of streams at the
// heads that are held here: the open sessions, the live claims with their
// standing by events, the open handovers and the open reviews. Nil means all
// streams held; streams that are not held count as not in the set. What other
// streams said does not exist for it: equal streams at equal heads give equal
// digests whatever else either side holds. Damaged and incomplete streams are
// left out.
//
// The digest of everything is kept until something changes and costs what
// stands. That of a part costs as much as folding the part anew.
func (s *State) Digest(streams []ident.Stream) string {
	set := s.comparable(streams)
	if len(set) == len(s.held()) {
		if s.digest == "" {
			s.digest = s.sum()
		}
		return s.digest
	}
	return s.only(set).sum()
}

// History returns 32 hex digits over the heads of a set of streams and, through
// their chains, over all that was ever said in them. The set is that of Digest.
func (s *State) History(streams []ident.Stream) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "comity-history/%d\n", Version)
	for _, st := range s.comparable(streams) {
		var hash [32]byte // zero when a checkpoint removed the head, which is not held
		if i, ok := st.find(st.head); ok {
			hash = st.entries[i].hash
		}
		fmt.Fprintf(sum, "%s/%d %x\n", st.id, st.head, hash)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// comparable is the set without what is damaged or incomplete in it, by id. What
// is left out can take with it the checkpoint that made another stream whole,
// so it is looked through until nothing more falls.
func (s *State) comparable(streams []ident.Stream) []*stream {
	set := s.held()
	if streams != nil {
		want := make(map[ident.Stream]bool, len(streams))
		for _, id := range streams {
			want[id] = true
		}
		set = slices.DeleteFunc(set, func(st *stream) bool { return !want[st.id] })
	}
	part := s
	if len(set) != len(s.held()) {
		part = s.only(set)
	}
	for {
		whole := slices.DeleteFunc(slices.Clone(set), func(st *stream) bool {
			st = part.streams[st.id]
			return st.damaged() || st.incomplete()
		})
		if len(whole) == len(set) {
			return set
		}
		set, part = whole, s.only(whole)
	}
}

// only folds some of the streams anew, from the facts that are kept of them. Of
// when they were written nothing is known in it: digests do not tell.
func (s *State) only(set []*stream) *State {
	part := New()
	for _, st := range set {
		into := part.stream(st.id)
		for i := range st.entries {
			e := &st.entries[i]
			if e.seq > into.head+1 {
				into.skip(into.head+1, e.seq-1)
			}
			var b event.Body
			if e.fact != nil {
				b = e.fact.body()
			}
			part.hold(into, head{e.seq, e.lamport, 0, e.hash}, b)
		}
		if st.head > into.head {
			into.skip(into.head+1, st.head)
		}
	}
	part.settle()
	return part
}

// The canonical form, under the names of the protocol.
type (
	digestForm struct {
		Claims    []claimForm    `json:"claims"`
		Handovers []handoverForm `json:"handovers"`
		Reviews   []reviewForm   `json:"reviews"`
		Sessions  []sessionForm  `json:"sessions"`
	}
	sessionForm struct {
		Session  string `json:"session"`
		Stream   string `json:"stream"`
		Opened   string `json:"opened,omitzero"`
		Client   string `json:"client,omitzero"`
		By       string `json:"by,omitzero"`
		Host     string `json:"host,omitzero"`
		Checkout string `json:"checkout,omitzero"`
		Branch   string `json:"branch,omitzero"`
		Head     string `json:"head,omitzero"`
		Intent   string `json:"intent,omitzero"`
		Issue    string `json:"issue,omitzero"`
		Task     string `json:"task,omitzero"`
		Worker   string `json:"worker,omitzero"`
		Context  string `json:"context,omitzero"`
		Dirty    *bool  `json:"dirty,omitzero"`
	}
	claimForm struct {
		Claim    string   `json:"claim"`
		Session  string   `json:"session"`
		Stream   string   `json:"stream"`
		Checkout string   `json:"checkout,omitzero"`
		Scope    []string `json:"scope"`
		Mode     string   `json:"mode"`
		Epoch    uint64   `json:"epoch"`
		State    string   `json:"state"`
		By       string   `json:"by,omitzero"`
	}
	handoverForm struct {
		Handover     string            `json:"handover"`
		Publications []publicationForm `json:"publications"`
		Declines     []string          `json:"declines,omitzero"`
	}
	publicationForm struct {
		Publication string `json:"publication"`
		To          string `json:"to,omitzero"`
		State       string `json:"state"` // open, taken, withdrawn
	}
	reviewForm struct {
		Request string   `json:"request"`
		Answers []string `json:"answers,omitzero"`
	}
)

// sum is the first half of SHA-256 over a line that names the fold version and
// the canonical JSON of what stands.
func (s *State) sum() string {
	form := digestForm{Claims: []claimForm{}, Handovers: []handoverForm{}, Reviews: []reviewForm{}, Sessions: []sessionForm{}}
	for v := range s.OpenSessions() {
		form.Sessions = append(form.Sessions, formOfSession(v))
	}
	for v := range s.Claims() {
		state, by := s.claim(v.Key).standing()
		form.Claims = append(form.Claims, formOfClaim(v, state, by))
	}
	for v := range s.OpenHandovers() {
		form.Handovers = append(form.Handovers, formOfHandover(v))
	}
	for v := range s.OpenReviews() {
		r := reviewForm{Request: v.Key.String()}
		for _, a := range v.Answers {
			r.Answers = append(r.Answers, a.Key.String())
		}
		form.Reviews = append(form.Reviews, r)
	}
	b, err := canon.Marshal(form)
	if err != nil {
		// unreachable unless an event with text that is no UTF-8 passed the parser
		panic(fmt.Sprintf("fold: canonical form: %v", err))
	}
	sum := sha256.Sum256(append([]byte(fmt.Sprintf("comity-fold/%d\n", Version)), b...))
	return hex.EncodeToString(sum[:16])
}

func formOfSession(v Session) sessionForm {
	i := v.Info
	f := sessionForm{
		Session: v.ID.String(), Stream: string(v.Stream), Client: i.Client, By: i.By, Host: i.Host, Checkout: string(i.Checkout),
		Branch: i.Branch, Head: i.Head, Intent: i.Intent, Issue: i.Issue, Task: i.Task, Worker: i.Worker, Context: i.Context, Dirty: i.Dirty,
	}
	if v.Opened.Seq > 0 {
		f.Opened = v.Opened.String()
	}
	return f
}

func formOfClaim(v Claim, state StandingState, by event.Key) claimForm {
	f := claimForm{
		Claim: v.Key.String(), Session: v.Session.String(), Stream: string(v.Stream), Checkout: string(v.Checkout),
		Scope: v.Scope.Strings(), Mode: string(v.Mode), Epoch: v.Epoch, State: string(state),
	}
	if by.Seq > 0 {
		f.By = by.String()
	}
	return f
}

func formOfHandover(v Handover) handoverForm {
	f := handoverForm{Handover: v.ID}
	for _, p := range v.Publications {
		state := "open"
		switch {
		case p.Withdrawn:
			state = "withdrawn"
		case p.Taken:
			state = "taken"
		}
		f.Publications = append(f.Publications, publicationForm{p.Key.String(), p.To, state})
	}
	for _, d := range v.Declines {
		f.Declines = append(f.Declines, d.Key.String())
	}
	return f
}
