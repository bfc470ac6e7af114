package hooks_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// quotings are the ways in which a shell lets a piece of text be written so that
// it means itself.
var quotings = []func(string) string{
	func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" },
	func(s string) string {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(s) + `"`
	},
	func(s string) string {
		var b strings.Builder
		for _, r := range s {
			if r == '\n' { // a backslash in front of it takes it away
				b.WriteString("'\n'")
				continue
			}
			b.WriteString(`\` + string(r))
		}
		return b.String()
	},
	func(s string) string {
		var b strings.Builder
		for _, r := range s {
			switch {
			case r < 0x80:
				fmt.Fprintf(&b, `\x%02x`, r)
			default:
				fmt.Fprintf(&b, `\U%08x`, r)
			}
		}
		return "$'" + b.String() + "'"
	},
	func(s string) string {
		return "$'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
	},
}

// pathText is names with everything in them that a shell looks at.
var pathText = rapid.StringOfN(rapid.RuneFrom([]rune("abc./-_ \t\n*?[]{},~$`\"'\\!#&|;()<>=+@^%:\u00e9\u20ac\U0001F600")), 1, 24, -1).
	Filter(func(s string) bool { return !strings.HasPrefix(s, "/dev") })

func quoted(t *rapid.T, s string) string {
	var b strings.Builder
	for s != "" {
		n := rapid.IntRange(1, len([]rune(s))).Draw(t, "piece")
		piece := string([]rune(s)[:n])
		s = s[len(piece):]
		b.WriteString(rapid.SampledFrom(quotings).Draw(t, "quoting")(piece))
	}
	return b.String()
}

// A path means the same however it is quoted, wherever a command may stand.
func TestAnyQuotingIsTheSamePath(t *testing.T) {
	wraps := []string{"%s", "ls; %s", "(%s)", "if true; then %s; fi", "echo $(%s)", "A='x y' %s", "cat <<E\nx ' y\nE\n%s", "{ %s\n}", "case a in a) %s;; esac", "! %s | cat"}
	commands := []string{"rm -- %s", "echo x > %s", "tee -- %s", "sed -i s/a/b/ -- %s", "git rm -q -- %s", "truncate -s 0 -- %s", "touch -- %s", "dd of=%s", "cat 2>>%s"}
	rapid.Check(t, func(t *rapid.T) {
		path := pathText.Draw(t, "path")
		want := path
		if strings.HasPrefix(path, "~") {
			want = "./" + path
		}
		form := rapid.SampledFrom(commands).Draw(t, "command")
		if strings.HasPrefix(form, "git") && strings.ContainsAny(path, "*?[:.") {
			t.Skip("a pattern of git's own")
		}
		command := fmt.Sprintf(rapid.SampledFrom(wraps).Draw(t, "wrap"), fmt.Sprintf(form, quoted(t, path)))
		req := bash(t, command)
		if d := cmp.Diff([]string{want}, req.Writes); d != "" || req.Whole || req.Tree != "" {
			t.Errorf("%q: -want +got\n%s whole %v tree %q", command, d, req.Whole, req.Tree)
		}
	})
}
