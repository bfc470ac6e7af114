package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/client"
)

// refused EXIT CODE [<FILE] comity ARGS...: the program refuses ARGS with that
// exit code and that code of the API, with and without --json: it names a reason
// and a next step in lines that fit a terminal and hold nothing that one obeys,
// prints no result, and has changed neither the log nor the working tree of the
// repository $R. Then stdout has message and hint in one line each, and stderr
// the text for people.
func cmdRefused(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: refused EXIT CODE [<FILE] comity ARGS...")
	}
	exit, err := strconv.Atoi(args[0])
	ts.Check(err)
	code, args := api.Code(args[1]), args[2:]
	stdin := ""
	if file, ok := strings.CutPrefix(args[0], "<"); ok {
		stdin, args = ts.ReadFile(file), args[1:]
	}
	before := world(ts)
	text := refusedInWords(ts, exit, stdin, args)
	e := refusedInJSON(ts, exit, stdin, append([]string{args[0], "--json"}, args[1:]...))
	if e.Code != code {
		ts.Fatalf("%q: code %q, want %q", args, e.Code, code)
	}
	if after := world(ts); after != before {
		ts.Fatalf("%q has changed something: before\n%s\nafter\n%s", args, before, after)
	}
	ts.Check(ts.Exec("sh", "-c", `printf '%s\n' "$1"; printf %s "$2" >&2`, "sh", e.Message+"\n"+e.Hint, text))
}

func refusedInWords(ts *testscript.TestScript, exit int, stdin string, args []string) string {
	stdout, stderr, got := executeWith(ts, stdin, args)
	if got != exit {
		ts.Fatalf("%q exits with %d, want %d\n%s%s", args, got, exit, stdout, stderr)
	}
	if stdout != "" || !strings.HasPrefix(stderr, "comity: ") || !strings.Contains(stderr, "\ncomity: hint: ") {
		ts.Fatalf("%q: want a failure and a hint on standard error alone:\n%s--\n%s", args, stdout, stderr)
	}
	if !strings.HasSuffix(stderr, "\n") || !utf8.ValidString(stderr) {
		ts.Fatalf("%q: %q is no lines of text", args, stderr)
	}
	mustFit(ts, args, stderr)
	return stderr
}

// mustFit holds text to lines of 80 columns that a terminal only shows.
func mustFit(ts *testscript.TestScript, args []string, text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if utf8.RuneCountInString(line) > 80 || strings.ContainsFunc(line, unicode.IsControl) {
			ts.Fatalf("%q: not a line for a terminal: %q", args, line)
		}
	}
}

// fits EXIT CMD...: what CMD prints fits a terminal.
func cmdFits(ts *testscript.TestScript, _ bool, args []string) {
	stdout, stderr, code := execute(ts, args[1:])
	if strconv.Itoa(code) != args[0] || stdout+stderr == "" {
		ts.Fatalf("%q exits with %d, want %s:\n%s%s", args[1:], code, args[0], stdout, stderr)
	}
	mustFit(ts, args[1:], stdout+stderr)
}

func refusedInJSON(ts *testscript.TestScript, exit int, stdin string, args []string) *api.Error {
	stdout, stderr, got := executeWith(ts, stdin, args)
	var f api.Failure
	if err := json.Unmarshal([]byte(stdout), &f); err != nil || f.Error == nil || strings.Count(stdout, "\n") != 1 {
		ts.Fatalf("%q: not one line with an error: %q (%v)", args, stdout, err)
	}
	if got != exit || stderr != "" {
		ts.Fatalf("%q: exit %d, want %d; standard error %q", args, got, exit, stderr)
	}
	if f.Error.Message == "" || f.Error.Hint == "" {
		ts.Fatalf("%q: no reason or no next step: %s", args, stdout)
	}
	return f.Error
}

// world is what a refused command may not change: the log and the working tree of
// the repository $R, and which repositories have a journal.
func world(ts *testscript.TestScript) string {
	repo := ts.Getenv("R")
	if repo == "" {
		ts.Fatalf("no repository: its log is what is watched")
	}
	c, err := client.New(&client.Options{Getenv: ts.Getenv, NoStart: true})
	ts.Check(err)
	page, err := c.Log(context.Background(), api.LogRequest{Where: api.Where{Dir: repo}, Limit: 1000})
	ts.Check(err)
	log, err := json.Marshal(page)
	ts.Check(err)
	tree, _, _ := execute(ts, []string{"git", "-C", repo, "status", "--porcelain", "--ignored"})
	journals, err := os.ReadDir(filepath.Join(ts.Getenv("COMITY_HOME"), "repos"))
	ts.Check(err)
	out := string(log) + "\n" + tree
	for _, j := range journals {
		out += j.Name() + "\n"
	}
	return out
}

// bytes VAR TEXT: VAR is TEXT with the escapes of a Go string.
func cmdBytes(ts *testscript.TestScript, _ bool, args []string) {
	s, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	ts.Setenv(args[0], s)
}

// field VAR NAME CMD...: VAR is the first string called NAME in the JSON that CMD
// prints.
func cmdField(ts *testscript.TestScript, _ bool, args []string) {
	out, _, _ := execute(ts, args[2:])
	m := regexp.MustCompile(`"` + args[1] + `":"([^"]*)"`).FindStringSubmatch(out)
	if m == nil {
		ts.Fatalf("%q prints no %q: %s", args[2:], args[1], out)
	}
	ts.Setenv(args[0], m[1])
}

// repeat VAR N TEXT: VAR is TEXT, N times.
func cmdRepeat(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Setenv(args[0], strings.Repeat(args[2], n))
}

// repository DIR: DIR, with the files that are in it, is a repository with one
// commit, and $R from now on.
func cmdRepository(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o777))
	for _, git := range [][]string{
		{"init", "-q", "-b", "trunk"},
		{"config", "user.name", "ada"},
		{"config", "user.email", "ada@localhost"},
		{"add", "-A"},
		{"commit", "-q", "--allow-empty", "-m", "first"},
	} {
		if _, errs, code := execute(ts, append([]string{"git", "-C", dir}, git...)); code != 0 {
			ts.Fatalf("git %v: exit %d: %s", git, code, errs)
		}
	}
	ts.Setenv("R", dir)
}

// full CMD...: CMD cannot write its result, and says so: exit 1, with a reason.
func cmdFull(ts *testscript.TestScript, _ bool, args []string) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	ts.Check(err)
	defer full.Close()
	cmd := command(ts, args)
	var errs strings.Builder
	cmd.Stdout, cmd.Stderr = full, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		ts.Fatalf("%q: %v", args, err)
	}
	if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(errs.String(), "no space left") {
		ts.Fatalf("%q onto a full device exits with %d, want 1 and why: %s", args, code, errs.String())
	}
}
