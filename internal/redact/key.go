package redact

import "strings"

// A shape is a key that is known by its prefix.
type shape struct {
	prefix string
	name   string
	class  func(byte) bool // of what follows
	min    int
	exact  bool // no more than min either
}

// shapes are in the order of preference.
var shapes = [...]shape{
	{"sk-ant-", "anthropic-key", dashed, 16, false},
	{"sk-", "openai-key", dashed, 20, false},
	{"ghp_", "github-token", word, 20, false},
	{"gho_", "github-token", word, 20, false},
	{"ghu_", "github-token", word, 20, false},
	{"ghs_", "github-token", word, 20, false},
	{"ghr_", "github-token", word, 20, false},
	{"github_pat_", "github-pat", word, 20, false},
	{"AKIA", "aws-access-key-id", upper, 16, true},
	{"ASIA", "aws-access-key-id", upper, 16, true},
	{"AIza", "google-api-key", dashed, 35, true},
	{"xoxa-", "slack-token", hyphens, 10, false},
	{"xoxb-", "slack-token", hyphens, 10, false},
	{"xoxp-", "slack-token", hyphens, 10, false},
	{"xoxr-", "slack-token", hyphens, 10, false},
	{"xoxs-", "slack-token", hyphens, 10, false},
	{"sk_live_", "stripe-key", alnum, 16, false},
	{"sk_test_", "stripe-key", alnum, 16, false},
	{"rk_live_", "stripe-key", alnum, 16, false},
	{"rk_test_", "stripe-key", alnum, 16, false},
}

// key matches a key with a prefix at i, at the start of a word.
func key(s string, i int) (match, bool) {
	if !startsWord(s, i) {
		return match{}, false
	}
	for _, sh := range shapes {
		if end, ok := sh.match(s, i); ok {
			return match{sh.name, i, end}, true
		}
	}
	return match{}, false
}

func (sh shape) match(s string, i int) (end int, ok bool) {
	if !strings.HasPrefix(s[i:], sh.prefix) {
		return 0, false
	}
	start := i + len(sh.prefix)
	if sh.exact { // looks at one byte too many at most
		end = run(s[:min(len(s), start+sh.min+1)], start, sh.class)
		return end, end == start+sh.min && (end == len(s) || !word(s[end]))
	}
	end = run(s, start, sh.class)
	return end, end-start >= sh.min
}

// startsWord reports whether i is the start of a word, also after an escape that
// ends in a letter or digit: \n and \u003d of JSON, %3D of a URL.
//
// Whatever is not ASCII ends a word: quotation marks do, and in scripts without
// spaces a key follows the word before it directly.
func startsWord(s string, i int) bool {
	if i == 0 || !word(s[i-1]) {
		return true
	}
	return i >= 2 && s[i-2] == '\\' && strings.IndexByte("bfnrt", s[i-1]) >= 0 ||
		i >= 3 && s[i-3] == '%' && isHex(s[i-2:i]) ||
		i >= 6 && s[i-6:i-4] == `\u` && isHex(s[i-4:i])
}

func isHex(s string) bool {
	return strings.Trim(s, "0123456789abcdefABCDEF") == ""
}
