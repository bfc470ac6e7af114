package git_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWithTrailers(t *testing.T) {
	c := newCommitted(t).find()
	for _, tt := range []struct{ name, in, want string }{
		{"a subject", "subject\n", "subject\n\nComity-Claim: k/1 2\nComity-Claim: k/3 4\n"},
		{"no newline", "subject", "subject\n\nComity-Claim: k/1 2\nComity-Claim: k/3 4\n"},
		{"other trailers", "s\n\nbody\n\nSigned-off-by: a <a@example.org>\n", "s\n\nbody\n\nSigned-off-by: a <a@example.org>\nComity-Claim: k/1 2\nComity-Claim: k/3 4\n"},
		{"one that is there", "s\n\nComity-Claim: k/1 2\n", "s\n\nComity-Claim: k/1 2\nComity-Claim: k/3 4\n"},
		{"one of before", "s\n\nComity-Claim: k/9 9\n", "s\n\nComity-Claim: k/9 9\nComity-Claim: k/1 2\nComity-Claim: k/3 4\n"},
		{"comments", "s\n\n# Please enter\n# the message\n", "s\n\nComity-Claim: k/1 2\nComity-Claim: k/3 4\n\n# Please enter\n# the message\n"},
		{"a line of dashes", "s\n\n---\nbody\n", "s\n\n---\nbody\n\nComity-Claim: k/1 2\nComity-Claim: k/3 4\n"},
		{"scissors", "s\n# ------------------------ >8 ------------------------\ndiff\n", "s\n\nComity-Claim: k/1 2\nComity-Claim: k/3 4\n# ------------------------ >8 ------------------------\ndiff\n"},
		{"nothing", "", ""},
		{"nothing but comments", "\n\n# Please enter\n", "\n\n# Please enter\n"},
		{"nothing above the scissors", "\n# ------------------------ >8 ------------------------\ndiff\n", "\n# ------------------------ >8 ------------------------\ndiff\n"},
	} {
		got, err := c.WithTrailers(t.Context(), []byte(tt.in), "Comity-Claim", []string{"k/1 2", "k/3 4"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestTrailed(t *testing.T) {
	r := newRepo(t)
	list := func() (got [][]string) {
		t.Helper()
		commits, err := r.find().Trailed(t.Context(), "Comity-Claim", 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range commits {
			if c.At == 0 || c.Written == 0 {
				t.Errorf("no times: %+v", c)
			}
			got = append(got, append([]string{c.Subject}, c.Trailers...))
		}
		return got
	}
	if got := list(); got != nil {
		t.Errorf("before the first commit %v", got)
	}
	t.Setenv("GIT_AUTHOR_DATE", "1700000000 +0100")
	r.git("config", "grep.patternType", "fixed")
	r.commit("far\n\nComity-Claim: k/0 0")
	r.commit("one\n\nbody\n\nComity-Claim: k/1 2\nSigned-off-by: x\nComity-Claim: k/3 4")
	r.commit("none")
	r.commit("in the text\n\nComity-Claim: x says so\nand goes on\n\nend")
	r.commit("two\n\nComity-Claim: k/5 6")
	if diff := cmp.Diff([][]string{{"two", "k/5 6"}}, list()); diff != "" { // the text that only looks like one takes a place
		t.Errorf("(-want +got):\n%s", diff)
	}
	commits, err := r.find().Trailed(t.Context(), "Comity-Claim", 9)
	if err != nil || len(commits) != 3 || commits[0].OID != r.git("rev-parse", "HEAD") || commits[0].Written != 1700000000 {
		t.Fatalf("%+v, %v", commits, err)
	}
	if diff := cmp.Diff([]string{"k/1 2", "k/3 4"}, commits[1].Trailers); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
