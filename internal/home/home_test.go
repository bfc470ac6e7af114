package home_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/comity-dev/comity/internal/home"
)

// getenv makes an environment of pairs.
func getenv(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// folder makes a folder with a short path: sockets need one, and t.TempDir
// carries the name of the test.
func folder(t *testing.T, mode os.FileMode) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "h")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, mode); err != nil {
		t.Fatal(err)
	}
	return dir
}

func locate(t *testing.T, pairs ...string) home.Home {
	t.Helper()
	h, err := home.Locate(getenv(pairs...))
	if err != nil {
		t.Fatalf("Locate(%q): %v", pairs, err)
	}
	return h
}

func TestStateFolderComesFromTheEnvironment(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are unix ones")
	}
	for _, tt := range []struct {
		env  []string
		want string
	}{
		{[]string{"COMITY_HOME", "/a/b/", "XDG_STATE_HOME", "/x", "HOME", "/h"}, "/a/b"},
		{[]string{"XDG_STATE_HOME", "/x", "HOME", "/h"}, "/x/comity"},
		{[]string{"XDG_STATE_HOME", "x", "HOME", "/h"}, "/h/.local/state/comity"}, // relative: to be ignored
		{[]string{"HOME", "/h"}, "/h/.local/state/comity"},
	} {
		if got := locate(t, tt.env...); got.Dir != tt.want || got.AllowNetwork {
			t.Errorf("Locate(%q) = %+v, want Dir %q", tt.env, got, tt.want)
		}
	}
	if !locate(t, "HOME", "/h", "COMITY_ALLOW_NETWORK_HOME", "1").AllowNetwork {
		t.Error("COMITY_ALLOW_NETWORK_HOME=1 is not seen")
	}
}

func TestNoStateFolder(t *testing.T) {
	for _, tt := range []struct {
		env  []string
		want error
	}{
		{nil, home.ErrNoHome},
		{[]string{"HOME", "h"}, home.ErrNoHome},
		{[]string{"COMITY_HOME", "rel/a", "HOME", "/h"}, home.ErrRelative},
	} {
		_, err := home.Locate(getenv(tt.env...))
		if !errors.Is(err, tt.want) || !errors.As(err, new(*home.FolderError)) {
			t.Errorf("Locate(%q) = %v, want %v in a FolderError", tt.env, err, tt.want)
		}
		if err != nil && !strings.Contains(err.Error(), "COMITY_HOME") {
			t.Errorf("Locate(%q) says %q, without the next step", tt.env, err)
		}
	}
}

func TestSocketGoesWhereItIsPrivateAndFits(t *testing.T) {
	private, open := folder(t, 0o700), folder(t, 0o755)
	file := filepath.Join(private, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	taken := folder(t, 0o700) // somebody made its comity folder, for all to use
	if err := os.Mkdir(filepath.Join(taken, "comity"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(taken, "comity"), 0o777); err != nil {
		t.Fatal(err)
	}
	long := "/" + strings.Repeat("l", home.MaxSocketPath)
	for _, tt := range []struct {
		name, runtime, state string
		want                 string // the folder above the socket
	}{
		{"runtime folder", private, "/s", private + "/comity"},
		{"runtime folder not set", "", "/s", "/s"},
		{"runtime folder open to others", open, "/s", "/s"},
		{"runtime folder missing", private + "/none", "/s", "/s"},
		{"runtime folder is a file", file, "/s", "/s"},
		{"runtime folder relative", "run", "/s", "/s"},
		{"runtime folder too long", long, "/s", "/s"},
		{"comity in the runtime folder open to others", taken, "/s", "/s"},
		{"runtime folder serves a long state folder", private, long, private + "/comity"},
		{"state folder too long", "", long, "/tmp/comity-"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if runtime.GOOS == "windows" {
				t.Skip("owners and modes are not looked at there")
			}
			h := locate(t, "COMITY_HOME", tt.state, "XDG_RUNTIME_DIR", tt.runtime)
			if got := filepath.Dir(h.Socket); got != tt.want && !(strings.HasSuffix(tt.want, "-") && strings.HasPrefix(got, tt.want)) {
				t.Errorf("socket %q, want one in %s", h.Socket, tt.want)
			}
			if len(h.Socket) > home.MaxSocketPath {
				t.Errorf("socket %q has %d bytes", h.Socket, len(h.Socket))
			}
		})
	}
}

// Two state folders of one user must not meet in one socket.
func TestStateFoldersHaveSocketsOfTheirOwn(t *testing.T) {
	run, long := folder(t, 0o700), "/"+strings.Repeat("l", home.MaxSocketPath)
	for _, runtimeDir := range []string{run, ""} {
		a := locate(t, "COMITY_HOME", long+"/a", "XDG_RUNTIME_DIR", runtimeDir)
		b := locate(t, "COMITY_HOME", long+"/b", "XDG_RUNTIME_DIR", runtimeDir)
		if a.Socket == b.Socket {
			t.Errorf("both have the socket %s", a.Socket)
		}
		if again := locate(t, "COMITY_HOME", long+"/a", "XDG_RUNTIME_DIR", runtimeDir); again != a {
			t.Errorf("Locate = %+v and then %+v", a, again)
		}
	}
}

func TestSocketPathTooLong(t *testing.T) {
	long := "/" + strings.Repeat("l", home.MaxSocketPath)
	_, err := home.Locate(getenv("COMITY_HOME", long, "TMPDIR", long))
	var e *home.SocketError
	if !errors.As(err, &e) || !errors.Is(err, home.ErrTooLong) {
		t.Fatalf("Locate = %v, want a SocketError with ErrTooLong", err)
	}
	if !strings.Contains(err.Error(), "set COMITY_HOME or TMPDIR") {
		t.Errorf("Locate says %q, without the next step", err)
	}
}

// Who prepares the folder in /tmp before us must not become our daemon.
func TestASocketIsCheckedBeforeItIsCalled(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("owners and modes are not looked at there")
	}
	top := folder(t, 0o700)
	dir := filepath.Join(top, "d")
	made := func(mode os.FileMode) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, mode)) }
	for name, tt := range map[string]struct {
		prepare func() error
		want    error
	}{
		"ours":               {func() error { return made(0o700) }, nil},
		"others may look":    {func() error { return made(0o755) }, nil},
		"others may write":   {func() error { return made(0o707) }, home.ErrTooOpen},
		"missing":            {func() error { return nil }, os.ErrNotExist},
		"our link to ours":   {func() error { return os.Symlink(folder(t, 0o700), dir) }, nil},
		"our link to others": {func() error { return os.Symlink(folder(t, 0o777), dir) }, home.ErrTooOpen},
		"another user's":     {func() error { return errors.Join(made(0o755), os.Chown(dir, 12345, -1)) }, home.ErrNotOurs},
		"another user's link": {func() error {
			return errors.Join(os.Symlink(folder(t, 0o700), dir), os.Lchown(dir, 12345, -1))
		}, home.ErrNotOurs},
	} {
		t.Run(name, func(t *testing.T) {
			defer os.Remove(dir)
			if err := tt.prepare(); errors.Is(err, os.ErrPermission) {
				t.Skip("only root can give a folder away")
			} else if err != nil {
				t.Fatal(err)
			}
			if err := home.CheckSocket(filepath.Join(dir, "s")); !errors.Is(err, tt.want) {
				t.Errorf("CheckSocket = %v, want %v", err, tt.want)
			}
		})
	}
}

func TestSocketFolderOfAStrangerIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("owners and modes are not looked at there")
	}
	tmp, long := folder(t, 0o700), "/"+strings.Repeat("l", home.MaxSocketPath)
	env := getenv("COMITY_HOME", long, "TMPDIR", tmp)
	h, err := home.Locate(env)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(h.Socket)
	link := func() error { return os.Symlink(folder(t, 0o700), dir) }
	for _, tt := range []struct {
		name    string
		prepare func() error
		want    error
	}{
		{"ours", func() error { return os.Mkdir(dir, 0o700) }, nil},
		{"open to others", func() error { return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o770)) }, home.ErrTooOpen},
		{"a link", link, home.ErrNotFolder},
		{"another user's", func() error { return errors.Join(os.Mkdir(dir, 0o700), os.Chown(dir, 12345, -1)) }, home.ErrNotOurs},
	} {
		t.Run(tt.name, func(t *testing.T) {
			defer os.Remove(dir)
			if err := tt.prepare(); errors.Is(err, os.ErrPermission) {
				t.Skip("only root can give a folder away")
			} else if err != nil {
				t.Fatal(err)
			}
			_, err := home.Locate(env)
			if !errors.Is(err, tt.want) || tt.want != nil && !errors.As(err, new(*home.SocketError)) {
				t.Errorf("Locate = %v, want %v", err, tt.want)
			}
		})
	}
}

func TestRuntimeDirSaysWhatIsWrong(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("owners and modes are not looked at there")
	}
	private, open, given := folder(t, 0o700), folder(t, 0o750), folder(t, 0o700)
	file := filepath.Join(private, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		dir  string
		want error
	}{
		{private, nil}, {"", home.ErrMissing}, {private + "/none", home.ErrMissing}, {"run", home.ErrRelative},
		{file, home.ErrNotFolder}, {open, home.ErrTooOpen}, {given, home.ErrNotOurs},
	} {
		if tt.want == home.ErrNotOurs {
			if err := os.Chown(given, 12345, -1); err != nil {
				t.Logf("not tried: %v", err)
				continue
			}
		}
		got, err := home.RuntimeDir(getenv("XDG_RUNTIME_DIR", tt.dir))
		if !errors.Is(err, tt.want) || err == nil && got != tt.dir {
			t.Errorf("RuntimeDir(%q) = %q, %v, want %v", tt.dir, got, err, tt.want)
		}
		var e *home.FolderError
		if err != nil && (!errors.As(err, &e) || e.Next == "" || !strings.Contains(err.Error(), e.Next)) {
			t.Errorf("RuntimeDir(%q) says %v, without the next step", tt.dir, err)
		}
	}
}

func TestPlacesInTheStateFolder(t *testing.T) {
	h := home.Home{Dir: filepath.FromSlash("/s")}
	got := fmt.Sprint(h.RepositoryDir("0a1b"), " ", h.NodeKey(), " ", h.LogFile())
	if want := filepath.FromSlash("/s/repos/0a1b /s/node.key /s/daemon.log"); got != want {
		t.Errorf("places = %s, want %s", got, want)
	}
}
