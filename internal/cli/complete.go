package cli

import (
	"context"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/spf13/cobra"
)

// completionPatience is how long a shell waits for what the daemon knows.
const completionPatience = time.Second

// known asks a daemon that runs anyway for what could be typed next. It never
// starts one, and whatever goes wrong is no completion.
func known[Rep any](a *app, cmd *cobra.Command, op string, req func(api.Where) any, list func(*Rep) []cobra.Completion) ([]cobra.Completion, cobra.ShellCompDirective) {
	a.noStart = true
	w, err := a.where()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx := cmd.Context()
	if ctx == nil { // a command that is completed is not executed
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completionPatience)
	defer cancel()
	rep, _, err := fetch[Rep](ctx, a, op, req(w))
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return list(rep), cobra.ShellCompDirectiveNoFileComp
}

// choice is a completion with what it is.
func choice(word, about string) cobra.Completion {
	return cobra.CompletionWithDesc(oneLine(word), middle(oneLine(about), 60))
}

func (a *app) completeSessions(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return known(a, cmd, api.OpSessionList, func(w api.Where) any { return api.SessionListRequest{Where: w} },
		func(rep *api.SessionListReply) (out []cobra.Completion) {
			for _, s := range rep.Sessions {
				if s.Own {
					out = append(out, choice(s.Session, person(s.Client, s.Intent)))
				}
			}
			return out
		})
}

func (a *app) completeClaims(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return known(a, cmd, api.OpStatus, func(w api.Where) any { return api.StatusRequest{Where: w} },
		func(rep *api.Status) (out []cobra.Completion) {
			for _, c := range rep.Claims {
				if c.Own {
					out = append(out, choice(short(c.Short, c.Claim), scopes(c.Scope)))
				}
			}
			return out
		})
}

func (a *app) completeHandovers(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return known(a, cmd, api.OpHandoverList, func(w api.Where) any { return api.HandoverListRequest{Where: w} },
		func(rep *api.HandoverListReply) (out []cobra.Completion) {
			for _, h := range rep.Handovers {
				out = append(out, choice(short(h.Short, h.Handover), h.Summary))
			}
			return out
		})
}

func (a *app) completeReviews(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return known(a, cmd, api.OpReviewList, func(w api.Where) any { return api.ReviewListRequest{Where: w} },
		func(rep *api.ReviewListReply) (out []cobra.Completion) {
			for _, r := range rep.Reviews {
				out = append(out, choice(short(r.Short, r.Review), r.Subject))
			}
			return out
		})
}
