package natsstore_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/natsstore"
)

// put publishes a message as another program might.
func put(t testing.TB, s *natsstore.Store, subject, head, data string) {
	t.Helper()
	m := &nats.Msg{Subject: subject, Data: []byte(data)}
	if head != "" {
		m.Header = nats.Header{"Comity": {head}}
	}
	if _, err := natsstore.Conn(s).RequestMsg(m, nats.DefaultTimeout); err != nil {
		t.Fatal(err)
	}
}

func readFrom(t testing.TB, s *natsstore.Store, from uint64) (list []string, err error) {
	for rec, err := range s.Ledger().Read(t.Context(), "a", from) {
		if err != nil {
			return list, err
		}
		list = append(list, fmt.Sprint(rec.Seq, string(rec.Data)))
	}
	return list, nil
}

// What is damaged or missing is told by its number, costs no other record, and
// is never passed over.
func TestDamage(t *testing.T) {
	const subject = "comity.l.a"
	good := func(n uint64, data string) string { return natsstore.Head('r', 0, n, subject, data) }
	for _, tt := range []struct {
		name string
		make func(t *testing.T, s *natsstore.Store) // record 3 of 5 is damaged
	}{
		{"missing", func(t *testing.T, s *natsstore.Store) {}},
		{"wrong data", func(t *testing.T, s *natsstore.Store) { put(t, s, subject, good(3, "x"), "y") }},
		{"no header", func(t *testing.T, s *natsstore.Store) { put(t, s, subject, "", "x") }},
		{"other header", func(t *testing.T, s *natsstore.Store) { put(t, s, subject, "r 0 3", "x") }},
		{"of another ledger", func(t *testing.T, s *natsstore.Store) {
			put(t, s, subject, natsstore.Head('r', 0, 3, "comity.l.b", "x"), "x")
		}},
		{"of another life", func(t *testing.T, s *natsstore.Store) {
			put(t, s, subject, natsstore.Head('r', 9, 3, subject, "x"), "x")
		}},
		{"another kind", func(t *testing.T, s *natsstore.Store) {
			put(t, s, subject, natsstore.Head('v', 0, 0, subject, "x"), "x")
		}},
		{"a broken pack", func(t *testing.T, s *natsstore.Store) {
			put(t, s, subject, natsstore.Head('p', 0, 3, subject, "\x09"), "\x09")
		}},
		{"a pack of more than there is", func(t *testing.T, s *natsstore.Store) {
			put(t, s, subject, natsstore.Head('p', 0, 1, subject, "\x00\x00"), "\x00\x00")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, startServer(t, serverOptions(t)), natsstore.Options{})
			put(t, s, subject, good(1, "a"), "a")
			put(t, s, subject, good(2, "b"), "b")
			tt.make(t, s)
			put(t, s, subject, good(4, "d"), "d")
			put(t, s, subject, good(2, "echo"), "echo") // the first of two counts
			put(t, s, subject, good(5, "e"), "e")
			for from, want := range []string{"[1a 2b]", "[1a 2b]", "[2b]", "[]"} {
				got, err := readFrom(t, s, uint64(from))
				var damaged *storage.DamagedError
				if !errors.As(err, &damaged) || damaged.Seq != 3 || damaged.Name != "a" || fmt.Sprint(got) != want {
					t.Errorf("Read from %d = %v, %v, want %s and a *DamagedError of record 3", from, got, err, want)
				}
			}
			for from, want := range map[uint64]string{4: "[4d 5e]", 5: "[5e]", 6: "[]"} {
				if got, err := readFrom(t, s, from); err != nil || fmt.Sprint(got) != want {
					t.Errorf("Read from %d = %v, %v, want %s", from, got, err, want)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			for rec, err := range s.Ledger().Follow(ctx, "a", 3) {
				var damaged *storage.DamagedError
				if !errors.As(err, &damaged) || damaged.Seq != 3 {
					t.Errorf("Follow = %v, %v, want a *DamagedError of record 3", rec, err)
				}
			}
		})
	}
}

// What lies in front of a last message that is damaged is read, and then that it is
// damaged is told, whatever it says of its number.
func TestReadUpToADamagedTip(t *testing.T) {
	const subject = "comity.l.a"
	for about, head := range map[string]string{"right": "r 0 3 00000000", "low": "r 0 2 00000000", "high": "r 0 9 00000000"} {
		s := open(t, startServer(t, serverOptions(t)), natsstore.Options{})
		put(t, s, subject, natsstore.Head('r', 0, 1, subject, "a"), "a")
		put(t, s, subject, natsstore.Head('r', 0, 2, subject, "b"), "b")
		put(t, s, subject, head, "c")
		var damaged *storage.DamagedError
		if got, err := readFrom(t, s, 1); !errors.As(err, &damaged) || damaged.Seq != 3 || fmt.Sprint(got) != "[1a 2b]" {
			t.Errorf("a number that is %s: Read = %v, %v, want two records and a *DamagedError of record 3", about, got, err)
		}
	}
	for _, head := range []string{"r 0 0 00000000", "r 7 3 00000000", "r 18446744073709551615 3 00000000", "v 0 0 00000000", "", "garbage"} {
		s := open(t, startServer(t, serverOptions(t)), natsstore.Options{})
		put(t, s, subject, natsstore.Head('r', 0, 1, subject, "a"), "a")
		put(t, s, subject, head, "c")
		var damaged *storage.DamagedError
		if got, err := readFrom(t, s, 1); !errors.As(err, &damaged) || damaged.Seq == 0 {
			t.Errorf("%q: Read = %v, %v, want a *DamagedError of a record", head, got, err)
		}
	}
}

// A ledger whose last message is damaged has no tip that an append could expect.
func TestDamagedTip(t *testing.T) {
	s := open(t, startServer(t, serverOptions(t)), natsstore.Options{})
	put(t, s, "comity.l.a", "garbage", "x")
	var damaged *storage.DamagedError
	if tip, err := s.Ledger().Tip(t.Context(), "a"); !errors.As(err, &damaged) {
		t.Errorf("Tip = %v, %v, want a *DamagedError", tip, err)
	}
	if _, err := s.Ledger().Append(t.Context(), "a", storage.Tip{}, []byte("x")); !errors.As(err, &damaged) {
		t.Errorf("Append = %v, want a *DamagedError", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for _, err := range s.Ledger().Follow(ctx, "a", 1) {
		if !errors.As(err, &damaged) {
			t.Errorf("Follow = %v, want a *DamagedError", err)
		}
	}
	// It can be deleted, and begins again.
	if err := s.Ledger().Delete(t.Context(), "a"); err != nil {
		t.Errorf("Delete = %v", err)
	}
	tip, err := s.Ledger().Tip(t.Context(), "a")
	if err != nil || tip.Seq != 0 {
		t.Errorf("Tip of what was deleted = %v, %v", tip, err)
	}
	if _, err := s.Ledger().Append(t.Context(), "a", tip, []byte("x")); err != nil {
		t.Errorf("Append to what was deleted = %v", err)
	}
	if got, err := readFrom(t, s, 1); err != nil || fmt.Sprint(got) != "[1x]" {
		t.Errorf("Read of what was deleted and begun again = %v, %v", got, err)
	}
	put(t, s, "$KV.comity_rows.k", "v 0 0 00000000", "x")
	if _, _, err := s.KV().Get(t.Context(), "k"); !errors.As(err, &damaged) || damaged.Name != "k" || damaged.Seq != 0 {
		t.Errorf("Get = %v, want a *DamagedError of row k", err)
	}
}
