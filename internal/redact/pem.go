package redact

import "strings"

const (
	begin = "-----BEGIN "
	end   = "-----END "
	rule  = "-----"

	maxLabel = 64 // bytes of the label between two rules
	minLine  = 16 // bytes of a line of a body that is known only by its alphabet
)

// pem matches the private key whose header is at i, up to its footer. A key
// without a footer, of a text that was cut, goes as far as its lines look like
// the body of one.
func pem(s string, i int) (match, bool) {
	if !strings.HasPrefix(s[i:], begin) {
		return match{}, false
	}
	body, ok := closeLabel(s, i+len(begin))
	if !ok || !strings.HasSuffix(strings.TrimSuffix(s[i+len(begin):body-len(rule)], " BLOCK"), "PRIVATE KEY") {
		return match{}, false
	}
	if at, ok := footer(s, body); ok {
		if stop, ok := closeLabel(s, at+len(end)); ok {
			return match{"private-key", i, stop}, true
		}
		return match{"private-key", i, at + len(end)}, true
	}
	return match{"private-key", i, bodyEnd(s, body)}, true
}

// closeLabel returns the end of the rule that closes the label at i.
func closeLabel(s string, i int) (stop int, ok bool) {
	limit := min(len(s), i+maxLabel)
	stop = run(s[:limit], i, func(c byte) bool { return upper(c) || c == ' ' })
	if !strings.HasPrefix(s[stop:], rule) {
		return 0, false
	}
	return stop + len(rule), true
}

// footer returns the place of the footer that follows i, before any header.
func footer(s string, i int) (at int, ok bool) {
	for {
		k := strings.Index(s[i:], rule)
		if k < 0 {
			return 0, false
		}
		i += k
		switch {
		case strings.HasPrefix(s[i:], end):
			return i, true
		case strings.HasPrefix(s[i:], begin):
			return 0, false
		}
		i++
	}
}

// bodyEnd returns the end of the last line from i on that looks like a key's.
func bodyEnd(s string, i int) int {
	last := i
	for {
		i = skipBreaks(s, i)
		if strings.HasPrefix(s[i:], "Proc-Type:") || strings.HasPrefix(s[i:], "DEK-Info:") {
			i = run(s, i, func(c byte) bool { return c != '\n' && c != '\\' })
			continue
		}
		stop := run(s, i, base64)
		if stop-i < minLine {
			return last
		}
		i, last = stop, stop
	}
}

// skipBreaks passes over line breaks and what quotes put around them, also
// written as escapes.
func skipBreaks(s string, i int) int {
	for i < len(s) {
		switch {
		case strings.HasPrefix(s[i:], `\n`), strings.HasPrefix(s[i:], `\r`):
			i += 2
		case strings.IndexByte(" \t\r\n\"'>#|,", s[i]) >= 0:
			i++
		default:
			return i
		}
	}
	return i
}

func base64(c byte) bool { return alnum(c) || c == '+' || c == '/' || c == '=' }
