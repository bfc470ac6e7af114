package link_test

import (
	"os/exec"
	"strings"
	"testing"
)

// Bugs that are planted by a build tag are found, by the test that is named: a
// proof that never finds anything proves nothing.
func TestPlantedBugsAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the package once for each bug")
	}
	gobin, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command")
	}
	for _, tt := range []struct{ tag, finder string }{
		{"plant_link_send_before_durable", "TestReportComesAfterTheDisk"},
		{"plant_link_budget", "TestMarksStayInTheirBound"},
	} {
		t.Run(tt.tag, func(t *testing.T) {
			out, err := exec.Command(gobin, "test", "-count=1", "-timeout", "60s", "-vet=off", "-tags", tt.tag, "-run", "^"+tt.finder+"$", ".").CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: "+tt.finder) {
				t.Errorf("%s does not find the bug: %v\n%s", tt.finder, err, out)
			}
		})
	}
}
