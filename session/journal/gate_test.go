package journal_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/comity-dev/comity/session/gate"
	"github.com/comity-dev/comity/session/journal"
)

func TestPreparedGatesSayWhatIsWrong(t *testing.T) {
	form := gate.Payload{Form: &gate.Form{Fields: []gate.Field{{Name: "f", Type: gate.FieldText}}}}
	bad := prepared(1)
	bad.ID = ""
	for stage, rec := range map[string]journal.GatePreparedRecord{
		"payload":  journal.NewGatePreparedRecord(prepared(1), gate.Payload{Permission: &gate.Permission{Tool: strings.Repeat("x", 300)}}),
		"prepared": journal.NewGatePreparedRecord(bad, permission),
	} {
		var e *journal.GatePreparedEncodeError
		if b, err := journal.EncodeGatePrepared(nil, rec); b != nil || !errors.As(err, &e) || e.Stage != stage {
			t.Errorf("EncodeGatePrepared = %s, %v, want stage %s", b, err, stage)
		}
	}
	good, err := journal.EncodeGatePrepared(nil, journal.NewGatePreparedRecord(prepared(1), permission))
	if err != nil {
		t.Fatal(err)
	}
	other, err := journal.EncodeGatePrepared(nil, journal.NewGatePreparedRecord(prepared(1), permission))
	if err != nil || string(other) != string(good) {
		t.Errorf("the same gate is written %s and %s, %v", good, other, err)
	}
	payload, err := gate.EncodePayload(form)
	if err != nil {
		t.Fatal(err)
	}
	cut := func(name string) string { // the value of a member
		_, after, _ := strings.Cut(string(good), `"`+name+`":`)
		return after
	}
	for _, tt := range []struct{ stage, in string }{
		{"json", ""}, {"json", "{}x"}, {"json", `{"x":1}`}, {"json", string(good) + " "}, {"json", "[]"}, {"json", `{"prepared":{},"payload":{}}`},
		{"prepared", `{"payload":{},"prepared":{}}`}, {"payload", `{"payload":{},"prepared":` + cut("prepared")},
		{"prepared", `{"payload":` + string(payload) + `,"prepared":` + cut("prepared")}, // of another kind than the event says
	} {
		var e *journal.GatePreparedDecodeError
		if _, err := journal.DecodeGatePrepared(nil, []byte(tt.in)); !errors.As(err, &e) || e.Stage != tt.stage {
			t.Errorf("DecodeGatePrepared(%q) = %v, want stage %s", tt.in, err, tt.stage)
		}
	}
	for _, in := range []string{`{}`, `{"payload":{}}`, `{"prepared":` + cut("prepared")} { // a member is missing
		var e *journal.GatePreparedDecodeError
		if _, err := journal.DecodeGatePrepared(nil, []byte(in)); !errors.As(err, &e) {
			t.Errorf("DecodeGatePrepared(%q) = %v", in, err)
		}
	}
	back, err := journal.DecodeGatePrepared(nil, good)
	if err != nil || back.Payload().Permission.Input != permission.Permission.Input || back.Prepared().ID != id(1) {
		t.Errorf("DecodeGatePrepared = %+v, %v", back, err)
	}
}
