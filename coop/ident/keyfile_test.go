package ident_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/vfs"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

func keyPath(t *testing.T) string { return filepath.Join(t.TempDir(), "node.key") }

func TestKeyIsCreatedOnceAndPrivate(t *testing.T) {
	path := keyPath(t)
	first, created, err := ident.LoadOrCreateKey(vfs.OS(), path)
	if err != nil || !created {
		t.Fatalf("LoadOrCreateKey on nothing = created %v, %v; want a new key", created, err)
	}
	again, created, err := ident.LoadOrCreateKey(vfs.OS(), path)
	if err != nil || created {
		t.Fatalf("LoadOrCreateKey again = created %v, %v; want the key that is there", created, err)
	}
	loaded, err := ident.LoadKey(vfs.OS(), path)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []*ident.Key{again, loaded} {
		if k.PublicHex() != first.PublicHex() {
			t.Errorf("loaded key %s, want %s", k.PublicHex(), first.PublicHex())
		}
		if !ident.Verify(first.Public(), ident.DomainBeat, []byte("m"), k.Sign(ident.DomainBeat, []byte("m"))) {
			t.Error("the loaded key does not sign as the created one")
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %o, want 600", info.Mode().Perm())
	}
}

func TestMissingKeyIsNotExist(t *testing.T) {
	if _, err := ident.LoadKey(vfs.OS(), keyPath(t)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("LoadKey of nothing = %v, want fs.ErrNotExist", err)
	}
}

func TestDamagedKeyIsRefusedAndKept(t *testing.T) {
	good := keyPath(t)
	if _, _, err := ident.LoadOrCreateKey(vfs.OS(), good); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	_, seed, _ := strings.Cut(string(content), `"seed": "`)
	seed = seed[:64]
	flip := map[byte]string{'0': "1"}[seed[0]]
	if flip == "" {
		flip = "0"
	}
	for name, bad := range map[string]string{
		"empty":           "",
		"cut":             string(content[:len(content)/2]),
		"not JSON":        "hello",
		"other schema":    strings.Replace(string(content), "/v1", "/v2", 1),
		"flipped seed":    strings.Replace(string(content), seed, flip+seed[1:], 1),
		"uppercase seed":  strings.Replace(string(content), seed, strings.ToUpper(seed[:63])+"A", 1),
		"short seed":      strings.Replace(string(content), seed, seed[:62], 1),
		"no public":       strings.Replace(string(content), `"public"`, `"publik"`, 1),
		"no node":         strings.Replace(string(content), `"node"`, `"nod"`, 1),
		"two seeds":       strings.Replace(string(content), `"node"`, `"seed": "`+seed+`", "node"`, 1),
		"trailing":        string(content) + "{}",
		"longer than any": string(content) + strings.Repeat(" ", 5000),
	} {
		t.Run(name, func(t *testing.T) {
			path := keyPath(t)
			if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
				t.Fatal(err)
			}
			_, created, err := ident.LoadOrCreateKey(vfs.OS(), path)
			var damaged *ident.DamagedKeyError
			if created || !errors.As(err, &damaged) || damaged.Path != path {
				t.Fatalf("LoadOrCreateKey = created %v, %v; want a DamagedKeyError of %s", created, err, path)
			}
			if strings.Contains(err.Error(), seed[:16]) {
				t.Errorf("error prints the secret: %v", err)
			}
			if got, _ := os.ReadFile(path); !bytes.Equal(got, []byte(bad)) {
				t.Error("the damaged file was changed")
			}
		})
	}
	t.Run("folder", func(t *testing.T) {
		var damaged *ident.DamagedKeyError
		if _, _, err := ident.LoadOrCreateKey(vfs.OS(), t.TempDir()); !errors.As(err, &damaged) {
			t.Errorf("a folder in the key's place = %v, want a DamagedKeyError", err)
		}
	})
}

func TestOpenKeyIsRefusedWithTheRemedy(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing on windows")
	}
	path := keyPath(t)
	if _, _, err := ident.LoadOrCreateKey(vfs.OS(), path); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []fs.FileMode{0o640, 0o604, 0o620, 0o601} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := ident.LoadKey(vfs.OS(), path)
		var open *ident.OpenKeyError
		if !errors.As(err, &open) || !strings.Contains(err.Error(), "chmod 600 "+path) {
			t.Errorf("LoadKey at mode %o = %v, want an OpenKeyError with its remedy", mode, err)
		}
	}
	for _, mode := range []fs.FileMode{0o600, 0o400} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := ident.LoadKey(vfs.OS(), path); err != nil {
			t.Errorf("LoadKey at mode %o = %v", mode, err)
		}
	}
}

// lateFS makes the key appear between the look and the creation, as a second
// process would.
type lateFS struct {
	vfs.FS
	content []byte
	missed  bool
}

func (f *lateFS) Stat(name string) (vfs.Info, error) {
	info, err := f.FS.Stat(name)
	if !f.missed && errors.Is(err, fs.ErrNotExist) {
		f.missed = true
		return info, errors.Join(err, os.WriteFile(name, f.content, 0o600))
	}
	return info, err
}

func TestKeyOfAnotherCreatorIsTaken(t *testing.T) {
	other := keyPath(t)
	want, _, err := ident.LoadOrCreateKey(vfs.OS(), other)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	got, created, err := ident.LoadOrCreateKey(&lateFS{FS: vfs.OS(), content: content}, keyPath(t))
	if err != nil || created || got.Node() != want.Node() {
		t.Errorf("LoadOrCreateKey = %v, created %v, %v; want the other's key", got, created, err)
	}
}

// fullFS has no room for a new file.
type fullFS struct{ vfs.FS }

var errFull = errors.New("no space left")

func (f fullFS) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if flag&os.O_CREATE != 0 {
		return nil, errFull
	}
	return f.FS.Open(name, flag, perm)
}

func TestKeyThatIsNotStoredIsNotUsed(t *testing.T) {
	path := keyPath(t)
	k, created, err := ident.LoadOrCreateKey(fullFS{vfs.OS()}, path)
	if k != nil || created || !errors.Is(err, errFull) || !strings.Contains(err.Error(), path) {
		t.Errorf("LoadOrCreateKey on a full disk = %v, created %v, %v; want its error with the path", k, created, err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file was left: %v", err)
	}
}

// A crash at any moment of the making of a key must not leave a file that is
// refused as damaged for ever, nor lose a key that was handed out.
func TestACrashWhileTheKeyIsMadeLeavesNoneOrAWholeOne(t *testing.T) {
	const path = "/node.key"
	states, whole := 0, 0
	for op := 0; ; op++ {
		disk := vfstest.New()
		disk.PowerOff(op)
		first, _, err := ident.LoadOrCreateKey(disk, path)
		vfstest.Every(func(choose func(int) int) bool {
			states++
			after := disk.Clone().Crash(choose)
			k, created, aerr := ident.LoadOrCreateKey(after, path)
			switch {
			case aerr != nil:
				t.Errorf("crash at operation %d: %v", op, aerr)
			case first != nil && k.Node() != first.Node():
				t.Errorf("crash at operation %d: key of %s, want that of %s, which was handed out", op, k.Node(), first.Node())
			case !created:
				whole++
			}
			return !t.Failed()
		})
		if t.Failed() || err == nil {
			break
		}
	}
	if states < 8 || whole == 0 || whole == states {
		t.Errorf("%d states after a crash, %d of them with a key: the test looks at too few", states, whole)
	}
}
