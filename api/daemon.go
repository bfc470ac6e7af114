package api

// VersionReply tells who answers.
type VersionReply struct {
	Daemon
}

// Empty is a request or a reply without fields.
type Empty struct{}

// StopRequest stops the daemon. With Hold no hook starts it again until a
// person's next command; Handover says that a newer build takes over.
type StopRequest struct {
	Hold     bool `json:"hold,omitempty"`
	Handover bool `json:"handover,omitempty"`
}

// DoctorRequest asks for the checks that only the daemon can make. Dir may be
// empty: then only those of the node.
type DoctorRequest struct {
	Where
}

// Report is the result of doctor or verify.
type Report struct {
	OK     bool    `json:"ok"`
	Checks []Check `json:"checks"`
}

// A Check is one named finding.
type Check struct {
	Name   string `json:"name"`
	State  string `json:"state"` // ok, warn, fail
	Detail string `json:"detail"`
	Impact string `json:"impact,omitempty"`
	Remedy string `json:"remedy,omitempty"`
}

// States of a check. A warning does not fail the whole.
const (
	CheckOK   = "ok"
	CheckWarn = "warn"
	CheckFail = "fail"
)

// NewReport returns the report of checks: it is OK when none failed.
func NewReport(checks []Check) Report {
	r := Report{OK: true, Checks: checks}
	for _, c := range checks {
		if c.State == CheckFail {
			r.OK = false
		}
	}
	return r
}
