package process_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/comity-dev/comity/api"
)

// A key that cannot be used stops the daemon with the reason, is never replaced,
// and once it is put back everything is there.
func TestUnusableKeyIsNamedAndNeverReplaced(t *testing.T) {
	for _, tt := range []struct {
		name   string
		damage func(key []byte) []byte
		mode   os.FileMode
		words  []string
	}{
		{"no JSON", func(key []byte) []byte { return key[:len(key)/2] }, 0o600, []string{"damaged"}},
		{"empty", func([]byte) []byte { return nil }, 0o600, []string{"damaged", "empty"}},
		{"another seed", flipSeed, 0o600, []string{"damaged", "do not belong together"}},
		{"open to others", bytes.Clone, 0o644, []string{"open to others", "chmod 600"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && tt.mode != 0o600 {
				t.Skip("windows has no such permissions")
			}
			t.Parallel()
			s := newStage(t, 1)
			s.open("s0")
			claim := s.claim("s0", "a.go")
			s.halt()
			path := filepath.Join(s.home, "node.key")
			key, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			bad := tt.damage(key)
			s.write(path, bad, tt.mode)

			e := s.refused(1, api.CodeDamagedKey, "status")
			s.mentions(e, append(tt.words, path)...)
			e = s.refused(1, api.CodeDamagedKey, "claim", "--session", "s0", "b.go")
			s.mentions(e, tt.words...)
			s.mentions(s.refused(1, api.CodeDamagedKey, "serve"), tt.words...)
			if rep, code := s.report("doctor"); code != 12 || check(rep, "key").State != api.CheckFail || check(rep, "key").Remedy == "" {
				t.Errorf("doctor: exit %d, %+v", code, check(rep, "key"))
			}
			if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, bad) {
				t.Errorf("the key file was changed to %q, %v", now, err)
			}

			s.write(path, key, 0o600)
			if got := s.holders()["path:a.go"]; got != "s0" || s.events()[claim] == "" {
				t.Errorf("with the key back a.go is held by %q, want s0", got)
			}
			s.goesOn("later")
		})
	}
}

func flipSeed(key []byte) []byte {
	b := bytes.Clone(key)
	at := bytes.Index(b, []byte(`"seed"`)) + len(`"seed": "`)
	for b[at] < '0' || b[at] > 'f' {
		at++
	}
	if b[at+1] == '0' {
		b[at+1] = '1'
	} else {
		b[at+1] = '0'
	}
	return b
}

func (s *stage) write(path string, b []byte, mode os.FileMode) {
	s.Helper()
	if err := os.WriteFile(path, b, mode); err != nil {
		s.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		s.Fatal(err)
	}
}
