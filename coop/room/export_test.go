package room

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
)

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

// Fresh is a room on r's journal that knows nothing yet.
func (r *Room) Fresh() *Room {
	s := newRoom(r.cfg)
	s.journal = r.journal
	return s
}

// MemoryDiff tells what two rooms know otherwise of one journal, or of two copies of it.
func MemoryDiff(a, b *Room) string {
	return cmp.Diff(a.memory(), b.memory(), cmp.AllowUnexported(noticeList{}, standing{}), cmpopts.EquateEmpty())
}

// memory is what a room knows, by field. A field that it does not name makes every
// comparison fail.
func (r *Room) memory() map[string]any {
	all, own := map[string]any{}, r.journal.Stream()
	r.journal.View(func(v journal.View) {
		for field := range reflect.TypeFor[Room]().Fields() {
			switch name := field.Name; name {
			case "cfg", "clock", "runtime", "journal", "exits", "nudge", "closed", "ticked", "walled", "full", "upkept", "opened":
				// Nothing that is read.
			case "owners":
				owners := map[string]string{}
				for sid, o := range r.owners {
					owners[sid] = fmt.Sprint(string(o.row()), o.last, o.closing, o.retry, o.unhook != nil)
				}
				all[name] = owners
			case "standings":
				all[name] = r.standings
			case "notices":
				all[name] = nameless(r.notices, own)
			case "reread":
				all[name] = []any{nameless(r.reread.notices, own), r.reread.standings}
			case "hooks":
				all[name] = len(r.hooks)
			case "waits":
				all[name] = len(r.waits)
			case "losses":
				losses := map[string][]string{}
				for sid, of := range r.losses {
					for _, l := range of {
						losses[sid] = append(losses[sid], fmt.Sprint(l.scope.Strings(), l.epoch, l.key))
					}
				}
				all[name] = losses
			case "ended":
				all[name] = r.ended
			case "ages":
				all[name] = []any{r.ages.sessions, r.ages.claims}
			case "names":
				streams := maps.Clone(r.names.streams)
				sorted := slices.Clone(r.names.sorted)
				if own != "" {
					delete(streams, string(own.Instance()))
					sorted = slices.DeleteFunc(sorted, func(instance string) bool { return instance == string(own.Instance()) })
				}
				all[name] = []any{streams, sorted}
			case "fenced":
				var due []string
				for _, k := range r.fenced {
					if r.fencedNow(v, k) && !slices.Contains(due, k.String()) {
						due = append(due, k.String())
					}
				}
				all[name] = due
			case "spent":
				var due []string
				for _, row := range r.spent {
					if v.Local(rowAuto, row) != nil && !slices.Contains(due, row) {
						due = append(due, row)
					}
				}
				all[name] = due
			case "others", "moved", "strayed":
				all[name] = reflect.ValueOf(r).Elem().FieldByName(name).Bool()
			case "expired":
				all[name] = maps.Clone(r.expired)
			default:
				panic("memory does not say what " + name + " is")
			}
		}
	})
	return all
}

// nameless are lists of notices without the name of this run, which is random.
func nameless(lists map[string]*noticeList, own ident.Stream) map[string]noticeList {
	out := map[string]noticeList{}
	for sid, l := range lists {
		c := *l
		c.notices = slices.Clone(l.notices)
		for i, n := range c.notices {
			if key, err := event.ParseKey(n.Event); err == nil && key.Stream == own {
				c.notices[i].Event = "own"
			}
		}
		out[sid] = c
	}
	return out
}
