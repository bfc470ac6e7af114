package git_test

import (
	"testing"

	"github.com/comity-dev/comity/internal/git"
)

func BenchmarkFind(b *testing.B) {
	for b.Loop() {
		if _, err := git.Find(b.Context(), "."); err != nil {
			b.Skip(err)
		}
	}
}

func BenchmarkRel(b *testing.B) {
	c, err := git.Find(b.Context(), ".")
	if err != nil {
		b.Skip(err)
	}
	for b.Loop() {
		if _, err := c.Rel(c.Top, "internal/git/git.go"); err != nil {
			b.Fatal(err)
		}
	}
}
