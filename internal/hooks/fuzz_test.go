package hooks_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/hooks"
)

// Whatever a command looks like, what is told of it has names that a system can
// have, within bounds, and does not depend on what ran before it.
func FuzzShell(f *testing.F) {
	for _, cases := range shellCases {
		for _, c := range cases {
			f.Add(c.command)
		}
	}
	for _, bad := range []string{"'", "\"", "`", "$(", "${", "$((", "<<", "a=(", "!(", "case x in", "for", "$'\\x", "\\", "{fd}>", "(((", "}}", ";;", ")"} {
		f.Add(bad)
		f.Add("rm a" + bad)
	}
	f.Fuzz(func(t *testing.T, command string) {
		req := bash(t, command)
		checkBounds(t, req)
		if later := told(bash(t, "true\n"+command)); later != told(req) {
			t.Errorf("%q writes %s, behind another command %s", command, told(req), later)
		}
	})
}

func checkBounds(t testing.TB, req api.HookRequest) {
	t.Helper()
	paths := append(append([]string{}, req.Writes...), req.Under...)
	for _, in := range req.Into {
		paths = append(paths, in.Target)
		if len(in.Names) > 1 {
			t.Errorf("%d names go into %q", len(in.Names), in.Target)
		}
		paths = append(paths, in.Names...)
	}
	if len(paths) > 2*256 {
		t.Errorf("%d paths", len(paths))
	}
	for _, p := range paths {
		if p == "" || len(p) > 4096 || strings.IndexByte(p, 0) >= 0 || !utf8.ValidString(p) {
			t.Errorf("no system can have the path %q", p)
		}
	}
	if len(req.Tree) > 64 || len(req.TreeDir) > 4096 || !utf8.ValidString(req.TreeDir) || req.Tree == "" && req.TreeDir != "" {
		t.Errorf("tree %q in %q", req.Tree, req.TreeDir)
	}
	if len(req.Under) > 0 && !req.Whole {
		t.Errorf("under %q without whole", req.Under)
	}
}

func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/claude/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		in, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(wordOf(f, file), in)
		f.Add(wordOf(f, file), in[:len(in)/2])
	}
	f.Add(hooks.Stop, []byte("\xff\x00{"))
	f.Fuzz(func(t *testing.T, word string, in []byte) {
		req, err := hooks.Read(hooks.Claude, word, strings.NewReader(string(in)))
		if err != nil {
			var bad *hooks.InputError
			if !errors.As(err, &bad) || bad.Reason == "" || bad.Error() == "" {
				t.Errorf("Read = %#v", err)
			}
			return
		}
		checkBounds(t, req)
		if req.Conversation == "" || len(req.Conversation) > 256 || req.Dir == "" || len(req.Prompt) > 512 ||
			len(req.Agent) > 129 || len(req.Source) > 64 || len(req.Reason) > 64 || len(req.Tool) > 256 {
			t.Errorf("Read(%q) is out of bounds: %+v", in, req)
		}
	})
}
