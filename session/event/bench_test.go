package event_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/comity-dev/comity/session/event"
)

func BenchmarkCodec(b *testing.B) {
	for _, size := range []int{100, 64 << 10, 4 << 20} {
		e := event.Event{Header: event.Header{ID: id(1), At: step, CreatedAt: 1767225600000}, Body: event.ToolFinished{
			Call: id(7), Outcome: event.ToolDone, Result: event.Text(strings.Repeat("line of output\n", size/15)),
		}}
		raw, err := (*event.Kinds)(nil).Encode(e)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("encode/"+strconv.Itoa(size), func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := (*event.Kinds)(nil).Encode(e); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("decode/"+strconv.Itoa(size), func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := (*event.Kinds)(nil).Decode(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
