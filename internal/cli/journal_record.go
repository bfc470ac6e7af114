package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
)

// A shownRecord is a record of a session in JSON: the form in which it is stored.
type shownRecord struct {
	Seq    uint64 `json:"seq"`
	Family string `json:"family"`
	Kind   string `json:"kind,omitempty"` // of an event, a command or an opaque record
	ID     string `json:"id"`
	Loop   string `json:"loop,omitempty"` // that a command was sent to
	// Public says that public views have the record. Body is what they have of it,
	// or with --private all that is stored; a private record has none without it.
	Public bool            `json:"public"`
	Body   json.RawMessage `json:"body,omitempty"`
	Base64 []byte          `json:"base64,omitempty"` // a body that is no JSON
}

// shown is a record as it may be shown.
func (r *journalRun) shown(e store.Entry, seq uint64, rec journal.JournalRecord, private bool) (shownRecord, error) {
	session := e.Session // that it was written in: an imported one may have another id here
	switch r := rec.(type) {
	case journal.EventRecord:
		session = r.Event().At.Session
	case journal.GatePreparedRecord:
		session = r.Prepared().At.Session
	}
	f, err := (*journal.Kinds)(nil).Encode(session, rec)
	if err != nil {
		return shownRecord{}, err
	}
	s := shownRecord{Seq: seq, Family: f.Family.String(), Kind: f.Kind, ID: f.ID, Loop: f.Route, Public: f.HasPublic}
	body := f.Public.Bytes
	if private {
		body = f.Body.Bytes
	}
	switch r := rec.(type) {
	case journal.EventRecord:
		s.Kind = r.Event().Body.Kind()
	case journal.CommandRecord:
		s.Kind = r.Command().Body.Kind()
	}
	if json.Valid(body) {
		s.Body = body
	} else {
		s.Base64 = body
	}
	return s, nil
}

// record prints a record on a line.
func (p *printer) record(s shownRecord) {
	var body struct {
		Header struct {
			CreatedAt int64 `json:"created_at"`
		}
		Body map[string]json.RawMessage
	}
	_ = json.Unmarshal(s.Body, &body) // what is no event and no command has no text
	at := ""
	if body.Header.CreatedAt > 0 {
		at = time.UnixMilli(body.Header.CreatedAt).Format("01-02 15:04:05")
	}
	kind, look := s.Kind, plain
	if kind == "" {
		kind = s.Family
	}
	text := summary(body.Body)
	if !s.Public {
		look = faint
		if text == "" {
			text = "(private)"
		}
	}
	p.row(0, keyf("%d", s.Seq).as(bold).pad(5), key(at).as(faint).pad(14), key(kind).as(look).pad(18), flex(text))
}

// summary is what a body says, in a few words.
func summary(body map[string]json.RawMessage) string {
	var words []string
	for _, name := range []string{"role", "index", "name", "subject", "asks", "agent", "state", "outcome", "decision", "title", "task", "input", "content", "result", "reason", "error", "note", "ref"} {
		if text := wordOf(body[name]); text != "" {
			words = append(words, text)
		}
	}
	return strings.Join(words, "  ")
}

// wordOf is the text of a member: a string, a number, the texts of a content, the
// action of a decision.
func wordOf(raw json.RawMessage) string {
	var text string
	var number uint64
	var blocks []struct{ Type, Text, Name string }
	var decision struct {
		Action string
		By     struct{ Kind, Name string }
	}
	switch {
	case len(raw) == 0:
	case json.Unmarshal(raw, &text) == nil:
	case json.Unmarshal(raw, &number) == nil:
		text = fmt.Sprint(number)
	case json.Unmarshal(raw, &blocks) == nil:
		for _, b := range blocks {
			text += " " + b.Name + b.Text
			if len(text) > 4*columns {
				break
			}
		}
	case json.Unmarshal(raw, &decision) == nil && decision.Action != "":
		text = decision.Action + " by " + person(decision.By.Kind, decision.By.Name)
	}
	if len(text) > 4*columns { // a line has no room for it
		text = strings.ToValidUTF8(text[:4*columns], "")
	}
	return text
}
