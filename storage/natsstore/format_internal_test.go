package natsstore

import (
	"bytes"
	"errors"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/comity-dev/comity/storage"
)

// The format, as doc.go has it: it does not move by accident.
func TestHead(t *testing.T) {
	sum := crc32.Checksum([]byte("N.l.a\nr 0 2\nhello"), crc32.MakeTable(crc32.Castagnoli))
	want := "r 0 2 " + string(appendHex(nil, sum))
	if got := (head{kindRecord, 0, 2}).format("N.l.a", []byte("hello")); got != want || got != "r 0 2 238ef0b2" {
		t.Errorf("format = %q, want %q", got, want)
	}
	h, err := parseHead(want, "N.l.a", []byte("hello"))
	if err != nil || h != (head{kindRecord, 0, 2}) {
		t.Errorf("parseHead = %v, %v", h, err)
	}
	for _, other := range []struct{ head, subject, data string }{
		{want, "N.l.b", "hello"}, {want, "N.l.a", "hellp"}, {want, "N.l.a", ""},
		{strings.Replace(want, "r 0 2", "r 0 3", 1), "N.l.a", "hello"},
		{strings.Replace(want, "r", "p", 1), "N.l.a", "hello"},
		{strings.ToUpper(want[6:]), "N.l.a", "hello"},
		{strings.Replace(want, "r 0 2", "r 00 2", 1), "N.l.a", "hello"},
		{want + " ", "N.l.a", "hello"}, {want[:len(want)-1], "N.l.a", "hello"}, {"", "N.l.a", "hello"},
	} {
		if h, err := parseHead(other.head, other.subject, []byte(other.data)); err == nil {
			t.Errorf("parseHead(%q, %q, %q) = %v, want an error", other.head, other.subject, other.data, h)
		}
	}
}

func FuzzHead(f *testing.F) {
	for _, h := range []head{{kindRecord, 0, 1}, {kindPack, 1 << 63, 1<<64 - 1}, {kindGrant, 7, 0}, {kindRemoved, 0, 0}} {
		f.Add(h.format("N.l.a", []byte("x")), "N.l.a", []byte("x"))
	}
	f.Add("r 1 2", "", []byte{})
	f.Add("r +1 2 00000000", "", []byte{})
	f.Fuzz(func(t *testing.T, s, subject string, data []byte) {
		h, err := parseHead(s, subject, data)
		if err == nil && h.format(subject, data) != s {
			t.Errorf("%q parses as %v, which prints as %q", s, h, h.format(subject, data))
		}
		if h, err := parseFields(s); err == nil && string(h.append(nil)) != s[:len(s)-9] {
			t.Errorf("%q has the fields %v", s, h)
		}
	})
}

func FuzzUnpack(f *testing.F) {
	f.Add(pack([][]byte{nil, nil}, 2))
	f.Add(pack([][]byte{[]byte("one"), nil, bytes.Repeat([]byte("x"), 300)}, 400))
	f.Add([]byte{0x80, 0x00, 0x00})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		recs, err := unpack(data)
		if err != nil {
			return
		}
		if len(recs) < 2 || !bytes.Equal(pack(recs, len(data)), data) {
			t.Errorf("%x unpacks to %d records, which pack to %x", data, len(recs), pack(recs, len(data)))
		}
	})
}

// FuzzAnswer has the decoder of the server's answers meet anything.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"message":{"subject":"a","seq":1,"hdrs":"TkFUUy8xLjANCkNvbWl0eTogciAwIDEgMA0KDQo=","data":"eA==","time":"2026-01-01T00:00:00Z"}}`))
	f.Add([]byte(`{"error":{"code":404,"err_code":10037}}`))
	f.Add([]byte(`{"message":null}`))
	f.Add([]byte(`{`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseAnswer(data)
		if m == nil || err != nil {
			return
		}
		if m.bad == nil && m.head.format(m.subject, m.data) == "" {
			t.Error("no header")
		}
		placeOf(m)
		holder(m)
	})
}

// Every name has a token of its own, without what is special in subjects.
func TestToken(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"a", "a.b", "a/b", "a-b", "a_b", "a..b", "a.", "0", "a/b.c", strings.Repeat("a/", 255) + "a"} {
		tok := token(name)
		if strings.ContainsAny(tok, ".*> \t\r\n") || untoken(tok) != name || seen[tok] != "" {
			t.Errorf("token(%.20q) = %.20q, which is that of %.20q and gives back %.20q", name, tok, seen[tok], untoken(tok))
		}
		seen[tok] = name
	}
}

// What the server refuses is definite only where it says so.
func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		e           jetstream.APIError
		again, open bool
		is          error
	}{
		{jetstream.APIError{Code: 400, ErrorCode: 10071, Description: "wrong last sequence: 7"}, false, false, errWrongLast},
		{jetstream.APIError{Code: 400, ErrorCode: 10164, Description: "wrong last sequence"}, true, false, nil},
		{jetstream.APIError{Code: 409, ErrorCode: 10158}, true, true, nil},
		{jetstream.APIError{Code: 400, ErrorCode: 10176}, true, false, nil},
		{jetstream.APIError{Code: 429, ErrorCode: 10210}, true, false, nil},
		{jetstream.APIError{Code: 400, ErrorCode: 10201}, false, true, errWrongLast},
		{jetstream.APIError{Code: 503, ErrorCode: 10077, Description: "maximum bytes exceeded"}, false, false, storage.ErrNoSpace},
		{jetstream.APIError{Code: 503, ErrorCode: 10077, Description: "write failed"}, false, true, nil},
		{jetstream.APIError{Code: 400, ErrorCode: 10002}, false, false, storage.ErrNoSpace},
		{jetstream.APIError{Code: 503, ErrorCode: 10023}, false, false, storage.ErrNoSpace},
		{jetstream.APIError{Code: 503, ErrorCode: 10008}, true, true, nil},
		{jetstream.APIError{Code: 500, ErrorCode: 65000}, false, true, nil},
		{jetstream.APIError{Code: 400, ErrorCode: 65000}, false, false, nil},
	} {
		again, open, err := refused(&tt.e)
		if again != tt.again || open != tt.open || err == nil || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("refused(%+v) = %v, %v, %v, want %v, %v, %v", tt.e, again, open, err, tt.again, tt.open, tt.is)
		}
		full := errors.Is(err, storage.ErrNoSpace)
		if full != (tt.is == storage.ErrNoSpace) || errors.Is(err, errWrongLast) != (tt.is == errWrongLast) {
			t.Errorf("refused(%+v) = %v, want %v", tt.e, err, tt.is)
		}
	}
}

// A stream that is there is used only if it keeps what a store promises.
func TestCheckOfStreams(t *testing.T) {
	s := &Store{o: Options{Replicas: 1}, names: namesOf("n")}
	for i, want := range s.configs() {
		if err := check(want, want); err != nil {
			t.Errorf("check of %s as Open makes it: %v", want.Name, err)
		}
		larger := want
		larger.Replicas, larger.MaxBytes, larger.Description = 3, 1<<40, "kept by the operator"
		if err := check(larger, want); err != nil {
			t.Errorf("check of %s with other limits: %v", want.Name, err)
		}
		for what, change := range map[string]func(*jetstream.StreamConfig){
			"no metadata":   func(c *jetstream.StreamConfig) { c.Metadata = nil },
			"newer":         func(c *jetstream.StreamConfig) { c.Metadata = map[string]string{formatKey: "2"} },
			"drops old":     func(c *jetstream.StreamConfig) { c.Discard = jetstream.DiscardOld },
			"ages":          func(c *jetstream.StreamConfig) { c.MaxAge = 1 },
			"work queue":    func(c *jetstream.StreamConfig) { c.Retention = jetstream.WorkQueuePolicy },
			"one a subject": func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 2 },
			"subjects":      func(c *jetstream.StreamConfig) { c.Subjects = []string{"x"} },
			"no purge":      func(c *jetstream.StreamConfig) { c.DenyPurge = true },
			"no roll-up":    func(c *jetstream.StreamConfig) { c.AllowRollup = false },
			"no direct":     func(c *jetstream.StreamConfig) { c.AllowDirect = false },
			"no ack":        func(c *jetstream.StreamConfig) { c.NoAck = true },
			"old server":    func(c *jetstream.StreamConfig) { c.AllowAtomicPublish, c.AllowMsgTTL = false, false },
		} {
			c := want
			change(&c)
			err := check(c, want)
			if err == nil || errors.Is(err, storage.ErrNewerFormat) != (what == "newer") {
				t.Errorf("check of stream %d, %s = %v", i, what, err)
			}
		}
	}
}
