package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// WithTrailers returns a commit message with one trailer "key: value" for each
// value that it does not have yet. Comments and what git cuts off stay behind
// them. A message without a word stays as it is: left so in an editor it gives the
// commit up, and with a trailer it would no longer.
func (c Checkout) WithTrailers(ctx context.Context, message []byte, key string, values []string) ([]byte, error) {
	said, err := c.says(ctx, string(message))
	if err != nil {
		return nil, fmt.Errorf("add trailers: %w", err)
	}
	if !said {
		return message, nil
	}
	args := []string{"interpret-trailers", "--no-divider", "--where", "end", "--if-exists", "addIfDifferent", "--if-missing", "add"}
	for _, v := range values {
		args = append(args, "--trailer", key+": "+v)
	}
	call := c.git(args...)
	call.stdin = strings.TrimSuffix(string(message), "\n") + "\n" // without one git joins the two
	a, err := call.ask(ctx)
	if err != nil {
		return nil, fmt.Errorf("add trailers: %w", err)
	}
	return a.out, nil
}

// scissors is in the line below which git commit --verbose shows the changes.
const scissors = "------------------------ >8 ------------------------"

// says reports whether a message has more than comments and white space.
func (c Checkout) says(ctx context.Context, message string) (bool, error) {
	if at := strings.Index(message, scissors); at >= 0 {
		message = message[:strings.LastIndexByte(message[:at], '\n')+1]
	}
	strip := c.git("stripspace", "--strip-comments")
	strip.stdin = message
	a, err := strip.ask(ctx)
	return len(a.out) > 0, err
}

// A Trailed is a commit with the values of one trailer in its message.
type Trailed struct {
	OID      string
	Written  int64 // author's time, Unix seconds
	At       int64 // committer's time: when the commit was made, also by a rebase
	Subject  string
	Trailers []string
}

// Trailed lists the newest commits of c's head that have a trailer key, newest
// first, at most max. Before the first commit there are none.
func (c Checkout) Trailed(ctx context.Context, key string, max int) ([]Trailed, error) {
	head, err := c.Head(ctx)
	if err != nil || head.OID == "" {
		return nil, err
	}
	a, err := c.list("log", "-z", "--basic-regexp", "--grep=^"+key+": ", fmt.Sprintf("--max-count=%d", max), "--no-show-signature", "--no-color", "--no-decorate",
		"--no-notes", "--encoding=UTF-8", "--format=%H%x01%at%x01%ct%x01%(trailers:key="+key+",valueonly,separator=%x02)%x01%s", head.OID, "--").ask(ctx)
	if err != nil {
		return nil, fmt.Errorf("list commits with %s: %w", key, err)
	}
	var all []Trailed
	for rec := range strings.SplitSeq(string(a.out), "\x00") {
		f := strings.SplitN(rec, "\x01", 5)
		if len(f) != 5 || f[3] == "" { // the words stand in the message, but not as a trailer
			continue
		}
		t := Trailed{OID: f[0], Subject: strings.ToValidUTF8(f[4], "\uFFFD")}
		t.Written, _ = strconv.ParseInt(f[1], 10, 64) // git prints a number
		t.At, _ = strconv.ParseInt(f[2], 10, 64)
		for v := range strings.SplitSeq(f[3], "\x02") {
			t.Trailers = append(t.Trailers, strings.ToValidUTF8(strings.TrimSpace(v), "\uFFFD"))
		}
		all = append(all, t)
	}
	return all, nil
}
