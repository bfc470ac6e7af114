package runtimecommand_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/comity-dev/comity/internal/canon"
	"github.com/comity-dev/comity/session/runtimecommand"
)

var update = flag.Bool("update", false, "write the vectors anew; a changed vector is a broken format")

const (
	vectorFile = "../../testdata/vectors/session/runtimecommands.json"
	runtimeID  = "6f1b3c1e-9a54-4c0e-8d3e-2f7a1d0b5c11"
)

func application() runtimecommand.Application {
	return runtimecommand.Application{CommandID: "req-81 \u00e9", RuntimeID: runtimeID, CommandKind: runtimecommand.KindInput, LeaseEpoch: 7}
}

func disposition(r runtimecommand.Result) runtimecommand.Disposition {
	d := runtimecommand.Disposition{AttemptID: "a-1", AttemptEpoch: 7, LeaseEpoch: 7, CommandID: "req-81 \u00e9", RuntimeID: runtimeID, CommandKind: runtimecommand.KindInput, Result: r}
	if r == runtimecommand.NotApplied {
		d.LeaseEpoch = 9
	}
	return d
}

var results = []runtimecommand.Result{runtimecommand.Applied, runtimecommand.NoOp, runtimecommand.Refused, runtimecommand.NotApplied}

func TestVectorsAndRoundTrip(t *testing.T) {
	var got []string
	for _, kind := range []runtimecommand.Kind{"input", "interrupt", "gate_response", "create", "restore"} {
		a := application()
		a.CommandKind = kind
		b, err := runtimecommand.EncodeApplication(a)
		if err != nil || canon.Check(b) != nil {
			t.Fatalf("EncodeApplication(%+v) = %s, %v", a, b, err)
		}
		if back, err := runtimecommand.DecodeApplication(b); err != nil || back != a {
			t.Errorf("DecodeApplication(%s) = %+v, %v, want %+v", b, back, err, a)
		}
		got = append(got, string(b))
	}
	for _, r := range results {
		d := disposition(r)
		b, err := runtimecommand.EncodeDisposition(d)
		if err != nil || canon.Check(b) != nil {
			t.Fatalf("EncodeDisposition(%+v) = %s, %v", d, b, err)
		}
		if back, err := runtimecommand.DecodeDisposition(b); err != nil || back != d {
			t.Errorf("DecodeDisposition(%s) = %+v, %v, want %+v", b, back, err, d)
		}
		got = append(got, string(b))
	}
	if *update {
		b, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(vectorFile), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(vectorFile, append(b, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the format moved:\ngot  %q\nwant %q", got, want)
	}
}

const good = `{"attempt_epoch":7,"attempt_id":"a","command_id":"c","command_kind":"input","lease_epoch":7,"result":"applied","runtime_id":"` + runtimeID + `","v":1}`

func TestDecodeRefusesEveryOtherForm(t *testing.T) {
	if _, err := runtimecommand.DecodeDisposition([]byte(good)); err != nil {
		t.Fatalf("DecodeDisposition(good) = %v", err)
	}
	x := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
	for _, tt := range []struct {
		about    string
		old, new string
		want     runtimecommand.Reason
	}{
		{"a member", `"v":1`, `"v":1,"w":1`, runtimecommand.ReasonUnknownField},
		{"another case", `"result"`, `"Result"`, runtimecommand.ReasonUnknownField},
		{"a name twice", `"result":"applied"`, `"result":"applied","result":"applied"`, runtimecommand.ReasonDuplicateKey},
		{"trailing data", `"v":1}`, `"v":1}null`, runtimecommand.ReasonTrailing},
		{"a trailing newline", `"v":1}`, "\"v\":1}\n", runtimecommand.ReasonNotCanonical},
		{"a text for a number", `"lease_epoch":7`, `"lease_epoch":"7"`, runtimecommand.ReasonWrongType},
		{"a number for a text", `"attempt_id":"a"`, `"attempt_id":7`, runtimecommand.ReasonWrongType},
		{"a fraction", `"lease_epoch":7`, `"lease_epoch":7.0`, runtimecommand.ReasonWrongType},
		{"a negative epoch", `"lease_epoch":7`, `"lease_epoch":-7`, runtimecommand.ReasonNegative},
		{"epoch 0", `"attempt_epoch":7`, `"attempt_epoch":0`, runtimecommand.ReasonInvalid},
		{"an epoch over 2^53-1", `"attempt_epoch":7`, `"attempt_epoch":9007199254740992`, runtimecommand.ReasonInvalid},
		{"no epoch", `"attempt_epoch":7,`, ``, runtimecommand.ReasonInvalid},
		{"null for an epoch", `"attempt_epoch":7`, `"attempt_epoch":null`, runtimecommand.ReasonInvalid},
		{"an earlier owner", `"lease_epoch":7`, `"lease_epoch":6`, runtimecommand.ReasonInvalid},
		{"a later owner that applied", `"lease_epoch":7`, `"lease_epoch":8`, runtimecommand.ReasonInvalid},
		{"the owner itself that did not", `"applied"`, `"not_applied"`, runtimecommand.ReasonInvalid},
		{"an unknown result", `"applied"`, `"done"`, runtimecommand.ReasonInvalid},
		{"an unknown kind", `"input"`, `"output"`, runtimecommand.ReasonInvalid},
		{"no attempt", `"attempt_id":"a"`, `"attempt_id":""`, runtimecommand.ReasonInvalid},
		{"a long attempt", `"attempt_id":"a"`, `"attempt_id":` + x(257), runtimecommand.ReasonInvalid},
		{"no command", `"command_id":"c",`, ``, runtimecommand.ReasonInvalid},
		{"a long command", `"command_id":"c"`, `"command_id":` + x(257), runtimecommand.ReasonInvalid},
		{"no id here", runtimeID, ``, runtimecommand.ReasonInvalid},
		{"an id here in upper case", runtimeID, strings.ToUpper(runtimeID), runtimecommand.ReasonInvalid},
		{"no version", `,"v":1`, ``, runtimecommand.ReasonInvalid},
		{"names that are not sorted", `"attempt_epoch":7,"attempt_id":"a"`, `"attempt_id":"a","attempt_epoch":7`, runtimecommand.ReasonNotCanonical},
		{"whitespace", `"v":1`, `"v": 1`, runtimecommand.ReasonNotCanonical},
		{"an escape", `applied`, `\u0061pplied`, runtimecommand.ReasonNotCanonical},
		{"not UTF-8", `"attempt_id":"a"`, "\"attempt_id\":\"\xff\"", runtimecommand.ReasonMalformed},
		{"no end", `"v":1}`, `"v":1`, runtimecommand.ReasonMalformed},
		{"too much", `"attempt_id":"a"`, `"attempt_id":` + x(runtimecommand.MaxBytes), runtimecommand.ReasonTooLarge},
	} {
		if strings.Count(good, tt.old) != 1 {
			t.Fatalf("%s: %q is not there once", tt.about, tt.old)
		}
		bad := strings.Replace(good, tt.old, tt.new, 1)
		d, err := runtimecommand.DecodeDisposition([]byte(bad))
		var refused *runtimecommand.DecodeError
		if !errors.As(err, &refused) || refused.Reason != tt.want || d != (runtimecommand.Disposition{}) {
			t.Errorf("%s: DecodeDisposition(%.300s) = %+v, %v, want reason %s", tt.about, bad, d, err, tt.want)
		}
	}
	var newer *runtimecommand.UnsupportedSchemaError
	for _, bad := range []string{strings.Replace(good, `"v":1`, `"v":2`, 1), `{"v":2,"x":[]}`} {
		if _, err := runtimecommand.DecodeDisposition([]byte(bad)); !errors.As(err, &newer) || newer.Version != 2 {
			t.Errorf("DecodeDisposition(%s) = %v, want an *UnsupportedSchemaError", bad, err)
		}
	}
	// Neither form reads as the other.
	a, _ := runtimecommand.EncodeApplication(application())
	if _, err := runtimecommand.DecodeDisposition(a); err == nil {
		t.Errorf("an application reads as a disposition")
	}
	if _, err := runtimecommand.DecodeApplication([]byte(good)); err == nil {
		t.Errorf("a disposition reads as an application")
	}
}

// A refusal may end in a log that others read, and what was refused may be private.
func TestRefusalsHoldNoValue(t *testing.T) {
	for _, bad := range []string{
		strings.Replace(good, `"attempt_epoch":7`, `"attempt_epoch":"hunter2"`, 1),
		strings.Replace(good, `"attempt_epoch":7`, `"attempt_epoch":-31337`, 1),
		strings.Replace(good, `"attempt_id":"a"`, `"attempt_id":31337`, 1),
		strings.Replace(good, `"v":1`, `"`+strings.Repeat("hunter2", 100)+`":1,"v":1`, 1),
	} {
		_, err := runtimecommand.DecodeDisposition([]byte(bad))
		if err == nil || strings.Contains(err.Error(), `"hunter2`) || strings.Contains(err.Error(), "31337") || len(err.Error()) > 300 {
			t.Errorf("DecodeDisposition(%.300s) = %v, want a short error without the value", bad, err)
		}
	}
}

// What Check refuses is not written either.
func TestEncodeRefuses(t *testing.T) {
	for _, spoil := range []func(*runtimecommand.Application){
		func(a *runtimecommand.Application) { a.CommandID = "" },
		func(a *runtimecommand.Application) { a.CommandID = strings.Repeat("x", runtimecommand.MaxID+1) },
		func(a *runtimecommand.Application) { a.CommandID = "\xff" },
		func(a *runtimecommand.Application) { a.CommandKind = "output" },
		func(a *runtimecommand.Application) { a.LeaseEpoch = 0 },
		func(a *runtimecommand.Application) { a.LeaseEpoch = runtimecommand.MaxEpoch + 1 },
		func(a *runtimecommand.Application) { a.RuntimeID = "" },
	} {
		a := application()
		spoil(&a)
		var field *runtimecommand.FieldError
		if b, err := runtimecommand.EncodeApplication(a); !errors.As(err, &field) || b != nil {
			t.Errorf("EncodeApplication(%.200v) = %s, %v, want a *FieldError", a, b, err)
		}
	}
	d := disposition(runtimecommand.Applied)
	d.LeaseEpoch++
	if b, err := runtimecommand.EncodeDisposition(d); err == nil {
		t.Errorf("EncodeDisposition(%+v) = %s, want an error", d, b)
	}
	// The longest ids, all of them escaped, still fit.
	d = disposition(runtimecommand.NotApplied)
	d.AttemptEpoch, d.LeaseEpoch = runtimecommand.MaxEpoch-1, runtimecommand.MaxEpoch
	d.AttemptID, d.CommandID = strings.Repeat("\x01", runtimecommand.MaxID), strings.Repeat("\x02", runtimecommand.MaxID)
	b, err := runtimecommand.EncodeDisposition(d)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := runtimecommand.DecodeDisposition(b); err != nil || back != d {
		t.Errorf("DecodeDisposition of the longest, %d bytes = %v", len(b), err)
	}
}

func TestMapping(t *testing.T) {
	a := application()
	later := a
	later.LeaseEpoch++
	if !a.Same(later) {
		t.Errorf("%+v and %+v are of one command", a, later)
	}
	if !disposition(runtimecommand.Applied).Of(a) || !disposition(runtimecommand.NotApplied).Of(a) {
		t.Errorf("a disposition does not end its own attempt")
	}
	if disposition(runtimecommand.Applied).Of(later) {
		t.Errorf("a disposition ends the attempt of another epoch")
	}
	for _, spoil := range []func(*runtimecommand.Application){
		func(a *runtimecommand.Application) { a.CommandID = "other" },
		func(a *runtimecommand.Application) { a.CommandKind = runtimecommand.KindCreate },
		func(a *runtimecommand.Application) { a.RuntimeID = "7f1b3c1e-9a54-4c0e-8d3e-2f7a1d0b5c11" },
	} {
		b := a
		spoil(&b)
		if a.Same(b) || disposition(runtimecommand.Applied).Of(b) {
			t.Errorf("%+v is taken for %+v", b, a)
		}
	}
}

// What is read prints the same bytes, is canonical, and is valid.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(good))
	b, _ := runtimecommand.EncodeApplication(application())
	f.Add(b)
	for _, r := range results {
		b, _ := runtimecommand.EncodeDisposition(disposition(r))
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, err := runtimecommand.DecodeApplication(b); err == nil {
			if again, err := runtimecommand.EncodeApplication(a); err != nil || !bytes.Equal(again, b) || canon.Check(b) != nil {
				t.Errorf("%q prints %q, %v", b, again, err)
			}
		}
		if d, err := runtimecommand.DecodeDisposition(b); err == nil {
			if again, err := runtimecommand.EncodeDisposition(d); err != nil || !bytes.Equal(again, b) || canon.Check(b) != nil {
				t.Errorf("%q prints %q, %v", b, again, err)
			}
		}
	})
}
