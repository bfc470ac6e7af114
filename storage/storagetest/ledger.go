package storagetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/comity-dev/comity/storage"
)

func testLedger(t *testing.T, h Harness) {
	for _, part := range []struct {
		name string
		test func(*testing.T, storage.Backend)
	}{
		{"absent is empty", testAbsent},
		{"records are numbered from 1", testNumbers},
		{"any other tip is refused", testWrongTips},
		{"reads from a number", testReadFrom},
		{"reading stops at the tip of its start", testReadIsBounded},
		{"every range reads anew", testReadTwice},
		{"empty and large records", testSizes},
		{"too large is refused", testTooLarge},
		{"batches are all or none", testBatches},
		{"records are copies", testCopies},
		{"a deleted ledger begins anew", testDelete},
		{"a writer of an earlier life is refused", testEarlierLife},
		{"deleting while reading", testDeleteWhileReading},
		{"many ledgers", testManyLedgers},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, h.open(t)) })
	}
}

func testAbsent(t *testing.T, b storage.Backend) {
	l := b.Ledger()
	if tip := mustTip(t, l, "none"); tip != (storage.Tip{}) {
		t.Errorf("Tip of a ledger that never was = %v, want the zero Tip", tip)
	}
	wantRecords(t, l, "none")
	if err := l.Delete(t.Context(), "none"); err != nil {
		t.Errorf("Delete of an absent ledger: %v", err)
	}
	if tip := mustTip(t, l, "none"); tip != (storage.Tip{}) {
		t.Errorf("Tip = %v after a Delete of nothing, want the zero Tip", tip)
	}
	if names := all(t, l.Names(t.Context(), "")); len(names) > 0 {
		t.Errorf("Names = %q, though no ledger has a record", names)
	}
}

func testNumbers(t *testing.T, b storage.Backend) {
	l := b.Ledger()
	tip := storage.Tip{}
	for i, rec := range []string{"one", "two", "three"} {
		next, err := l.Append(t.Context(), "a", tip, []byte(rec))
		if err != nil || next.Seq != uint64(i+1) {
			t.Fatalf("Append %d = %v, %v", i+1, next, err)
		}
		if got := mustTip(t, l, "a"); got != next {
			t.Fatalf("Tip = %v behind an append that gave %v", got, next)
		}
		tip = next
	}
	wantRecords(t, l, "a", "one", "two", "three")
	if _, err := l.Append(t.Context(), "a", tip); err == nil {
		t.Error("Append of no records = nil, want an error")
	}
	wantRecords(t, l, "a", "one", "two", "three")
}

func testWrongTips(t *testing.T, b storage.Backend) {
	l := b.Ledger()
	wantConflict(t, l, "a", storage.Tip{Seq: 1})
	wantConflict(t, l, "a", storage.Tip{Gen: 7})
	first := mustAppend(t, l, "a", "one")
	tip := mustAppend(t, l, "a", "two")
	for _, wrong := range []storage.Tip{
		{}, first, {Gen: tip.Gen, Seq: 3}, {Gen: tip.Gen}, {Gen: tip.Gen + 1, Seq: 2}, {Gen: tip.Gen, Seq: 1 << 63},
	} {
		wantConflict(t, l, "a", wrong)
	}
	wantRecords(t, l, "a", "one", "two")
}

func testReadFrom(t *testing.T, b storage.Backend) {
	l := b.Ledger()
	want := fill(t, l, "a", 25)
	for from := range uint64(30) {
		if got := readAll(t, l, "a", from); !slices.Equal(got, want[min(max(from, 1)-1, 25):]) {
			t.Errorf("Read from %d = %q", from, got)
		}
	}
	if got := readAll(t, l, "a", 1<<63); len(got) > 0 {
		t.Errorf("Read far beyond the tip = %q", got)
	}
}

// fill appends n records, beside another ledger that grows too.
func fill(t testing.TB, l storage.Ledger, name string, n int) []string {
	t.Helper()
	want := []string{}
	for i := range n {
		rec := fmt.Sprint(name, " ", i+1)
		mustAppend(t, l, name, rec)
		mustAppend(t, l, "beside/"+name, "other", "records")
		want = append(want, rec)
	}
	return want
}

func testReadIsBounded(t *testing.T, b storage.Backend) {
	l := b.Ledger()
	mustAppend(t, l, "a", "one", "two")
	n := 0
	for _, err := range l.Read(t.Context(), "a", 1) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		mustAppend(t, l, "a", "more")
	}
	if n != 2 {
		t.Errorf("Read gave %d records, want the 2 that were there when it began", n)
	}
}

func testReadTwice(t *testing.T, b storage.Backend) {
	l := b.Ledger()
	mustAppend(t, l, "a", "one")
	seq := l.Read(t.Context(), "a", 1)
	if n := len(all(t, seq)); n != 1 {
		t.Errorf("the first range gave %d records", n)
	}
	mustAppend(t, l, "a", "two")
	if n := len(all(t, seq)); n != 2 {
		t.Errorf("the second range gave %d records, want 2", n)
	}
	for range seq { // stopping early is fine
		break
	}
	wantRecords(t, l, "a", "one", "two")
}

func testSizes(t *testing.T, b storage.Backend) {
	l := b.Ledger()
	large := strings.Repeat("0123456789abcdef", 1<<16)
	want := []string{"", large, "", "\x00", large + "", strings.Repeat("\xff", 1000)}
	for _, rec := range want {
		mustAppend(t, l, "a", rec)
	}
	wantRecords(t, l, "a", want...)
	mustAppend(t, l, "b", "", "")
	wantRecords(t, l, "b", "", "")
}

func testTooLarge(t *testing.T, b storage.Backend) {
	l, tr := b.Ledger(), b.Traits()
	tip := mustAppend(t, l, "a", "one")
	var large *storage.TooLargeError
	if _, err := l.Append(t.Context(), "a", tip, make([]byte, tr.MaxRecordBytes+1)); !errors.As(err, &large) {
		t.Errorf("Append of a record over the bound = %v, want a *TooLargeError", err)
	}
	if _, err := l.Append(t.Context(), "a", tip, make([][]byte, tr.MaxBatchRecords+1)...); !errors.As(err, &large) {
		t.Errorf("Append of too many records = %v, want a *TooLargeError", err)
	}
	half := make([]byte, tr.MaxRecordBytes/2+1)
	if _, err := l.Append(t.Context(), "a", tip, slices.Repeat([][]byte{half}, 2*tr.MaxBatchBytes/tr.MaxRecordBytes+1)...); !errors.As(err, &large) {
		t.Errorf("Append of a batch over the bound = %v, want a *TooLargeError", err)
	}
	if _, err := b.KV().Put(t.Context(), "a", 0, make([]byte, tr.MaxValueBytes+1)); !errors.As(err, &large) {
		t.Errorf("Put of a value over the bound = %v, want a *TooLargeError", err)
	}
	wantRecords(t, l, "a", "one")
	if _, err := l.Append(t.Context(), "a", tip, make([]byte, tr.MaxRecordBytes)); err != nil {
		t.Errorf("Append of the largest record: %v", err)
	}
}

func testBatches(t *testing.T, b storage.Backend) {
	l := b.Ledger()
	var want []string
	for n := range 12 {
		batch := make([]string, 8*n+1)
		for i := range batch {
			batch[i] = fmt.Sprintf("batch %d, record %d", n, i)
		}
		mustAppend(t, l, "a", batch...)
		want = append(want, batch...)
		_, err := l.Append(t.Context(), "a", storage.Tip{}, []byte("x"), []byte("y"))
		var conflict *storage.ConflictError
		if !errors.As(err, &conflict) {
			t.Fatalf("a batch at the wrong tip = %v, want a *ConflictError", err)
		}
	}
	wantRecords(t, l, "a", want...)
}

func testCopies(t *testing.T, b storage.Backend) {
	l := b.Ledger()
	buf := []byte("mine")
	if _, err := l.Append(t.Context(), "a", storage.Tip{}, buf, buf); err != nil {
		t.Fatal(err)
	}
	copy(buf, "XXXX")
	for rec := range l.Read(t.Context(), "a", 1) {
		_ = append(rec.Data, "spill"...)
	}
	wantRecords(t, l, "a", "mine", "mine")
	if _, err := b.KV().Put(t.Context(), "k", 0, buf); err != nil {
		t.Fatal(err)
	}
	copy(buf, "YYYY")
	got, _, err := b.KV().Get(t.Context(), "k")
	if string(got) != "XXXX" || err != nil {
		t.Fatalf("Get = %q, %v", got, err)
	}
	copy(got, "ZZZZ")
	if got, _, _ := b.KV().Get(t.Context(), "k"); string(got) != "XXXX" {
		t.Errorf("Get = %q after its first result was changed", got)
	}
}

func testDelete(t *testing.T, b storage.Backend) {
	l := b.Ledger()
	for life := range 3 {
		mustAppend(t, l, "a", fmt.Sprint("one of life ", life), "two")
		mustAppend(t, l, "b", "stays")
		if err := l.Delete(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		wantRecords(t, l, "a")
		if names := all(t, l.Names(t.Context(), "")); !slices.Equal(names, []string{"b"}) {
			t.Errorf("Names = %q after Delete, want b", names)
		}
		if err := l.Delete(t.Context(), "a"); err != nil {
			t.Errorf("second Delete: %v", err)
		}
	}
	mustAppend(t, l, "a", "again")
	wantRecords(t, l, "a", "again")
	wantRecords(t, l, "b", "stays", "stays", "stays")
}

func testEarlierLife(t *testing.T, b storage.Backend) {
	l := b.Ledger()
	mustAppend(t, l, "a", "one")
	old := mustAppend(t, l, "a", "two")
	if err := l.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	wantConflict(t, l, "a", old)
	wantConflict(t, l, "a", storage.Tip{}) // whoever saw it absent before its first life
	absent := mustTip(t, l, "a")
	mustAppend(t, l, "a", "uno", "due")
	wantConflict(t, l, "a", old)
	wantConflict(t, l, "a", storage.Tip{Gen: old.Gen})
	if err := l.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	wantConflict(t, l, "a", absent)
}

func testDeleteWhileReading(t *testing.T, b storage.Backend) {
	l := b.Ledger()
	want := fill(t, l, "a", 100)
	n := 0
	for rec, err := range l.Read(t.Context(), "a", 1) {
		var deleted *storage.DeletedError
		if errors.As(err, &deleted) && deleted.Seq == uint64(n+1) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if string(rec.Data) != want[n] {
			t.Fatalf("record %d = %q, want %q", n+1, rec.Data, want[n])
		}
		if n++; n == 1 {
			if err := l.Delete(t.Context(), "a"); err != nil {
				t.Fatal(err)
			}
			mustAppend(t, l, "a", "of the next life", "and another")
		}
	}
	if n != len(want) {
		t.Errorf("Read ended silently behind %d of %d records when the ledger was deleted", n, len(want))
	}
}

func testManyLedgers(t *testing.T, b storage.Backend) {
	l := b.Ledger()
	const ledgers, rounds = 40, 5
	for r := range rounds {
		for i := range ledgers {
			mustAppend(t, l, fmt.Sprint("l/", i), fmt.Sprint(i, " ", r))
		}
	}
	for i := range ledgers {
		var want []string
		for r := range rounds {
			want = append(want, fmt.Sprint(i, " ", r))
		}
		wantRecords(t, l, fmt.Sprint("l/", i), want...)
	}
	if n := len(all(t, l.Names(t.Context(), "l/"))); n != ledgers {
		t.Errorf("Names gave %d ledgers, want %d", n, ledgers)
	}
}
