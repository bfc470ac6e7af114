package journal_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/comity-dev/comity/session/command"
	"github.com/comity-dev/comity/session/journal"
)

func TestIndex(t *testing.T) {
	var x journal.IdempotencyIndex
	a, b := journal.FingerprintOf("event", []byte("a")), journal.FingerprintOf("event", []byte("b"))
	check := func(id string, fp journal.Fingerprint, wantSeq uint64, wantSeen bool) {
		t.Helper()
		if seq, seen, err := x.Check(id, fp); seq != wantSeq || seen != wantSeen || err != nil {
			t.Errorf("Check(%s) = %d, %v, %v, want %d, %v", id, seq, seen, err, wantSeq, wantSeen)
		}
	}
	check("1", a, 0, false)
	x.Observe("1", 5, a)
	check("1", a, 5, true)
	check("2", a, 0, false)
	var collision *journal.IdempotencyCollisionError
	if seq, seen, err := x.Check("1", b); !errors.As(err, &collision) || collision.ID != "1" || collision.Seq != 5 || seq != 0 || seen {
		t.Errorf("Check with other content = %d, %v, %v, want a collision with record 5", seq, seen, err)
	}
	check("1", a, 5, true) // a check changes nothing
	x.Observe("1", 6, b)
	check("1", b, 6, true)
	if x.Len() != 1 {
		t.Errorf("Len = %d, want 1", x.Len())
	}
	if journal.NewIdempotencyIndex().Len() != 0 {
		t.Error("a new index is not empty")
	}
}

// Two records have one fingerprint if and only if they would be stored alike.
func TestFingerprints(t *testing.T) {
	fp := func(rec journal.JournalRecord) journal.Fingerprint { return mustEncode(t, nil, rec).Fingerprint() }
	later := started(10)
	later.CreatedAt++
	opaque := func(change func(r *journal.OpaqueRecord)) journal.OpaqueRecord {
		r := journal.OpaqueRecord{Kind: "k", ID: "i", Body: []byte("b"), Public: []byte("p")}
		change(&r)
		return r
	}
	cmd := input(11, command.PhaseNone)
	groups := [][]journal.JournalRecord{ // alike within, different between
		{journal.NewEventRecord(started(10)), journal.NewEventRecord(started(10))},
		{journal.NewEventRecord(later)},
		{journal.NewEventRecord(later).WithDigest(journal.Digest{1}), journal.NewEventRecord(started(10)).WithDigest(journal.Digest{1})},
		{journal.NewEventRecord(later).WithDigest(journal.Digest{2})},
		{journal.NewCommandRecord(session, loop, cmd), journal.NewCommandRecord(session, loop, cmd)},
		{journal.NewCommandRecord(session, id(9), cmd)}, // the route is stored, so it counts
		{journal.NewCommandRecord(session, "", cmd)},
		{opaque(func(*journal.OpaqueRecord) {}), opaque(func(r *journal.OpaqueRecord) { r.Schema = 1 })},
		{opaque(func(r *journal.OpaqueRecord) { r.Body = []byte("c") })},
		{opaque(func(r *journal.OpaqueRecord) { r.Public = []byte("q") })},
		{opaque(func(r *journal.OpaqueRecord) { r.Public = nil })},
		{opaque(func(r *journal.OpaqueRecord) { r.Kind = "kk" })},
		{opaque(func(r *journal.OpaqueRecord) { r.Schema = 2 })},
		{opaque(func(r *journal.OpaqueRecord) { r.Body, r.Digest = []byte("c"), journal.Digest{1} }), opaque(func(r *journal.OpaqueRecord) { r.Digest = journal.Digest{1} })},
		{everyRecord()[journal.FamilyApplication]},
		{everyRecord()[journal.FamilyGatePrepared]},
	}
	for i, g := range groups {
		for j, h := range groups {
			for _, a := range g {
				for _, b := range h {
					if same := fp(a) == fp(b); same != (i == j) {
						t.Errorf("fingerprints of %+v and %+v equal: %v", a, b, same)
					}
				}
			}
		}
	}
	kind, sum := fp(everyRecord()[journal.FamilyEvent]).Parts()
	if journal.FingerprintOfParts(kind, sum) != fp(everyRecord()[journal.FamilyEvent]) {
		t.Error("a fingerprint does not come back from its parts")
	}
}

// What is appended is what is returned, for each family and with a digest.
func TestAppendedKeysAndFingerprints(t *testing.T) {
	recs := []journal.JournalRecord{journal.NewEventRecord(started(10)).WithDigest(journal.Digest{1})}
	for _, rec := range everyRecord() {
		recs = append(recs, rec)
	}
	for _, rec := range recs {
		f := mustEncode(t, nil, rec)
		if got := string(f.AppendIndexKey([]byte("x"))); got != "x"+f.IndexKey() || f.IndexKey() != journal.IndexKey(f.Family, f.Kind, f.ID) {
			t.Errorf("key %q appended, %q returned", got, f.IndexKey())
		}
		kind, sum := f.Fingerprint().Parts()
		if got := string(f.AppendFingerprint([]byte("x"))); got != "x"+kind+"\x00"+string(sum[:]) {
			t.Errorf("fingerprint %q appended, %q and %v returned", got, kind, sum)
		}
	}
}

// A frame can be used again: nothing of the record before it stays.
func TestEncodeIntoAUsedFrame(t *testing.T) {
	for _, first := range everyRecord() {
		for _, second := range everyRecord() {
			f := new(journal.Frame)
			for _, rec := range []journal.JournalRecord{first, second} {
				if err := (*journal.Kinds)(nil).EncodeTo(f, session, rec); err != nil {
					t.Fatal(err)
				}
			}
			if want := mustEncode(t, nil, second); !reflect.DeepEqual(f, want) {
				t.Errorf("behind a %T: %+v, want %+v", first, f, want)
			}
		}
	}
}

// What is stored elsewhere has the fingerprint of what is stored in the frame.
func TestFingerprintDoesNotNeedTheContent(t *testing.T) {
	f := mustEncode(t, nil, everyRecord()[journal.FamilyOpaque])
	g := *f
	g.Body = journal.Field{Ref: journal.Ref{Digest: journal.DigestOf(f.Body.Bytes), Size: uint64(len(f.Body.Bytes))}}
	g.Public = journal.Field{Ref: journal.Ref{Digest: journal.DigestOf(f.Public.Bytes), Size: uint64(len(f.Public.Bytes))}}
	if f.Fingerprint() != g.Fingerprint() {
		t.Error("it changed when the content was stored elsewhere")
	}
	if want := uint64(len(f.Body.Bytes)); want == 0 || f.Body.Size() != want || g.Body.Size() != want {
		t.Errorf("sizes %d in the frame and %d elsewhere, want %d", f.Body.Size(), g.Body.Size(), want)
	}
}

func TestDeliveryPhases(t *testing.T) {
	intent := journal.NewCommandRecord(session, loop, input(5, command.PhaseIntent))
	fallback := journal.NewCommandRecord(session, loop, input(5, command.PhaseFallbackQueued))
	other := input(5, command.PhaseFallbackQueued)
	other.CreatedAt = 1
	otherFallback := journal.NewCommandRecord(session, loop, other)
	fp, err := intent.NormalizedDeliveryFingerprint()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := fallback.NormalizedDeliveryFingerprint(); err != nil || got != fp {
		t.Errorf("the phases differ in more than the phase: %v", err)
	}
	if got, err := otherFallback.NormalizedDeliveryFingerprint(); err != nil || got == fp {
		t.Errorf("another content has the same fingerprint, %v", err)
	}
	var refused *journal.DeliveryTransitionError
	if _, err := journal.NewCommandRecord(session, loop, input(5, command.PhaseNone)).NormalizedDeliveryFingerprint(); !errors.As(err, &refused) {
		t.Errorf("fingerprint without a phase: %v", err)
	}
	with := func(i, f uint64) journal.Delivery { return journal.Delivery{Fingerprint: fp, Intent: i, Fallback: f} }
	for _, tt := range []struct {
		name string
		d    journal.Delivery
		rec  journal.CommandRecord
		why  string // "" when it is admitted
	}{
		{"no phase", with(3, 4), journal.NewCommandRecord(session, loop, input(5, command.PhaseNone)), ""},
		{"first intent", journal.Delivery{}, intent, ""},
		{"intent again", with(3, 0), intent, "its intent is durable already"},
		{"intent with other content", journal.Delivery{Fingerprint: journal.FingerprintOf("x", nil), Intent: 3}, intent, "its intent is durable with other content"},
		{"fallback behind its intent", with(3, 0), fallback, ""},
		{"fallback first", journal.Delivery{}, fallback, "no intent is durable before it"},
		{"fallback with other content", with(3, 0), otherFallback, "its content is not that of the intent"},
		{"fallback again", with(3, 4), fallback, "its fallback is durable already"},
	} {
		err := tt.d.Admit(tt.rec)
		if (err == nil) != (tt.why == "") {
			t.Errorf("%s: Admit = %v, want %q", tt.name, err, tt.why)
		}
		if err != nil && (!errors.As(err, &refused) || refused.CommandID != id(5) || refused.Reason != tt.why) {
			t.Errorf("%s: Admit = %v, want a *DeliveryTransitionError of the command: %s", tt.name, err, tt.why)
		}
		if want := map[string]uint64{"no intent is durable before it": 0, "its fallback is durable already": 4}; err != nil {
			if seq, ok := want[tt.why]; refused.Seq != seq && (ok || refused.Seq != 3) {
				t.Errorf("%s: it names record %d", tt.name, refused.Seq)
			}
		}
	}
	if p := fallback.PhysicalID(); p.CommandID != id(5) || p.Phase != command.PhaseFallbackQueued || fallback.LogicalCommandID() != id(5) {
		t.Errorf("PhysicalID = %+v", p)
	}
	if journal.IsFallbackID(intent.IdempotencyID()) || !journal.IsFallbackID(fallback.IdempotencyID()) {
		t.Error("IsFallbackID takes one for the other")
	}
}

func TestRoutes(t *testing.T) {
	human := input(5, command.PhaseNone)
	human.Agency = "human"
	noFold := input(5, command.PhaseNone)
	noFold.Body = command.UserInput{NoFold: true, Target: loop}
	var mismatch *journal.CommandRouteMismatchError
	for _, tt := range []struct {
		name  string
		route int
		cmd   command.Command
		ok    bool
	}{
		{"phased, to its target", 2, input(5, command.PhaseIntent), true},
		{"phased, elsewhere", 9, input(5, command.PhaseIntent), false},
		{"phased, replayed without a route", 0, input(5, command.PhaseIntent), true},
		{"not folded, elsewhere", 9, noFold, false},
		{"a person's, elsewhere", 9, human, true},
		{"plain, elsewhere", 9, input(5, command.PhaseNone), true},
	} {
		route := id(tt.route)
		if tt.route == 0 {
			route = ""
		}
		err := journal.ValidateCommandRecordRoute(journal.NewCommandRecord(session, route, tt.cmd))
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v, want ok: %v", tt.name, err, tt.ok)
		}
		if err != nil && (!errors.As(err, &mismatch) || mismatch.RecordLoopID != route || mismatch.TargetLoopID != loop) {
			t.Errorf("%s: %v, want a *CommandRouteMismatchError with both loops", tt.name, err)
		}
	}
	if err := journal.ValidateCommandRecordRoute(journal.CommandRecord{}); err == nil || errors.As(err, &mismatch) {
		t.Errorf("a command that is none: %v", err)
	}
}
