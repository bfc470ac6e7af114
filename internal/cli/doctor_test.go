package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/home"
	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/internal/vfs"
)

// examined is the checks of doctor by name.
func examined(t *testing.T, f *fake) (map[string]api.Check, int) {
	t.Helper()
	r := f.run("doctor", "--json", "--repo", repository(t))
	var rep api.Report
	if err := json.Unmarshal([]byte(r.out), &rep); err != nil || r.errout != "" {
		t.Fatalf("%+v: %v", r, err)
	}
	all := make(map[string]api.Check)
	for _, c := range rep.Checks {
		all[c.Name] = c
		if text := c.Detail + c.Impact + c.Remedy; strings.Contains(text, "rm ") || strings.Contains(text, "delete") || strings.Contains(text, "remove") {
			t.Errorf("%s suggests to destroy something: %s", c.Name, text)
		}
		if c.State == api.CheckFail && (c.Impact == "" || c.Remedy == "") {
			t.Errorf("%s fails without impact or remedy: %+v", c.Name, c)
		}
	}
	if rep.OK != (r.code == 0) {
		t.Errorf("ok = %v with exit %d", rep.OK, r.code)
	}
	return all, r.code
}

// repository is a git repository with one commit.
func repository(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	dir := t.TempDir()
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=ada", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "first"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	return dir
}

// journal writes a log of three records where a journal of the home would be,
// and returns the file.
func journal(t *testing.T, f *fake) string {
	t.Helper()
	dir := filepath.Join(f.env["COMITY_HOME"], "repos", "feedfeedfeedfeed")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, _, err := seglog.Open(vfs.OS(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := l.Append(t.Context(), []byte(strings.Repeat("record ", 100))); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	return files[0]
}

func TestDoctorWithoutADaemon(t *testing.T) {
	f := newFake(t)
	checks, code := examined(t, f)
	for _, name := range []string{"home", "file system", "key", "hold", "git", "repository", "lock", "journals"} {
		if checks[name].State != api.CheckOK {
			t.Errorf("%s: %+v", name, checks[name])
		}
	}
	if code != 0 {
		t.Errorf("exit %d", code)
	}
	if names, err := os.ReadDir(f.env["COMITY_HOME"]); err != nil || len(names) != 0 {
		t.Errorf("doctor wrote %v, %v", names, err)
	}
	f.env["COMITY_HOME"] = filepath.Join(f.env["COMITY_HOME"], "not", "yet")
	if _, code := examined(t, f); code != 0 {
		t.Errorf("before the first use: exit %d", code)
	}
	if _, err := os.Stat(f.env["COMITY_HOME"]); !os.IsNotExist(err) {
		t.Errorf("doctor made the state folder: %v", err)
	}
}

func TestDoctorReadsJournalsFromDisk(t *testing.T) {
	f := newFake(t)
	file := journal(t, f)
	if checks, code := examined(t, f); code != 0 || !strings.HasPrefix(checks["journal feedfeed"].Detail, "3 records") {
		t.Fatalf("whole: exit %d, %+v", code, checks)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(b), "record record")
	b[at] ^= 1
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	checks, code := examined(t, f)
	if c := checks["journal feedfeed"]; code != 12 || c.State != api.CheckFail || !strings.Contains(c.Detail, "1 damaged place") || !strings.Contains(c.Remedy, "keep the folder") {
		t.Errorf("damaged: exit %d, %+v", code, c)
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != string(b) {
		t.Errorf("doctor changed the journal: %v", err)
	}
	if out := f.runPlain("log", "dump"); !strings.Contains(out, filepath.Base(file)) {
		t.Errorf("dump: %s", out)
	}
}

func TestDoctorSeesWhatIsOpenToOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions are access lists there")
	}
	f := newFake(t)
	dir := f.env["COMITY_HOME"]
	if err := os.WriteFile(filepath.Join(dir, "node.key"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "node.key"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	checks, code := examined(t, f)
	if code != 12 || checks["home"].State != api.CheckFail || checks["key"].State != api.CheckFail {
		t.Errorf("exit %d, %+v", code, checks)
	}
}

func TestDoctorSeesTheHold(t *testing.T) {
	f := newFake(t)
	h, err := home.Locate(f.getenv)
	if err != nil {
		t.Fatal(err)
	}
	if r := f.run("stop"); r.code != 0 || !strings.HasPrefix(r.out, "no daemon ran") {
		t.Fatalf("%+v", r)
	}
	if held, err := h.Held(); !held || err != nil {
		t.Fatalf("held = %v, %v after stop", held, err)
	}
	if checks, code := examined(t, f); checks["hold"].State != api.CheckWarn || code != 0 {
		t.Errorf("exit %d, %+v", code, checks["hold"])
	}
	if held, err := h.Held(); !held || err != nil {
		t.Errorf("doctor lifted the hold")
	}
}

// The daemon's own checks come after the program's.
func TestDoctorJoinsTheDaemonsReport(t *testing.T) {
	f := newFake(t).serve()
	h, err := home.Locate(f.getenv)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := h.Lock(vfs.OS(), home.Info{Build: "b", Socket: h.Socket, API: api.Version})
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	f.replies[api.OpVersion] = api.VersionReply{Daemon: api.Daemon{PID: 1, Build: "another", API: api.Version, Socket: h.Socket}}
	f.replies[api.OpDoctor] = api.NewReport([]api.Check{{Name: "damage", State: api.CheckFail, Detail: "one", Impact: "i", Remedy: "r"}})
	checks, code := examined(t, f)
	if code != 12 || checks["damage"].Detail != "one" || checks["socket"].State != api.CheckOK || checks["build"].State != api.CheckWarn {
		t.Errorf("exit %d, %+v", code, checks)
	}
	r := f.run("doctor")
	if !strings.Contains(r.out, "fail  damage        one\n      impact        i\n      remedy        r\n") {
		t.Errorf("%s", r.out)
	}
	f.errs[api.OpDoctor] = api.Errorf(api.CodeInternal, "broken")
	if r := f.run("doctor"); r.code != 12 || !strings.Contains(r.out, "could not be had") {
		t.Errorf("%+v", r)
	}
}

func TestVerify(t *testing.T) {
	f := newFake(t).serve()
	f.replies[api.OpVerify] = api.NewReport([]api.Check{{Name: "signatures", State: api.CheckOK, Detail: "all"}})
	if r := f.run("verify"); r.code != 0 || r.out != "ok    signatures    all\n1 check, 0 failed, 0 warnings\n" {
		t.Errorf("%+v", r)
	}
	f.replies[api.OpVerify] = api.NewReport([]api.Check{{Name: "chain", State: api.CheckFail, Detail: "broken at 7"}})
	if r := f.run("verify"); r.code != 12 {
		t.Errorf("%+v", r)
	}
	if r := f.run("verify", "--json"); r.code != 12 || !strings.HasPrefix(r.out, `{"ok":false,"checks":[`) {
		t.Errorf("%+v", r)
	}
}

func TestStopEndsADaemonAndHolds(t *testing.T) {
	f := newFake(t)
	h, err := home.Locate(f.getenv)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := h.Lock(vfs.OS(), home.Info{Build: "b", Socket: h.Socket, API: api.Version})
	if err != nil {
		t.Fatal(err)
	}
	f.ops[api.OpStop] = stopping(lock)
	f.serve()
	r := f.run("stop", "--json")
	if r.code != 0 || !strings.Contains(r.out, `"stopped":true`) {
		t.Errorf("%+v", r)
	}
	if req := request[api.StopRequest](f, api.OpStop); !req.Hold || req.Handover {
		t.Errorf("request %+v", req)
	}
	if held, err := h.Held(); !held || err != nil {
		t.Errorf("held = %v, %v", held, err)
	}
}
