package journal_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/comity-dev/comity/coop/journal"
)

func BenchmarkAppend(b *testing.B) {
	for _, where := range []string{"memory", "disk"} {
		for _, writers := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/writers=%d", where, writers), func(b *testing.B) {
				dir := ""
				if where == "disk" {
					dir = b.TempDir()
				}
				j := onDisk(b, dir, nil)
				b.ReportAllocs()
				b.SetParallelism(writers)
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if _, err := j.Append(context.Background(), opened("s1")); err != nil {
							b.Error(err)
						}
					}
				})
			})
		}
	}
}

// One operation is one event read back, checked and folded.
func BenchmarkReload(b *testing.B) {
	dir := b.TempDir()
	j := onDisk(b, dir, nil)
	_, err := j.Decide(b.Context(), func(tx *journal.Tx) error {
		for i := range 1000 {
			if _, err := tx.Append(opened(fmt.Sprintf("s%d", i))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	mustClose(b, j)
	b.ReportAllocs()
	for n := 0; n < b.N; n += 1001 {
		mustClose(b, onDisk(b, dir, nil))
	}
}
