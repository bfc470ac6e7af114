package canon_test

import (
	"errors"
	"math"
	"testing"

	"github.com/comity-dev/comity/internal/canon"
)

type record struct {
	Seq   uint64         `json:"seq"`
	Note  string         `json:"note,omitempty"`
	At    int64          `json:"at"`
	Items []string       `json:"items"`
	More  map[string]any `json:"more,omitempty"`
}

func TestMarshalWritesTheForm(t *testing.T) {
	for _, tt := range []struct {
		in   any
		want string
	}{
		{record{Seq: 7, Note: "café<\n", At: -1, Items: []string{"b", "a"}}, `{"at":-1,"items":["b","a"],"note":"café<\n","seq":7}`},
		{record{More: map[string]any{"z": 1, "a": map[string]any{"y": nil, "b": true}}}, `{"at":0,"items":[],"more":{"a":{"b":true,"y":null},"z":1},"seq":0}`},
		{map[string]int{"\ue000": 1, "😀": 2}, "{\"😀\":2,\"\ue000\":1}"},
		{int64(canon.MaxInt), "9007199254740991"},
		{2.0, "2"},
		{nil, "null"},
	} {
		got, err := canon.Marshal(tt.in)
		if err != nil || string(got) != tt.want {
			t.Errorf("Marshal(%v) = %s, %v; want %s", tt.in, got, err, tt.want)
		}
		if err := canon.Check(got); err != nil {
			t.Errorf("Check(Marshal(%v)) = %v", tt.in, err)
		}
	}
}

func TestMarshalRefusesWhatTheFormCannotHold(t *testing.T) {
	for _, v := range []any{
		1.5, math.Inf(1), math.NaN(), 1e21, math.Copysign(0, -1), int64(canon.MaxInt + 1), int64(-canon.MaxInt - 1), uint64(math.MaxUint64),
		"\xff", map[string]int{"\xff": 1}, make(chan int), map[string]any{"deep": 1.25},
	} {
		dst := []byte("kept")
		if got, err := canon.Append(dst, v); err == nil || string(got) != "kept" {
			t.Errorf("Append(%v) = %q, %v; want an error", v, got, err)
		}
	}
}

func TestUnmarshalWantsTheForm(t *testing.T) {
	var r record
	if err := canon.Unmarshal([]byte(`{"at":3,"items":["x"],"later":{"new":1},"seq":9}`), &r); err != nil || r.Seq != 9 || r.At != 3 {
		t.Errorf("Unmarshal = %+v, %v", r, err)
	}
	for _, bad := range []string{`{"seq":9,"at":3}`, `{"at":3, "seq":9}`, `{"at":3.0}`, `{"at":3}x`, ``} {
		r = record{Seq: 1}
		var e *canon.Error
		if err := canon.Unmarshal([]byte(bad), &r); !errors.As(err, &e) || r.Seq != 1 || r.At != 0 {
			t.Errorf("Unmarshal(%q) = %v, value %+v; want an *Error and the value untouched", bad, err, r)
		}
	}
	if err := canon.Unmarshal([]byte(`{"at":"3"}`), &r); err == nil {
		t.Error("Unmarshal of a string into an integer succeeded")
	}
}

func TestReaderStopsAtTheFirstError(t *testing.T) {
	r := canon.NewReader([]byte(`{"a":1,"b":"x"}`))
	o, ok := r.OpenObject()
	if !ok {
		t.Fatal(r.Err())
	}
	if name, ok := r.Next(&o); !ok || string(name) != "a" {
		t.Fatalf("Next = %q, %v", name, ok)
	}
	if _, ok := r.String(); ok {
		t.Fatal("String read a number")
	}
	first := r.End()
	if first == nil {
		t.Fatal("no error after a wrong read")
	}
	_, b := r.Bool()
	_, n := r.Int()
	_, s := r.String()
	_, m := r.Next(&o)
	if b || n || s || m || r.OpenArray() || r.More(true) || r.More(false) || r.Raw() != nil || r.Peek() != 0 {
		t.Error("a read after an error succeeded")
	}
	if r.End() != first || r.Offset() != 5 {
		t.Errorf("End = %v at %d, want the first error at 5", r.End(), r.Offset())
	}
}
