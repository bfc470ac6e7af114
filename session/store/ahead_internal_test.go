package store

import (
	"errors"
	"fmt"
	"testing"

	"github.com/comity-dev/comity/storage"
)

// readings yields so many records of size bytes, and then err if it is not nil.
func readings(n, size int, err error) func(func(storage.Record, error) bool) {
	return func(yield func(storage.Record, error) bool) {
		for i := range n {
			if !yield(storage.Record{Seq: uint64(i) + 1, Data: make([]byte, size)}, nil) {
				return
			}
		}
		if err != nil {
			yield(storage.Record{}, err)
		}
	}
}

func TestPartsHaveEachRecordOnceAndTheErrorBehindThem(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		records, size, most int
		err                 error
		parts               string
	}{
		{0, 9, 8, nil, "[]"},
		{0, 9, 8, broken, "[0]"},
		{1, 9, 8, nil, "[1]"},
		{24, 9, 8, nil, "[1 2 4 8 8 1]"},
		{17, 9, 8, broken, "[1 2 4 8 2]"},
		{15, 9, 8, broken, "[1 2 4 8 0]"},
		{3, 9, 1, broken, "[1 1 1 0]"},
		{7, aheadBytes / 2, 8, nil, "[1 2 2 2]"},
		{3, aheadBytes * 2, 8, nil, "[1 1 1]"},
	} {
		var sizes []int
		var next uint64
		var end error
		for p := range parts(readings(tt.records, tt.size, tt.err), tt.most) {
			if end != nil {
				t.Errorf("%+v: a part behind the error", tt)
			}
			for _, rec := range p.recs {
				if next++; rec.Seq != next {
					t.Errorf("%+v: record %d, want %d", tt, rec.Seq, next)
				}
			}
			sizes, end = append(sizes, len(p.recs)), p.err
		}
		if next != uint64(tt.records) || end != tt.err || fmt.Sprint(sizes) != tt.parts {
			t.Errorf("%+v: %d records in parts of %v, then %v", tt, next, sizes, end)
		}
	}
}

func TestPartsEndTheReadingWithTheirOwn(t *testing.T) {
	ended := false
	for range parts(func(yield func(storage.Record, error) bool) {
		readings(100, 9, nil)(func(rec storage.Record, err error) bool { return yield(rec, err) })
		ended = true
	}, 8) {
		break
	}
	if !ended {
		t.Error("the reading goes on")
	}
}
