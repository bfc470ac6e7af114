package room

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
)

// MaxNotices is how many unread notices a session keeps; older ones give way,
// and the answer that shows the others says how many.
const MaxNotices = 256

// perEvent is the room that ids leave for the notices that one event causes for
// one session: an id is its event's place in the log times it, so it is the same
// after a restart.
const perEvent = 256

// A noticeList holds what one session has not acknowledged.
type noticeList struct {
	notices []api.Notice
	last    uint64 // id of the last notice that there was
	told    uint64 // id up to which it is acknowledged
	dropped int
}

func (l *noticeList) add(index uint64, n api.Notice) {
	n.ID = max(index*perEvent, l.last+1)
	l.last = n.ID
	if n.ID <= l.told {
		return // read back from disk, and acknowledged
	}
	l.notices = append(l.notices, n)
	if len(l.notices) > MaxNotices {
		l.notices = l.notices[1:]
		l.dropped++
	}
}

// acknowledge drops what was seen, up to an id.
func (l *noticeList) acknowledge(id uint64) {
	if id <= l.told {
		return
	}
	l.told, l.dropped = id, 0
	for len(l.notices) > 0 && l.notices[0].ID <= id {
		l.notices = l.notices[1:]
	}
}

// tell adds a notice for an own session that is open.
func (r *Room) tell(v journal.View, a journal.Arrival, id ident.SessionID, n api.Notice) {
	if !r.tellable(v, id) {
		return
	}
	if a.Event == nil {
		r.tellNow(v, id.SID, n)
		return
	}
	l := r.noticesOf(v, id.SID)
	if r.reading(a) { // the rows are read in the same order
		l.acknowledge(toldIn(v.Local(rowTold, id.SID)))
	}
	n.Event, n.At = a.Event.Key().String(), a.Event.At
	l.add(a.Index, n)
}

func (r *Room) tellable(v journal.View, id ident.SessionID) bool {
	s, ok := v.State().Session(id)
	return ok && r.own(id) && s.State == fold.SessionOpen
}

// noticesOf is a session's list. What is added from now on comes behind all that
// the session has acknowledged, unless it is being read back.
func (r *Room) noticesOf(v look, sid string) *noticeList {
	l := r.notices[sid]
	if l == nil {
		l = new(noticeList)
		r.notices[sid] = l
		l.acknowledge(toldIn(v.Local(rowTold, sid)))
	}
	if r.opened {
		l.last = max(l.last, l.told)
	}
	return l
}

func toldIn(row []byte) uint64 {
	var told uint64
	if json.Unmarshal(row, &told) != nil {
		return 0 // told again rather than never
	}
	return told
}

// Notices shows what changed for the acting session without consuming it; with
// Ack it first acknowledges everything up to that id.
func (r *Room) Notices(ctx context.Context, a Actor, req api.NoticesRequest) (api.Notices, error) {
	out := api.Notices{Notices: []api.Notice{}}
	sid, err := r.named(a, "")
	if err != nil {
		return out, err
	}
	out.Session = sid
	if req.Ack > 0 {
		if err := r.acknowledge(ctx, sid, req.Ack); err != nil {
			return out, err
		}
	}
	r.view(func(look) {
		l := r.notices[sid]
		if l == nil {
			return
		}
		for _, n := range l.notices {
			n.AgeMS = r.ages.wallMS(n.At)
			out.Notices = append(out.Notices, n)
		}
		out.Dropped = l.dropped
	})
	return out, nil
}

// acknowledge counts only once it is on disk: what was not acknowledged for sure
// is shown again.
func (r *Room) acknowledge(ctx context.Context, sid string, id uint64) error {
	_, err := r.decide(ctx, func(tx *journal.Tx) error {
		l := r.notices[sid]
		if l == nil || id <= l.told {
			return errUnchanged
		}
		if id > l.last {
			return api.Errorf(api.CodeUsage, "notice %d is not known", id).WithHint("acknowledge the id of one that comity notices showed")
		}
		tx.PutLocal(rowTold, sid, fmt.Append(nil, id))
		return nil
	})
	if err == nil {
		r.view(func(look) {
			if l := r.notices[sid]; l != nil {
				l.acknowledge(id)
			}
		})
	}
	return err
}

// tellNow adds a notice that no event causes. Only a clean stop keeps it for the
// next run.
func (r *Room) tellNow(v look, sid string, n api.Notice) {
	if r.owners[sid] == nil {
		return
	}
	n.At = r.clock.Now().Unix()
	r.noticesOf(v, sid).add(0, n)
}
