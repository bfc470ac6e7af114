package store

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
)

// A PageRequest asks for a part of what is public of a session. From or Cursor
// says where it begins, not both.
type PageRequest struct {
	SessionID event.ID
	From      journal.StartPos
	Cursor    string // of the page before
	Limit     int    // items at most, up to MaxPageItems; 0 is 100
	MaxBytes  int    // of all bodies; 0 is 1 MiB. The first item is there whatever it has
}

// MaxPageItems bounds the items of a page.
const MaxPageItems = 1000

// A PublicItem is one record as the public sees it: the bytes that were stored
// for it when it was appended, and returned to whoever appended it.
type PublicItem struct {
	Seq    uint64
	Family journal.Family // FamilyEvent or FamilyOpaque
	Kind   string         // of an opaque record
	ID     string
	Body   []byte
}

// A Page is a part of what is public. A client that shows CoveredThrough as the
// end of what it knows can tell private records from missing ones.
type Page struct {
	Items []PublicItem
	// CoveredThrough is the record up to which nothing public is missing behind
	// where the page began.
	CoveredThrough uint64
	// Tip is where the journal ended when the first page was made. Later pages end
	// there too.
	Tip uint64
	// Next is the cursor of the next page, "" when Tip is reached.
	Next string
}

// Page returns a part of what is public of a session: no private record, no
// private field, and no content of any. Every record of the range is read all the
// same, and one that cannot be is an error.
func (s *Store) Page(ctx context.Context, req PageRequest) (Page, error) {
	n, err := s.names(req.SessionID)
	if err != nil {
		return Page{}, err
	}
	at, err := s.startOf(ctx, n, req)
	if err != nil {
		return Page{}, err
	}
	limit, budget := req.Limit, req.MaxBytes
	if limit == 0 {
		limit = 100
	}
	if budget == 0 {
		budget = 1 << 20
	}
	if limit < 0 || limit > MaxPageItems || budget < 0 {
		return Page{}, fmt.Errorf("page of session %s: a limit of %d items and %d bytes, want 1 to %d items", n.id, limit, budget, MaxPageItems)
	}
	p := Page{Tip: at.tip, CoveredThrough: min(at.next-1, at.tip)}
	for got, err := range s.frames(ctx, n, at.next, at.tip) {
		if err != nil {
			return Page{}, err
		}
		if got.frame.HasPublic {
			size := got.frame.Public.Size()
			if len(p.Items) == limit || len(p.Items) > 0 && size > uint64(budget) {
				break
			}
			item, err := s.item(ctx, n, got)
			if err != nil {
				return Page{}, err
			}
			p.Items = append(p.Items, item)
			budget -= min(int(size), budget)
		}
		p.CoveredThrough = got.seq
	}
	if p.CoveredThrough < at.tip {
		at.next = p.CoveredThrough + 1
		p.Next = at.String()
	}
	return p, nil
}

func (s *Store) item(ctx context.Context, n names, at located) (PublicItem, error) {
	body, err := s.content(ctx, n, at.seq, at.frame.Public)
	if err != nil {
		return PublicItem{}, err
	}
	return PublicItem{at.seq, at.frame.Family, at.frame.Kind, at.frame.ID, append([]byte{}, body...)}, nil
}

// FollowPublic yields what is public of a session from a record on, and goes on
// behind the last one until ctx ends. With from one above a page's
// CoveredThrough it joins that page without a gap. It ends with an error.
func (s *Store) FollowPublic(ctx context.Context, id event.ID, from uint64) iter.Seq2[PublicItem, error] {
	return func(yield func(PublicItem, error) bool) {
		c, err := s.open(ctx, journal.ReplayRequest{SessionID: id, From: journal.FromSeq(from), Follow: true})
		if err != nil {
			yield(PublicItem{}, err)
			return
		}
		defer c.Close()
		for {
			at, err := c.frame(ctx)
			if err != nil {
				yield(PublicItem{}, err)
				return
			}
			c.took(at)
			if !at.frame.HasPublic {
				continue
			}
			item, err := s.item(ctx, c.n, at)
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

// A position is what a cursor of pages says.
type position struct {
	scope     [sha256.Size]byte // digest of the ledger's name
	gen       uint64            // life of the ledger
	next, tip uint64
}

const (
	cursorMagic = "cmpc\x01"
	cursorBytes = len(cursorMagic) + sha256.Size + 3*8
)

func (p position) String() string {
	b := append(make([]byte, 0, cursorBytes), cursorMagic...)
	b = append(b, p.scope[:]...)
	for _, v := range []uint64{p.gen, p.next, p.tip} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// parsePosition is the inverse of String, and takes nothing else.
func parsePosition(s string) (p position, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) != cursorBytes || string(b[:len(cursorMagic)]) != cursorMagic {
		return p, false
	}
	b = b[len(cursorMagic):]
	b = b[copy(p.scope[:], b):]
	p.gen, p.next, p.tip = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])
	return p, p.next >= 1 && p.next <= p.tip && p.String() == s
}

// A CursorError reports a cursor of pages that cannot be used.
type CursorError struct {
	SessionID event.ID
	Detail    string
}

func (e *CursorError) Error() string {
	return fmt.Sprintf("page of session %s: the cursor %s; begin again without one", e.SessionID, e.Detail)
}

// startOf returns where a page begins.
func (s *Store) startOf(ctx context.Context, n names, req PageRequest) (position, error) {
	tip, err := s.b.Ledger().Tip(ctx, n.ledger)
	if err != nil {
		return position{}, readError(ctx, n, 1, err)
	}
	scope := sha256.Sum256([]byte(n.ledger))
	if req.Cursor == "" {
		return position{scope, tip.Gen, max(req.From.Seq(), 1), tip.Seq}, nil
	}
	if req.From.Seq() != 0 {
		return position{}, &CursorError{n.id, "is given beside a sequence"}
	}
	p, ok := parsePosition(req.Cursor)
	switch {
	case !ok:
		return p, &CursorError{n.id, "is none"}
	case p.scope != scope:
		return p, &CursorError{n.id, "is that of another session"}
	case p.gen != tip.Gen || p.tip > tip.Seq:
		return p, &CursorError{n.id, "is that of a journal that was deleted"}
	}
	return p, nil
}
