package install_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/internal/install"
	"github.com/comity-dev/comity/internal/vfs"
)

func TestClaudeRefusesWhatItDoesNotUnderstand(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		line, col  int
		what       string
	}{
		{"cut", "{\n  \"model\": \"opus\"", 1, 1, `'{' that is not closed`},
		{"no comma", "{\n  \"a\": 1\n  \"b\": 2\n}", 3, 3, `'"' where a comma or '}' should be`},
		{"two commas", "{\"a\": 1,, \"b\": 2}", 1, 9, `',' where a name in double quotes should be`},
		{"duplicate", "{\n  \"hooks\": {},\n  \"hooks\": {}\n}", 3, 3, `the name "hooks" a second time`},
		{"duplicate by an escape", "{\"a\": {\"x\": 1, \"\\u0078\": 2}}", 1, 16, `the name "x" a second time`},
		{"comment without end", "{} /* x", 1, 4, "a comment that does not end"},
		{"slash", "{\"é\": /}", 1, 7, "'/' that begins no comment"},
		{"hash comment", "# x\n{}", 1, 1, "a value is missing before '#'"},
		{"single quotes", "{'a': 1}", 1, 2, `'\'' where a name in double quotes should be`},
		{"string over lines", "{\"a\": \"x\n\"}", 1, 7, "a string that does not end on its line"},
		{"bad escape", `{"a": "\q"}`, 1, 7, "a string with a character or an escape that JSON does not have"},
		{"word", "{\"a\": True}", 1, 7, "a value is missing before 'T'"},
		{"number", "{\"a\": 01}", 1, 7, `"01" is no JSON value`},
		{"more behind", "{}\n{}", 2, 1, "'{' behind the end of the JSON value"},
		{"not UTF-8", "{\"a\": \"\xff\"}", 1, 7, "a string with a character or an escape that JSON does not have"},
		{"UTF-16", "\xff\xfe{\x00}\x00", 1, 1, "a value is missing before a byte that is not UTF-8"},
		{"deep", "{\"a\":" + strings.Repeat("[", 300), 1, 206, "nested deeper than 200"},
		{"array", "[]", 1, 1, "the settings are no object"},
		{"hooks", "{\n\"hooks\": [ ]}", 2, 10, "hooks is no object"},
		{"hooks null", "{\"hooks\": null}", 1, 11, "hooks is no object"},
		{"event", "{\"hooks\": {\"Stop\": {}}}", 1, 20, "hooks.Stop is no array"},
		{"large", strings.Repeat(" ", 4<<20) + "{}", 1, 1, "larger than 4194304 bytes"},
		{"comment alone", "// nothing\n", 2, 1, "a value is missing: the file ends"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := options(t)
			path := settings(t, o, []byte(tt.text))
			_, err := install.Claude(t.Context(), o, "user")
			var bad *install.SyntaxError
			if !errors.As(err, &bad) {
				t.Fatalf("error = %v, want a SyntaxError", err)
			}
			want := install.SyntaxError{Path: path, Line: tt.line, Col: tt.col, What: tt.what}
			if *bad != want {
				t.Errorf("got  %v\nwant %v", bad, &want)
			}
			if read(t, path) != tt.text {
				t.Errorf("the file was touched")
			}
			if len(records(t, o)) > 0 {
				t.Errorf("a record was written")
			}
		})
	}
}

// What others did to the file since, whatever it was, stays.
func TestUninstallKeepsWhatOthersWrote(t *testing.T) {
	const ours = `{"hooks": [{"type": "command", "command": "command -v comity >/dev/null 2>&1 || exit 0; exec comity hook claude stop", "timeout": 5}]}`
	const handler = `{"type": "command", "command": "command -v comity >/dev/null 2>&1 || exit 0; exec comity hook claude stop", "timeout": 5}`
	for _, tt := range []struct{ name, text, want string }{
		{"their handler in our group", `{"hooks": {"Stop": [{"hooks": [` + handler + `, {"type": "command", "command": "x"}]}]}}`,
			`{"hooks": {"Stop": [{"hooks": [ {"type": "command", "command": "x"}]}]}}`},
		{"our handler in their group", `{"hooks": {"Stop": [{"hooks": [{"command": "x"}, ` + handler + `], "id": 7}]}}`,
			`{"hooks": {"Stop": [{"hooks": [{"command": "x"}], "id": 7}]}}`},
		{"their key in our group", `{"hooks": {"Stop": [{"id": 7, "hooks": [` + handler + `]}]}}`,
			`{"hooks": {"Stop": [{"id": 7, "hooks": []}]}}`},
		{"our timeout changed", `{"a": 1, "hooks": {"Stop": [` + strings.Replace(ours, "5}", "50}", 1) + `]}}`, `{"a": 1}`},
		{"our command changed is theirs", `{"hooks": {"Stop": [{"hooks": [{"command": "FOO=1 comity hook claude stop"}]}]}}`,
			`{"hooks": {"Stop": [{"hooks": [{"command": "FOO=1 comity hook claude stop"}]}]}}`},
		{"escaped by another writer", `{"a":1,"hooks":{"Stop":[` + strings.NewReplacer(">", `\u003e`, "&", `\u0026`).Replace(ours) + `]}}`, `{"a":1}`},
		{"twice", `{"hooks": {"Stop": [` + ours + `, "x", ` + ours + `]}, "a": 1}`, `{"hooks": {"Stop": [ "x"]}, "a": 1}`},
		{"under another event", `{"hooks": {"Foo": [` + ours + `], "Bar": []}, "a": 1}`, `{"hooks": {"Foo": [], "Bar": []}, "a": 1}`},
		{"a comment before and a group behind on one line", "{\"hooks\": {\"Stop\": [ // mine\n" + ours + `, {"x": 1}]}}`,
			"{\"hooks\": {\"Stop\": [ // mine\n {\"x\": 1}]}}"},
		{"comments inside ours", "{\n  \"hooks\": {\n    \"Stop\": [\n      " + strings.Replace(ours, "{", "{ // why\n /* so */", 1) + "\n    ]\n  }\n}\n",
			"{\n  \"hooks\": {\n    \"Stop\": [\n      // why\n      /* so */\n    ]\n  }\n}\n"},
		{"a comment before ours in a container of ours", "{\n  \"hooks\": {\n    \"Stop\": [\n      // stay\n      " + ours + "\n    ]\n  }\n}\n",
			"{\n  \"hooks\": {\n    \"Stop\": [\n      // stay\n    ]\n  }\n}\n"},
		{"nothing of ours", `{"hooks": {}}`, `{"hooks": {}}`},
		{"hooks of another type", `{"hooks": [1]}`, `{"hooks": [1]}`},
		{"odd groups", `{"hooks": {"Stop": [1, {"hooks": 2}, {"hooks": [3, {"command": 4}]}]}}`, `{"hooks": {"Stop": [1, {"hooks": 2}, {"hooks": [3, {"command": 4}]}]}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := options(t)
			path := settings(t, o, []byte("{\"a\": 1}\n"))
			installClaude(t, o)
			if err := os.WriteFile(path, []byte(tt.text), 0o640); err != nil {
				t.Fatal(err)
			}
			uninstall(t, o, install.ClaudeUser)
			if d := cmp.Diff(tt.want, read(t, path)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// Without a record, ours is known by its words, and what it leaves empty goes
// with it.
func TestUninstallWithoutRecord(t *testing.T) {
	o := options(t)
	path := settings(t, o, []byte("{\n  \"model\": \"opus\"\n}\n"))
	installClaude(t, o)
	if err := os.RemoveAll(o.State); err != nil {
		t.Fatal(err)
	}
	p, err := install.Claude(t.Context(), o, "user")
	if done := applied(t, p, err); !p.Empty() || len(done.Notes) != 1 {
		t.Errorf("install of what is there: empty %v, notes %q", p.Empty(), done.Notes)
	}
	uninstall(t, o, install.ClaudeUser)
	if got, want := read(t, path), "{\n  \"model\": \"opus\"\n}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := install.Uninstall(t.Context(), o, install.ClaudeUser); !errors.Is(err, install.ErrNotInstalled) {
		t.Errorf("a second uninstall = %v, want ErrNotInstalled", err)
	}
}

func TestClaudeMakesWhatIsMissingAndRemovesIt(t *testing.T) {
	o := options(t)
	before := names(t, o.Home)
	done := installClaude(t, o)
	path := filepath.Join(o.Home, ".claude", "settings.json")
	if d := cmp.Diff([]string{filepath.Dir(path), path}, done.Changed); d != "" {
		t.Errorf("changed (-want +got):\n%s", d)
	}
	var said struct{ Hooks map[string][]any }
	if err := json.Unmarshal([]byte(read(t, path)), &said); err != nil || len(said.Hooks) != 9 {
		t.Errorf("%d events, %v, want 9", len(said.Hooks), err)
	}
	uninstall(t, o, install.ClaudeUser)
	if d := cmp.Diff(before, names(t, o.Home)); d != "" {
		t.Errorf("left behind (-want +got):\n%s", d)
	}

	deep := o
	deep.ClaudeDir = filepath.Join(o.Home, "a", "b", "claude")
	installClaude(t, deep)
	uninstall(t, deep, install.ClaudeUser)
	if d := cmp.Diff(before, names(t, o.Home)); d != "" {
		t.Errorf("left behind of several folders (-want +got):\n%s", d)
	}

	// With something of others in it, file and folder stay.
	installClaude(t, o)
	text := strings.Replace(read(t, path), "{", `{"model": "opus",`, 1)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	uninstall(t, o, install.ClaudeUser)
	if got, want := read(t, path), "{\"model\": \"opus\"\n}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A folder of ours that somebody uses by now is no reason to fail.
func TestUninstallLeavesAFolderThatIsUsed(t *testing.T) {
	o := options(t)
	installClaude(t, o)
	theirs := filepath.Join(o.Home, ".claude", "history")
	if err := os.WriteFile(theirs, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	uninstall(t, o, install.ClaudeUser)
	if got := names(t, filepath.Dir(theirs)); len(got) != 2 {
		t.Errorf("in the folder: %q, want only theirs", got)
	}
	if left := records(t, o); len(left) > 0 {
		t.Errorf("records left: %v", left)
	}
}

func TestClaudeProjectIsForTheWorktree(t *testing.T) {
	o := options(t)
	p, err := install.Claude(t.Context(), o, "project")
	applied(t, p, err)
	path := filepath.Join(o.Repo.Top, ".claude", "settings.json")
	if st, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o644 {
		t.Fatalf("project settings: %v, %v, want mode 0644", st, err)
	}
	if _, err := os.Stat(filepath.Join(o.Home, ".claude")); !os.IsNotExist(err) {
		t.Errorf("the user's folder: %v, want none", err)
	}
	if got := records(t, o); len(got) != 1 || got[0].Name != install.ClaudeProject || got[0].Where != path {
		t.Errorf("records = %+v", got)
	}
	o.Repo.Top = ""
	if _, err := install.Claude(t.Context(), o, "project"); err == nil {
		t.Error("project without a worktree = nil, want an error")
	}
	if _, err := install.Claude(t.Context(), o, "local"); err == nil {
		t.Error("scope local = nil, want an error")
	}
	// All of it goes by its records, wherever one stands.
	p, err = install.UninstallAll(t.Context(), o)
	applied(t, p, err)
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Errorf("project folder: %v, want none", err)
	}
}

func TestClaudeEditsTheTargetOfALink(t *testing.T) {
	o := options(t)
	dotfiles := filepath.Join(o.Home, "dotfiles.json")
	if err := os.WriteFile(dotfiles, []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(o.Home, ".claude", "settings.json")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../dotfiles.json", path); err != nil {
		t.Skip(err)
	}
	installClaude(t, o)
	if to, err := os.Readlink(path); to != "../dotfiles.json" {
		t.Errorf("link = %q, %v, want it kept", to, err)
	}
	if !strings.Contains(read(t, dotfiles), "comity") {
		t.Error("the target was not edited")
	}
	uninstall(t, o, install.ClaudeUser)
	// When the link leads elsewhere, ours goes along.
	installClaude(t, o)
	other := filepath.Join(o.Home, "other.json")
	if err := os.WriteFile(other, []byte("{ }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../other.json", path); err != nil {
		t.Fatal(err)
	}
	installClaude(t, o)
	if !strings.Contains(read(t, other), "comity") || read(t, dotfiles) != "{}\n" {
		t.Errorf("after the link was changed: %q and %q", read(t, other), read(t, dotfiles))
	}
	uninstall(t, o, install.ClaudeUser)
	if read(t, other) != "{ }\n" {
		t.Errorf("after uninstall: %q", read(t, other))
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../dotfiles.json", path); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(path); to != "../dotfiles.json" || read(t, dotfiles) != "{}\n" {
		t.Errorf("after uninstall: link %q, %v, target %q", to, err, read(t, dotfiles))
	}

	if err := os.Remove(dotfiles); err != nil {
		t.Fatal(err)
	}
	if _, err := install.Claude(t.Context(), o, "user"); err == nil || !strings.Contains(err.Error(), "leads nowhere") {
		t.Errorf("a link that leads nowhere = %v", err)
	}
}

func TestClaudeLeavesReadOnlyAndOddFiles(t *testing.T) {
	o := options(t)
	path := settings(t, o, []byte("{}\n"))
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	if _, err := install.Claude(t.Context(), o, "user"); !errors.Is(err, install.ErrReadOnly) {
		t.Errorf("a read-only file = %v, want ErrReadOnly", err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	installClaude(t, o)
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	if _, err := install.Uninstall(t.Context(), o, install.ClaudeUser); !errors.Is(err, install.ErrReadOnly) {
		t.Errorf("uninstall from a read-only file = %v, want ErrReadOnly", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := install.Claude(t.Context(), o, "user"); err == nil {
		t.Error("a folder in the file's place = nil, want an error")
	}
}

func TestApplyRefusesWhatChangedSinceThePlan(t *testing.T) {
	o := options(t)
	path := settings(t, o, []byte("{}\n"))
	p, err := install.Claude(t.Context(), o, "user")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{ }\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Apply(t.Context()); !errors.Is(err, install.ErrChanged) {
		t.Errorf("Apply = %v, want ErrChanged", err)
	}
	if read(t, path) != "{ }\n" || len(records(t, o)) > 0 {
		t.Error("a refused plan left something")
	}

	// While another applies, one waits outside.
	if p, err = install.Claude(t.Context(), o, "user"); err != nil {
		t.Fatal(err)
	}
	lock, err := vfs.OS().Lock(filepath.Join(o.State, "install", "lock"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Apply(t.Context()); !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("Apply beside another = %v, want ErrLocked", err)
	}
	lock.Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Apply(ended); !errors.Is(err, context.Canceled) || read(t, path) != "{ }\n" {
		t.Errorf("Apply with an ended context = %v", err)
	}

	// A plan made before another one was applied is old as well.
	one, err := install.Claude(t.Context(), o, "user")
	if err != nil {
		t.Fatal(err)
	}
	installClaude(t, o)
	if _, err := one.Apply(t.Context()); !errors.Is(err, install.ErrChanged) {
		t.Errorf("Apply of a plan of before = %v, want ErrChanged", err)
	}
	uninstall(t, o, install.ClaudeUser)
	if read(t, path) != "{ }\n" {
		t.Errorf("after uninstall: %q", read(t, path))
	}
}

// What was an empty array gets its looks back only where that leaves JSON.
func TestUninstallKeepsALineCommentApart(t *testing.T) {
	o := options(t)
	path := settings(t, o, []byte("{\"hooks\": {\n\"Stop\": []\n}}\n"))
	installClaude(t, o)
	text := strings.Replace(read(t, path), "\"Stop\": [", "\"Stop\": [ // mine", 1)
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	uninstall(t, o, install.ClaudeUser)
	if got, want := read(t, path), "{\"hooks\": {\n\"Stop\": [ // mine\n]\n}}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestASecondApplyDoesNothing(t *testing.T) {
	o := options(t)
	path := settings(t, o, []byte("{\"disableAllHooks\": true}\n"))
	p, err := install.Claude(t.Context(), o, "user")
	done := applied(t, p, err)
	if len(done.Notes) != 1 || !strings.Contains(done.Notes[0], "disableAllHooks") {
		t.Errorf("notes = %q, want one about disableAllHooks", done.Notes)
	}
	after := read(t, path)
	if done := applied(t, p, nil); len(done.Changed) > 0 || read(t, path) != after {
		t.Errorf("a second Apply changed %q", done.Changed)
	}
}

// What is installed in a folder that is gone leaves nothing but its record, and
// that goes.
func TestUninstallAllWhereTheWorktreeIsGone(t *testing.T) {
	o := options(t)
	p, err := install.Claude(t.Context(), o, "project")
	applied(t, p, err)
	if err := os.RemoveAll(o.Repo.Top); err != nil {
		t.Fatal(err)
	}
	p, err = install.UninstallAll(t.Context(), o)
	if done := applied(t, p, err); len(done.Changed) > 0 || len(records(t, o)) > 0 {
		t.Errorf("changed %q, records %v", done.Changed, records(t, o))
	}
}

// An entry that somebody took out comes back with the next install, and a new
// command of ours replaces the old one.
func TestInstallAgainMendsAndUpgrades(t *testing.T) {
	o := options(t)
	path := settings(t, o, []byte("{}\n"))
	old := o
	old.Command = []string{"comity-old", "sub"}
	installClaude(t, old)
	installClaude(t, o)
	if text := read(t, path); strings.Contains(text, "comity-old") || strings.Count(text, "exec comity hook") != 9 {
		// the old command is only known by its record: both are in it
		t.Errorf("after an upgrade:\n%s", text)
	}
	broken := strings.Replace(read(t, path), "hook claude stop", "hook nobody stop", 1)
	if err := os.WriteFile(path, []byte(broken), 0o640); err != nil {
		t.Fatal(err)
	}
	installClaude(t, o)
	if text := read(t, path); strings.Count(text, "exec comity hook claude stop") != 1 || !strings.Contains(text, "hook nobody stop") {
		t.Errorf("after a repair:\n%s", text)
	}
	narrow := strings.Replace(read(t, path), "Edit|Write|MultiEdit|NotebookEdit|Bash", "Edit", 1)
	if err := os.WriteFile(path, []byte(narrow), 0o640); err != nil {
		t.Fatal(err)
	}
	installClaude(t, o)
	if text := read(t, path); strings.Count(text, "Edit|Write|MultiEdit|NotebookEdit|Bash") != 3 || strings.Count(text, "exec comity hook") != 10 {
		t.Errorf("after a matcher was changed:\n%s", text)
	}
}

func TestPlanPrintsEverything(t *testing.T) {
	o := options(t)
	path := settings(t, o, []byte("{\r\n  \"a\": \"\x1b\"\r\n}"))
	if err := os.WriteFile(path, []byte("{\r\n  \"a\": 1\r\n}"), 0o640); err != nil {
		t.Fatal(err)
	}
	p, err := install.Claude(t.Context(), o, "user")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	p.Print(&b)
	if read(t, path) != "{\r\n  \"a\": 1\r\n}" || len(records(t, o)) > 0 {
		t.Error("printing changed something")
	}
	text := b.String()
	for _, want := range []string{"edit " + path + "\n@@ -1,3 +1,", "\n-  \"a\": 1\\r\n+  \"a\": 1,\\r\n", "\n }\n\\ No newline at end of file\n", "record in " + o.State} {
		if !strings.Contains(text, want) {
			t.Errorf("the preview lacks %q:\n%s", want, text)
		}
	}
	applied(t, p, nil)
	added := regexp.MustCompile(`(?m)^\+`).FindAllString(text, -1)
	if got, want := len(added)-1, strings.Count(read(t, path), "\n")-2; got != want {
		t.Errorf("%d lines in the preview are new, %d in the file", got, want)
	}

	if p, err = install.Claude(t.Context(), o, "user"); err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if p.Print(&b); b.String() != "nothing to change\n" {
		t.Errorf("an empty plan prints %q", b.String())
	}
}

// One file with an error in it keeps nothing else from being taken out.
func TestUninstallAllTakesOutWhatItCan(t *testing.T) {
	o := options(t)
	user := settings(t, o, []byte("{}\n"))
	installClaude(t, o)
	p, err := install.Claude(t.Context(), o, "project")
	applied(t, p, err)
	if err := os.WriteFile(user, []byte("{,}"), 0o640); err != nil {
		t.Fatal(err)
	}
	p, err = install.UninstallAll(t.Context(), o)
	var bad *install.SyntaxError
	if !errors.As(err, &bad) || bad.Path != user || p == nil {
		t.Fatalf("UninstallAll = %v, want a plan and a SyntaxError of %s", err, user)
	}
	applied(t, p, nil)
	if got := records(t, o); len(got) != 1 || got[0].Name != install.ClaudeUser || read(t, user) != "{,}" {
		t.Errorf("records left: %+v", got)
	}
}

func TestRecordsAreReadStrictly(t *testing.T) {
	o := options(t)
	installClaude(t, o)
	dir := filepath.Join(o.State, "install")
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	good := read(t, files[0])
	if st, err := os.Stat(files[0]); err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
		t.Errorf("record: %v, %v, want mode 0600", st, err)
	}
	for _, change := range [][2]string{
		{`"format": 1`, `"format": 2`},
		{`"name": "claude-user"`, `"name": "claude-else"`},
		{`"name": "claude-user"`, `"name": "claude-project"`},
		{`"name"`, `"x": 1, "name"`},
		{`"path": "/`, `"path": "../`},
		{`"kind": "json"`, `"kind": "any"`},
	} {
		if runtime.GOOS == "windows" && strings.Contains(change[0], "/") {
			continue
		}
		bad := strings.Replace(good, change[0], change[1], 1)
		if bad == good {
			t.Fatalf("%q is not in the record", change[0])
		}
		if err := os.WriteFile(files[0], []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := install.Installed(t.Context(), o); err == nil || len(got) > 0 {
			t.Errorf("%s: Installed = %v, %v, want an error", change[1], got, err)
		}
	}
}
