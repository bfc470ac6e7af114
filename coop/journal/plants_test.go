package journal_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Bugs that are planted by a build tag are found, by the test that is named. The
// simulation looks for the same ones.
func TestPlantedBugsAreFound(t *testing.T) {
	if os.Getenv("COMITY_LONG") == "" {
		t.Skip("compiles the package once for each bug: with COMITY_LONG")
	}
	gobin, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command")
	}
	for _, tt := range []struct{ tag, finder string }{
		{"plant_journal_drop_tombstone", "TestStreamInWhichNothingStandsIsDropped"},
		{"plant_journal_forget_stamp", "TestHighestStampOutlivesItsEvent"},
		{"plant_journal_no_drift", "TestDriftOfAWeek"},
		{"plant_journal_keep_view", "TestTrustChangesUnderAFollower"},
		{"plant_journal_skip_gap", "TestEventsWaitWithinTheirBounds"},
		{"plant_journal_skip_chain", "TestIngestRefusesByReason"},
	} {
		t.Run(tt.tag, func(t *testing.T) {
			out, err := exec.Command(gobin, "test", "-count=1", "-timeout", "60s", "-vet=off", "-tags", tt.tag, "-run", "^"+tt.finder+"$", ".").CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: "+tt.finder) {
				t.Errorf("%s does not find the bug: %v\n%s", tt.finder, err, out)
			}
		})
	}
}
