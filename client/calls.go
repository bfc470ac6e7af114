package client

import (
	"context"

	"github.com/comity-dev/comity/api"
)

func call[Rep any](ctx context.Context, c *Client, op string, req any) (rep Rep, err error) {
	err = c.Do(ctx, op, req, &rep)
	return rep, err
}

// Version tells who answers.
func (c *Client) Version(ctx context.Context, req api.Empty) (api.VersionReply, error) {
	return call[api.VersionReply](ctx, c, api.OpVersion, req)
}

// Stop stops the daemon; see [api.StopRequest].
func (c *Client) Stop(ctx context.Context, req api.StopRequest) (api.Empty, error) {
	return call[api.Empty](ctx, c, api.OpStop, req)
}

// SessionOpen opens a session, or updates the open one of that name.
func (c *Client) SessionOpen(ctx context.Context, req api.SessionOpenRequest) (api.SessionOpenReply, error) {
	return call[api.SessionOpenReply](ctx, c, api.OpSessionOpen, req)
}

// SessionRenew renews a session.
func (c *Client) SessionRenew(ctx context.Context, req api.SessionRenewRequest) (api.SessionOpenReply, error) {
	return call[api.SessionOpenReply](ctx, c, api.OpSessionRenew, req)
}

// SessionClose closes a session and ends its claims.
func (c *Client) SessionClose(ctx context.Context, req api.SessionCloseRequest) (api.SessionCloseReply, error) {
	return call[api.SessionCloseReply](ctx, c, api.OpSessionClose, req)
}

// SessionList lists sessions.
func (c *Client) SessionList(ctx context.Context, req api.SessionListRequest) (api.SessionListReply, error) {
	return call[api.SessionListReply](ctx, c, api.OpSessionList, req)
}

// Claim claims scopes, all or none.
func (c *Client) Claim(ctx context.Context, req api.ClaimRequest) (api.ClaimReply, error) {
	return call[api.ClaimReply](ctx, c, api.OpClaim, req)
}

// Release releases claims.
func (c *Client) Release(ctx context.Context, req api.ReleaseRequest) (api.ReleaseReply, error) {
	return call[api.ReleaseReply](ctx, c, api.OpRelease, req)
}

// Check asks whether paths may be written now.
func (c *Client) Check(ctx context.Context, req api.CheckRequest) (api.CheckReply, error) {
	return call[api.CheckReply](ctx, c, api.OpCheck, req)
}

// Status is the whole picture of a repository.
func (c *Client) Status(ctx context.Context, req api.StatusRequest) (api.Status, error) {
	return call[api.Status](ctx, c, api.OpStatus, req)
}

// Log is a page of the journal.
func (c *Client) Log(ctx context.Context, req api.LogRequest) (api.LogPage, error) {
	return call[api.LogPage](ctx, c, api.OpLog, req)
}

// Notices is what changed for the acting session.
func (c *Client) Notices(ctx context.Context, req api.NoticesRequest) (api.Notices, error) {
	return call[api.Notices](ctx, c, api.OpNotices, req)
}

// HandoverPublish offers a handover.
func (c *Client) HandoverPublish(ctx context.Context, req api.HandoverPublishRequest) (api.HandoverReply, error) {
	return call[api.HandoverReply](ctx, c, api.OpHandoverPublish, req)
}

// HandoverList lists handovers.
func (c *Client) HandoverList(ctx context.Context, req api.HandoverListRequest) (api.HandoverListReply, error) {
	return call[api.HandoverListReply](ctx, c, api.OpHandoverList, req)
}

// HandoverShow is one handover with its text.
func (c *Client) HandoverShow(ctx context.Context, req api.HandoverRequest) (api.HandoverReply, error) {
	return call[api.HandoverReply](ctx, c, api.OpHandoverShow, req)
}

// HandoverTake takes a handover.
func (c *Client) HandoverTake(ctx context.Context, req api.HandoverRequest) (api.HandoverReply, error) {
	return call[api.HandoverReply](ctx, c, api.OpHandoverTake, req)
}

// HandoverDecline declines a handover.
func (c *Client) HandoverDecline(ctx context.Context, req api.HandoverRequest) (api.HandoverReply, error) {
	return call[api.HandoverReply](ctx, c, api.OpHandoverDecline, req)
}

// HandoverWithdraw withdraws an offer.
func (c *Client) HandoverWithdraw(ctx context.Context, req api.HandoverRequest) (api.HandoverReply, error) {
	return call[api.HandoverReply](ctx, c, api.OpHandoverWithdraw, req)
}

// ReviewRequest asks for a review.
func (c *Client) ReviewRequest(ctx context.Context, req api.ReviewRequestRequest) (api.ReviewReply, error) {
	return call[api.ReviewReply](ctx, c, api.OpReviewRequest, req)
}

// ReviewAnswer answers a review.
func (c *Client) ReviewAnswer(ctx context.Context, req api.ReviewAnswerRequest) (api.ReviewReply, error) {
	return call[api.ReviewReply](ctx, c, api.OpReviewAnswer, req)
}

// ReviewClose closes a review.
func (c *Client) ReviewClose(ctx context.Context, req api.ReviewCloseRequest) (api.ReviewReply, error) {
	return call[api.ReviewReply](ctx, c, api.OpReviewClose, req)
}

// Hook does what one moment of an agent's work needs.
func (c *Client) Hook(ctx context.Context, req api.HookRequest) (api.HookReply, error) {
	return call[api.HookReply](ctx, c, api.OpHook, req)
}

// Guard asks whether paths may be committed or pushed.
func (c *Client) Guard(ctx context.Context, req api.GuardRequest) (api.GuardReply, error) {
	return call[api.GuardReply](ctx, c, api.OpGuard, req)
}

// ReviewList lists reviews.
func (c *Client) ReviewList(ctx context.Context, req api.ReviewListRequest) (api.ReviewListReply, error) {
	return call[api.ReviewListReply](ctx, c, api.OpReviewList, req)
}

// Doctor is the daemon's part of the checks.
func (c *Client) Doctor(ctx context.Context, req api.DoctorRequest) (api.Report, error) {
	return call[api.Report](ctx, c, api.OpDoctor, req)
}

// Verify verifies the whole journal.
func (c *Client) Verify(ctx context.Context, req api.DoctorRequest) (api.Report, error) {
	return call[api.Report](ctx, c, api.OpVerify, req)
}
