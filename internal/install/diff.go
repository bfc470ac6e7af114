package install

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

const (
	around  = 3    // unchanged lines that a hunk shows before and behind
	maxDiff = 2000 // changed lines beyond which all lines count as changed
)

// A diffLine is a line that both have (' '), or only the old ('-'), or only the
// new ('+').
type diffLine struct {
	sign byte
	text string
}

// diff is the unified diff of two texts, without file names. Characters that a
// terminal would act on are shown as \x1b and the like.
func diff(old, new string) string {
	lines := compare(split(old), split(new))
	var b strings.Builder
	for at := 0; at < len(lines); {
		if lines[at].sign == ' ' {
			at++
			continue
		}
		start, end := max(0, at-around), hunkEnd(lines, at)
		writeHunk(&b, lines, start, end)
		at = end
	}
	return b.String()
}

// hunkEnd is where the hunk that begins with the change at at ends.
func hunkEnd(lines []diffLine, at int) int {
	last := at
	for i := at; i < len(lines) && i-last <= 2*around; i++ {
		if lines[i].sign != ' ' {
			last = i
		}
	}
	return min(len(lines), last+1+around)
}

func writeHunk(b *strings.Builder, lines []diffLine, start, end int) {
	oldAt, newAt := count(lines[:start], '-'), count(lines[:start], '+')
	oldN, newN := count(lines[start:end], '-'), count(lines[start:end], '+')
	fmt.Fprintf(b, "@@ -%s +%s @@\n", extent(oldAt, oldN), extent(newAt, newN))
	for _, l := range lines[start:end] {
		text, ended := strings.CutSuffix(l.text, "\n")
		fmt.Fprintf(b, "%c%s\n", l.sign, visible(text))
		if !ended {
			b.WriteString("\\ No newline at end of file\n")
		}
	}
}

func extent(at, n int) string {
	if n == 0 {
		return fmt.Sprintf("%d,0", at)
	}
	return fmt.Sprintf("%d,%d", at+1, n)
}

// count is how many of lines one side has.
func count(lines []diffLine, side byte) (n int) {
	for _, l := range lines {
		if l.sign == ' ' || l.sign == side {
			n++
		}
	}
	return n
}

func split(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// compare finds a shortest way from old to new lines (Myers 1986).
func compare(old, new []string) []diffLine {
	var trace []map[int]int
	reach := map[int]int{1: 0} // by diagonal: how far into old
	for d := 0; d <= min(maxDiff, len(old)+len(new)); d++ {
		now := make(map[int]int, d+1)
		for k := -d; k <= d; k += 2 {
			x := reach[k-1] + 1
			if k == -d || k != d && reach[k-1] < reach[k+1] {
				x = reach[k+1]
			}
			for x < len(old) && x-k < len(new) && old[x] == new[x-k] {
				x++
			}
			now[k] = x
			if x >= len(old) && x-k >= len(new) {
				return walk(old, new, trace)
			}
		}
		trace = append(trace, now)
		reach = now
	}
	var all []diffLine
	for _, l := range old {
		all = append(all, diffLine{'-', l})
	}
	for _, l := range new {
		all = append(all, diffLine{'+', l})
	}
	return all
}

// walk goes back along the trace from the end of both.
func walk(old, new []string, trace []map[int]int) []diffLine {
	var back []diffLine
	x, y := len(old), len(new)
	for d := len(trace); d > 0; d-- {
		reach, k := trace[d-1], x-y
		from := k - 1
		if k == -d || k != d && reach[k-1] < reach[k+1] {
			from = k + 1
		}
		px := reach[from]
		py := px - from
		for x > px && y > py {
			x, y = x-1, y-1
			back = append(back, diffLine{' ', old[x]})
		}
		if from == k-1 {
			x--
			back = append(back, diffLine{'-', old[x]})
		} else {
			y--
			back = append(back, diffLine{'+', new[y]})
		}
	}
	for x > 0 {
		x--
		back = append(back, diffLine{' ', old[x]})
	}
	slices.Reverse(back)
	return back
}

// visible is text with what a terminal would act on, or not show, written out.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\t' || unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		q := fmt.Sprintf("%+q", r)
		b.WriteString(q[1 : len(q)-1])
	}
	return b.String()
}
