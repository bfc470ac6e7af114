package room

import (
	"maps"
	"slices"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
)

// A reread is what a room would have to tell that is opened now and reads all
// events. It is not what this run told: the disk says nothing of who lived when,
// nor of what no event caused.
type reread struct {
	notices   map[string]*noticeList
	standings map[event.Key]standing // by events alone
}

// rereadOf is what r knows when it has read all, and nothing else.
func rereadOf(r *Room) reread {
	lists := make(map[string]*noticeList, len(r.notices))
	for sid, l := range r.notices {
		c := *l
		c.notices = slices.Clone(l.notices)
		lists[sid] = &c
	}
	return reread{lists, maps.Clone(r.standings)}
}

// rereads tells that an arrival is new to this run and will be read by the next.
func (r *Room) rereads(a journal.Arrival) bool { return r.opened && a.Event != nil }

// retell is what tell will be when the event is read back.
func (r *Room) retell(v journal.View, a journal.Arrival, id ident.SessionID, n api.Notice) {
	if r.rereads(a) && r.tellable(v, id) {
		readBack(r.reread.notices, v, a, id.SID, n)
	}
}
