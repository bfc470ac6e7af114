package hooks_test

import (
	"strings"
	"testing"

	"github.com/comity-dev/comity/internal/hooks"
)

// The worst commands that were thought of, each near the largest that is read.
// All must stay near each other: the time is linear in the length.
func BenchmarkWorst(b *testing.B) {
	const size = 256 << 10
	for name, piece := range map[string]string{
		"words":         "a ",
		"writes":        "rm a;",
		"braces open":   "{",
		"braces":        "a{b}",
		"commas":        "{a,b}",
		"parens":        "(",
		"subshells":     "(a)",
		"arithmetic":    "$((",
		"almost":        "$((a) )",
		"substitutions": "$(a)",
		"parameters":    "${a:-",
		"backquotes":    "`a`",
		"quotes":        "''",
		"heredocs":      "<<A ",
		"cd":            "cd a;",
		"doubling":      "a=$a$a;",
		"pwd":           "$(pwd)",
		"pipes":         "a|",
		"assignments":   "a=1|",
		"sudo":          "sudo ",
		"xargs":         "xargs ",
		"find":          "find a -exec ",
		"loops":         "for f in a b c d e f g h i j; do rm $f;",
		"options":       "rm -aaaaaaaa ",
		"redirections":  ">a",
		"case":          "case a in a) ",
		"if":            "if a;",
		"escapes":       "$'\\x41'",
		"variable":      "$aaaaaaaa",
	} {
		in := input(b, hooks.PreToolUse, tool("Bash", map[string]any{"command": strings.Repeat(piece, size/len(piece))}))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				if _, err := hooks.Read(hooks.Claude, hooks.PreToolUse, strings.NewReader(in)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	for name, in := range map[string]string{
		"write": input(b, hooks.PreToolUse, nil),
		"write of 1 MB": input(b, hooks.PreToolUse, tool("Write", map[string]any{
			"file_path": "/r/a", "content": strings.Repeat("line of text\n", 1<<20/13)})),
		"bash": input(b, hooks.PreToolUse, tool("Bash", map[string]any{
			"command": "cd src && sed -i 's/a/b/' a.go && go test ./... 2>&1 | tail -20 && git add -A && git commit -m 'x'"})),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				if _, err := hooks.Read(hooks.Claude, hooks.PreToolUse, strings.NewReader(in)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
