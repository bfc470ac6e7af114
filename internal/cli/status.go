package cli

import (
	"cmp"
	"fmt"

	"github.com/comity-dev/comity/api"
	"github.com/spf13/cobra"
)

func (a *app) statusCommand() *cobra.Command {
	var follow bool
	c := a.command(&cobra.Command{
		Use:   "status [--follow]",
		Short: "Show who is here, on what, since when",
		Args:  cobra.NoArgs,
	}, func(cmd *cobra.Command, args []string) error {
		if follow {
			return a.followStatus(cmd.Context())
		}
		return a.status(cmd, args)
	})
	c.Flags().BoolVar(&follow, "follow", false, "go on and show every change")
	return c
}

func (a *app) status(cmd *cobra.Command, _ []string) error {
	w, err := a.where()
	if err != nil {
		return err
	}
	st, err := ask[api.Status](cmd.Context(), a, api.OpStatus, api.StatusRequest{Where: w})
	if err != nil || a.json {
		return err
	}
	a.out.status(st, ages{})
	return nil
}

// ages says how the ages of a picture are shown: as much older as time has gone
// since it was taken, or not at all, so that two pictures can be compared.
type ages struct {
	sinceMS int64
	hidden  bool
}

func (g ages) ago(ms int64) string {
	if g.hidden {
		return ""
	}
	return ago(ms + g.sinceMS)
}

func (g ages) opened(s api.Session) string {
	if g.hidden || s.OpenedAt == 0 && s.AgeMS == 0 { // an opening lost to damage has no time
		return ""
	}
	return "opened " + ago(s.AgeMS+g.sinceMS)
}

func (g ages) idle(ms int64) string {
	if g.hidden || ms+g.sinceMS < 1000 {
		return ""
	}
	return "idle " + span(ms+g.sinceMS)
}

func (p *printer) status(st *api.Status, g ages) {
	p.warnings(st)
	if len(st.Sessions)+len(st.Claims)+len(st.Handovers)+len(st.Reviews)+len(st.Waits) == 0 {
		p.printf("nobody is here: no sessions, claims, handovers or reviews\n")
	}
	p.section("sessions", len(st.Sessions), p.sessions(st.Sessions, st.Session, g))
	p.section("claims", len(st.Claims), p.claims(st.Claims, g))
	p.section("waiting", len(st.Waits), func(i int) { p.wait(st.Waits[i], g) })
	p.section("handovers", len(st.Handovers), func(i int) { p.handover(st.Handovers[i], g) })
	p.section("reviews", len(st.Reviews), p.reviews(st.Reviews, g))
	if st.Dropped > 0 || st.Compacted > 0 {
		p.row(0, key("dropped:").as(faint), flexf("%s of ended runs, %s; see comity doctor", count(st.Dropped, "stream"), count(int(st.Compacted), "event")).as(faint))
	}
	if st.Notices > 0 {
		p.printf("%s for you: comity notices\n", count(st.Notices, "notice"))
	}
}

// warnings are what changes how far the rest can be believed.
func (p *printer) warnings(st *api.Status) {
	if st.ReadOnly != "" {
		p.row(0, key("read-only:").as(red), flex(st.ReadOnly))
	}
	if st.Damage > 0 {
		p.row(0, key("damaged:").as(red), flexf("%s in the journal; comity doctor names them", count(st.Damage, "place")))
	}
	for _, s := range st.Streams {
		if s.Damaged || s.Opaque+s.Unreadable > 0 {
			p.row(0, key("incomplete:").as(yellow), flex(s.Stream), key(troubles(s)))
		}
	}
}

func troubles(s api.Stream) string {
	if s.Damaged {
		return "events are missing from it"
	}
	return fmt.Sprintf("%s of a newer comity", count(s.Opaque+s.Unreadable, "event"))
}

func (p *printer) section(title string, n int, item func(int)) {
	if n == 0 {
		return
	}
	p.heading(title, n)
	for i := range n {
		item(i)
	}
}

// sessions prints one of several sessions, its columns under those of the others.
func (p *printer) sessions(all []api.Session, acting string, g ages) func(i int) {
	name := widest(len(all), func(i int) string { return all[i].Session })
	return func(i int) { p.session(all[i], acting, name, g) }
}

func (p *printer) session(s api.Session, acting string, name int, g ages) {
	mark := " "
	if acting != "" && (s.Session == acting && s.Own || s.ID == acting) {
		mark = "*"
	}
	life := ""
	if s.State != api.SessionOpen {
		life = s.State
	} else if s.Live == api.LiveUnknown || s.Live == api.LiveExpired {
		life = "liveness " + s.Live
	}
	p.row(0, key(mark).pad(1), key(s.Session).as(bold).pad(name), flex(s.Client), flex(at(s.By, s.Host)), flex(s.Branch),
		key(count(s.Claims, "claim")), key(life).as(yellow), key(s.Protection).as(protectionStyle(s.Protection)), key(g.opened(s)), key(g.idle(s.IdleMS)))
	if about := cmp.Or(s.Intent, s.Issue); about != "" {
		p.row(5, flex(about).as(faint))
	}
}

// protectionStyle is how a protection level looks.
func protectionStyle(level string) style {
	switch level {
	case api.Guarded:
		return green
	case api.Advisory:
		return yellow
	}
	return faint
}

// at is a person and a machine: "ada@brook".
func at(by, host string) string {
	if by == "" || host == "" {
		return by + host
	}
	return by + "@" + host
}

// claims prints one of several claims, its columns under those of the others.
func (p *printer) claims(all []api.Claim, g ages) func(i int) {
	name := widest(len(all), func(i int) string { return short(all[i].Short, all[i].Claim) })
	standing := widest(len(all), func(i int) string { return all[i].Standing })
	return func(i int) { p.claim(all[i], name, standing, g) }
}

func (p *printer) claim(c api.Claim, name, standing int, g ages) {
	mark := " "
	if c.Own {
		mark = "*"
	}
	p.row(0, key(mark).pad(1), key(short(c.Short, c.Claim)).as(bold).pad(name), key(c.Standing).as(standingStyle(c.Standing)).pad(standing), key(by(c)), key(exclusive(c.Mode)),
		flex(scopes(c.Scope)), flex(person(c.Session, c.Client)), keyf("epoch %d", c.Epoch), key(g.ago(c.AgeMS)))
	if about := cmp.Or(c.Intent, c.Issue, c.Reason); about != "" {
		p.row(5, flex(about).as(faint))
	}
}

// by names the claim that beat or fenced c.
func by(c api.Claim) string {
	if c.By == "" {
		return ""
	}
	return "by " + shortKey(c.By)
}

func standingStyle(standing string) style {
	switch standing {
	case api.StandingHeld:
		return green
	case api.StandingConflicted:
		return red
	case api.StandingExpired:
		return yellow
	}
	return plain
}

// exclusive is a mode, when it is not the ordinary one.
func exclusive(mode string) string {
	if mode == api.ModeExclusive {
		return ""
	}
	return mode
}

func (p *printer) wait(w api.Wait, g ages) {
	p.row(3, keyf("%d.", w.Place), flex(w.Session), flex(scopes(w.Scope)), flexf("for %s", sentence(w.For)), key(g.ago(w.AgeMS)))
}

// count is "1 claim", "2 claims".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
