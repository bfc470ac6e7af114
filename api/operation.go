package api

// An Operation describes one call: its route is POST /v1/<Name> with the
// dots as slashes, its body the request, its answer the reply or a [Failure].
type Operation struct {
	Name    string // such as "session.open"
	Summary string
	Write   bool // whether it may append to the journal
	Request any  // a zero value of the request
	Reply   any  // a zero value of the reply
}

// Names of the operations.
const (
	OpVersion          = "version"
	OpStop             = "stop"
	OpSessionOpen      = "session.open"
	OpSessionRenew     = "session.renew"
	OpSessionClose     = "session.close"
	OpSessionList      = "session.list"
	OpClaim            = "claim"
	OpRelease          = "release"
	OpCheck            = "check"
	OpStatus           = "status"
	OpLog              = "log"
	OpNotices          = "notices"
	OpHandoverPublish  = "handover.publish"
	OpHandoverList     = "handover.list"
	OpHandoverShow     = "handover.show"
	OpHandoverTake     = "handover.take"
	OpHandoverDecline  = "handover.decline"
	OpHandoverWithdraw = "handover.withdraw"
	OpReviewRequest    = "review.request"
	OpReviewAnswer     = "review.answer"
	OpReviewClose      = "review.close"
	OpReviewList       = "review.list"
	OpDoctor           = "doctor"
	OpVerify           = "verify"
	OpWatch            = "watch"
	OpHook             = "hook"
	OpGuard            = "guard"
)

// Operations describes every operation. Watch is the one whose reply is a
// stream of server-sent events, each a [Change].
func Operations() []Operation {
	return []Operation{
		{OpVersion, "who answers: pid, build, home", false, Empty{}, VersionReply{}},
		{OpStop, "stop the daemon", false, StopRequest{}, Empty{}},
		{OpSessionOpen, "open a session, or update the open one of that name", true, SessionOpenRequest{}, SessionOpenReply{}},
		{OpSessionRenew, "renew a session's time to live, change its intent", true, SessionRenewRequest{}, SessionOpenReply{}},
		{OpSessionClose, "close a session and end its claims", true, SessionCloseRequest{}, SessionCloseReply{}},
		{OpSessionList, "list sessions", false, SessionListRequest{}, SessionListReply{}},
		{OpClaim, "claim scopes, all or none", true, ClaimRequest{}, ClaimReply{}},
		{OpRelease, "release claims", true, ReleaseRequest{}, ReleaseReply{}},
		{OpCheck, "may this session write these paths now", false, CheckRequest{}, CheckReply{}},
		{OpStatus, "who is here, on what, since when", false, StatusRequest{}, Status{}},
		{OpLog, "a page of the journal, each event once, in arrival order", false, LogRequest{}, LogPage{}},
		{OpNotices, "what changed for this session", false, NoticesRequest{}, Notices{}},
		{OpHandoverPublish, "offer a handover", true, HandoverPublishRequest{}, HandoverReply{}},
		{OpHandoverList, "list handovers", false, HandoverListRequest{}, HandoverListReply{}},
		{OpHandoverShow, "show a handover with its text", false, HandoverRequest{}, HandoverReply{}},
		{OpHandoverTake, "take a handover", true, HandoverRequest{}, HandoverReply{}},
		{OpHandoverDecline, "decline a handover, with a reason", true, HandoverRequest{}, HandoverReply{}},
		{OpHandoverWithdraw, "withdraw your own offer", true, HandoverRequest{}, HandoverReply{}},
		{OpReviewRequest, "ask for a review", true, ReviewRequestRequest{}, ReviewReply{}},
		{OpReviewAnswer, "answer a review, bound to the tree that was seen", true, ReviewAnswerRequest{}, ReviewReply{}},
		{OpReviewClose, "close a review that you asked for", true, ReviewCloseRequest{}, ReviewReply{}},
		{OpReviewList, "list reviews", false, ReviewListRequest{}, ReviewListReply{}},
		{OpDoctor, "checks of the node and of this repository's journal", false, DoctorRequest{}, Report{}},
		{OpVerify, "verify every signature and chain of the journal", false, DoctorRequest{}, Report{}},
		{OpHook, "what one moment of an agent's work needs", true, HookRequest{}, HookReply{}},
		{OpGuard, "may these paths be committed or pushed", false, GuardRequest{}, GuardReply{}},
		{OpWatch, "follow changes as server-sent events", false, WatchRequest{}, Change{}},
	}
}
