package room

import (
	"fmt"
	"slices"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/coop/scope"
	"github.com/comity-dev/comity/internal/pack"
)

// keep is what recall needs besides the state, so that the next run knows what it
// would know if it read all events; nil when that cannot be told.
func (r *Room) keep(v journal.View) []byte {
	if r.strayed {
		return nil
	}
	k := kept{notices: r.reread.notices, losses: r.losses, ended: r.ended}
	for _, key := range r.fenced {
		if r.fencedNow(v, key) && !slices.Contains(k.fenced, key) {
			k.fenced = append(k.fenced, key)
		}
	}
	seen := map[string]bool{}
	for _, row := range r.spent {
		if v.Local(rowAuto, row) != nil && !seen[row] {
			seen[row] = true
			k.spent = append(k.spent, row)
		}
	}
	c := pack.NewWriter(nil)
	k.pack(c)
	return c.Written()
}

// recall does for a state that is there at once what observe does event by event.
// On an error the room is as new.
func (r *Room) recall(v journal.View, b []byte) error {
	k, err := keptIn(b)
	if err != nil {
		return err
	}
	for sid := range k.notices {
		if !r.tellable(v, r.id(sid)) {
			return fmt.Errorf("notices of session %s, which is not open", sid)
		}
	}
	for _, key := range k.fenced {
		if !r.fencedNow(v, key) {
			return fmt.Errorf("claim %s, which is not fenced, as such", key)
		}
	}
	r.notices, r.losses, r.ended, r.fenced, r.spent = k.notices, k.losses, k.ended, k.fenced, k.spent
	r.names.fill(v.State().Streams())
	r.others = slices.ContainsFunc(r.names.sorted, func(instance string) bool {
		return r.names.streams[instance].Runtime() != r.runtime
	})
	for s := range v.State().OpenSessions() {
		r.ages.open(s, true, true)
	}
	for c := range v.State().Claims() {
		r.ages.claims[c.Key] = r.ages.since(c.At, true)
		if r.own(c.Session) {
			news(r.standings, c, v.State().Standing(c.Key, nil))
		}
	}
	return nil
}

// fencedNow tells an own claim that a fence has ended and whose release is not
// written.
func (r *Room) fencedNow(v look, k event.Key) bool {
	c, ok := v.State().Claim(k)
	return ok && c.Live() && r.own(c.Session) && len(c.FencedBy) > 0
}

// A kept is what of a room's memory does not follow from the state: it is what was
// so once, or in which order.
type kept struct {
	notices map[string]*noticeList
	losses  map[string][]loss
	ended   map[string][]event.Key
	fenced  []event.Key
	spent   []string
}

// keptVersion is the first number of what kept packs.
const keptVersion = 1

func keptIn(b []byte) (*kept, error) {
	k, c := new(kept), pack.NewReader(b)
	k.pack(c)
	if err := c.End(); err != nil {
		return nil, fmt.Errorf("what a room kept: %w", err)
	}
	return k, nil
}

// pack describes k. What breaks the bounds of a room is malformed.
func (k *kept) pack(c *pack.Coder) {
	version := uint8(keptVersion)
	if pack.Uint(c, &version); version != keptVersion {
		c.Fail()
	}
	pack.Map(c, &k.notices, func(sid *string, l **noticeList) {
		if c.Reading() {
			*l = new(noticeList)
		}
		pack.String(c, sid)
		(*l).pack(c)
	})
	pack.Map(c, &k.losses, func(sid *string, of *[]loss) {
		pack.String(c, sid)
		pack.List(c, of, func(l *loss) { l.pack(c) })
		within(c, len(*of), maxLosses)
	})
	pack.Map(c, &k.ended, func(sid *string, of *[]event.Key) {
		pack.String(c, sid)
		packKeys(c, of)
		within(c, len(*of), maxEndedClaims)
	})
	packKeys(c, &k.fenced)
	pack.List(c, &k.spent, func(row *string) { pack.String(c, row) })
}

func within(c *pack.Coder, n, most int) {
	if n == 0 || n > most {
		c.Fail()
	}
}

func (l *noticeList) pack(c *pack.Coder) {
	pack.Uint(c, &l.last)
	pack.Uint(c, &l.told)
	pack.Int(c, &l.dropped)
	pack.List(c, &l.notices, func(n *api.Notice) { packNotice(c, n) })
	id := l.told
	for _, n := range l.notices {
		if n.ID <= id || n.ID > l.last {
			c.Fail()
		}
		id = n.ID
	}
	if l.dropped < 0 || len(l.notices) > MaxNotices {
		c.Fail()
	}
}

func packNotice(c *pack.Coder, n *api.Notice) {
	pack.Uint(c, &n.ID)
	pack.String(c, &n.Kind)
	pack.String(c, &n.Text)
	pack.String(c, &n.Claim)
	pack.String(c, &n.Event)
	pack.Int(c, &n.At)
}

func (l *loss) pack(c *pack.Coder) {
	stored := l.scope.Strings()
	pack.List(c, &stored, func(s *string) { pack.String(c, s) })
	pack.Uint(c, &l.epoch)
	packKey(c, &l.key)
	if !c.Reading() {
		return
	}
	var err error
	if l.scope, err = scope.ParseSet(stored); err != nil {
		c.Fail()
	}
}

func packKeys(c *pack.Coder, keys *[]event.Key) {
	pack.List(c, keys, func(k *event.Key) { packKey(c, k) })
}

func packKey(c *pack.Coder, k *event.Key) {
	pack.String(c, &k.Stream)
	pack.Uint(c, &k.Seq)
	if c.Reading() && !k.Valid() {
		c.Fail()
	}
}
