package transcript

import (
	"fmt"
	"testing"

	"github.com/comity-dev/comity/session/event"
)

func number(n int) event.ID { return event.ID(fmt.Sprint(n)) }

// A table forgets the oldest, counts what it forgot, and does not grow with what comes and
// goes.
func TestTable(t *testing.T) {
	table := newTable[int](10)
	for n := range 25 {
		table.put(number(n), n)
	}
	var got []int
	table.each(func(_ event.ID, n int) { got = append(got, n) })
	if want := "[15 16 17 18 19 20 21 22 23 24]"; fmt.Sprint(got) != want || table.lost != 15 {
		t.Errorf("left %v, %d lost, want %s and 15", got, table.lost, want)
	}
	for n := range 1000 {
		table.put(number(n), n)
		if v, ok := table.take(number(n)); !ok || v != n {
			t.Fatalf("take(%d) = %d, %v", n, v, ok)
		}
		if _, ok := table.take(number(n)); ok {
			t.Fatalf("take(%d) twice", n)
		}
		if len(table.oldest) > 20 || len(table.byID) > 10 {
			t.Fatalf("%d ids are kept for %d values", len(table.oldest), len(table.byID))
		}
	}
}
