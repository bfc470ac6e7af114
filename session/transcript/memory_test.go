package transcript_test

import (
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/comity-dev/comity/session/command"
	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/gate"
	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/transcript"
)

// What is held does not grow with the session, however it goes on: each of these sessions
// has 10,000 records and some 25 megabytes of text, and in most of them nothing ends.
func TestMemoryIsBounded(t *testing.T) {
	const records, bound = 10_000, 10 << 20
	long := func(n uint64) string {
		return strings.Repeat("a line of output that is not short\n", 80) + id(int(n)).String()
	}
	at := event.Coordinates{Session: id(1), Loop: id(2), Turn: id(3)}
	record := func(n uint64, at event.Coordinates, b event.Body) journal.JournalRecord {
		return journal.NewEventRecord(event.Event{Header: event.Header{ID: id(int(n)), At: at}, Body: b})
	}
	child := func(n uint64) event.Coordinates {
		return event.Coordinates{Session: id(1), Loop: id(100_000 + int(n)), Turn: id(3)}
	}
	sessions := map[string]func(n uint64) journal.JournalRecord{
		"calls and results": func(n uint64) journal.JournalRecord {
			if n%2 == 0 {
				return record(n, at, event.ToolFinished{Call: id(int(n)), Outcome: event.ToolDone, Result: event.Text(long(n))})
			}
			return record(n, at, event.ToolCalled{Call: id(int(n) + 1), Name: "T", Input: long(n)})
		},
		"one turn of messages": func(n uint64) journal.JournalRecord { return record(n, at, say(long(n))) },
		"turns": func(n uint64) journal.JournalRecord {
			at := at
			at.Turn = id(int(n))
			return record(n, at, event.TurnStarted{Index: n, Input: event.Text(long(n))})
		},
		"calls without a result": func(n uint64) journal.JournalRecord {
			return record(n, at, event.ToolCalled{Call: id(int(n)), Name: "T", Input: long(n)})
		},
		"messages behind an open call": func(n uint64) journal.JournalRecord {
			if n == 1 {
				return record(n, at, called(11))
			}
			return record(n, at, say(long(n)))
		},
		"gates without a decision": func(n uint64) journal.JournalRecord {
			if n%2 == 1 {
				return journal.NewGatePreparedRecord(event.Event{Header: event.Header{ID: id(int(n)), At: at}, Body: event.GatePrepared{Gate: id(int(n)), Asks: gate.KindPermission}},
					gate.Payload{Permission: &gate.Permission{Tool: "T", Input: long(n)}})
			}
			return record(n, at, event.GateOpened{Gate: id(int(n)), Asks: gate.KindPermission})
		},
		"payloads without a gate": func(n uint64) journal.JournalRecord {
			return journal.NewGatePreparedRecord(event.Event{Header: event.Header{ID: id(int(n)), At: at}, Body: event.GatePrepared{Gate: id(int(n)), Asks: gate.KindPermission}},
				gate.Payload{Permission: &gate.Permission{Tool: "T", Input: long(n)}})
		},
		"gates of one open call": func(n uint64) journal.JournalRecord {
			switch {
			case n == 1:
				return record(n, at, called(11))
			case n%2 == 0:
				return journal.NewGatePreparedRecord(event.Event{Header: event.Header{ID: id(int(n)), At: at}, Body: event.GatePrepared{Gate: id(int(n)), Asks: gate.KindPermission}},
					gate.Payload{Permission: &gate.Permission{Tool: "T", Input: strings.Repeat(long(n), 2)}})
			}
			return record(n, at, event.GateOpened{Gate: id(int(n) - 1), Call: id(11), Asks: gate.KindPermission})
		},
		"results behind an open call": func(n uint64) journal.JournalRecord {
			switch {
			case n == 1:
				return record(n, at, called(11))
			case n%2 == 0:
				return record(n, at, called(100_000+int(n)))
			}
			return record(n, at, event.ToolFinished{Call: id(100_000 + int(n) - 1), Outcome: event.ToolDone, Result: event.Text(strings.Repeat(long(n), 2))})
		},
		"delegates without an end": func(n uint64) journal.JournalRecord {
			if n%2 == 1 {
				return record(n, at, event.DelegateStarted{Loop: child(n).Loop, Task: event.Text(long(n))})
			}
			return record(n, child(n-1), say(long(n)))
		},
		"delegates of one open call": func(n uint64) journal.JournalRecord {
			switch {
			case n == 1:
				return record(n, at, called(11))
			case n%2 == 0:
				return record(n, at, event.DelegateStarted{Loop: child(n).Loop, Call: id(11), Task: event.Text(long(n))})
			}
			return record(n, at, event.DelegateEnded{Loop: child(n - 1).Loop, Outcome: event.Done, Result: event.Text(long(n))})
		},
		"one delegate": func(n uint64) journal.JournalRecord {
			if n == 1 {
				return record(n, at, event.DelegateStarted{Loop: child(0).Loop})
			}
			return record(n, child(0), say(long(n)))
		},
		"loops that nobody started": func(n uint64) journal.JournalRecord { return record(n, child(n), say(long(n))) },
		"inputs": func(n uint64) journal.JournalRecord {
			return journal.NewCommandRecord(id(1), id(2), command.Command{Header: command.Header{ID: id(int(n))}, Body: command.UserInput{Content: event.Text(long(n))}})
		},
		"results of no call": func(n uint64) journal.JournalRecord {
			return record(n, at, event.ToolFinished{Call: id(int(n)), Outcome: event.ToolDone, Result: event.Text(long(n))})
		},
	}
	for about, next := range sessions {
		for _, f := range formats {
			if f != transcript.JSON && about != "calls and results" {
				continue // what is held is the same in all formats
			}
			t.Run(about+"/"+string(f), func(t *testing.T) {
				base, most := heap(), uint64(0)
				tp := &tape{next: func(n uint64) journal.JournalRecord {
					if n%2000 == 0 {
						most = max(most, heap())
					}
					if n > records {
						return nil
					}
					return next(n)
				}}
				var out counter
				sum, err := transcript.Write(t.Context(), &out, tp, f, &transcript.Options{Private: true, TempDir: t.TempDir()})
				if err != nil || sum.Records != records {
					t.Fatalf("Write = %+v, %v", sum, err)
				}
				if most > base+bound {
					t.Errorf("%d MiB held, want at most %d", (most-base)>>20, bound>>20)
				}
				t.Logf("%d KiB held, %d MiB written", (max(most, base)-base)>>10, out>>20)
			})
		}
	}
}

// Nor does it grow with what a single record may hold.
func TestMemoryOfLargeRecordsIsBounded(t *testing.T) {
	const bound = 16 << 20
	at := event.Coordinates{Session: id(1), Loop: id(2), Turn: id(3)}
	record := func(n uint64, at event.Coordinates, b event.Body) journal.JournalRecord {
		return journal.NewEventRecord(event.Event{Header: event.Header{ID: id(int(n)), At: at}, Body: b})
	}
	prepared := func(n uint64, p gate.Payload) journal.JournalRecord {
		return journal.NewGatePreparedRecord(event.Event{Header: event.Header{ID: id(int(n)), At: at}, Body: event.GatePrepared{Gate: id(int(n)), Asks: p.Kind()}}, p)
	}
	large := func(n uint64) string { return strings.Repeat("x", gate.MaxInput-36) + id(int(n)).String() }
	form := func(n uint64) gate.Payload {
		field := gate.Field{Name: "f", Type: gate.FieldChoice}
		for i := range gate.MaxChoices {
			field.Choices = append(field.Choices, gate.Choice{Value: id(i).String(), Help: strings.Repeat(id(int(n)).String(), 90)})
		}
		return gate.Payload{Form: &gate.Form{Fields: []gate.Field{field}}}
	}
	for about, session := range map[string]struct {
		records uint64
		next    func(n uint64) journal.JournalRecord
	}{
		"payloads without a gate": {200, func(n uint64) journal.JournalRecord {
			return prepared(n, gate.Payload{Permission: &gate.Permission{Tool: "T", Input: large(n)}})
		}},
		"forms without a decision": {200, func(n uint64) journal.JournalRecord {
			if n%2 == 1 {
				return prepared(n, form(n))
			}
			return record(n, at, event.GateOpened{Gate: id(int(n) - 1), Asks: gate.KindForm})
		}},
		"tasks of delegates": {200, func(n uint64) journal.JournalRecord {
			return record(n, at, event.DelegateStarted{Loop: id(100_000 + int(n)), Task: event.Text(large(n))})
		}},
		"steps behind an open call": {200_000, func(n uint64) journal.JournalRecord {
			at := at
			if n == 1 {
				return record(n, at, called(11))
			}
			at.Step = id(int(n))
			return record(n, at, event.StepDone{Index: n})
		}},
	} {
		t.Run(about, func(t *testing.T) {
			base, most := heap(), uint64(0)
			tp := &tape{next: func(n uint64) journal.JournalRecord {
				if n%(session.records/10) == 0 {
					most = max(most, heap())
				}
				if n > session.records {
					return nil
				}
				return session.next(n)
			}}
			var out counter
			sum, err := transcript.Write(t.Context(), &out, tp, transcript.JSON, &transcript.Options{Private: true, TempDir: t.TempDir()})
			if err != nil || sum.Records != session.records {
				t.Fatalf("Write = %+v, %v", sum, err)
			}
			if most > base+bound {
				t.Errorf("%d MiB held, want at most %d", (most-base)>>20, bound>>20)
			}
			t.Logf("%d KiB held, %d MiB written", (max(most, base)-base)>>10, out>>20)
		})
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

var _ io.Writer = (*counter)(nil)
