package cli

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/git"
)

// A lostCommit was made under a claim that had been fenced.
type lostCommit struct {
	Commit   string `json:"commit"`
	Subject  string `json:"subject"`
	At       int64  `json:"at"`      // when the commit was made
	Written  int64  `json:"written"` // its author's time, which a rebase keeps
	Claim    string `json:"claim"`
	Epoch    uint64 `json:"epoch"`
	By       string `json:"by"`        // the claim that fenced it
	FencedAt int64  `json:"fenced_at"` // by its author's clock
}

// lostCommits is what comity log --commits tells.
type lostCommits struct {
	Commits int          `json:"commits"` // with a trailer, that were looked at
	Unknown int          `json:"unknown"` // of them, with a claim that this journal does not have
	Lost    []lostCommit `json:"lost"`
}

// logCommits finds the commits of the current branch whose trailers name a claim
// that had been fenced before they were made. Times are those of the two authors'
// clocks.
func (a *app) logCommits(ctx context.Context, limit int) error {
	w, err := a.where()
	if err != nil {
		return err
	}
	c, err := git.Find(ctx, w.Dir)
	if err != nil {
		return api.Errorf(api.CodeNoRepository, "%v", err)
	}
	commits, err := c.Trailed(ctx, trailer, limit)
	if err != nil {
		return err
	}
	rep := lostCommits{Commits: len(commits), Lost: []lostCommit{}}
	if len(commits) > 0 {
		known, err := a.claimsOf(ctx, w, commits)
		if err != nil {
			return err
		}
		rep.judge(commits, known)
	}
	if a.json {
		a.printJSON(rep)
	} else {
		a.showLost(rep)
	}
	if len(rep.Lost) > 0 {
		return found(exitFound)
	}
	return nil
}

// A fate is what the journal says of a claim that a commit names.
type fate struct {
	there bool
	by    string
	at    int64
}

// claimsOf reads the journal for the claims that commits name.
func (a *app) claimsOf(ctx context.Context, w api.Where, commits []git.Trailed) (map[string]*fate, error) {
	known := map[string]*fate{}
	for _, c := range commits {
		for _, t := range c.Trailers {
			if key, _, ok := readTrailer(t); ok {
				known[key] = new(fate)
			}
		}
	}
	req := api.LogRequest{Where: w, Limit: maxLog}
	for {
		p, _, err := fetch[page](ctx, a, api.OpLog, req)
		if err != nil {
			return nil, err
		}
		for _, raw := range p.Events {
			if err := follow(raw, known); err != nil {
				return nil, err
			}
		}
		if !p.More || p.Next == req.After {
			return known, nil
		}
		req.After = p.Next
	}
}

// follow notes what one event says of the claims known: that it made one, or that
// it fenced one, of which the first time counts.
func follow(raw json.RawMessage, known map[string]*fate) error {
	var e struct {
		Event string `json:"event"`
		At    int64  `json:"at"`
		Body  struct {
			Fences []string `json:"fences"`
		} `json:"body"`
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		var other *json.UnmarshalTypeError
		if errors.As(err, &other) { // of a kind with a field of that name that is something else
			return nil
		}
		return api.Errorf(api.CodeInternal, "an event of the log is not understood: %v", err)
	}
	if f := known[e.Event]; f != nil {
		f.there = true
	}
	for _, key := range e.Body.Fences {
		if f := known[key]; f != nil && (f.by == "" || e.At < f.at) {
			f.by, f.at = e.Event, e.At
		}
	}
	return nil
}

// readTrailer reads "<key> <epoch>".
func readTrailer(text string) (key string, epoch uint64, ok bool) {
	key, number, ok := strings.Cut(text, " ")
	epoch, err := strconv.ParseUint(strings.TrimSpace(number), 10, 64)
	return key, epoch, ok && err == nil && strings.Contains(key, "/")
}

// judge is which commits were made after a claim of theirs was fenced. Within one
// second it is not known which was first, and nothing is said.
func (r *lostCommits) judge(commits []git.Trailed, known map[string]*fate) {
	for _, c := range commits {
		unknown := false
		for _, t := range c.Trailers {
			key, epoch, ok := readTrailer(t)
			f := known[key]
			if !ok || !f.there {
				unknown = true
			}
			if ok && f.by != "" && c.At > f.at {
				r.Lost = append(r.Lost, lostCommit{c.OID, c.Subject, c.At, c.Written, key, epoch, f.by, f.at})
			}
		}
		if unknown {
			r.Unknown++
		}
	}
}

func (a *app) showLost(rep lostCommits) {
	for _, l := range rep.Lost {
		a.out.row(0, key(l.Commit[:12]).as(bold), key(stamp(l.At)).as(faint), flex(l.Subject))
		when := "its claim " + shortKey(l.Claim) + ", epoch " + strconv.FormatUint(l.Epoch, 10) + ", was lost " + stamp(l.FencedAt) + " to " + shortKey(l.By)
		a.out.row(5, flex(when))
		if l.Written <= l.FencedAt {
			a.out.row(5, flex("written before that, and committed again since"))
		}
	}
	a.note("%s with a claim looked at, %d made after the claim was lost", count(rep.Commits, "commit"), len(rep.Lost))
	if rep.Unknown > 0 {
		a.note("%s with a claim that this journal does not have", count(rep.Unknown, "commit"))
	}
}
