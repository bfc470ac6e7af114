package room

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/coop/scope"
	"github.com/comity-dev/comity/internal/pack"
)

// PerEvent is how many ids of notices one event has.
const PerEvent = perEvent

// Kept is what Close would keep now.
func (r *Room) Kept() (b []byte) {
	r.journal.View(func(v journal.View) { b = r.keep(v) })
	return b
}

// Recalled is a new room on r's journal that has taken up b.
func (r *Room) Recalled(b []byte) (s *Room, err error) {
	s = newRoom(r.cfg)
	s.journal = r.journal
	r.journal.View(func(v journal.View) { err = s.recall(v, b) })
	return s, err
}

// KeptOf is something of each kind that is kept, alone: of a session, a stream and a
// scope.
func KeptOf(sid string, s ident.Stream, claimed scope.Set) (all [][]byte) {
	key := event.Key{Stream: s, Seq: 2}
	for _, k := range []kept{
		{},
		{notices: map[string]*noticeList{sid: {notices: []api.Notice{{ID: 513, Kind: "held", At: 7}, {ID: 768}}, last: 769, told: 512, dropped: 2}}},
		{standings: map[ident.Stream][]stood{s: {{2, standing{fold.StandingHeld, false}}, {3, standing{fold.StandingConflicted, true}}}}},
		{losses: map[string][]loss{sid: {{claimed, 9, key}}}},
		{ended: map[string][]event.Key{sid: {key}}},
		{fenced: []event.Key{key}},
		{spent: []string{"row"}},
	} {
		all = append(all, k.packed())
	}
	return all
}

func (k kept) packed() []byte {
	c := pack.NewWriter(nil)
	k.pack(c)
	return c.Written()
}

// BoundsOfKept is what lies just within the bounds of what is kept, and what does not.
func BoundsOfKept(sid string, s ident.Stream, claimed scope.Set) (good, bad map[string][]byte) {
	key := event.Key{Stream: s, Seq: 2}
	list := func(l noticeList, ids ...uint64) []byte {
		for _, id := range ids {
			l.notices = append(l.notices, api.Notice{ID: id})
		}
		return kept{notices: map[string]*noticeList{sid: &l}}.packed()
	}
	many := func(n int) (ids []uint64) {
		for i := range n {
			ids = append(ids, uint64(i+1))
		}
		return ids
	}
	stands := func(seq uint64, state fold.StandingState) []byte {
		return kept{standings: map[ident.Stream][]stood{s: {{seq, standing{state, false}}}}}.packed()
	}
	lost := func(n int) []byte {
		return kept{losses: map[string][]loss{sid: slices.Repeat([]loss{{claimed, 1, key}}, n)}}.packed()
	}
	ended := func(n int) []byte {
		return kept{ended: map[string][]event.Key{sid: slices.Repeat([]event.Key{key}, n)}}.packed()
	}
	good = map[string][]byte{
		"notices":       list(noticeList{told: 4, last: 6}, 5, 6),
		"many notices":  list(noticeList{last: MaxNotices}, many(MaxNotices)...),
		"a standing":    stands(1, fold.StandingExpired),
		"losses":        lost(maxLosses),
		"ended claims":  ended(maxEndedClaims),
		"nothing of it": kept{}.packed(),
	}
	bad = map[string][]byte{
		"a notice that was acknowledged":       list(noticeList{told: 5, last: 6}, 5, 6),
		"a notice behind the last":             list(noticeList{told: 4, last: 5}, 5, 6),
		"notices out of order":                 list(noticeList{last: 6}, 6, 5),
		"too many notices":                     list(noticeList{last: MaxNotices + 1}, many(MaxNotices+1)...),
		"fewer than no notices that gave way":  list(noticeList{dropped: -1}),
		"a standing that live claims have not": stands(1, fold.StandingReleased),
		"a standing of no claim":               stands(0, fold.StandingHeld),
		"no losses":                            lost(0),
		"too many losses":                      lost(maxLosses + 1),
		"no ended claims":                      ended(0),
		"too many ended claims":                ended(maxEndedClaims + 1),
		"an ended claim that is none":          kept{ended: map[string][]event.Key{sid: {{}}}}.packed(),
		"a scope with repeats":                 kept{losses: map[string][]loss{sid: {{slices.Repeat(claimed, 2), 1, key}}}}.packed(),
		"a fenced claim that is none":          kept{fenced: []event.Key{{Stream: s}}}.packed(),
	}
	return good, bad
}

// ofTheProcess are the fields of a room that end with its run.
var ofTheProcess = []string{
	"cfg", "clock", "runtime", "journal", "exits", "nudge", "closed", "ticked", "walled", "full", "upkept", "opened", "expired", "hooks", "waits",
}

// Memory is what a room remembers, by field; of names all but one stream. Every field
// must be there or among those of the process.
func (r *Room) Memory(but ident.Stream) map[string]any {
	owners := map[string]string{}
	for sid, o := range r.owners {
		owners[sid] = fmt.Sprint(string(o.row()), o.closing, o.unhook != nil)
	}
	known := names{slices.Clone(r.names.sorted), maps.Clone(r.names.streams)}
	known.keep(func(s ident.Stream) bool { return s != but })
	all := map[string]any{
		"owners": owners, "names": known, "ages": []any{r.ages.sessions, r.ages.claims},
		"standings": r.standings, "notices": r.notices, "losses": r.losses, "ended": r.ended, "fenced": r.fenced, "spent": r.spent,
		"others": r.others, "moved": r.moved,
	}
	for field := range reflect.TypeFor[Room]().Fields() {
		if _, ok := all[field.Name]; !ok && !slices.Contains(ofTheProcess, field.Name) {
			panic("nothing says whether the next run has the field " + field.Name)
		}
	}
	return all
}

// MemoryDiff tells in what two memories differ, but for some fields.
func MemoryDiff(a, b map[string]any, but ...string) string {
	a, b = maps.Clone(a), maps.Clone(b)
	for _, name := range but {
		delete(a, name)
		delete(b, name)
	}
	return cmp.Diff(a, b, cmp.Exporter(func(reflect.Type) bool { return true }), cmpopts.EquateEmpty())
}

// Aged are the sessions and claims that have an age.
func (r *Room) Aged() []string {
	var all []string
	for id := range r.ages.sessions {
		all = append(all, id.String())
	}
	for k := range r.ages.claims {
		all = append(all, k.String())
	}
	slices.Sort(all)
	return all
}

// Due are the claims whose release and the rows whose end are still to be written.
func (r *Room) Due() []string {
	var due []string
	r.journal.View(func(v journal.View) {
		for _, k := range r.fenced {
			if c, ok := v.State().Claim(k); ok && c.Live() && len(c.FencedBy) > 0 && !slices.Contains(due, "fenced "+k.String()) {
				due = append(due, "fenced "+k.String())
			}
		}
		for _, row := range r.spent {
			if v.Local(rowAuto, row) != nil && !slices.Contains(due, "spent "+row) {
				due = append(due, "spent "+row)
			}
		}
	})
	return due
}

// AllGoOn tells that every session would go on in the next run.
func (r *Room) AllGoOn() bool {
	for sid := range r.owners {
		if r.overOrDead(sid) != "" {
			return false
		}
	}
	return true
}

// AllTold tells that every claim stands as its holder was told.
func (r *Room) AllTold() bool {
	told := true
	r.journal.View(func(v journal.View) {
		for k, last := range r.standings {
			told = told && last.state == v.State().Standing(k, r.gone(v)).State
		}
	})
	return told
}

// AsNew tells that a room remembers nothing.
func (r *Room) AsNew() bool {
	for field, value := range reflect.ValueOf(r).Elem().Fields() {
		if !slices.Contains(ofTheProcess, field.Name) && !empty(value) {
			return false
		}
	}
	return true
}

func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Map, reflect.Slice:
		return v.Len() == 0
	case reflect.Bool:
		return !v.Bool()
	case reflect.Interface: // a clock
		return true
	case reflect.Struct:
		for _, value := range v.Fields() {
			if !empty(value) {
				return false
			}
		}
		return true
	}
	panic("empty does not say what is empty of " + v.Type().String())
}

// LookAgain looks at what stands.
func (r *Room) LookAgain() {
	r.moved = true
	r.settle()
}
