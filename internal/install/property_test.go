package install_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/comity-dev/comity/internal/install"
	"github.com/comity-dev/comity/internal/vfs"
)

// A writer makes settings files of any look. Between any two tokens it may put
// blanks, line ends and comments. Marks are unique comments in places where others
// may add something.
type writer struct {
	*rapid.T
	b         strings.Builder
	nl        string
	quiet     bool // no comments and no odd blanks
	trailing  bool
	marks     int
	additions map[string]string // what others would put in the place of a mark
}

func (w *writer) gap() {
	if w.quiet {
		return
	}
	w.b.WriteString(rapid.SampledFrom([]string{"", "", "", " ", "\t", w.nl, w.nl + "    ", " /* c, ] */ ", " // c } \"" + w.nl, w.nl + "  // own" + w.nl + "  "}).Draw(w.T, "gap"))
}

func (w *writer) token(text string) {
	w.gap()
	w.b.WriteString(text)
	w.gap()
}

// mark is a place for addition, which must fit there in front of something.
func (w *writer) mark(addition string) {
	w.marks++
	m := fmt.Sprintf("/*m%d*/", w.marks)
	w.additions[m] = addition
	w.b.WriteString(m)
}

func (w *writer) list(open, end, addition string, n int, kid func(i int)) {
	w.token(open)
	if n > 0 && !w.quiet {
		w.mark(addition)
	}
	for i := range n {
		kid(i)
		if i < n-1 || w.trailing && rapid.Bool().Draw(w.T, "trailing") {
			w.token(",")
		}
	}
	w.token(end)
}

func (w *writer) name(name string) {
	w.token(`"` + name + `"`)
	w.token(":")
}

func (w *writer) settings() {
	keys := rapid.Permutation([]string{"model", "env", "permissions", "hooks"}).Draw(w.T, "keys")
	keys = keys[:rapid.IntRange(0, len(keys)).Draw(w.T, "nkeys")]
	w.list("{", "}", ` "theirs": {"hooks": [1,2]}, `, len(keys), func(i int) {
		w.name(keys[i])
		switch keys[i] {
		case "model":
			w.token(`"opus // \" \u00e9 {"`)
		case "env":
			w.list("{", "}", `"X":"1",`, 1, func(int) { w.name("A"); w.token("-1.5e3") })
		case "permissions":
			w.list("[", "]", "null,", rapid.IntRange(0, 2).Draw(w.T, "n"), func(int) { w.token("true") })
		case "hooks":
			w.hooks()
		}
	})
}

func (w *writer) hooks() {
	names := rapid.Permutation([]string{"Stop", "PreToolUse", "SessionStart", "Notification", "SubagentStop"}).Draw(w.T, "events")
	names = names[:rapid.IntRange(0, len(names)).Draw(w.T, "nevents")]
	w.list("{", "}", `"Setup": [],`, len(names), func(i int) {
		w.name(names[i])
		w.list("[", "]", `{"hooks":[{"type":"command","command":"comity hook claude stop"}]},`, rapid.IntRange(0, 2).Draw(w.T, "ngroups"), func(int) { w.group() })
	})
}

func (w *writer) group() {
	w.list("{", "}", `"note":"theirs",`, 2, func(i int) {
		if i == 0 {
			w.name("matcher")
			w.token(rapid.SampledFrom([]string{`"Edit|Write|MultiEdit|NotebookEdit|Bash"`, `"Bash"`}).Draw(w.T, "matcher"))
			return
		}
		w.name("hooks")
		w.list("[", "]", `{"type":"prompt"},`, rapid.IntRange(0, 2).Draw(w.T, "nhandlers"), func(int) { w.token(`{"type":"command","command":"other"}`) })
	})
}

func drawSettings(t *rapid.T) (text string, additions map[string]string) {
	w := &writer{T: t, additions: make(map[string]string), nl: rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "nl")}
	w.quiet, w.trailing = rapid.Bool().Draw(t, "quiet"), rapid.Bool().Draw(t, "trailing")
	if rapid.Bool().Draw(t, "bom") {
		w.b.WriteString("\xef\xbb\xbf")
	}
	w.settings()
	w.b.WriteString(rapid.SampledFrom([]string{"", w.nl, w.nl + w.nl}).Draw(t, "end"))
	return w.b.String(), w.additions
}

func TestSettingsComeBackToTheByte(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		before, additions := drawSettings(rt)
		d, o := disk(t)
		const path = "/home/.claude/settings.json"
		put := func(text string) {
			if err := vfs.WriteFile(d, path, []byte(text)); err != nil {
				rt.Fatal(err)
			}
		}
		get := func() string { return string(d.Bytes(path)) }
		do := func(p *install.Plan, err error) {
			if err == nil {
				_, err = p.Apply(t.Context())
			}
			if err != nil {
				rt.Fatalf("%v in\n%s", err, get())
			}
		}
		put(before)
		do(install.Claude(t.Context(), o, "user"))
		after := get()
		if n := strings.Count(after, "exec comity hook claude "); n != 9 {
			rt.Fatalf("%d handlers of ours, want 9", n)
		}
		if p, err := install.Claude(t.Context(), o, "user"); err != nil || !p.Empty() {
			rt.Fatalf("a second install: %v, empty %v", err, p.Empty())
		}

		edited, want := after, before
		for m, addition := range additions {
			if rapid.Bool().Draw(rt, "add at "+m) {
				edited = strings.Replace(edited, m, addition, 1)
				want = strings.Replace(want, m, addition, 1)
			}
		}
		put(edited)
		if rapid.Bool().Draw(rt, "install again") {
			do(install.Claude(t.Context(), o, "user"))
		}
		do(install.Uninstall(t.Context(), o, install.ClaudeUser))
		if got := get(); got != want {
			rt.Fatalf("before:\n%q\nafter:\n%q\ngot:\n%q\nwant:\n%q", before, edited, got, want)
		}
	})
}

// A program that reads and rewrites the whole file must not make ours stay.
func TestSettingsRewrittenByOthersAreFreedOfOurs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := &writer{T: rt, additions: make(map[string]string), nl: "\n", quiet: true}
		w.settings()
		before := w.b.String()
		rewrite := func(text string) string {
			v := jsontext.Value(text)
			if err := v.Indent(jsontext.WithIndent("\t")); err != nil {
				rt.Fatal(err)
			}
			return string(v)
		}
		d, o := disk(t)
		const path = "/home/.claude/settings.json"
		if err := vfs.WriteFile(d, path, []byte(before)); err != nil {
			rt.Fatal(err)
		}
		p, err := install.Claude(t.Context(), o, "user")
		if err == nil {
			_, err = p.Apply(t.Context())
		}
		if err != nil {
			rt.Fatal(err)
		}
		if err := vfs.WriteFile(d, path, []byte(rewrite(string(d.Bytes(path))))); err != nil {
			rt.Fatal(err)
		}
		if p, err = install.Uninstall(t.Context(), o, install.ClaudeUser); err == nil {
			_, err = p.Apply(t.Context())
		}
		if err != nil {
			rt.Fatal(err)
		}
		if got, want := string(d.Bytes(path)), rewrite(before); got != want {
			rt.Fatalf("before %s\ngot:\n%s\nwant:\n%s", before, got, want)
		}
	})
}
