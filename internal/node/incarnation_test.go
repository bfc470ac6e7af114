package node

import (
	"os"
	"strings"
	"testing"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/home"
)

// A log that was removed is missed, until a person says that it is well so.
func TestAReplacedLogIsMissed(t *testing.T) {
	h := home.Home{Dir: t.TempDir()}
	if err := os.MkdirAll(h.RepositoryDir("r"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		incarnation, state string
	}{{"aa", api.CheckOK}, {"aa", api.CheckOK}, {"bb", api.CheckFail}, {"bb", api.CheckFail}} {
		if err := noteIncarnation(h, "r", step.incarnation); err != nil {
			t.Fatal(err)
		}
		if got := logCheck(h, "r"); got.State != step.state {
			t.Errorf("with log %s: %+v, want %s", step.incarnation, got, step.state)
		}
	}
	remedy := logCheck(h, "r").Remedy
	if !strings.Contains(remedy, incarnations(h, "r")) {
		t.Errorf("remedy %q does not name the file", remedy)
	}
	if err := os.Remove(incarnations(h, "r")); err != nil {
		t.Fatal(err)
	}
	if got := logCheck(h, "r"); got.State != api.CheckOK {
		t.Errorf("accepted: %+v, want ok", got)
	}
}
