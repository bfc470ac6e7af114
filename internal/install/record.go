package install

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/comity-dev/comity/internal/vfs"
)

// A Record says what was installed in one place, so that it can be taken out.
// It is durable before the first file changes: after a crash the files may be
// as before, as after, or some of each, and taking out copes with all of them.
type Record struct {
	Format  int      `json:"format"`
	Name    string   `json:"name"`  // ClaudeUser, ClaudeProject, or GitHooks
	Where   string   `json:"where"` // the settings file as named, or git's common folder
	Files   []File   `json:"files"`
	Folders []string `json:"folders,omitempty"` // made for it, outermost first
}

// A File is what was done to one file. What others wrote is not kept in it.
type File struct {
	Path   string `json:"path"` // links followed
	Kind   string `json:"kind"` // "json", "config", or "hook"
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"` // SHA-256 in hex; empty: there was no file
	Edits  []Edit `json:"edits,omitempty"` // what makes Before into After

	Commands []string          `json:"commands,omitempty"` // ours, as in the file
	Made     []string          `json:"made,omitempty"`     // containers that were not there
	Empty    map[string]string `json:"empty,omitempty"`    // what was in containers that were empty

	Hook string `json:"hook,omitempty"`
	Part string `json:"part,omitempty"` // of the script, ours
}

const (
	kindJSON   = "json"
	kindConfig = "config"
	kindHook   = "hook"
)

const (
	recordFormat = 1
	maxRecord    = 1 << 20
)

func (r *Record) file(kind string) *File {
	if r == nil {
		return nil
	}
	for i := range r.Files {
		if r.Files[i].Kind == kind {
			return &r.Files[i]
		}
	}
	return nil
}

func (r *Record) hook(name string) *File {
	if r == nil {
		return nil
	}
	for i := range r.Files {
		if r.Files[i].Kind == kindHook && r.Files[i].Hook == name {
			return &r.Files[i]
		}
	}
	return nil
}

func (o Options) recordFolder() string { return filepath.Join(o.State, "install") }

func (o Options) recordPath(name, where string) string {
	sum := sha256.Sum256([]byte(where))
	return filepath.Join(o.recordFolder(), name+"-"+hex.EncodeToString(sum[:6])+".json")
}

// readRecord returns nil when there is none.
func (o Options) readRecord(path string) (*Record, error) {
	b, err := vfs.ReadFile(o.FS, path, maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read install record: %w", err)
	}
	r, err := decodeRecord(b)
	if err != nil {
		return nil, fmt.Errorf("install record %s: %w; move it away, and take out by hand what it names", path, err)
	}
	return r, nil
}

func decodeRecord(b []byte) (*Record, error) {
	var head struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, err
	}
	if head.Format != recordFormat {
		return nil, fmt.Errorf("format %d is not known to this build, which has %d", head.Format, recordFormat)
	}
	var r Record
	if err := json.Unmarshal(b, &r, json.RejectUnknownMembers(true)); err != nil {
		return nil, err
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	return &r, nil
}

// check refuses what no build wrote: a record says which files are removed.
func (r *Record) check() error {
	if r.Name != ClaudeUser && r.Name != ClaudeProject && r.Name != GitHooks {
		return fmt.Errorf("unknown name %q", r.Name)
	}
	for _, f := range r.Files {
		if !filepath.IsAbs(f.Path) || f.Path != filepath.Clean(f.Path) {
			return fmt.Errorf("path %q is not absolute and plain", f.Path)
		}
		if f.Kind != kindJSON && f.Kind != kindConfig && f.Kind != kindHook {
			return fmt.Errorf("unknown kind %q", f.Kind)
		}
		if f.Kind == kindHook && (f.Hook == "" || filepath.Base(f.Path) != f.Hook || !strings.HasPrefix(f.Part, partBegin)) {
			return fmt.Errorf("hook %q is not one of ours", f.Hook)
		}
	}
	for _, dir := range r.Folders {
		if !filepath.IsAbs(dir) {
			return fmt.Errorf("folder %q is not absolute", dir)
		}
	}
	return nil
}

func (o Options) writeRecord(path string, r *Record) error {
	b, err := json.Marshal(r, jsontext.WithIndent("  "), json.Deterministic(true))
	if err == nil {
		err = vfs.WriteFile(o.FS, path, append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write install record: %w", err)
	}
	return nil
}

func (o Options) removeRecord(path string) error {
	err := o.FS.Remove(path)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = o.FS.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		return fmt.Errorf("remove install record: %w", err)
	}
	return nil
}

// sweep removes what crashes left of records half written. The caller holds the
// lock.
func (o Options) sweep() {
	names, err := o.FS.List(o.recordFolder())
	if err != nil {
		return
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".tmp") {
			o.FS.Remove(filepath.Join(o.recordFolder(), name))
		}
	}
}

// sweepFiles removes what crashes left beside the files of r.
func (o Options) sweepFiles(r *Record) {
	if r == nil {
		return
	}
	for _, f := range r.Files {
		o.discard(beside(f.Path))
		if f.Kind == kindConfig {
			o.breakConfigLock(f.Path+".lock", true)
		}
	}
}

func sameRecord(a, b *Record) bool { return reflect.DeepEqual(a, b) }

// digest is how records name content.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
