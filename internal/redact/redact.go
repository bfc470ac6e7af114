// Package redact takes secrets out of text before it is signed, stored, shown or
// sent. It knows secrets by their shape, so it finds what is written like one and
// nothing else; it is a net, not a promise. Pure; a leaf.
//
// Each match is replaced by "[redacted:<name>]". The names and shapes:
//
//	anthropic-key          sk-ant- and 16 or more
//	openai-key             sk- and 20 or more, sk-proj- among them
//	github-token           ghp_ gho_ ghu_ ghs_ ghr_ and 20 or more
//	github-pat             github_pat_ and 20 or more
//	aws-access-key-id      AKIA or ASIA and exactly 16
//	aws-secret-access-key  what is assigned to a secret access key
//	google-api-key         AIza and exactly 35
//	slack-token            xoxa- xoxb- xoxp- xoxr- xoxs- and 10 or more
//	stripe-key             sk_live_ sk_test_ rk_live_ rk_test_ and 16 or more
//	private-key            a PEM or PGP private key, its body included
//	bearer-token           Bearer and 20 or more
//	assignment             16 or more, assigned to an API key, access token, secret
//	                       key, password or their like; the name stays
//
// A key with a prefix counts only at the start of a word, so that "task-..." is
// none. What is assigned or borne goes as a whole, under the name of the key that
// it begins with if it begins with one.
package redact

import "strings"

// Text returns s without its secrets, and the name of each that it replaced, in
// order of appearance; s itself and nil when there is none.
//
// It takes time linear in the length of s, keeps UTF-8 valid, and is idempotent:
// it finds nothing in what it has returned.
func Text(s string) (clean string, found []string) {
	var (
		out  strings.Builder
		done int
	)
	for i := 0; i < len(s); {
		m, ok := at(s, i)
		if !ok {
			i++
			continue
		}
		out.WriteString(s[done:m.from])
		out.WriteString("[redacted:" + m.name + "]")
		found = append(found, m.name)
		i, done = m.to, m.to
	}
	if found == nil {
		return s, nil
	}
	out.WriteString(s[done:])
	return out.String(), found
}

// A match is the part of the text to be replaced, not empty.
type match struct {
	name     string
	from, to int
}

// at looks for a secret that begins with what is at i. A look that fails costs no
// more than a constant, or passes over text that no later look passes over again:
// that is what makes Text linear.
func at(s string, i int) (match, bool) {
	switch s[i] {
	case '-':
		return pem(s, i)
	case 'A', 'g', 'r', 's', 'x':
		if m, ok := key(s, i); ok {
			return m, true
		}
	}
	switch s[i] | 0x20 { // in lower case, if it is a letter
	case 'b':
		return bearer(s, i)
	case 'a', 'c', 'p', 'r', 's':
		return assignment(s, i)
	}
	return match{}, false
}

// run returns the end of the run of bytes of class that begins at i. A PEM header
// ends it: swallowed with what stands before it, it would leave its key behind.
func run(s string, i int, class func(byte) bool) int {
	for i < len(s) && class(s[i]) && !(s[i] == '-' && strings.HasPrefix(s[i:], begin)) {
		i++
	}
	return i
}

func alnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func upper(c byte) bool   { return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' }
func word(c byte) bool    { return alnum(c) || c == '_' }
func dashed(c byte) bool  { return word(c) || c == '-' }
func hyphens(c byte) bool { return alnum(c) || c == '-' }
