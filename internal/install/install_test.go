package install_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/internal/git"
	"github.com/comity-dev/comity/internal/install"
	"github.com/comity-dev/comity/internal/vfs"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

var update = flag.Bool("update", false, "write the golden files")

// options is a user with nothing installed, on the real disk in a folder of the
// test.
func options(t *testing.T) install.Options {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"home", "top"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return install.Options{Home: filepath.Join(root, "home"), State: filepath.Join(root, "state"),
		Repo: git.Checkout{Top: filepath.Join(root, "top")}}
}

// settings writes the user's settings of Claude Code and returns their path.
func settings(t *testing.T, o install.Options, b []byte) string {
	t.Helper()
	path := filepath.Join(o.Home, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o640); err != nil {
		t.Fatal(err)
	}
	return path
}

func applied(t *testing.T, p *install.Plan, err error) install.Applied {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	done, err := p.Apply(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func installClaude(t *testing.T, o install.Options) install.Applied {
	t.Helper()
	p, err := install.Claude(t.Context(), o, "user")
	return applied(t, p, err)
}

func uninstall(t *testing.T, o install.Options, names ...string) install.Applied {
	t.Helper()
	p, err := install.Uninstall(t.Context(), o, names...)
	return applied(t, p, err)
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// names lists all that is below dir but the state of comity itself.
func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil {
			all = append(all, strings.TrimPrefix(path, dir))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func records(t *testing.T, o install.Options) []install.Record {
	t.Helper()
	all, err := install.Installed(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func disk(t *testing.T) (*vfstest.Disk, install.Options) {
	t.Helper()
	d := vfstest.New()
	for _, dir := range []string{"/home", "/home/.claude", "/top", "/state"} {
		if err := vfs.MkdirAll(d, dir); err != nil {
			t.Fatal(err)
		}
	}
	return d, install.Options{FS: d, Home: "/home", State: "/state", Repo: git.Checkout{Top: "/top"}}
}

// Each hand-made file becomes its golden one, stays it when installed again, and
// comes back to the byte.
func TestClaudeSettingsGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/claude/*.json")
	if err != nil || len(files) < 12 {
		t.Fatalf("%d settings files, want 12 and more: %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			before := []byte(read(t, file))
			o := options(t)
			path := settings(t, o, before)

			installClaude(t, o)
			after := read(t, path)
			golden := strings.TrimSuffix(file, ".json") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(after), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(read(t, golden), after); d != "" {
				t.Errorf("installed (-want +got):\n%s", d)
			}

			if done := installClaude(t, o); len(done.Changed) > 0 || read(t, path) != after {
				t.Errorf("a second install changed %v", done.Changed)
			}
			if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o640 {
				t.Errorf("mode = %v, %v, want 0640 as before", st.Mode(), err)
			}

			uninstall(t, o, install.ClaudeUser)
			if got := read(t, path); !bytes.Equal([]byte(got), before) {
				t.Errorf("after uninstall:\n%q\nwant\n%q", got, before)
			}
			if left := records(t, o); len(left) > 0 {
				t.Errorf("records left: %v", left)
			}
			if got := names(t, filepath.Dir(path)); len(got) != 2 {
				t.Errorf("left in the folder: %q", got)
			}
		})
	}
}

// When others rewrite the whole file, what they wrote stays and ours goes.
func TestClaudeSettingsGoldenWithOthersEdit(t *testing.T) {
	files, _ := filepath.Glob("testdata/claude/*.json")
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			before := read(t, file)
			if strings.TrimSpace(before) == "" {
				before = "{}\n"
			}
			o := options(t)
			path := settings(t, o, []byte(before))
			installClaude(t, o)
			edit := func(text string) string {
				i := strings.IndexByte(text, '{')
				return text[:i+1] + ` "mine": [1, {"x": "}"}], /* here */` + text[i+1:]
			}
			if err := os.WriteFile(path, []byte(edit(read(t, path))), 0o640); err != nil {
				t.Fatal(err)
			}
			uninstall(t, o, install.ClaudeUser)
			got, want := read(t, path), edit(before)
			if strings.TrimSpace(before) == "{}" { // what they added has become all that there is
				want = "{ \"mine\": [1, {\"x\": \"}\"}] /* here */\n}\n"
			}
			if got != want {
				t.Errorf("after uninstall:\n%q\nwant\n%q", got, want)
			}
		})
	}
}
