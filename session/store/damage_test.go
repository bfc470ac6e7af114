package store_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"reflect"
	"strings"
	"testing"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/runtimecommand"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/memstore"
)

// A spoilt backend returns other records than were stored.
type spoilt struct {
	storage.Backend
	change func(rec storage.Record) (storage.Record, error)
	blob   func(b []byte) ([]byte, error) // nil leaves blobs as they are
}

func (s spoilt) Blobs() storage.Blobs {
	if s.blob == nil {
		return s.Backend.Blobs()
	}
	return spoiltBlobs{s.Backend.Blobs(), s.blob}
}

type spoiltBlobs struct {
	storage.Blobs
	change func(b []byte) ([]byte, error)
}

func (b spoiltBlobs) Get(ctx context.Context, space string, d storage.Digest) (io.ReadCloser, error) {
	r, err := b.Blobs.Get(ctx, space, d)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	content, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if content, err = b.change(content); err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

func (s spoilt) Ledger() storage.Ledger { return spoiltLedger{s.Backend.Ledger(), s.change} }

type spoiltLedger struct {
	storage.Ledger
	change func(rec storage.Record) (storage.Record, error)
}

func (l spoiltLedger) Read(ctx context.Context, name string, from uint64) iter.Seq2[storage.Record, error] {
	return l.spoil(l.Ledger.Read(ctx, name, from))
}

func (l spoiltLedger) Follow(ctx context.Context, name string, from uint64) iter.Seq2[storage.Record, error] {
	return l.spoil(l.Ledger.Follow(ctx, name, from))
}

func (l spoiltLedger) spoil(recs iter.Seq2[storage.Record, error]) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		for rec, err := range recs {
			if err == nil {
				rec.Data = bytes.Clone(rec.Data)
				rec, err = l.change(rec)
			}
			if !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// resealed gives the bytes of a frame the checksum that they should have.
func resealed(b []byte) []byte {
	sum := crc32.Checksum(append(bytes.Clone(b[:8]), b[12:]...), crc32.MakeTable(crc32.Castagnoli))
	binary.LittleEndian.PutUint32(b[8:], sum)
	return b
}

// Each way in which a record can be unreadable: the read ends there with the
// error that names it, and returns all that is before it and nothing in its
// place; the same by every way of reading, also when it is asked again.
func TestReadingEndsAtWhatCannotBeRead(t *testing.T) {
	long := strings.Repeat("long", 1000)
	frame := func(change func(f *journal.Frame)) func(storage.Record) (storage.Record, error) {
		return func(rec storage.Record) (storage.Record, error) {
			f, err := journal.ParseFrame(rec.Data)
			if err != nil {
				return rec, err
			}
			change(f)
			rec.Data, err = f.AppendTo(nil)
			return rec, err
		}
	}
	raw := func(change func(b []byte) []byte) func(storage.Record) (storage.Record, error) {
		return func(rec storage.Record) (storage.Record, error) {
			rec.Data = change(rec.Data)
			return rec, nil
		}
	}
	type test struct {
		spoil func(storage.Record) (storage.Record, error) // of record 4
		blob  func(b []byte) ([]byte, error)
		blobs func(t *testing.T, b storage.Backend)
		cause any
	}
	blob := func(t *testing.T, b storage.Backend) storage.Digest {
		for info, err := range b.Blobs().List(t.Context(), ledger+"/content") {
			if err != nil {
				t.Fatal(err)
			}
			return info.Digest
		}
		t.Fatal("no blob")
		return storage.Digest{}
	}
	for name, tt := range map[string]test{
		"damaged in the store": {spoil: func(rec storage.Record) (storage.Record, error) {
			return storage.Record{}, &storage.DamagedError{Name: ledger, Seq: rec.Seq}
		}, cause: new(*storage.DamagedError)},
		"a bit flipped":       {spoil: raw(func(b []byte) []byte { b[len(b)-1] ^= 1; return b }), cause: new(*journal.FrameError)},
		"cut":                 {spoil: raw(func(b []byte) []byte { return b[:70] }), cause: new(*journal.FrameError)},
		"empty":               {spoil: raw(func(b []byte) []byte { return nil }), cause: new(*journal.FrameError)},
		"zeros":               {spoil: raw(func(b []byte) []byte { return make([]byte, len(b)) }), cause: new(*journal.FrameError)},
		"a newer version":     {spoil: raw(func(b []byte) []byte { b[4] = 2; return resealed(b) }), cause: new(*journal.NewerFrameError)},
		"an unknown family":   {spoil: raw(func(b []byte) []byte { b[5] = 99; return resealed(b) }), cause: new(*journal.UnknownFamilyError)},
		"another number":      {spoil: func(rec storage.Record) (storage.Record, error) { rec.Seq++; return rec, nil }, cause: new(*journal.ReplayReadError)},
		"no fence before it":  {spoil: frame(func(f *journal.Frame) { f.Epoch++ }), cause: new(*journal.OrderError)},
		"an epoch before":     {spoil: frame(func(f *journal.Frame) { f.Epoch-- }), cause: new(*journal.OrderError)},
		"half a batch":        {spoil: frame(func(f *journal.Frame) { f.Batch, f.Of = 2, 2 }), cause: new(*journal.OrderError)},
		"another chain":       {spoil: frame(func(f *journal.Frame) { f.Prev = journal.Digest{1} }), cause: new(*journal.OrderError)},
		"a bad event":         {spoil: frame(func(f *journal.Frame) { f.Body = journal.Field{Bytes: []byte("nonsense")} }), cause: new(*event.DecodeError)},
		"another id":          {spoil: frame(func(f *journal.Frame) { f.ID = "other" }), cause: new(*journal.FrameError)},
		"a content too large": {spoil: frame(func(f *journal.Frame) { f.Body.Ref.Size = 1 << 40 }), cause: new(*journal.BodyTooLargeError)},
		"a content cut":       {spoil: frame(func(f *journal.Frame) { f.Body.Ref.Size-- }), cause: new(*journal.BlobIntegrityError)},
		"a content that grew": {spoil: frame(func(f *journal.Frame) { f.Body.Ref.Size++ }), cause: new(*journal.BlobIntegrityError)},
		"another content":     {spoil: frame(func(f *journal.Frame) { f.Body.Ref.Digest[0]++ }), cause: new(*journal.BlobUnavailableError)},
		"a content changed":   {blob: func(b []byte) ([]byte, error) { b[7] ^= 1; return b, nil }, cause: new(*journal.BlobIntegrityError)},
		"a content lost":      {blob: func(b []byte) ([]byte, error) { return b[:len(b)-1], nil }, cause: new(*journal.BlobIntegrityError)},
		"a content with more": {blob: func(b []byte) ([]byte, error) { return append(b, 0), nil }, cause: new(*journal.BlobIntegrityError)},
		"a damaged content": {blob: func(b []byte) ([]byte, error) {
			return nil, &storage.DigestError{Want: storage.DigestOf(b), Size: 5}
		}, cause: new(*journal.BlobIntegrityError)},
		"a content missing": {blobs: func(t *testing.T, b storage.Backend) { b.Blobs().Delete(t.Context(), ledger+"/content", blob(t, b)) }, cause: new(*journal.BlobUnavailableError)},
	} {
		t.Run(name, func(t *testing.T) {
			b := closing(t, memstore.New())
			clean := newStore(t, b, &store.Options{InlineBytes: 1000})
			lease, err := clean.Acquire(t.Context(), session) // so that there is an epoch before that of the fence
			if err != nil {
				t.Fatal(err)
			}
			lease.Release(t.Context())
			w := open(t, clean)
			mustAppend(t, w, ev(10), note("1", "x"), journal.NewEventRecord(in(event.MessageAdded{Role: event.RoleUser, Content: event.Text(long)}, 11, event.Coordinates{Loop: loop})), note("2", "x"))
			closed(t, w)
			if tt.blobs != nil {
				// The public form is a blob of the same content: one of them is enough.
				tt.blobs(t, b)
			}
			bad := newStore(t, spoilt{Backend: b, change: func(rec storage.Record) (storage.Record, error) {
				if rec.Seq != 4 || tt.spoil == nil {
					return rec, nil
				}
				return tt.spoil(rec)
			}, blob: tt.blob}, &store.Options{InlineBytes: 1000})
			check := func(how string, read uint64, err error) {
				t.Helper()
				if read != 3 {
					t.Errorf("%s: read through record %d, want 3", how, read)
				}
				if !asAny(err, tt.cause) {
					t.Errorf("%s: ended with %v, want a %T in it", how, err, reflect.ValueOf(tt.cause).Elem().Interface())
				}
				if err == nil || !strings.Contains(err.Error(), "record 4 of "+ledger) && !strings.Contains(err.Error(), "record 4 of ledger "+ledger) {
					t.Errorf("%s: the error does not name the record: %v", how, err)
				}
			}
			for _, follow := range []bool{false, true} {
				c, err := bad.Records().Open(t.Context(), journal.ReplayRequest{SessionID: session, Follow: follow})
				if err != nil {
					t.Fatal(err)
				}
				last := uint64(0)
				for {
					_, seq, nerr := c.Next(t.Context())
					if err = nerr; err != nil {
						break
					}
					last = seq
				}
				check(fmt.Sprint("records, follow ", follow), last, err)
				_, _, err = c.Next(t.Context())
				check("asked again", 3, err)
				c.Close()
			}
			r, err := bad.Verify(t.Context(), session)
			if err != nil || len(r.Problems) == 0 || r.Problems[0].Seq != 4 || r.Problems[0].Ledger != ledger || !asAny(r.Problems[0].Err, tt.cause) || r.Good() {
				t.Errorf("Verify = %+v, %v", r, err)
			}
			if r.Records < 3 || r.Tip != 5 {
				t.Errorf("Verify counts %d good records up to %d", r.Records, r.Tip)
			}
			var file bytes.Buffer
			_, err = bad.Export(t.Context(), session, &file)
			check("export", 3, err)
		})
	}
}

func asAny(err error, target any) bool {
	if err == nil {
		return false
	}
	fresh := reflect.New(reflect.TypeOf(target).Elem()).Interface()
	return errors.As(err, fresh)
}

func TestVerifyOfAGoodSession(t *testing.T) {
	each(t, func(t *testing.T, b storage.Backend) {
		s := newStore(t, b, &store.Options{InlineBytes: 1000, Chain: true, CheckpointRecords: 3})
		full(t, s)
		r, err := s.Verify(t.Context(), session)
		if err != nil || !r.Good() || r.Records != r.Tip || r.Tip == 0 || r.Blobs == 0 {
			t.Errorf("Verify = %+v, %v", r, err)
		}
		if r, err := s.Verify(t.Context(), id(77)); err != nil || !r.Good() || r.Tip != 0 {
			t.Errorf("Verify of a session that is not there = %+v, %v", r, err)
		}
	})
}

// full writes a session with something of everything, by two owners.
func full(t testing.TB, s *store.Store) {
	t.Helper()
	w := open(t, s)
	app := runtimecommand.Application{CommandID: "req", CommandKind: runtimecommand.KindInput, LeaseEpoch: w.Epoch(), RuntimeID: id(50)}
	mustAppend(t, w, ev(10), phased(11, "intent"), prepared(12, 900), note("long", strings.Repeat("x", 5000)), note("same", strings.Repeat("x", 5000)))
	mustAppend(t, w, journal.OpaqueRecord{Kind: "other", ID: "public", Body: []byte("b"), Public: bytes.Repeat([]byte("p"), 3000)})
	if _, err := w.AppendBatch(t.Context(), journal.NewCommandApplicationRecord(app), note("a", "1"), note("b", "2")); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, w, journal.NewCommandDispositionRecord(runtimecommand.Disposition{
		AttemptEpoch: w.Epoch(), AttemptID: "a", CommandID: "req", CommandKind: runtimecommand.KindInput, LeaseEpoch: w.Epoch(), Result: runtimecommand.Applied, RuntimeID: id(50),
	}))
	closed(t, w)
	w = open(t, s)
	mustAppend(t, w, phased(11, "fallback_queued"), ev(13).WithDigest(journal.Digest{7}))
	closed(t, w)
}

// A chained journal shows a history that was changed, even when every checksum
// is right.
func TestChainShowsAChangedHistory(t *testing.T) {
	for _, chain := range []bool{true, false} {
		b := closing(t, memstore.New())
		s := newStore(t, b, &store.Options{Chain: chain})
		w := open(t, s)
		mustAppend(t, w, note("1", "true"), note("2", "x"))
		closed(t, w)
		w = open(t, s)
		mustAppend(t, w, note("3", "x"))
		if r, err := s.Verify(t.Context(), session); err != nil || !r.Good() {
			t.Errorf("chained %v: Verify = %+v, %v", chain, r, err)
		}
		forged := newStore(t, spoilt{Backend: b, change: func(rec storage.Record) (storage.Record, error) {
			if rec.Seq == 2 {
				rec.Data = resealed(bytes.Replace(rec.Data, []byte("true"), []byte("fake"), 1))
			}
			return rec, nil
		}}, nil)
		_, _, err := replayed(t, forged, journal.ReplayRequest{})
		if _, found := as[*journal.OrderError](err); found != chain {
			t.Errorf("chained %v: replay of a forged history ended with %v", chain, err)
		}
	}
}

// What cannot be read is left out of the copy and named, and the copy is good:
// for damage in each record in turn.
func TestRepairToACopy(t *testing.T) {
	b := closing(t, memstore.New())
	s := newStore(t, b, &store.Options{InlineBytes: 1000, Chain: true})
	full(t, s)
	clean, _, err := replayed(t, s, journal.ReplayRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for at := uint64(0); at <= uint64(len(clean)); at++ {
		t.Run(fmt.Sprint("record ", at), func(t *testing.T) {
			bad := newStore(t, spoilt{Backend: b, change: func(rec storage.Record) (storage.Record, error) {
				if rec.Seq == at {
					return storage.Record{}, &storage.DamagedError{Name: ledger, Seq: at}
				}
				return rec, nil
			}}, nil)
			there := closing(t, memstore.New())
			dst := newStore(t, there, nil)
			r, err := bad.Repair(t.Context(), session, dst, session)
			if err != nil {
				t.Fatal(err)
			}
			var before string
			for i, raw := range frames(t, there) { // it is chained as the original was
				f, err := journal.ParseFrame([]byte(raw))
				if err != nil {
					t.Fatal(err)
				}
				fence := f.Family == journal.FamilyFence && r.Fences > 0 // written anew, without a chain
				if i > 0 && !fence && f.Prev != journal.DigestOf([]byte(before)) {
					t.Errorf("record %d of the copy is not chained to the one before it", i+1)
				}
				before = raw
			}
			dropped := make(map[uint64]bool)
			for _, p := range r.Dropped {
				if dropped[p.Seq] || p.Err == nil || p.Ledger != ledger {
					t.Errorf("dropped twice, or without a reason: %+v", p)
				}
				dropped[p.Seq] = true
			}
			if dropped[at] != (at > 0) || at == 0 && len(dropped) > 0 {
				t.Errorf("dropped %v", r.Dropped)
			}
			// Order, content and ids stay; records of the same batch, and those that
			// make no sense without the lost one, go with it.
			var want, got []string
			for i, rec := range clean {
				if !dropped[uint64(i+1)] {
					want = append(want, text(t, rec))
				}
			}
			copied, _, err := replayed(t, dst, journal.ReplayRequest{})
			if err != nil {
				t.Fatal(err)
			}
			for _, rec := range copied {
				got = append(got, text(t, rec))
			}
			if r.Fences > 0 { // one was written anew
				want, got = withoutFences(want), withoutFences(got)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("the copy has\n%.2000s, want\n%.2000s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if len(dropped) > 4 { // a batch of three, and the end of what it began
				t.Errorf("one damaged record cost %d: %v", len(dropped), r.Dropped)
			}
			if v, err := dst.Verify(t.Context(), session); err != nil || !v.Good() || v.Tip != r.Records {
				t.Errorf("Verify of the copy = %+v, %v; %+v", v, err, r)
			}
			w := open(t, dst)
			mustAppend(t, w, note("goes on", "x"))
			closed(t, w)
			if v, err := dst.Verify(t.Context(), session); err != nil || !v.Good() {
				t.Errorf("Verify behind it = %+v, %v", v, err)
			}
		})
	}
	if got := all(t, s); len(got) != len(clean) {
		t.Errorf("the original has changed: %d records", len(got))
	}
	_, err = s.Repair(t.Context(), session, s, session)
	if e := want[*store.SessionExistsError](t, "Repair onto itself", err); e.Seq != uint64(len(clean)) {
		t.Errorf("it says %+v", e)
	}
	newer := newStore(t, spoilt{Backend: b, change: func(rec storage.Record) (storage.Record, error) {
		if rec.Seq == 3 {
			rec.Data[4] = 2
			resealed(rec.Data)
		}
		return rec, nil
	}}, nil)
	_, err = newer.Repair(t.Context(), session, newStore(t, closing(t, memstore.New()), nil), session)
	want[*journal.NewerFrameError](t, "Repair of a newer journal", err)
	schema := newStore(t, spoilt{Backend: b, change: func(rec storage.Record) (storage.Record, error) {
		if rec.Seq == 3 {
			rec.Data[12] = 9
			resealed(rec.Data)
		}
		return rec, nil
	}}, nil)
	_, err = schema.Repair(t.Context(), session, newStore(t, closing(t, memstore.New()), nil), session)
	want[*journal.NewerSchemaError](t, "Repair of a body of a newer form", err)
}

// text tells a record from every other one.
func text(t testing.TB, rec journal.JournalRecord) string {
	t.Helper()
	f, err := (*journal.Kinds)(nil).Encode(session, rec)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(f.Family, " ", f.Route, " ", f.ID, " ", f.Fingerprint())
}

func withoutFences(list []string) (out []string) {
	for _, s := range list {
		if !strings.HasPrefix(s, "fence ") {
			out = append(out, s)
		}
	}
	return out
}

// A journal that a newer build went on with is neither read past nor written.
func TestJournalOfANewerBuild(t *testing.T) {
	b := closing(t, memstore.New())
	s := newStore(t, b, nil)
	w := open(t, s)
	mustAppend(t, w, note("1", "x"))
	closed(t, w)
	newer := newStore(t, spoilt{Backend: b, change: func(rec storage.Record) (storage.Record, error) {
		if rec.Seq == 2 {
			rec.Data[4] = 2
			resealed(rec.Data)
		}
		return rec, nil
	}}, nil)
	before := tip(t, b)
	err := second(newer.Open(t.Context(), session, nil))
	want[*journal.NewerFrameError](t, "Open", err)
	if e := want[*journal.ReplayDecodeError](t, "Open", err); e.Seq != 2 || e.Subject != ledger {
		t.Errorf("it says %+v", e)
	}
	if tip(t, b) != before {
		t.Error("a fence was written into it")
	}
}

// Records that are whole, and cannot be true together: no writer of ours makes
// them, and Verify names the later one.
func TestVerifyHoldsRecordsToEachOther(t *testing.T) {
	app := runtimecommand.Application{CommandID: "req", CommandKind: runtimecommand.KindInput, LeaseEpoch: 1, RuntimeID: id(50)}
	end := func(attempt string, runtime event.ID) journal.JournalRecord {
		return journal.NewCommandDispositionRecord(runtimecommand.Disposition{
			AttemptEpoch: 1, AttemptID: attempt, CommandID: "req", CommandKind: runtimecommand.KindInput, LeaseEpoch: 1, Result: runtimecommand.Applied, RuntimeID: runtime,
		})
	}
	fence := journal.NewFenceRecord(session, journal.LeaseFence{Epoch: 1})
	begun := journal.NewCommandApplicationRecord(app)
	for name, tt := range map[string]struct {
		recs []journal.JournalRecord
		bad  uint64 // 0 for none
	}{
		"nothing wrong":                {[]journal.JournalRecord{fence, fence, note("1", "x"), begun, end("a", id(50)), phased(5, "intent"), phased(5, "fallback_queued")}, 0},
		"an id twice":                  {[]journal.JournalRecord{fence, note("1", "x"), note("2", "x"), note("1", "x")}, 4},
		"an id with two contents":      {[]journal.JournalRecord{fence, ev(10), journal.NewEventRecord(in(event.SessionStopped{}, 10, event.Coordinates{}))}, 3},
		"a fallback without an intent": {[]journal.JournalRecord{fence, phased(5, "fallback_queued")}, 2},
		"an end without a beginning":   {[]journal.JournalRecord{fence, end("a", id(50))}, 2},
		"the end of another command":   {[]journal.JournalRecord{fence, begun, end("a", id(51))}, 3},
		"two ends":                     {[]journal.JournalRecord{fence, begun, end("a", id(50)), end("b", id(50))}, 4},
	} {
		b := closing(t, memstore.New())
		at := storage.Tip{}
		for i, rec := range tt.recs {
			f, err := (*journal.Kinds)(nil).Encode(session, rec)
			if err != nil {
				t.Fatal(err)
			}
			f.Epoch, f.Token, f.Batch, f.Of = 1, journal.Token{byte(i + 1)}, 1, 1
			raw, err := f.AppendTo(nil)
			if err != nil {
				t.Fatal(err)
			}
			if at, err = b.Ledger().Append(t.Context(), ledger, at, raw); err != nil {
				t.Fatal(err)
			}
		}
		s := newStore(t, b, nil)
		r, err := s.Verify(t.Context(), session)
		switch {
		case err != nil || r.Good() != (tt.bad == 0):
			t.Errorf("%s: Verify = %+v, %v", name, r, err)
		case tt.bad != 0:
			e := want[*store.InconsistentError](t, name, r.Problems[0].Err)
			if len(r.Problems) != 1 || e.Seq != tt.bad || e.Subject != ledger || e.Detail == "" {
				t.Errorf("%s: Verify = %+v", name, r)
			}
		}
		dst := newStore(t, closing(t, memstore.New()), nil)
		copied, err := s.Repair(t.Context(), session, dst, session)
		if err != nil || (len(copied.Dropped) == 1) != (tt.bad != 0) {
			t.Errorf("%s: Repair = %+v, %v", name, copied, err)
		}
		if r, err := dst.Verify(t.Context(), session); err != nil || !r.Good() {
			t.Errorf("%s: Verify of the copy = %+v, %v", name, r, err)
		}
	}
}
