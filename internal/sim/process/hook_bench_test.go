package process_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/comity-dev/comity/api"
)

// BenchmarkHookAtWork is what a write costs an agent while 50 sessions work on
// a journal of 20,000 events: each of them writes a file of its own every two
// seconds, which is two hooks. The bare start of the program is taken under the
// same load, in turns with the hook.
func BenchmarkHookAtWork(b *testing.B) {
	const sessions, events, pace = 50, 20_000, 2 * time.Second
	s := newStage(b, 1)
	s.history(events)

	ctx, stop := context.WithCancel(b.Context())
	var busy sync.WaitGroup
	for i := range sessions {
		busy.Go(func() {
			clock := time.NewTimer(pace * time.Duration(i) / sessions)
			for n := 0; ; n++ {
				select {
				case <-ctx.Done():
					return
				case <-clock.C:
					clock.Reset(pace)
				}
				file := fmt.Sprintf("work%d/%d.go", i, n%7)
				s.hook(fmt.Sprint("c", i), "PreToolUse", file)
				s.hook(fmt.Sprint("c", i), "PostToolUse", file)
			}
		})
	}
	defer busy.Wait()
	defer stop()

	var bare, hook []time.Duration
	for b.Loop() {
		bare = append(bare, s.hook("mine", "PreToolUse", "mine.go", "COMITY=off"))
		hook = append(hook, s.hook("mine", "PreToolUse", "mine.go"))
	}
	reportMS(b, "bare", bare)
	reportMS(b, "hook", hook)
}

// BenchmarkCommitOf1000 is a whole commit of 1,000 files, without the guard and
// with it, while another session claims something else.
func BenchmarkCommitOf1000(b *testing.B) {
	s := newStage(b, 1)
	s.open("ada", "bob")
	s.claim("bob", "other/")
	// As in the shell of a session, whose hooks find the program by its name.
	b.Setenv("PATH", filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))
	commit := func(what string) time.Duration {
		for i := range 1000 {
			name := filepath.Join(s.trees[0], fmt.Sprintf("dir%d", i%40), fmt.Sprintf("file-%d", i))
			if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(name+what), 0o600); err != nil {
				b.Fatal(err)
			}
		}
		s.git(s.trees[0], "add", "--all")
		began := time.Now()
		s.git(s.trees[0], "-c", "gc.auto=0", "commit", "--quiet", "--message="+what)
		return time.Since(began)
	}
	var bare, guarded []time.Duration
	for i := 0; b.Loop(); i++ {
		bare = append(bare, commit(fmt.Sprint("bare", i)))
		s.must("install", "git")
		guarded = append(guarded, commit(fmt.Sprint("guarded", i)))
		s.must("uninstall", "git")
	}
	reportMS(b, "bare", bare)
	reportMS(b, "guarded", guarded)
}

// history writes at least n events, most of them claims and their releases.
func (s *stage) history(n int) {
	s.Helper()
	c := s.client()
	where := api.Where{Dir: s.trees[0], Session: "filler"}
	if _, err := c.SessionOpen(s.Context(), api.SessionOpenRequest{Where: where, Name: "filler"}); err != nil {
		s.Fatal(err)
	}
	for i := range n / 2 {
		reply, err := c.Claim(s.Context(), api.ClaimRequest{Where: where, Scope: []string{fmt.Sprintf("past/%d.go", i)}, Literal: true})
		if err != nil {
			s.Fatal(err)
		}
		if _, err := c.Release(s.Context(), api.ReleaseRequest{Where: where, Claims: []string{reply.Claim.Claim}}); err != nil {
			s.Fatal(err)
		}
	}
}

// hook is one call as Claude Code makes it before or after a write of file, and
// how long it took. It may be called from any goroutine.
func (s *stage) hook(conversation, event, file string, env ...string) time.Duration {
	words := map[string]string{"PreToolUse": "pre-tool-use", "PostToolUse": "post-tool-use"}
	cmd := s.command(s.trees[0], env, "hook", "claude", words[event])
	cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":%q,"cwd":%q,"hook_event_name":%q,"tool_name":"Write","tool_input":{"file_path":%q},"tool_response":{}}`,
		conversation, s.trees[0], event, filepath.Join(s.trees[0], file)))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	err := cmd.Run()
	took := time.Since(began)
	if err != nil || strings.Contains(out.String(), "not checked") {
		s.Errorf("hook %s: %v: %s", event, err, &out)
	}
	return took
}

func reportMS(b *testing.B, name string, took []time.Duration) {
	slices.Sort(took)
	for _, percent := range []int{50, 99} {
		b.ReportMetric(float64(took[len(took)*percent/100].Microseconds())/1000, fmt.Sprintf("%s-p%d-ms", name, percent))
	}
}
