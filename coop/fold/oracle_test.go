package fold_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
)

// The oracle answers every question from the whole set of events, by walking
// through all of it each time. It shares nothing with the fold but the rules.
type oracle struct {
	held    map[ident.Stream]map[uint64]*event.Event
	head    map[ident.Stream]uint64
	streams []ident.Stream
	eff     []*event.Event // in effect, by (lamport, stream, seq)
	force   []*event.Event // checkpoints in force
	bad     map[event.Key]bool
}

func newOracle(events []*event.Event, head map[ident.Stream]uint64) *oracle {
	o := &oracle{held: map[ident.Stream]map[uint64]*event.Event{}, head: map[ident.Stream]uint64{}, bad: map[event.Key]bool{}}
	for st, n := range head {
		if n > 0 {
			o.head[st], o.held[st] = n, map[uint64]*event.Event{}
			o.streams = append(o.streams, st)
		}
	}
	slices.Sort(o.streams)
	for _, e := range events {
		o.held[e.Stream][e.Seq] = e
	}
	o.checkpoints(events)
	for _, e := range events {
		if !o.masked(e.Key()) {
			o.eff = append(o.eff, e)
		}
	}
	slices.SortFunc(o.eff, byOrder)
	return o
}

func byOrder(a, b *event.Event) int {
	return cmp.Or(cmp.Compare(a.Lamport, b.Lamport), a.Key().Compare(b.Key()))
}

func (o *oracle) run(st ident.Stream) (event.StreamSucceeded, bool) {
	if e := o.held[st][1]; e != nil {
		b, ok := e.Body.(event.StreamSucceeded)
		return b, ok
	}
	return event.StreamSucceeded{}, false
}

// earlier tells whether a is a lower run of b's record.
func (o *oracle) earlier(a, b ident.Stream) bool {
	x, okx := o.run(a)
	y, oky := o.run(b)
	return okx && oky && a.Runtime() == b.Runtime() && x.Record == y.Record && x.Run < y.Run
}

func (o *oracle) precedes(a, b *event.Event) bool {
	switch {
	case a.Stream == b.Stream:
		return a.Seq < b.Seq
	case o.earlier(a.Stream, b.Stream):
		return true
	case o.earlier(b.Stream, a.Stream):
		return false
	}
	return byOrder(a, b) < 0
}

func in(ranges []event.Range, seq uint64) bool {
	return slices.ContainsFunc(ranges, func(r event.Range) bool { return r.First <= seq && seq <= r.Last })
}

func (o *oracle) checkpoints(events []*event.Event) {
	var all []*event.Event
	for _, e := range events {
		k, ok := e.Body.(event.StreamCheckpoint)
		if !ok {
			continue
		}
		all = append(all, e)
		complete, sum := true, sha256.New()
		for _, st := range k.Covers {
			for _, r := range k.Kept[st] {
				for q := r.First; q <= r.Last; q++ {
					if named := o.held[st][q]; named != nil {
						sum.Write(named.Hash[:])
					} else {
						complete = false
					}
				}
			}
		}
		wrong := complete && hex.EncodeToString(sum.Sum(nil)) != k.Digest
		own := k.Kept[e.Stream]
		o.bad[e.Key()] = wrong || len(own) > 0 && own[len(own)-1].Last >= e.Seq
	}
	slices.SortFunc(all, func(a, b *event.Event) int { // highest first
		x, _ := o.run(a.Stream)
		y, _ := o.run(b.Stream)
		return -cmp.Or(cmp.Compare(x.Run, y.Run), a.Key().Compare(b.Key()))
	})
	for _, e := range all {
		if !o.bad[e.Key()] && !o.masked(e.Key()) {
			o.force = append(o.force, e)
		}
	}
}

func (o *oracle) speaksFor(k *event.Event, st ident.Stream) bool {
	r, _ := o.run(k.Stream)
	return slices.Contains(k.Body.(event.StreamCheckpoint).Covers, st) &&
		(k.Stream == st || slices.Contains(r.Streams, st) && o.earlier(st, k.Stream))
}

func (o *oracle) masked(key event.Key) bool {
	if _, first := o.run(key.Stream); key.Seq == 1 && (first || o.held[key.Stream][1] == nil) {
		return false
	}
	return slices.ContainsFunc(o.force, func(k *event.Event) bool {
		return o.speaksFor(k, key.Stream) && (k.Stream != key.Stream || key.Seq < k.Seq) &&
			!in(k.Body.(event.StreamCheckpoint).Kept[key.Stream], key.Seq)
	})
}

func (o *oracle) lost(st ident.Stream, after, before uint64) bool {
	for q := after + 1; q < before; q++ {
		if o.held[st][q] == nil && !o.masked(event.Key{Stream: st, Seq: q}) {
			return true
		}
	}
	return false
}

func (o *oracle) incomplete(st ident.Stream) bool {
	for _, k := range o.force {
		if !o.speaksFor(k, st) {
			continue
		}
		for _, r := range k.Body.(event.StreamCheckpoint).Kept[st] {
			for q := r.First; q <= r.Last; q++ {
				if o.held[st][q] == nil {
					return true
				}
			}
		}
	}
	return false
}

func (o *oracle) streamInfos() (all []fold.StreamInfo) {
	for _, st := range o.streams {
		i := fold.StreamInfo{Stream: st, Head: o.head[st], Damaged: o.lost(st, 0, o.head[st]+1), Incomplete: o.incomplete(st)}
		for _, e := range o.held[st] {
			i.Lamport = max(i.Lamport, e.Lamport)
			if o.masked(e.Key()) {
				continue
			}
			switch e.Body.(type) {
			case event.Opaque:
				i.Opaque++
			case event.Unreadable:
				i.Unreadable++
			case event.StreamCheckpoint:
				if o.bad[e.Key()] {
					i.Unreadable++
				}
			}
		}
		if r, ok := o.run(st); ok {
			i.Record, i.Run = r.Record, r.Run
			for _, u := range o.streams {
				i.Succeeded = i.Succeeded || o.earlier(st, u)
			}
		}
		all = append(all, i)
	}
	return all
}

// marks are the openings and closes of a session in effect, in the order of events.
func (o *oracle) marks(id ident.SessionID) (all []*event.Event) {
	for _, e := range o.eff {
		switch e.Body.(type) {
		case event.SessionOpened, event.SessionClosed:
			if s, _ := e.Session(); s == id {
				all = append(all, e)
			}
		}
	}
	return all
}

func opening(e *event.Event) bool { _, ok := e.Body.(event.SessionOpened); return ok }

// lastIn is the last mark of a session in a stream below seq (0: of all).
func (o *oracle) lastIn(id ident.SessionID, st ident.Stream, below uint64, want func(*event.Event) bool) (last *event.Event) {
	for _, m := range o.marks(id) {
		if m.Stream == st && (below == 0 || m.Seq < below) && want(m) && (last == nil || m.Seq > last.Seq) {
			last = m
		}
	}
	return last
}

func anyMark(*event.Event) bool { return true }

func (o *oracle) lists(st ident.Stream, sid string) bool {
	r, ok := o.run(st)
	return ok && slices.Contains(r.Sessions, sid)
}

// backed tells whether the listing of id by u stands for an opening.
func (o *oracle) backed(id ident.SessionID, u ident.Stream) bool {
	ru, _ := o.run(u)
	var below []ident.Stream
	for _, v := range o.streams {
		if o.earlier(v, u) {
			below = append(below, v)
		}
	}
	slices.SortFunc(below, func(a, b ident.Stream) int {
		x, _ := o.run(a)
		y, _ := o.run(b)
		return -cmp.Or(cmp.Compare(x.Run, y.Run), cmp.Compare(a, b))
	})
	unknown := slices.ContainsFunc(ru.Streams, func(v ident.Stream) bool { return o.held[v][1] == nil })
	for i, v := range below {
		m := o.lastIn(id, v, 0, anyMark)
		if m != nil && opening(m) {
			return true
		}
		if m != nil || !o.lists(v, id.SID) { // the latest end
			return unknown || slices.ContainsFunc(below[:i+1], func(w ident.Stream) bool { return slices.Contains(ru.Streams, w) })
		}
	}
	return true
}

func (o *oracle) closedAfter(id ident.SessionID, e *event.Event) (last *event.Event) {
	for _, m := range o.marks(id) {
		// The last close of each stream stands for all of it.
		if !opening(m) && o.lastIn(id, m.Stream, 0, func(e *event.Event) bool { return !opening(e) }) == m && o.precedes(e, m) {
			last = m // marks come in order
		}
	}
	return last
}

// end tells how a claim or review ended with its session.
func (o *oracle) end(e *event.Event) string {
	id, _ := e.Session()
	m := o.lastIn(id, e.Stream, e.Seq, anyMark)
	var rests bool
	switch {
	case m != nil:
		rests = opening(m) || o.lost(e.Stream, m.Seq, e.Seq)
	case o.lists(e.Stream, id.SID):
		rests = o.backed(id, e.Stream)
	default:
		rests = o.lost(e.Stream, 0, e.Seq)
	}
	if !rests {
		return "unopened"
	}
	if c := o.closedAfter(id, e); c != nil {
		return c.Body.(event.SessionClosed).Reason
	}
	for _, u := range o.streams {
		r, _ := o.run(u)
		if o.earlier(e.Stream, u) && !(slices.Contains(r.Sessions, id.SID) && slices.Contains(r.Streams, e.Stream)) {
			return "succeeded"
		}
	}
	return ""
}

func (o *oracle) now(st ident.Stream) ident.Stream {
	best := st
	for _, u := range o.streams {
		if o.earlier(best, u) {
			best = u
		} else if r, _ := o.run(u); o.earlier(st, u) {
			if b, _ := o.run(best); b.Run == r.Run && u > best {
				best = u
			}
		}
	}
	return best
}

func (o *oracle) group(st ident.Stream) string {
	if r, ok := o.run(st); ok {
		return r.Record
	}
	return string(st)
}

// place orders the marks of one group.
func (o *oracle) place(a, b *event.Event) int {
	x, _ := o.run(a.Stream)
	y, _ := o.run(b.Stream)
	return cmp.Or(cmp.Compare(x.Run, y.Run), a.Key().Compare(b.Key()))
}

func (o *oracle) session(id ident.SessionID) (fold.Session, bool) {
	marks := o.marks(id)
	known := len(marks) > 0
	type last struct{ mark, opening *event.Event }
	groups := map[string]last{}
	for _, m := range marks {
		g := groups[o.group(m.Stream)]
		if g.mark == nil || o.place(g.mark, m) < 0 {
			g.mark = m
		}
		if opening(m) && (g.opening == nil || o.place(g.opening, m) < 0) {
			g.opening = m
		}
		groups[o.group(m.Stream)] = g
	}
	// Where it is open: in a stream that no later run succeeds.
	var open, anchor *event.Event
	for _, st := range o.streams {
		if st.Runtime() != id.Runtime || o.now(st) != st && o.earlier(st, o.now(st)) {
			continue
		}
		a := o.lastIn(id, st, 0, anyMark)
		if a == nil && o.lists(st, id.SID) && o.backed(id, st) {
			a = o.held[st][1]
		} else if a != nil && !opening(a) {
			a = nil
		}
		if a != nil && o.closedAfter(id, a) == nil && (anchor == nil || byOrder(anchor, a) < 0) {
			open, anchor = o.held[st][a.Seq], a
		}
	}
	for _, st := range o.streams {
		known = known || st.Runtime() == id.Runtime && o.lists(st, id.SID)
	}
	if !known {
		return fold.Session{}, false
	}
	v := fold.Session{ID: id, State: fold.SessionEnded}
	for _, c := range o.claims() {
		if c.Session == id && c.Live() {
			v.Claims++
		}
	}
	var heard last
	if open != nil {
		heard = groups[o.group(open.Stream)]
	} else {
		for _, g := range groups {
			if heard.mark == nil || byOrder(heard.mark, g.mark) < 0 {
				heard = g
			}
		}
	}
	if heard.opening != nil {
		v.Info = heard.opening.Body.(event.SessionOpened).Info
		first := o.since(id, heard.opening)
		v.Opened, v.OpenedAt, v.Stream = first.Key(), first.At, heard.opening.Stream
	}
	if open != nil {
		v.State, v.Stream = fold.SessionOpen, open.Stream
	} else if heard.mark != nil && !opening(heard.mark) {
		v.State, v.Reason, v.Stream = fold.SessionClosed, heard.mark.Body.(event.SessionClosed).Reason, heard.mark.Stream
	}
	return v, true
}

// since walks back from an opening over what precedes it in its record.
func (o *oracle) since(id ident.SessionID, m *event.Event) *event.Event {
	var runs []ident.Stream
	for _, st := range o.streams {
		if o.earlier(st, m.Stream) {
			runs = append(runs, st)
		}
	}
	slices.SortFunc(runs, func(a, b ident.Stream) int {
		x, _ := o.run(a)
		y, _ := o.run(b)
		return -cmp.Or(cmp.Compare(x.Run, y.Run), cmp.Compare(a, b))
	})
	first := m
	at := m.Stream
	for {
		for q := first.Seq; q >= 1; q-- { // down the stream
			p := o.lastIn(id, at, q+1, anyMark)
			if p == nil {
				break
			}
			if !opening(p) {
				return first
			}
			first, q = p, p.Seq
		}
		if !o.lists(at, id.SID) {
			return first
		}
		var next ident.Stream
		for _, v := range runs {
			if !o.earlier(v, at) {
				continue
			}
			if p := o.lastIn(id, v, 0, anyMark); p != nil {
				if !opening(p) {
					return first
				}
				next, first = v, p
				break
			}
			if !o.lists(v, id.SID) {
				return first
			}
		}
		if next == "" {
			return first
		}
		at = next
	}
}

func (o *oracle) checkouts(e *event.Event) (all []ident.CheckoutID, latest ident.CheckoutID) {
	id, _ := e.Session()
	if m := o.lastIn(id, e.Stream, e.Seq, anyMark); m != nil {
		if opening(m) {
			c := m.Body.(event.SessionOpened).Info.Checkout
			return []ident.CheckoutID{c}, c
		}
		return nil, ""
	}
	if !o.lists(e.Stream, id.SID) {
		return nil, ""
	}
	var best *event.Event
	for _, m := range o.marks(id) {
		if opening(m) && o.earlier(m.Stream, e.Stream) {
			all = append(all, m.Body.(event.SessionOpened).Info.Checkout)
			if best == nil || o.place(best, m) < 0 {
				best, latest = m, m.Body.(event.SessionOpened).Info.Checkout
			}
		}
	}
	return all, latest
}

func (o *oracle) claimEvents() (all []*event.Event) {
	for _, e := range o.eff {
		if _, ok := e.Body.(event.ClaimAcquired); ok {
			all = append(all, e)
		}
	}
	return all
}

// fences tells whether by's fence of e counts.
func (o *oracle) fences(by, e *event.Event) bool {
	f, c := by.Body.(event.ClaimAcquired), e.Body.(event.ClaimAcquired)
	sf, _ := by.Session()
	sc, _ := e.Session()
	_, meet := f.Scope.Meets(c.Scope)
	if !slices.Contains(f.Fences, e.Key()) || sf == sc || by.Lamport <= e.Lamport || !meet ||
		f.Mode == event.ModeAdvisory || c.Mode == event.ModeAdvisory {
		return false
	}
	if f.Mode == event.ModeExclusive && c.Mode == event.ModeExclusive {
		return true
	}
	x, _ := o.checkouts(by)
	y, _ := o.checkouts(e)
	return slices.ContainsFunc(x, func(id ident.CheckoutID) bool { return slices.Contains(y, id) })
}

func (o *oracle) claims() (all []fold.Claim) {
	for _, e := range o.claimEvents() {
		b := e.Body.(event.ClaimAcquired)
		id, _ := e.Session()
		_, checkout := o.checkouts(e)
		v := fold.Claim{
			Key: e.Key(), Session: id, Stream: e.Stream, Checkout: checkout, Scope: b.Scope, Mode: b.Mode,
			Intent: b.Intent, Issue: b.Issue, Reason: b.Reason, Epoch: e.Lamport, At: e.At, Fences: b.Fences, Breaks: b.Breaks,
		}
		v.EndReason = o.end(e)
		v.Ended = v.EndReason != ""
		for _, r := range o.eff {
			if rel, ok := r.Body.(event.ClaimReleased); ok && rel.Claim == e.Key() {
				if s, _ := r.Session(); s == id && !v.Released {
					v.Released, v.Ended, v.EndReason = true, false, rel.Reason
				}
			}
		}
		for _, by := range o.claimEvents() {
			if o.fences(by, e) {
				v.FencedBy = append(v.FencedBy, by.Key())
			}
		}
		if v.Live() {
			v.Stream = o.now(e.Stream)
		}
		all = append(all, v)
	}
	return all
}

// standings judges all claims in one walk in the order of events.
func (o *oracle) standings(gone func(ident.Stream) bool) map[event.Key]fold.Standing {
	claims := o.claims()
	out := map[event.Key]fold.Standing{}
	byKey := map[event.Key]fold.Claim{}
	stands := func(c fold.Claim) bool { return c.Live() && !gone(c.Stream) }
	for _, c := range claims {
		byKey[c.Key] = c
	}
	excl := func(a, b fold.Claim) bool {
		if a.Session == b.Session || a.Mode == event.ModeAdvisory || b.Mode == event.ModeAdvisory {
			return false
		}
		return a.Mode == event.ModeExclusive && b.Mode == event.ModeExclusive || a.Checkout != "" && a.Checkout == b.Checkout
	}
	var winners []fold.Claim
	for _, c := range claims {
		v := fold.Standing{State: fold.StandingHeld}
		if !c.Live() {
			out[c.Key] = fold.Standing{State: fold.StandingReleased}
			continue
		}
		if !stands(c) {
			out[c.Key] = fold.Standing{State: fold.StandingExpired}
			continue
		}
		for _, d := range claims {
			if _, meet := c.Scope.Meets(d.Scope); meet && d.Session != c.Session && stands(d) && !excl(c, d) {
				v.Overlaps = append(v.Overlaps, d.Key)
			}
		}
		if len(c.FencedBy) > 0 {
			v.State, v.By = fold.StandingExpired, c.FencedBy[0]
			for _, k := range slices.Backward(c.FencedBy) {
				if stands(byKey[k]) {
					v.State, v.By = fold.StandingConflicted, k
				}
			}
		} else {
			for _, w := range slices.Backward(winners) {
				if _, meet := c.Scope.Meets(w.Scope); meet && excl(c, w) {
					v.State, v.By = fold.StandingConflicted, w.Key
				}
			}
			if v.State == fold.StandingHeld && c.Mode != event.ModeAdvisory {
				winners = append(winners, c)
			}
		}
		out[c.Key] = v
	}
	return out
}

func (o *oracle) handovers() (all []fold.Handover) {
	byID := map[string]*fold.Handover{}
	var ids []string
	for _, e := range o.eff {
		if b, ok := e.Body.(event.HandoverPublished); ok {
			h := byID[b.Handover.ID]
			if h == nil {
				h = &fold.Handover{ID: b.Handover.ID, Body: b.Handover}
				byID[h.ID] = h
				ids = append(ids, h.ID)
			}
			id, _ := e.Session()
			p := fold.Publication{Key: e.Key(), Session: id, To: b.To, At: e.At}
			s, _ := o.session(id)
			if p.From = s.Info.By; p.From == "" {
				p.From = s.Info.Client
			}
			h.Publications = append(h.Publications, p)
		}
	}
	for _, id := range ids {
		h := byID[id]
		for _, e := range o.eff {
			s, _ := e.Session()
			switch b := e.Body.(type) {
			case event.HandoverConsumed:
				if b.Handover == id {
					h.Takings = append(h.Takings, fold.Taking{Key: e.Key(), Session: s, Publications: b.Publications, At: e.At})
				}
			case event.HandoverDeclined:
				if b.Handover == id {
					h.Declines = append(h.Declines, fold.Decline{Key: e.Key(), Session: s, Publications: b.Publications, Reason: b.Reason, At: e.At})
				}
			}
		}
		for i := range h.Publications {
			p := &h.Publications[i]
			for _, t := range h.Takings {
				p.Taken = p.Taken || slices.Contains(t.Publications, p.Key)
			}
			for _, e := range o.eff {
				if w, ok := e.Body.(event.HandoverWithdrawn); ok && w.Publication == p.Key {
					s, _ := e.Session()
					p.Withdrawn = p.Withdrawn || s == p.Session
				}
			}
			h.Open = h.Open || !p.Taken && !p.Withdrawn
		}
		all = append(all, *h)
	}
	slices.SortFunc(all, func(a, b fold.Handover) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

func (o *oracle) reviews() (all []fold.Review) {
	for _, e := range o.eff {
		b, ok := e.Body.(event.ReviewRequested)
		if !ok {
			continue
		}
		id, _ := e.Session()
		v := fold.Review{Key: e.Key(), Session: id, Request: b, At: e.At, Open: true}
		if end := o.end(e); end != "" {
			v.Open, v.EndReason = false, end
		}
		closed := false
		for _, a := range o.eff {
			s, _ := a.Session()
			switch x := a.Body.(type) {
			case event.ReviewAnswered:
				if x.Request == e.Key() && s != id {
					v.Answers = append(v.Answers, fold.Answer{Key: a.Key(), Session: s, Verdict: x.Verdict, Note: x.Note, Commit: x.Commit, Tree: x.Tree, At: a.At})
				}
			case event.ReviewClosed:
				if x.Request == e.Key() && s == id && !closed {
					closed, v.Open, v.EndReason = true, false, x.Reason
				}
			}
		}
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b fold.Review) int { return a.Key.Compare(b.Key) })
	return all
}
