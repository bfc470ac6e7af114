package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/git"
)

const (
	// maxGuarded is the most paths that one commit or push is asked about, and
	// maxGuardBytes the most bytes of them in one call.
	maxGuarded    = 100_000
	maxGuardBytes = 512 << 10

	// maxPushed is the most commits that a push is looked at for.
	maxPushed = 1000

	// maxPushLines bounds what is read of git's list of what is pushed.
	maxPushLines = 4 << 20

	// maxMessage bounds a commit message that gets trailers.
	maxMessage = 8 << 20
)

// trailer is the name of the trailer that says under which claim a commit was
// made.
const trailer = "Comity-Claim"

// A guard is one call of git's hooks.
type guard struct {
	a    *app
	hook string
	args []string
}

// An outcome of a guard.
type guarded struct {
	deny  api.GuardReply // Deny is empty: it may go on
	notes []string
}

// gitHook answers a hook of git: 1 when a commit or push is refused, else 0.
func (a *app) gitHook(ctx context.Context, hook string, args []string) int {
	g := guard{a, hook, args}
	wait := patienceIn(ctx)
	rep := within(ctx, wait.guard, wait.guard+wait.guardCall, g.look, func(why any) guarded {
		return g.unchecked(fmt.Errorf("%v", why))
	})
	scrub(&rep.deny)
	for _, note := range rep.notes {
		a.note("%s: %s", hook, note)
	}
	if rep.deny.Deny == "" {
		return 0
	}
	a.refuse(hook, rep.deny)
	return 1
}

// refuse says why, who stands in the way, what to do about it, and how to go on
// all the same.
func (a *app) refuse(hook string, rep api.GuardReply) {
	p := a.errs
	p.printf("%s ", p.paint(red, "comity:"))
	p.wrapped(len("comity: "), 2, hook+": "+squeezed(oneLine(rep.Deny)))
	for i, c := range rep.Conflicts {
		if i == maxRefused {
			p.printf("  and %s\n", count(len(rep.Conflicts)-i, "more claim"))
			break
		}
		p.conflict(c)
	}
	what := "git commit --no-verify commits all the same"
	if hook == "pre-push" {
		what = "git push --no-verify pushes all the same"
	}
	if strings.Contains(rep.Hint, "--no-verify") {
		what = ""
	}
	for _, hint := range []string{rep.Hint, what} {
		if hint != "" {
			p.printf("%s ", p.paint(bold, "comity: hint:"))
			p.wrapped(len("comity: hint: "), 2, squeezed(oneLine(hint)))
		}
	}
}

// maxRefused is the most claims that a refusal names.
const maxRefused = 10

func (g guard) look(ctx context.Context) guarded {
	switch g.hook {
	case "pre-commit":
		return g.preCommit(ctx)
	case "pre-push":
		return g.prePush(ctx)
	case "prepare-commit-msg":
		return g.addTrailers(ctx)
	}
	return guarded{notes: []string{"this build does not know that hook of git"}}
}

// unchecked lets git go on and says why nothing was checked; where there is
// nothing to check it says nothing.
func (g guard) unchecked(err error) guarded {
	var e *api.Error
	if errors.As(err, &e) && (e.Code == api.CodeNoRepository || e.Code == api.CodeEmptyRepository) {
		return guarded{}
	}
	if errors.Is(err, git.ErrNoRepository) || errors.Is(err, errElsewhere) {
		return guarded{}
	}
	return guarded{notes: []string{"not checked against the claims of others: " + err.Error()}}
}

func (g guard) preCommit(ctx context.Context) guarded {
	c, err := g.checkout(ctx)
	if err != nil {
		return g.unchecked(err)
	}
	staged, err := c.Staged(ctx, g.a.getenv("GIT_INDEX_FILE"))
	if err != nil {
		return g.unchecked(err)
	}
	return g.ask(ctx, c, staged)
}

func (g guard) prePush(ctx context.Context) guarded {
	pushes, err := readPushes(g.a.stdin)
	if err != nil {
		return g.unchecked(err)
	}
	c, err := g.checkout(ctx)
	if err != nil {
		return g.unchecked(err)
	}
	remote := ""
	if len(g.args) > 0 {
		remote = g.args[0]
	}
	pushed, err := c.Pushed(ctx, remote, pushes, maxPushed)
	if err != nil {
		return g.unchecked(err)
	}
	rep := g.ask(ctx, c, pushed.Paths)
	if pushed.Older {
		rep.notes = append(rep.notes, fmt.Sprintf("only the newest %d commits of the push were checked", pushed.Commits))
	}
	return rep
}

// readPushes reads what git says to pre-push: "<ref> <object> <ref> <object>" a
// line. A ref that is deleted pushes nothing.
func readPushes(in io.Reader) ([]git.Push, error) {
	b, err := io.ReadAll(io.LimitReader(in, maxPushLines+1))
	if err != nil {
		return nil, fmt.Errorf("read what is pushed: %w", err)
	}
	if len(b) > maxPushLines {
		return nil, fmt.Errorf("more than %d MB of refs are pushed", maxPushLines>>20)
	}
	var all []git.Push
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) != 4 {
			return nil, errors.New("what git says about the push is not understood")
		}
		if strings.Trim(f[1], "0") != "" {
			all = append(all, git.Push{Local: f[1], Remote: f[3]})
		}
	}
	return all, nil
}

// errElsewhere: git works on a repository that is not the one of its folder, as
// with --git-dir. No session of comity is in that one.
var errElsewhere = errors.New("git works on a repository elsewhere")

// checkout is the one that git works on, which runs its hooks in its root.
func (g guard) checkout(ctx context.Context) (git.Checkout, error) {
	w, err := g.a.where()
	if err != nil {
		return git.Checkout{}, err
	}
	c, err := git.Find(ctx, w.Dir)
	if err != nil {
		return git.Checkout{}, err
	}
	if dir := g.a.getenv("GIT_DIR"); dir != "" && !same(w.Dir, dir, c.GitDir) {
		return git.Checkout{}, errElsewhere
	}
	return c, nil
}

// same reports whether name, as seen from dir, is the folder real.
func same(dir, name, real string) bool {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	x, err1 := os.Stat(name)
	y, err2 := os.Stat(real)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// ask asks about paths. What is refused first is the answer.
func (g guard) ask(ctx context.Context, c git.Checkout, paths git.Paths) guarded {
	rep, notes, err := g.call(ctx, c, paths)
	if err != nil {
		out := g.unchecked(err)
		out.notes = append(notes, out.notes...)
		return out
	}
	return guarded{deny: rep, notes: notes}
}

func (g guard) call(ctx context.Context, c git.Checkout, paths git.Paths) (rep api.GuardReply, notes []string, err error) {
	names := paths.Names
	if len(names) > maxGuarded {
		names, paths.Cut = names[:maxGuarded], true
	}
	if paths.Cut {
		notes = append(notes, fmt.Sprintf("only %d of its paths were checked", len(names)))
	}
	w := api.Where{Dir: cmp.Or(c.Top, c.GitDir), Session: g.a.actor()}
	for part := range parts(names) {
		var r api.GuardReply
		if err := g.callPart(ctx, api.GuardRequest{Where: w, Hook: g.hook, Paths: part}, &r); err != nil {
			return api.GuardReply{}, notes, err
		}
		for _, claim := range r.Claims {
			if !slices.ContainsFunc(rep.Claims, func(c api.Claim) bool { return c.Claim == claim.Claim }) {
				rep.Claims = append(rep.Claims, claim)
			}
		}
		if r.Deny != "" {
			r.Claims = rep.Claims
			return r, notes, nil
		}
	}
	return rep, notes, nil
}

func (g guard) callPart(ctx context.Context, req api.GuardRequest, rep *api.GuardReply) error {
	ctx, cancel := context.WithTimeout(ctx, patienceIn(ctx).guardCall)
	defer cancel()
	return g.a.askHook(ctx, api.OpGuard, req, rep)
}

// parts are names in portions that fit one call, as text: a byte that is none
// leaves the folders above it as they are, so that a claim on them still meets.
func parts(names []string) func(yield func([]string) bool) {
	return func(yield func([]string) bool) {
		var part []string
		size := 0
		for _, name := range names {
			name = strings.ToValidUTF8(name, "\uFFFD")
			n := inJSON(name)
			if size+n > maxGuardBytes && len(part) > 0 {
				if !yield(part) {
					return
				}
				part, size = nil, 0
			}
			part, size = append(part, name), size+n
		}
		if len(part) > 0 {
			yield(part)
		}
	}
}

// inJSON is the most bytes that s takes in a list in JSON.
func inJSON(s string) int {
	n := len(s) + len(`"",`)
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' || c == 0xe2 {
			n += len(`\u0000`) - 1
		}
	}
	return n
}

// addTrailers writes into the message of a commit under which claims it is made.
// It never keeps a commit from being made.
func (g guard) addTrailers(ctx context.Context) guarded {
	if len(g.args) == 0 {
		return guarded{notes: []string{"git named no file with the message"}}
	}
	c, err := g.checkout(ctx)
	if err != nil {
		return g.unchecked(err)
	}
	staged, err := c.Staged(ctx, g.a.getenv("GIT_INDEX_FILE"))
	if err != nil {
		return g.unchecked(err)
	}
	rep, _, err := g.call(ctx, c, staged)
	if err != nil || len(rep.Claims) == 0 {
		return guarded{} // what was not asked is said by pre-commit
	}
	if err := g.rewrite(ctx, c, rep.Claims); err != nil {
		return guarded{notes: []string{"the message has no trailer: " + err.Error()}}
	}
	return guarded{}
}

func (g guard) rewrite(ctx context.Context, c git.Checkout, claims []api.Claim) error {
	w, err := g.a.where()
	if err != nil {
		return err
	}
	path := g.args[0]
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.Dir, path)
	}
	b, mode, err := readMessage(path)
	if err != nil {
		return err
	}
	var values []string
	for _, claim := range claims {
		values = append(values, fmt.Sprintf("%s %d", claim.Claim, claim.Epoch))
	}
	b, err = c.WithTrailers(ctx, b, trailer, values)
	if err != nil {
		return err
	}
	return replace(path, b, mode)
}

func readMessage(path string) ([]byte, fs.FileMode, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxMessage+1))
	if err == nil && len(b) > maxMessage {
		err = fmt.Errorf("it is over %d MB", maxMessage>>20)
	}
	return b, info.Mode().Perm(), err
}

// replace puts b in the place of a file, which is there whole at any moment.
func replace(path string, b []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".comity-*")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Chmod(mode)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it may be gone
	}
	return err
}
