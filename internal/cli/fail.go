package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/comity-dev/comity/api"
)

// fail prints err and returns its exit code.
func (a *app) fail(ctx context.Context, args []string, err error) int {
	e := a.failure(ctx, err)
	if a.asJSON(args) {
		a.printJSON(api.Failure{Error: e})
		return e.Code.Exit()
	}
	scrub(e)
	a.explain(e)
	return e.Code.Exit()
}

// failure is err with a code. What the parser of the arguments says is a usage
// error; what happens after it is not.
func (a *app) failure(ctx context.Context, err error) *api.Error {
	var e *api.Error
	var disk *fs.PathError // help or a completion that could not be written
	switch {
	case errors.As(err, &e):
		cp := *e
		e = &cp
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		e = api.Errorf(api.CodeInternal, "interrupted")
	case !a.ran && !errors.As(err, &disk):
		e = usage("%v", err)
	default:
		e = api.AsError(err)
	}
	if e.Code.Exit() == api.CodeUsage.Exit() && e.Hint == "" {
		e.Hint = a.path + " --help shows how it is called"
	}
	if e.Code == api.CodeConflict && e.Hint == "" {
		e.Hint = "--wait 10m queues for it; --advisory only tells the others what you are about"
	}
	return e
}

// verb is the first word of what is being done.
func (a *app) verb() string {
	verb, _, _ := strings.Cut(a.doing, " ")
	return verb
}

// explain is a failure in words: what, with which thing, who stands in the way,
// and the next step.
func (a *app) explain(e *api.Error) {
	p := a.errs
	doing := ""
	if a.doing != "" && !strings.HasPrefix(e.Message, a.verb()) { // some messages say it themselves
		doing = middle(a.doing, 40) + ": "
	}
	p.printf("%s ", p.paint(red, "comity:"))
	p.wrapped(len("comity: "), 2, doing+squeezed(oneLine(e.Message)))
	for _, c := range e.Conflicts {
		p.conflict(c)
	}
	if e.Hint != "" {
		p.printf("%s ", p.paint(bold, "comity: hint:"))
		p.wrapped(len("comity: hint: "), 2, squeezed(oneLine(e.Hint)))
	}
}

// squeezed is text with words cut in their middle that are longer than two lines:
// what was typed is known to who typed it.
func squeezed(text string) string {
	words := strings.Fields(text)
	for i, w := range words {
		words[i] = middle(w, 2*columns)
	}
	return strings.Join(words, " ")
}

// conflict prints who holds what, where it meets, since when and whether they are
// heard.
func (p *printer) conflict(c api.Conflict) {
	p.row(2, key(short(c.Short, c.Claim)).as(bold), key(c.Mode), keyf("epoch %d", c.Epoch), flex(scopes(c.Scope)))
	p.row(4, flexf("held by %s", holder(c)), key(ago(c.AgeMS)), key(heard(c)))
	if c.Meets != "" {
		p.row(4, flexf("meets %s", c.Meets))
	}
	if c.Intent != "" {
		p.row(4, flexf("intent: %s", c.Intent))
	}
}

// holder is who holds a claim: "s-77 (claude, ada)".
func holder(c api.Conflict) string {
	return person(c.Session, c.Client, c.By)
}

func person(session string, about ...string) string {
	var known []string
	for _, s := range about {
		if s != "" {
			known = append(known, s)
		}
	}
	if len(known) == 0 {
		return session
	}
	return session + " (" + strings.Join(known, ", ") + ")"
}

// heard says what is known of the holder's life.
func heard(c api.Conflict) string {
	switch {
	case c.Pending:
		return "just being written"
	case c.Live == "maybe_live":
		return fmt.Sprintf("maybe live, judged in %s", span(c.MaybeMS+999))
	case c.Live == "":
		return "liveness unknown"
	}
	return c.Live
}

// short is the short form of a key as the daemon chose it, else as it can be made
// here.
func short(short, long string) string {
	if short != "" {
		return short
	}
	return shortKey(long)
}

// shortKey is a key "<node>-<runtime>-<instance>/<seq>" by the beginning of its
// instance. What is no such key stays.
func shortKey(key string) string {
	stream, seq, ok := strings.Cut(key, "/")
	parts := strings.Split(stream, "-")
	if !ok || seq == "" || len(parts) != 3 || len(parts[2]) != 16 {
		return key
	}
	return parts[2][:6] + "/" + seq
}

// note says something on standard error that is not a failure.
func (a *app) note(format string, args ...any) {
	a.errs.printf("comity: ")
	a.errs.wrapped(len("comity: "), 2, oneLine(fmt.Sprintf(format, args...)))
}

// printJSON prints v on one line.
func (a *app) printJSON(v any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		a.errs.printf("comity: encode: %v\n", err)
		return
	}
	a.out.printf("%s", b.Bytes())
}
