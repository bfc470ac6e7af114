package fold_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
)

type object map[string]any

// formByOracle is the input of the digest as the oracle would write it.
func formByOracle(o *oracle) string {
	if left := o.whole(); left != nil {
		return formByOracle(left)
	}
	return formOfAll(o)
}

// formOfAll is that of damaged and incomplete streams too.
func formOfAll(o *oracle) string {
	all := object{"claims": o.claimObjects(), "handovers": o.handoverObjects(), "reviews": o.reviewObjects(), "sessions": o.sessionObjects()}
	var b bytes.Buffer
	enc := json.NewEncoder(&b) // sorts the members of a map
	enc.SetEscapeHTML(false)
	if err := enc.Encode(all); err != nil {
		panic(err) // unreachable: text and numbers
	}
	return fmt.Sprintf("comity-fold/%d\n%s", fold.Version, bytes.TrimSpace(b.Bytes()))
}

// whole is o without streams that are damaged or incomplete, nil when none is.
func (o *oracle) whole() *oracle {
	head := map[ident.Stream]uint64{}
	var events []*event.Event
	for _, i := range o.streamInfos() {
		if i.Damaged || i.Incomplete {
			continue
		}
		head[i.Stream] = i.Head
		for _, e := range o.held[i.Stream] {
			events = append(events, e)
		}
	}
	if len(head) == len(o.head) {
		return nil
	}
	return newOracle(events, head)
}

// put sets members that are not empty.
func (x object) put(members map[string]string) object {
	for name, value := range members {
		if value != "" {
			x[name] = value
		}
	}
	return x
}

func keyText(k event.Key) string {
	if k.Seq == 0 {
		return ""
	}
	return k.String()
}

func (o *oracle) claimObjects() []object {
	standings := o.standings(func(ident.Stream) bool { return false })
	claims := slices.DeleteFunc(o.claims(), func(c fold.Claim) bool { return !c.Live() })
	slices.SortFunc(claims, func(a, b fold.Claim) int { return a.Key.Compare(b.Key) })
	all := []object{}
	for _, c := range claims {
		x := object{"epoch": c.Epoch, "scope": c.Scope.Strings()}
		all = append(all, x.put(map[string]string{
			"by": keyText(standings[c.Key].By), "checkout": string(c.Checkout), "claim": c.Key.String(), "mode": string(c.Mode),
			"session": c.Session.String(), "state": string(standings[c.Key].State), "stream": string(c.Stream),
		}))
	}
	return all
}

func (o *oracle) handoverObjects() []object {
	all := []object{}
	for _, h := range o.handovers() {
		if !h.Open {
			continue
		}
		x := object{"handover": h.ID}
		if len(h.Declines) > 0 {
			x["declines"] = keyTexts(h.Declines, func(d fold.Decline) event.Key { return d.Key })
		}
		var pubs []object
		for _, p := range h.Publications {
			state := "open"
			if p.Withdrawn {
				state = "withdrawn"
			} else if p.Taken {
				state = "taken"
			}
			pubs = append(pubs, object{"publication": p.Key.String(), "state": state}.put(map[string]string{"to": p.To}))
		}
		x["publications"] = pubs
		all = append(all, x)
	}
	return all
}

func (o *oracle) reviewObjects() []object {
	all := []object{}
	for _, r := range o.reviews() {
		if !r.Open {
			continue
		}
		x := object{"request": r.Key.String()}
		if len(r.Answers) > 0 {
			x["answers"] = keyTexts(r.Answers, func(a fold.Answer) event.Key { return a.Key })
		}
		all = append(all, x)
	}
	return all
}

func keyTexts[X any](xs []X, key func(X) event.Key) (all []string) {
	for _, x := range xs {
		all = append(all, key(x).String())
	}
	return all
}

func (o *oracle) sessionObjects() []object {
	all := []object{}
	for _, id := range o.sessionIDs() {
		s, ok := o.session(id)
		if !ok || s.State != fold.SessionOpen {
			continue
		}
		i, x := s.Info, object{}
		if i.Dirty != nil {
			x["dirty"] = *i.Dirty
		}
		all = append(all, x.put(map[string]string{
			"branch": i.Branch, "by": i.By, "checkout": string(i.Checkout), "client": i.Client, "context": i.Context, "head": i.Head,
			"host": i.Host, "intent": i.Intent, "issue": i.Issue, "opened": keyText(s.Opened), "session": id.String(),
			"stream": string(s.Stream), "task": i.Task, "worker": i.Worker,
		}))
	}
	return all
}

// sessionIDs are those of all sessions that something names, by id.
func (o *oracle) sessionIDs() (all []ident.SessionID) {
	for _, e := range o.eff {
		if id, ok := e.Session(); ok {
			all = append(all, id)
		}
	}
	for _, st := range o.streams {
		r, _ := o.run(st)
		for _, sid := range r.Sessions {
			all = append(all, ident.SessionID{Runtime: st.Runtime(), SID: sid})
		}
	}
	slices.SortFunc(all, ident.SessionID.Compare)
	return slices.Compact(all)
}
