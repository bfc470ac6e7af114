package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/comity-dev/comity/session/command"
	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
	"github.com/comity-dev/comity/session/journal"
)

func mustEncode(t testing.TB, k *journal.Kinds, rec journal.JournalRecord) *journal.Frame {
	t.Helper()
	f, err := k.Encode(session, rec)
	if err != nil {
		t.Fatalf("Encode(%T): %v", rec, err)
	}
	return f
}

func TestRecordsComeBackAsTheyWere(t *testing.T) {
	recs := everyRecord()
	for i, rec := range []journal.JournalRecord{
		journal.NewEventRecord(noted(20)),
		journal.NewEventRecord(started(21)).WithDigest(journal.Digest{1}),
		journal.NewCommandRecord(session, "", input(22, command.PhaseIntent)),
		journal.NewCommandRecord(session, loop, input(23, command.PhaseFallbackQueued)).WithDigest(journal.Digest{2}),
		journal.OpaqueRecord{Kind: "k", ID: "i", Schema: 2, Digest: journal.Digest{3}},
		journal.OpaqueRecord{Kind: "k", ID: "i", Schema: 1, Body: []byte{}, Public: []byte{}},
	} {
		recs[journal.Family(100+i)] = rec
	}
	for _, rec := range recs {
		f := mustEncode(t, nil, rec)
		raw, err := stored(f).AppendTo(nil)
		if err != nil {
			t.Fatalf("%T: %v", rec, err)
		}
		back, err := journal.ParseFrame(raw)
		if err != nil {
			t.Fatalf("%T: %v", rec, err)
		}
		got, err := (*journal.Kinds)(nil).Decode(session, back)
		if err != nil {
			t.Errorf("Decode(%T): %v", rec, err)
			continue
		}
		if want, ok := rec.(journal.OpaqueRecord); ok { // nil and empty are one body
			got := got.(journal.OpaqueRecord)
			if !bytes.Equal(got.Body, want.Body) || (got.Public == nil) != (want.Public == nil) || !bytes.Equal(got.Public, want.Public) ||
				got.Kind != want.Kind || got.ID != want.ID || got.Schema != want.Schema || got.Digest != want.Digest {
				t.Errorf("opaque record came back as %+v, want %+v", got, want)
			}
		} else if !reflect.DeepEqual(got, rec) {
			t.Errorf("%T came back as %+v, want %+v", rec, got, rec)
		}
		if back.Fingerprint() != f.Fingerprint() {
			t.Errorf("%T: its fingerprint changed when it was stored", rec)
		}
	}
}

func TestIdsOfRecords(t *testing.T) {
	for family, want := range map[journal.Family]string{
		journal.FamilyEvent:        string(id(10)),
		journal.FamilyCommand:      string(id(11)),
		journal.FamilyFence:        "7",
		journal.FamilyGatePrepared: string(id(12)),
		journal.FamilyApplication:  "command-application:req-1",
		journal.FamilyDisposition:  "command-disposition:attempt-1",
		journal.FamilyOpaque:       "n1",
	} {
		rec := everyRecord()[family]
		if got := rec.IdempotencyID(); got != want {
			t.Errorf("%v: id %q, want %q", family, got, want)
		}
		if got, ok := journal.FamilyOf(rec); !ok || got != family {
			t.Errorf("FamilyOf(%T) = %v, %v, want %v", rec, got, ok, family)
		}
		f := mustEncode(t, nil, rec)
		if f.Family != family || f.ID != want {
			t.Errorf("%v is stored as %v %q", family, f.Family, f.ID)
		}
	}
	if got := journal.NewCommandRecord(session, loop, input(5, command.PhaseIntent)).IdempotencyID(); got != string(id(5)) {
		t.Errorf("id of an intent is %q", got)
	}
	if got := journal.NewCommandRecord(session, loop, input(5, command.PhaseFallbackQueued)).IdempotencyID(); got != string(id(5))+"/fallback_queued" {
		t.Errorf("id of a fallback is %q", got)
	}
}

func TestEachFamilyHasItsOwnIds(t *testing.T) {
	keys := make(map[string]journal.Family)
	for f := journal.FamilyEvent; f <= journal.FamilyOpaque; f++ {
		key := journal.IndexKey(f, "", "7")
		if other, ok := keys[key]; ok {
			t.Errorf("%v and %v share the key %q", f, other, key)
		}
		keys[key] = f
	}
	if journal.IndexKey(journal.FamilyOpaque, "a", "b") == journal.IndexKey(journal.FamilyOpaque, "c", "b") {
		t.Error("two kinds of opaque records share a key")
	}
	// No kind can end where another's id begins: none has a colon.
	if _, err := stored(&journal.Frame{Family: journal.FamilyOpaque, Kind: "a:b", ID: "c", Schema: 1}).AppendTo(nil); err == nil {
		t.Error("a frame took a kind with a colon")
	}
}

func TestRecordsThatCannotBeStored(t *testing.T) {
	ephemeral := started(1)
	ephemeral.Body, ephemeral.At.Loop, ephemeral.At.Turn = event.ToolProgressed{Call: id(9)}, loop, turn
	elsewhere := started(1)
	elsewhere.At.Session = id(99)
	otherGate := journal.NewGatePreparedRecord(prepared(1), gate.Payload{Form: &gate.Form{Fields: []gate.Field{{Name: "f", Type: gate.FieldText}}}})
	elsewhereGate := prepared(1)
	elsewhereGate.At.Session = id(99)
	for name, tt := range map[string]struct {
		rec  journal.JournalRecord
		want any // a pointer to an error type, or nil for any error
	}{
		"nil":                         {nil, new(*journal.RecordKindError)},
		"a pointer to a record":       {&journal.FenceRecord{}, new(*journal.RecordKindError)},
		"a record in a struct":        {struct{ journal.EventRecord }{}, new(*journal.RecordKindError)},
		"event without a body":        {journal.EventRecord{}, nil},
		"event without an id":         {journal.NewEventRecord(event.Event{Header: event.Header{At: event.Coordinates{Session: session}}, Body: event.SessionStarted{}}), nil},
		"ephemeral event":             {journal.NewEventRecord(ephemeral), new(*event.EphemeralNotPersistableError)},
		"event of another session":    {journal.NewEventRecord(elsewhere), nil},
		"prepared gate as an event":   {journal.NewEventRecord(prepared(1)), nil},
		"gate with another's payload": {otherGate, new(*journal.GatePreparedEncodeError)},
		"gate without a payload":      {journal.NewGatePreparedRecord(prepared(1), gate.Payload{}), new(*journal.GatePreparedEncodeError)},
		"gate of another event":       {journal.NewGatePreparedRecord(started(1), permission), new(*journal.GatePreparedEncodeError)},
		"gate of another session":     {journal.NewGatePreparedRecord(elsewhereGate, permission), nil},
		"command of another session":  {journal.NewCommandRecord(id(99), loop, everyRecord()[journal.FamilyCommand].(journal.CommandRecord).Command()), nil},
		"fence of another session":    {journal.NewFenceRecord(id(99), journal.LeaseFence{Epoch: 7}), nil},
		"command without a body":      {journal.CommandRecord{}, new(*command.UnknownCommandTypeError)},
		"fence of epoch 0":            {journal.FenceRecord{}, new(*journal.FenceEncodeError)},
		"fence above 2^53":            {journal.NewFenceRecord(session, journal.LeaseFence{Epoch: 1 << 53}), new(*journal.FenceEncodeError)},
		"application of nothing":      {journal.CommandApplicationRecord{}, new(*journal.CommandApplicationEncodeError)},
		"disposition of nothing":      {journal.CommandDispositionRecord{}, new(*journal.CommandDispositionEncodeError)},
		"opaque without a kind":       {journal.OpaqueRecord{ID: "i"}, new(*journal.FrameError)},
		"opaque without an id":        {journal.OpaqueRecord{Kind: "k"}, new(*journal.FrameError)},
		"opaque with a hostile kind":  {journal.OpaqueRecord{Kind: "../k", ID: "i"}, new(*journal.FrameError)},
		"opaque with a long id":       {journal.OpaqueRecord{Kind: "k", ID: strings.Repeat("i", 513)}, new(*journal.FrameError)},
		"opaque with an id in bytes":  {journal.OpaqueRecord{Kind: "k", ID: "\xff"}, new(*journal.FrameError)},
	} {
		f, err := (*journal.Kinds)(nil).Encode(session, tt.rec)
		if err == nil || f != nil {
			t.Errorf("%s: Encode = %v, %v, want an error", name, f, err)
		} else if tt.want != nil && !errors.As(err, tt.want) {
			t.Errorf("%s: Encode = %v (%T), want %T", name, err, err, tt.want)
		}
	}
}

func TestContentsThatDoNotFitTheirFrame(t *testing.T) {
	frame := func(family journal.Family, change func(f *journal.Frame)) *journal.Frame {
		f := stored(mustEncode(t, nil, everyRecord()[family]))
		change(f)
		return f
	}
	for name, f := range map[string]*journal.Frame{
		"another id":              frame(journal.FamilyEvent, func(f *journal.Frame) { f.ID = string(id(77)) }),
		"another phase":           frame(journal.FamilyCommand, func(f *journal.Frame) { f.ID += "/fallback_queued" }),
		"fence of another epoch":  frame(journal.FamilyFence, func(f *journal.Frame) { f.Epoch = 8 }),
		"fence of another id":     frame(journal.FamilyFence, func(f *journal.Frame) { f.ID = "07" }),
		"application elsewhere":   frame(journal.FamilyApplication, func(f *journal.Frame) { f.Epoch = 8 }),
		"disposition elsewhere":   frame(journal.FamilyDisposition, func(f *journal.Frame) { f.Epoch = 6 }),
		"no event":                frame(journal.FamilyEvent, func(f *journal.Frame) { f.Body.Bytes = []byte("{}") }),
		"no command":              frame(journal.FamilyCommand, func(f *journal.Frame) { f.Body.Bytes = nil }),
		"no gate":                 frame(journal.FamilyGatePrepared, func(f *journal.Frame) { f.Body.Bytes = []byte(`{"payload":{},"prepared":{}}`) }),
		"gate with another field": frame(journal.FamilyGatePrepared, func(f *journal.Frame) { f.Body.Bytes = []byte(`{"a":1}`) }),
		"no application":          frame(journal.FamilyApplication, func(f *journal.Frame) { f.Body.Bytes = []byte(`{}`) }),
		"no disposition":          frame(journal.FamilyDisposition, func(f *journal.Frame) { f.Body.Bytes = []byte(`{}`) }),
		"command as an event":     frame(journal.FamilyCommand, func(f *journal.Frame) { f.Family, f.Route = journal.FamilyEvent, "" }),
		"internal event with a public form": frame(journal.FamilyEvent, func(f *journal.Frame) {
			e := started(10)
			e.Visibility, e.Body = event.Internal, event.AuditNoted{Activity: "a", Phase: event.PhaseStarted}
			b, err := (*event.Kinds)(nil).Encode(e)
			if err != nil {
				t.Fatal(err)
			}
			f.Body.Bytes = b
		}),
		"route that is no id": frame(journal.FamilyCommand, func(f *journal.Frame) { f.Route = "here" }),
		"newer event":         frame(journal.FamilyEvent, func(f *journal.Frame) { f.Schema = 2 }),
		"prepared gate as an event": frame(journal.FamilyEvent, func(f *journal.Frame) {
			b, err := (*event.Kinds)(nil).Encode(prepared(10))
			if err != nil {
				t.Fatal(err)
			}
			f.Body.Bytes = b
		}),
		"unknown family": {Family: 99},
	} {
		if rec, err := (*journal.Kinds)(nil).Decode(session, f); err == nil || rec != nil {
			t.Errorf("%s: Decode = %v, %v, want an error", name, rec, err)
		}
	}
	// Bytes of an unknown kind or a later version are told from damage.
	f := frame(journal.FamilyEvent, func(f *journal.Frame) {
		f.Body.Bytes = bytes.Replace(f.Body.Bytes, []byte("session_started"), []byte("session_renamed"), 1)
	})
	var unknown *event.UnknownEventTypeError
	if _, err := (*journal.Kinds)(nil).Decode(session, f); !errors.As(err, &unknown) {
		t.Errorf("an unknown event: %v", err)
	}
	f = frame(journal.FamilyEvent, func(f *journal.Frame) {
		f.Body.Bytes = bytes.Replace(f.Body.Bytes, []byte(`"v":1`), []byte(`"v":9`), 1)
	})
	var newer *event.UnsupportedSchemaError
	if _, err := (*journal.Kinds)(nil).Decode(session, f); !errors.As(err, &newer) {
		t.Errorf("an event of a later version: %v", err)
	}
}

func TestPublicForms(t *testing.T) {
	f := mustEncode(t, nil, journal.NewEventRecord(started(10)))
	if !f.HasPublic || f.Projection != 1 || bytes.Contains(f.Public.Bytes, []byte("/home/ada")) || !bytes.Contains(f.Body.Bytes, []byte("/home/ada")) {
		t.Errorf("public form of a public event: %v, version %d: %s", f.HasPublic, f.Projection, f.Public.Bytes)
	}
	if f := mustEncode(t, nil, journal.NewEventRecord(noted(11))); f.HasPublic {
		t.Errorf("an internal event has a public form: %s", f.Public.Bytes)
	}
	for family, rec := range everyRecord() {
		if f := mustEncode(t, nil, rec); f.HasPublic != (family == journal.FamilyEvent || family == journal.FamilyOpaque) {
			t.Errorf("%v has a public form: %v", family, f.HasPublic)
		}
	}
	k := &journal.Kinds{Projection: 4, Project: func(ev event.Event) ([]byte, error) {
		switch ev.ID {
		case id(10):
			return []byte("mine"), nil
		case id(12):
			return nil, errors.New("no")
		}
		return nil, nil
	}}
	if f := mustEncode(t, k, journal.NewEventRecord(started(10))); string(f.Public.Bytes) != "mine" || f.Projection != 4 {
		t.Errorf("own projection: %q, version %d", f.Public.Bytes, f.Projection)
	}
	if f := mustEncode(t, k, journal.NewEventRecord(started(11))); f.HasPublic || f.Projection != 0 {
		t.Errorf("an event that the projection keeps back is public: %q", f.Public.Bytes)
	}
	if _, err := k.Encode(session, journal.NewEventRecord(started(12))); err == nil {
		t.Error("a projection that fails let the event through")
	}
}

func TestOpaqueKinds(t *testing.T) {
	type note struct{ text string }
	kind := journal.TypedKind[note]{
		Name: "acme.note", Schema: 2,
		Encode: func(n note) ([]byte, error) {
			if n.text == "" {
				return nil, errors.New("empty")
			}
			return []byte(n.text), nil
		},
		Decode: func(schema uint16, b []byte) (note, error) {
			if len(b) == 0 {
				return note{}, errors.New("empty")
			}
			return note{fmt.Sprint(schema, string(b))}, nil
		},
		Public: func(n note) ([]byte, error) {
			if n.text == "unspeakable" {
				return nil, errors.New("no")
			}
			return nil, nil
		},
	}
	opaque, err := journal.NewOpaqueKinds(true, kind.Kind())
	if err != nil {
		t.Fatal(err)
	}
	k := &journal.Kinds{Opaque: opaque}
	rec, err := kind.Record("n1", note{"hello"})
	if err != nil {
		t.Fatal(err)
	}
	f := stored(mustEncode(t, k, rec))
	if f.Schema != 2 || !f.HasPublic {
		t.Errorf("stored with schema %d, public %v", f.Schema, f.HasPublic)
	}
	back, err := k.Decode(session, f)
	if err != nil {
		t.Fatal(err)
	}
	if v, ok, err := kind.Value(back.(journal.OpaqueRecord)); v.text != "2hello" || !ok || err != nil {
		t.Errorf("Value = %v, %v, %v", v, ok, err)
	}
	if _, ok, err := kind.Value(journal.OpaqueRecord{Kind: "other"}); ok || err != nil {
		t.Errorf("Value of another kind: %v, %v", ok, err)
	}
	if _, ok, err := kind.Value(journal.OpaqueRecord{Kind: "acme.note"}); !ok || err == nil {
		t.Errorf("Value of a bad body: %v, %v", ok, err)
	}
	for _, bad := range []note{{""}, {"unspeakable"}} {
		if _, err := kind.Record("n2", bad); err == nil {
			t.Errorf("Record of %q: no error", bad.text)
		}
	}
	var unknown *journal.UnknownKindError
	var newer *journal.NewerSchemaError
	for rec, want := range map[*journal.OpaqueRecord]any{
		{Kind: "other", ID: "1"}:                                   &unknown,
		{Kind: "acme.note", ID: "1", Schema: 3, Body: []byte("x")}: &newer,
		{Kind: "acme.note", ID: "1"}:                               nil,
	} {
		_, err := k.Encode(session, *rec)
		if err == nil || want != nil && !errors.As(err, want) {
			t.Errorf("Encode of %s, schema %d: %v", rec.Kind, rec.Schema, err)
		}
		f := stored(&journal.Frame{Family: journal.FamilyOpaque, Kind: rec.Kind, ID: rec.ID, Schema: max(rec.Schema, 1), Body: journal.Field{Bytes: rec.Body}})
		if _, err := k.Decode(session, f); err == nil || want != nil && !errors.As(err, want) {
			t.Errorf("Decode of %s, schema %d: %v", rec.Kind, rec.Schema, err)
		}
	}
	open, err := journal.NewOpaqueKinds(false, journal.OpaqueKind{Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	k = &journal.Kinds{Opaque: open}
	for _, name := range []string{"a", "b"} {
		if _, err := k.Encode(session, journal.OpaqueRecord{Kind: name, ID: "1"}); err != nil {
			t.Errorf("open kinds refuse %q: %v", name, err)
		}
	}
	for _, list := range [][]journal.OpaqueKind{{{}}, {{Name: "A"}}, {{Name: "a"}, {Name: "a"}}} {
		if _, err := journal.NewOpaqueKinds(false, list...); err == nil {
			t.Errorf("NewOpaqueKinds(%v): no error", list)
		}
	}
}

func TestFenceHasOneSpelling(t *testing.T) {
	for _, epoch := range []uint64{1, 7, 1<<53 - 1} {
		b, err := journal.EncodeLeaseFence(journal.LeaseFence{Epoch: epoch})
		if err != nil || string(b) != fmt.Sprintf(`{"epoch":%d}`, epoch) {
			t.Errorf("EncodeLeaseFence(%d) = %s, %v", epoch, b, err)
		}
		if got, err := journal.DecodeLeaseFence(b); err != nil || got.Epoch != epoch {
			t.Errorf("DecodeLeaseFence(%s) = %v, %v", b, got, err)
		}
	}
	for _, s := range []string{
		``, `null`, `{}`, `[]`, `7`, `{"epoch":0}`, `{"epoch":-1}`, `{"epoch":1.5}`, `{"epoch":"1"}`, `{"epoch":null}`, `{"epoch":9007199254740992}`,
		`{"epoch":1,"x":2}`, `{"epoch":1}{}`, `{"epoch":1} `, ` {"epoch":1}`, `{"epoch": 1}`, `{"Epoch":1}`, `{"epoch":1,"epoch":1}`, `{"epoch":1`, "\xff",
	} {
		var refused *journal.FenceDecodeError
		if got, err := journal.DecodeLeaseFence([]byte(s)); !errors.As(err, &refused) || got != (journal.LeaseFence{}) {
			t.Errorf("DecodeLeaseFence(%q) = %v, %v, want a *FenceDecodeError", s, got, err)
		}
	}
}

// Whatever bytes are found as the content of a frame: nothing panics, and what is
// taken is what the same record is written as.
func FuzzDecodeContent(f *testing.F) {
	for family, rec := range everyRecord() {
		frame := mustEncode(f, nil, rec)
		f.Add(uint8(family), frame.ID, frame.Body.Bytes)
		f.Add(uint8(family), frame.ID, frame.Body.Bytes[:len(frame.Body.Bytes)/2])
	}
	f.Fuzz(func(t *testing.T, family uint8, id string, body []byte) {
		frame := stored(&journal.Frame{Family: journal.Family(family), ID: id, Schema: 1, Body: journal.Field{Bytes: body}})
		if frame.Family == journal.FamilyOpaque {
			frame.Kind = "k"
		}
		rec, err := (*journal.Kinds)(nil).Decode(session, frame)
		if err != nil {
			return
		}
		if _, err := frame.AppendTo(nil); err != nil {
			return // an id that no frame can have
		}
		at := session
		switch r := rec.(type) {
		case journal.EventRecord:
			at = r.Event().At.Session
		case journal.GatePreparedRecord:
			at = r.Prepared().At.Session
		}
		again, err := (*journal.Kinds)(nil).Encode(at, rec)
		if err != nil || !bytes.Equal(again.Body.Bytes, body) || again.ID != id {
			t.Fatalf("%v %q %q is written as %v, %v", frame.Family, id, body, again, err)
		}
	})
}
