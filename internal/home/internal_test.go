package home

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/comity-dev/comity/internal/vfs"
)

func TestNetworkFileSystemIsRefusedUnlessAllowed(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	nfs := func(string) (string, bool, error) { return "nfs4", true, nil }
	ext4 := func(string) (string, bool, error) { return "ext4", false, nil }
	broken := func(string) (string, bool, error) { return "", false, os.ErrPermission }

	err := Home{Dir: dir}.prepare(vfs.OS(), nfs)
	if !errors.Is(err, ErrNetwork) || !strings.Contains(err.Error(), "nfs4") || !strings.Contains(err.Error(), "COMITY_ALLOW_NETWORK_HOME=1") {
		t.Errorf("prepare on nfs = %v, want ErrNetwork with the kind and the override", err)
	}
	if err := (Home{Dir: dir, AllowNetwork: true}).prepare(vfs.OS(), nfs); err != nil {
		t.Errorf("prepare on nfs, allowed: %v", err)
	}
	if err := (Home{Dir: dir}).prepare(vfs.OS(), ext4); err != nil {
		t.Errorf("prepare on ext4: %v", err)
	}
	if err := (Home{Dir: dir}).prepare(vfs.OS(), broken); !errors.Is(err, os.ErrPermission) {
		t.Errorf("prepare on a file system that cannot be looked at = %v, want the reason", err)
	}
}

func TestEnvironLeavesOutWhatSpeaksOfOnePlace(t *testing.T) {
	got := environ([]string{
		"PATH=/bin", "GIT_DIR=/r/.git", "GIT_INDEX_FILE=x", "GIT_", "COMITY_SESSION=s", "COMITY=off", "COMITY_HOME=/other",
		"COMITY_READY_FD=9", "PWD=/r", "OLDPWD=/", "HOME=/h", "MY_GIT_DIR=kept", "COMITY_ALLOW_NETWORK_HOME=1", "GITHUB_X=kept", "ODD",
	}, Home{Dir: "/s"})
	want := []string{"PATH=/bin", "HOME=/h", "MY_GIT_DIR=kept", "COMITY_ALLOW_NETWORK_HOME=1", "GITHUB_X=kept", "ODD", "COMITY_HOME=/s"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("environ (-want +got):\n%s", diff)
	}
}

func TestEnvironLeavesTheCallersListAlone(t *testing.T) {
	from := []string{"GIT_DIR=x", "A=b"}
	kept := slices.Clone(from)
	environ(from, Home{Dir: "/s"})
	if !slices.Equal(from, kept) {
		t.Errorf("environ changed its argument to %q", from)
	}
}

func TestDrawnMachineStays(t *testing.T) {
	h := Home{Dir: t.TempDir()}
	first, err := h.drawnMachine(vfs.OS())
	if err != nil {
		t.Fatal(err)
	}
	if len(first.ID) != 32 || !first.Drawn || first.Source == "" {
		t.Errorf("drawnMachine = %+v, want 32 digits that say they were drawn", first)
	}
	if again, err := h.drawnMachine(vfs.OS()); err != nil || again != first {
		t.Errorf("drawnMachine = %+v, %v and before %+v", again, err, first)
	}
	if other, err := (Home{Dir: t.TempDir()}).drawnMachine(vfs.OS()); err != nil || other.ID == first.ID {
		t.Errorf("two folders drew %q and %q, %v", first.ID, other.ID, err)
	}
	for _, damaged := range []string{"", "\n", "abc\n", strings.Repeat("g", 32), strings.Repeat("A", 32), strings.Repeat("a", 34), strings.Repeat("a", 200)} {
		if err := os.WriteFile(h.path("machine"), []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if m, err := h.drawnMachine(vfs.OS()); err == nil {
			t.Errorf("drawnMachine of %q = %+v, want an error", damaged, m)
		}
	}
}

func TestMachineIsTheSystemsOrDrawn(t *testing.T) {
	h := Home{Dir: t.TempDir()}
	m, err := h.Machine()
	if err != nil {
		t.Fatal(err)
	}
	raw, source := systemMachine()
	if m.Drawn != (raw == "") || raw != "" && m.Source != source {
		t.Errorf("Machine = %+v, the system says %q", m, source)
	}
	if raw != "" && strings.Contains(m.ID, strings.ToLower(raw)) {
		t.Error("Machine shows the id of the system itself")
	}
	if id, err := h.MachineID(); err != nil || id != m.ID {
		t.Errorf("MachineID = %q, %v, want %q", id, err, m.ID)
	}
}

func FuzzDecodeStrict(f *testing.F) {
	for _, s := range []string{`{}`, `{"idle":"5m"}`, `{"idle":"5m","idle":"6m"}`, `{"x":1}`, `{} {}`, `[]`, `null`, "{\"idle\":\"\xff\"}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var got struct {
			Idle string `json:"idle"`
		}
		if err := decodeStrict(data, &got); err == nil && !strings.HasPrefix(strings.TrimLeft(string(data), " \t\r\n"), "{") {
			t.Errorf("decodeStrict(%q) = nil, and it is no object", data)
		}
	})
}
