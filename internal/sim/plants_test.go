package sim

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Bugs that are planted by a build tag are found, by the history that is named
// and by the name of the invariant that they break: a proof that never finds
// anything proves nothing.
func TestPlantedBugsAreFound(t *testing.T) {
	if os.Getenv("COMITY_PLANTS") == "" {
		t.Skip("compiles the package once for each bug: COMITY_PLANTS=1, a step of check.sh")
	}
	gobin, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command")
	}
	for _, tt := range []struct {
		tag, finder string
		broken      Invariant
	}{
		{"plant_ack_before_sync", "TestPowerLossRightAfterTheAnswer", AckedIsKept},
		{"plant_fold_fence", "TestLapsedHolderWakesUnlinked", FencedForEver},
		{"plant_journal_drop_tombstone", "TestDroppedStreamIsNotTakenAgain", DroppedStays},
		{"plant_journal_forget_stamp", "TestHighestStampOutlivesWhatCarriedIt", StampsRise},
		{"plant_journal_keep_view", "TestWalkOverAnotherView", WalkedOnce},
		{"plant_journal_no_drift", "TestDriftOfAWeek", LivingUnfenced},
		{"plant_journal_skip_chain", "TestEventThatNamesAnotherOne", Chained},
		{"plant_journal_skip_gap", "TestHoleInAStream", NoHoles},
		{"plant_link_budget", "TestMuchToSayOnALink", Bounded},
		{"plant_link_send_before_durable", "TestReportsComeAfterTheDisk", SyncedBeforeSent},
		{"plant_room_gap", "TestWokenHolderAsksFirst", NoStaleYes},
		{"plant_room_notice", "TestLapsedHolderWakesUnlinked", LoserTold},
		{"plant_room_unknown", "TestRestartFindsALiveClaimOnDisk", LivingUnfenced},
	} {
		t.Run(tt.tag, func(t *testing.T) {
			t.Parallel()
			out, err := exec.Command(gobin, "test", "-count=1", "-timeout", "60s", "-vet=off", "-tags", tt.tag, "-run", "^"+tt.finder+"$", ".").CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: "+tt.finder) || !strings.Contains(string(out), string(tt.broken)) {
				t.Errorf("%s does not find the bug by %q: %v\n%s", tt.finder, tt.broken, err, tail(strings.Split(string(out), "\n"), 20))
			}
		})
	}
}
