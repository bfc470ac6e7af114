package room

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/coop/scope"
	"github.com/comity-dev/comity/internal/pack"
)

// keep is what recall needs besides the state, so that the next run remembers what
// this one does.
func (r *Room) keep(v journal.View) []byte {
	k := kept{
		notices: map[string]*noticeList{}, standings: map[ident.Stream][]stood{},
		losses: r.losses, ended: r.ended, fenced: r.fenced, spent: r.spent,
	}
	for sid, l := range r.notices {
		if r.tellable(v, r.id(sid)) { // else its close is not written, and it will hear nothing
			k.notices[sid] = l
		}
	}
	for key, st := range r.standings {
		k.standings[key.Stream] = append(k.standings[key.Stream], stood{key.Seq, st})
	}
	for _, list := range k.standings {
		slices.SortFunc(list, func(a, b stood) int { return cmp.Compare(a.seq, b.seq) })
	}
	c := pack.NewWriter(nil)
	if k.pack(c); c.Err() != nil {
		return nil // unreachable unless a bound was broken: the next run reads the events
	}
	return c.Written()
}

// recall does for a state that is there at once what observe does event by event.
// Others may have been judged when what stands was last told, and are not now: the
// first upkeep looks at all of it. On an error the room is as new.
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
	r.notices, r.losses, r.ended, r.fenced, r.spent = k.notices, k.losses, k.ended, k.fenced, k.spent
	for stream, list := range k.standings {
		for _, of := range list {
			r.standings[event.Key{Stream: stream, Seq: of.seq}] = of.standing
		}
	}
	r.names.fill(v.State().Streams())
	r.others = slices.ContainsFunc(r.names.sorted, func(instance string) bool {
		return r.names.streams[instance].Runtime() != r.runtime
	})
	for s := range v.State().OpenSessions() {
		r.ages.open(s, true, true)
	}
	for c := range v.State().Claims() {
		r.ages.claims[c.Key] = r.ages.since(c.At, true)
	}
	r.moved = true
	return nil
}

// A kept is what of a room's memory does not follow from the state: what was so
// once, in which order, and what was told of it.
type kept struct {
	notices   map[string]*noticeList
	standings map[ident.Stream][]stood
	losses    map[string][]loss
	ended     map[string][]event.Key
	fenced    []event.Key
	spent     []string
}

// A stood is how the claim of an event of a stream was last told to stand.
type stood struct {
	seq uint64
	standing
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
	pack.Map(c, &k.standings, func(stream *ident.Stream, list *[]stood) {
		pack.String(c, stream)
		pack.List(c, list, func(of *stood) {
			pack.Uint(c, &of.seq)
			of.standing.pack(c)
		})
		for _, of := range *list {
			valid(c, event.Key{Stream: *stream, Seq: of.seq})
		}
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

// standingStates are those of live claims; each is packed as its place here.
var standingStates = []fold.StandingState{fold.StandingHeld, fold.StandingConflicted, fold.StandingExpired}

func (s *standing) pack(c *pack.Coder) {
	place := uint8(slices.Index(standingStates, s.state))
	pack.Uint(c, &place)
	c.Bool(&s.fenced)
	switch {
	case !c.Reading():
	case int(place) >= len(standingStates):
		c.Fail()
	default:
		s.state = standingStates[place]
	}
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
	valid(c, *k)
}

func valid(c *pack.Coder, k event.Key) {
	if c.Reading() && !k.Valid() {
		c.Fail()
	}
}
