package redact

import "strings"

// A secretName is the name of something secret. Its words stand together, or
// with one of "-", "_" and a space between.
type secretName struct {
	words []string // lower case
	name  string
}

var secretNames = [...]secretName{
	{[]string{"secret", "access", "key"}, "aws-secret-access-key"},
	{[]string{"aws", "secret", "key"}, "aws-secret-access-key"},
	{[]string{"secret", "key"}, "assignment"},
	{[]string{"api", "key"}, "assignment"},
	{[]string{"access", "token"}, "assignment"},
	{[]string{"auth", "token"}, "assignment"},
	{[]string{"refresh", "token"}, "assignment"},
	{[]string{"client", "secret"}, "assignment"},
	{[]string{"password"}, "assignment"},
	{[]string{"passwd"}, "assignment"},
}

const (
	minAssigned = 16
	minBorne    = 20
	maxGap      = 64 // bytes between a name and its value, on either side of the sign
)

// assignment matches the value that is assigned to the secret name at i. The
// name may be the end of a longer one, as in DB_PASSWORD.
func assignment(s string, i int) (match, bool) {
	for _, n := range secretNames {
		end, ok := n.match(s, i)
		if !ok {
			continue
		}
		if start, ok := valueAfter(s, end); ok {
			return value(s, start, opaque, minAssigned, n.name)
		}
	}
	return match{}, false
}

func (n secretName) match(s string, i int) (end int, ok bool) {
	for k, w := range n.words {
		if k > 0 && i < len(s) && (s[i] == '-' || s[i] == '_' || s[i] == ' ') {
			i++
		}
		if len(s)-i < len(w) || !strings.EqualFold(s[i:i+len(w)], w) {
			return 0, false
		}
		i += len(w)
	}
	return i, true
}

// valueAfter returns where a value begins after a name that ends at i: behind
// ":", "=" or, in XML, ">", with quotes and blanks around.
func valueAfter(s string, i int) (start int, ok bool) {
	i = run(s[:min(len(s), i+maxGap)], i, gap)
	if strings.HasPrefix(s[i:], unset) {
		i += len(unset)
	}
	start = run(s[:min(len(s), i+maxGap)], i, sign)
	return start, strings.ContainsAny(s[i:start], ":=>")
}

// unset is what aws configure shows where it has no value yet.
const unset = "[None]"

func gap(c byte) bool  { return strings.IndexByte(" \t\"'`\\", c) >= 0 }
func sign(c byte) bool { return gap(c) || c == ':' || c == '=' || c == '>' }

// bearer matches the word Bearer at i with its token.
func bearer(s string, i int) (match, bool) {
	const scheme = "bearer"
	if len(s)-i < len(scheme) || !strings.EqualFold(s[i:i+len(scheme)], scheme) || !startsWord(s, i) {
		return match{}, false
	}
	end := i + len(scheme)
	start := run(s[:min(len(s), end+maxGap)], end, func(c byte) bool { return c == ' ' || c == '\t' })
	if start == end {
		return match{}, false
	}
	m, ok := value(s, start, token68, minBorne, "bearer-token")
	if ok && m.name == "bearer-token" {
		m.from = i
	}
	return m, ok
}

// value matches the run of class at start as a whole if it is long enough, under
// the name of the key that it begins with, else under name.
func value(s string, start int, class func(byte) bool, least int, name string) (match, bool) {
	end := run(s, start, class)
	if m, ok := key(s, start); ok {
		m.to = max(m.to, end)
		return m, true
	}
	return match{name, start, end}, end-start >= least
}

// token68 is the alphabet of what an Authorization header carries.
func token68(c byte) bool { return alnum(c) || strings.IndexByte("-._~+/=", c) >= 0 }

// opaque is the alphabet of assigned secrets: no blanks, quotes, brackets or
// separators of lists.
func opaque(c byte) bool { return alnum(c) || strings.IndexByte("-._~+/=!@#$%^*?:|", c) >= 0 }
