package room

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/internal/redact"
)

// States of a handover as shown.
const (
	offered   = "offered"
	taken     = "taken"
	declined  = "declined"
	withdrawn = "withdrawn"
)

// HandoverPublish offers a handover: a text, facts from git and the journal, or
// both. Secrets are taken out before it is named by its digest and signed.
// Publishing the same text again is the same handover, offered once more only
// if this session's own offer of it is taken or withdrawn.
func (r *Room) HandoverPublish(ctx context.Context, a Actor, req api.HandoverPublishRequest) (api.HandoverReply, error) {
	var reply api.HandoverReply
	if strings.TrimSpace(req.Body) == "" && !req.Derive {
		return reply, api.Errorf(api.CodeUsage, "the handover is empty").WithHint("give a file, - for standard input, or --derive")
	}
	sid, opened, err := r.sessionOf(ctx, a, "", "")
	if err != nil {
		return reply, err
	}
	h, redacted, err := r.compose(ctx, a, sid, req)
	if err != nil {
		return reply, err
	}
	to := clean(req.To)
	done, err := r.decide(ctx, func(tx *journal.Tx) error {
		if err := r.mustBeOpen(tx, sid); err != nil {
			return err
		}
		if old, ok := tx.State().Handover(h.ID); ok && slices.ContainsFunc(old.Publications, func(p fold.Publication) bool {
			return p.Session == r.id(sid) && p.To == to && stands(p)
		}) {
			reply.Already = true
			return errUnchanged
		}
		_, err := tx.Append(event.HandoverPublished{Session: sid, To: to, Handover: h})
		return err
	})
	if err != nil {
		return api.HandoverReply{}, err
	}
	reply.Redacted = redacted
	return r.handoverReply(reply, h.ID, done, opened), nil
}

// compose makes the handover of a request.
func (r *Room) compose(ctx context.Context, a Actor, sid string, req api.HandoverPublishRequest) (event.Handover, []string, error) {
	var h event.Handover
	branch, head, err := a.Git.Head(ctx)
	if err != nil {
		return h, nil, err
	}
	body := strings.TrimRight(strings.ReplaceAll(req.Body, "\r\n", "\n"), "\n")
	if req.Derive {
		facts, err := r.derive(ctx, a, sid, branch, head)
		if err != nil {
			return h, nil, err
		}
		h.Files = facts.stored()
		body = strings.TrimLeft(body+"\n\n"+facts.markdown(), "\n")
	}
	if err := plainText(body); err != nil {
		return h, nil, err
	}
	body, redacted := redact.Text(body + "\n")
	if n := len(body); n > event.MaxHandoverBytes {
		return h, nil, api.Errorf(api.CodeBound, "the handover has %d bytes, at most %d fit: %d too many", n, event.MaxHandoverBytes, n-event.MaxHandoverBytes).
			WithHint("shorten it, and name files instead of quoting them")
	}
	h.Body, h.ID = body, event.HandoverID(body)
	h.Branch, h.Head = fact(branch, 256), head
	h.CreatedAt = r.clock.Now().UTC().Format(time.RFC3339)
	h.Name, h.Task, h.Issue, h.Milestone = clean(req.Name), clean(req.Task), clean(req.Issue), clean(req.Milestone)
	return h, redacted, nil
}

// plainText refuses what a reader's terminal would act on or could not show.
func plainText(body string) error {
	for i, c := range body {
		_, width := utf8.DecodeRuneInString(body[i:])
		switch {
		case c == utf8.RuneError && width == 1:
			return api.Errorf(api.CodeUsage, "the handover is not UTF-8 at byte %d", i).WithHint("write it as UTF-8 text")
		case unicode.IsControl(c) && c != '\n' && c != '\t':
			return api.Errorf(api.CodeUsage, "the handover holds control character %U at byte %d", c, i).
				WithHint("write plain text: of control characters only newline and tab")
		}
	}
	return nil
}

// HandoverList lists the handovers that are offered, or all, newest first.
func (r *Room) HandoverList(_ context.Context, a Actor, req api.HandoverListRequest) (api.HandoverListReply, error) {
	var out api.HandoverListReply
	r.view(func(v look) {
		r.heard(v, a)
		out.Handovers = r.handoverViews(v, req.All)
	})
	return out, nil
}

// HandoverShow shows one with its text.
func (r *Room) HandoverShow(_ context.Context, a Actor, req api.HandoverRequest) (api.HandoverReply, error) {
	var out api.HandoverReply
	var err error
	r.view(func(v look) {
		r.heard(v, a)
		var h fold.Handover
		if h, err = r.findHandover(v, req.Handover); err == nil {
			out.Handover = r.handoverView(h, true)
		}
	})
	return out, err
}

// HandoverTake takes a handover for the acting session, and with it every offer
// of it that stands. When another session has taken them it is refused, unless
// Again says that both shall have it.
func (r *Room) HandoverTake(ctx context.Context, a Actor, req api.HandoverRequest) (api.HandoverReply, error) {
	return r.answerHandover(ctx, a, req, func(v look, sid string, h fold.Handover) (event.Body, error) {
		keys := offers(h, stands)
		if len(keys) == 0 {
			if slices.ContainsFunc(h.Takings, func(t fold.Taking) bool { return t.Session == r.id(sid) }) {
				return nil, errUnchanged
			}
			if n := len(h.Takings); n > 0 && !req.Again {
				return nil, api.Errorf(api.CodeConflict, "handover %s was taken by %s", shortID(h.ID), h.Takings[n-1].Session.SID).
					WithHint("read it with comity handover show %s; take it too with --again", shortID(h.ID))
			}
			keys = offers(h, func(p fold.Publication) bool { return !p.Withdrawn })
		}
		if len(keys) == 0 {
			return nil, api.Errorf(api.CodeConflict, "handover %s was withdrawn", shortID(h.ID)).WithHint("ask its author to publish it again")
		}
		if r.answering(v, h.ID) && !req.Again {
			return nil, api.Errorf(api.CodeConflict, "another session takes handover %s right now", shortID(h.ID)).WithHint("repeat the command")
		}
		return event.HandoverConsumed{Handover: h.ID, Publications: keys, Session: sid}, nil
	})
}

// HandoverDecline says no to a handover, with a reason that its author sees.
func (r *Room) HandoverDecline(ctx context.Context, a Actor, req api.HandoverRequest) (api.HandoverReply, error) {
	return r.answerHandover(ctx, a, req, func(v look, sid string, h fold.Handover) (event.Body, error) {
		for _, d := range h.Declines {
			if d.Session == r.id(sid) {
				return nil, errUnchanged
			}
		}
		keys := offers(h, stands)
		if len(keys) == 0 {
			return nil, api.Errorf(api.CodeConflict, "handover %s is not offered any more", shortID(h.ID)).WithHint("there is nothing left to decline")
		}
		return event.HandoverDeclined{Handover: h.ID, Publications: keys, Session: sid, Reason: clean(req.Reason)}, nil
	})
}

// HandoverWithdraw takes back the acting session's own offer.
func (r *Room) HandoverWithdraw(ctx context.Context, a Actor, req api.HandoverRequest) (api.HandoverReply, error) {
	return r.answerHandover(ctx, a, req, func(v look, sid string, h fold.Handover) (event.Body, error) {
		own := false
		for _, p := range h.Publications {
			if p.Session != r.id(sid) {
				continue
			}
			if own = true; stands(p) {
				return event.HandoverWithdrawn{Publication: p.Key, Session: sid}, nil
			}
		}
		if own {
			return nil, errUnchanged
		}
		return nil, api.Errorf(api.CodeNotOwn, "handover %s was offered by %s", shortID(h.ID), h.Publications[0].Session.SID).
			WithHint("only who offers it withdraws it; decline it instead: comity handover decline %s", shortID(h.ID))
	})
}

// stands tells an offer that is neither taken nor withdrawn.
func stands(p fold.Publication) bool { return !p.Withdrawn && !p.Taken }

// offers are the publications that are wanted, as many as one answer can name.
func offers(h fold.Handover, wanted func(fold.Publication) bool) []event.Key {
	var out []event.Key
	for _, p := range h.Publications {
		if wanted(p) && len(out) < event.MaxPublications {
			out = append(out, p.Key)
		}
	}
	sortKeys(out)
	return out
}

// answerHandover finds the handover and the session, and writes what answer
// makes of them; errUnchanged of answer means that it was so already.
func (r *Room) answerHandover(ctx context.Context, a Actor, req api.HandoverRequest, answer func(look, string, fold.Handover) (event.Body, error)) (api.HandoverReply, error) {
	var reply api.HandoverReply
	sid, opened, err := r.sessionOf(ctx, a, "", "")
	if err != nil {
		return reply, err
	}
	id := ""
	done, err := r.decide(ctx, func(tx *journal.Tx) error {
		if err := r.mustBeOpen(tx, sid); err != nil {
			return err
		}
		h, err := r.findHandover(tx, req.Handover)
		if err != nil {
			return err
		}
		id = h.ID
		body, err := answer(tx, sid, h)
		if err != nil {
			reply.Already = true
			return err
		}
		_, err = tx.Append(body)
		return err
	})
	if err != nil {
		return api.HandoverReply{}, err
	}
	return r.handoverReply(reply, id, done, opened), nil
}

// answering tells that a taking of the handover is on its way to the disk, so
// that two sessions never take one at the same moment.
func (r *Room) answering(v look, id string) bool {
	return slices.ContainsFunc(v.Pending(), func(e *event.Event) bool {
		b, ok := e.Body.(event.HandoverConsumed)
		return ok && b.Handover == id
	})
}

func (r *Room) handoverReply(reply api.HandoverReply, id string, done []journal.Appended, opened string) api.HandoverReply {
	reply.Written = written(done)
	reply.OpenedSession = opened
	r.view(func(v look) {
		if h, ok := v.State().Handover(id); ok {
			reply.Handover = r.handoverView(h, true)
		}
	})
	return reply
}

// findHandover takes the beginning of a digest, if only one begins so.
func (r *Room) findHandover(v look, word string) (fold.Handover, error) {
	if h, ok := v.State().Handover(word); ok {
		return h, nil
	}
	var found []fold.Handover
	if len(word) >= 4 && strings.Trim(word, "0123456789abcdef") == "" {
		for h := range v.State().Handovers() {
			if strings.HasPrefix(h.ID, word) {
				found = append(found, h)
			}
		}
	}
	switch len(found) {
	case 0:
		return fold.Handover{}, api.Errorf(api.CodeUnknownHandover, "handover %q is not known", word).WithHint("comity handover list --all lists them")
	case 1:
		return found[0], nil
	}
	return fold.Handover{}, api.Errorf(api.CodeAmbiguous, "%q may mean any of %d handovers", word, len(found)).WithHint("write more of it")
}

func (r *Room) handoverViews(v look, all bool) []api.Handover {
	out := []api.Handover{}
	handovers := v.State().OpenHandovers()
	if all {
		handovers = v.State().Handovers()
	}
	for h := range handovers {
		if view := r.handoverView(h, false); all || view.State == offered {
			out = append(out, view)
		}
	}
	slices.SortStableFunc(out, func(a, b api.Handover) int {
		return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(a.Handover, b.Handover))
	})
	return out
}

func (r *Room) handoverView(h fold.Handover, whole bool) api.Handover {
	b := h.Body
	out := api.Handover{
		Handover: h.ID, Short: shortID(h.ID), State: handoverState(h), Name: b.Name, Task: b.Task, Issue: b.Issue, Milestone: b.Milestone,
		Branch: b.Branch, Head: b.Head, CreatedAt: b.CreatedAt, Files: b.Files, Summary: firstLine(b.Body), Bytes: len(b.Body),
		Publications: []api.Publication{},
	}
	if whole {
		out.Body = b.Body
	}
	for i, p := range h.Publications {
		if i == 0 {
			out.From, out.To, out.At = p.Session.SID, p.To, p.At
		}
		out.Publications = append(out.Publications, api.Publication{Publication: p.Key.String(), Session: p.Session.SID, To: p.To, Withdrawn: p.Withdrawn, At: p.At})
	}
	for _, t := range h.Takings {
		out.Takings = append(out.Takings, api.Taking{Session: t.Session.SID, At: t.At})
	}
	for _, d := range h.Declines {
		out.Declines = append(out.Declines, api.Taking{Session: d.Session.SID, Reason: d.Reason, At: d.At})
	}
	out.AgeMS = r.ages.wallMS(out.At)
	return out
}

// handoverState is the state as people see it. One that was declined is still
// offered to the others, unless it was meant for who declined.
func handoverState(h fold.Handover) string {
	switch {
	case h.Open && !declinedByAddressee(h):
		return offered
	case h.Open:
		return declined
	case len(h.Takings) > 0:
		return taken
	}
	return withdrawn
}

func declinedByAddressee(h fold.Handover) bool {
	return slices.ContainsFunc(h.Declines, func(d fold.Decline) bool {
		return !slices.ContainsFunc(h.Publications, func(p fold.Publication) bool {
			return stands(p) && p.To != d.Session.SID && p.To != d.Session.String()
		})
	})
}
