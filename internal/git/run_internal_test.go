package git

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestEnvironKeepsThePersonAndDropsTheRepository(t *testing.T) {
	env := environ([]string{"PATH=/bin", "HOME=/h", "GIT_DIR=x", "git_work_tree=x", "GIT_INDEX_FILE=x", "GIT_CONFIG_PARAMETERS=x",
		"GIT_OPTIONAL_LOCKS=1", "LC_ALL=de_DE", "GIT_CONFIG_GLOBAL=/g", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=k", "GIT_CONFIG_VALUE_0=v",
		"GIT_EXEC_PATH=/e", "GIT_TRACE=1", "GITHUB_X=1", "PWD=/elsewhere", "odd"})
	for _, want := range []string{"PATH=/bin", "HOME=/h", "GIT_CONFIG_GLOBAL=/g", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=k",
		"GIT_CONFIG_VALUE_0=v", "GIT_EXEC_PATH=/e", "GITHUB_X=1", "odd", "GIT_OPTIONAL_LOCKS=0"} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing", want)
		}
	}
	for _, kv := range env {
		name, value, _ := strings.Cut(strings.ToUpper(kv), "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CONFIG_PARAMETERS", "GIT_TRACE", "PWD":
			t.Errorf("%s is still there", kv)
		case "GIT_OPTIONAL_LOCKS":
			if value != "0" {
				t.Errorf("%s is still there", kv)
			}
		}
	}
	if last := env[len(env)-1]; last != "LC_ALL=C" { // the last one counts
		t.Errorf("the last variable is %s, want LC_ALL=C", last)
	}
}

func TestParseStatus(t *testing.T) {
	oid := strings.Repeat("a", 40)
	for _, tt := range []struct {
		name string
		recs []string
		want []string
	}{
		{"nothing", nil, nil},
		{"changed", []string{"1 .M N... 100644 100644 100644 " + oid + " " + oid + " a b/c d"}, []string{"a b/c d"}},
		{"unmerged", []string{"u UU N... 100644 100644 100644 100644 " + oid + " " + oid + " " + oid + " a b"}, []string{"a b"}},
		{"renamed", []string{"2 R. N... 100644 100644 100644 " + oid + " " + oid + " R100 new name", "1 old name", "? x"}, []string{"new name", "1 old name", "x"}},
		{"untracked", []string{"? 1 .M N", "?  lead"}, []string{"1 .M N", " lead"}},
		{"a repository among the untracked", []string{"? wt/"}, nil},
		{"ignored and headers", []string{"! x", "# branch.oid y"}, nil},
		{"cut short", []string{"1 .M N...", "u", "?", "2"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, parseStatus(tt.recs)); diff != "" {
				t.Errorf("parseStatus (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzParseStatus(f *testing.F) {
	f.Add("1 .M N... 1 1 1 a a x\x00? y\x002 R. N... 1 1 1 a a R1 n\x00o\x00u")
	f.Add("2\x00\x00")
	f.Fuzz(func(t *testing.T, out string) {
		recs := records(answer{out: []byte(out)})
		names := parseStatus(recs)
		for _, name := range names {
			if name == "" || !strings.Contains(out, name) || strings.Contains(name, "\x00") {
				t.Errorf("parseStatus(%q) invents %q", out, name)
			}
		}
		ch := changes(names, false)
		if !slices.IsSorted(ch.Paths) || slices.ContainsFunc(ch.Paths, func(p string) bool { return !utf8.ValidString(p) }) {
			t.Errorf("changes = %q, want sorted text", ch.Paths)
		}
		if len(ch.Paths)+len(ch.NotText) > len(names) {
			t.Errorf("changes(%q) grew to %+v", names, ch)
		}
	})
}

func TestBoundedKeepsTheStart(t *testing.T) {
	cut, swallow := bounded{max: 5, stop: true}, bounded{max: 5}
	for _, w := range []*bounded{&cut, &swallow} {
		if n, err := w.Write([]byte("abc")); n != 3 || err != nil {
			t.Errorf("Write = %d, %v", n, err)
		}
	}
	if n, err := cut.Write([]byte("defg")); n != 2 || err == nil {
		t.Errorf("Write over the limit = %d, %v, want 2 and an error", n, err)
	}
	if n, err := swallow.Write([]byte("defg")); n != 4 || err != nil {
		t.Errorf("Write over the limit = %d, %v, want it swallowed", n, err)
	}
	for _, w := range []*bounded{&cut, &swallow} {
		if w.b.String() != "abcde" || !w.full {
			t.Errorf("kept %q, full %v, want abcde, true", w.b.String(), w.full)
		}
	}
}
