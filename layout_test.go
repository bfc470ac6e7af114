package comity_test

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/comity-dev/comity"

// rooms lists every package and all that it may import within the module: the
// picture of docs/architecture.md as data. "dir/*" means every package below.
// Rooms of the plan that have no files yet are listed too, so that they are
// built where they belong.
var rooms = map[string][]string{
	"cmd/comity": {"internal/cli"},
	"api":        {},
	"client":     {"api", "internal/home"},

	// The cooperation wing: many writers, replicated.
	"coop/scope":         {},
	"coop/ident":         {"internal/vfs"},
	"coop/event":         {"coop/ident", "coop/scope", "internal/canon"},
	"coop/fold":          {"coop/event", "coop/scope", "coop/ident", "internal/canon", "internal/pack"},
	"coop/journal":       {"coop/fold", "coop/event", "coop/ident", "internal/canon", "internal/pack", "internal/seglog", "internal/vfs", "internal/clock"},
	"coop/room":          {"coop/journal", "coop/fold", "coop/event", "coop/scope", "coop/ident", "internal/clock", "internal/pack", "internal/redact", "api"},
	"coop/link":          {"coop/event", "coop/ident", "internal/canon"},
	"coop/link/linktest": {"coop/link", "coop/event", "coop/ident"},
	"coop/mesh":          {"coop/link", "coop/event", "coop/ident", "internal/vfs", "internal/clock", "api"},

	// The session wing: one writer, fenced, durable.
	"session/gate":           {"internal/canon"},
	"session/hook":           {},
	"session/event":          {"session/gate", "internal/canon"},
	"session/command":        {"session/event", "session/gate", "internal/canon"},
	"session/runtimecommand": {"session/command", "internal/canon"},
	"session/journal":        {"session/event", "session/command", "session/gate", "session/hook", "session/runtimecommand", "internal/canon"},
	"session/store":          {"session/journal", "session/event", "session/command", "session/gate", "session/hook", "session/runtimecommand", "storage"},
	"session/transcript":     {"session/journal", "session/event", "session/command", "session/gate"},

	// The ground floor: ledger, leaser, kv, blobs. No backend imports another.
	"storage":             {},
	"storage/storagetest": {"storage"},
	"storage/memstore":    {"storage"},
	"storage/filestore":   {"storage", "internal/seglog", "internal/vfs"},
	"storage/natsstore":   {"storage"},

	"internal/canon":       {},
	"internal/clock":       {},
	"internal/git":         {},
	"internal/pack":        {},
	"internal/proc":        {},
	"internal/redact":      {},
	"internal/vfs":         {},
	"internal/vfs/vfstest": {"internal/vfs"},
	"internal/seglog":      {"internal/vfs"},
	"internal/home":        {"internal/vfs", "internal/proc", "internal/git"},
	"internal/httpapi":     {"api", "internal/redact"},
	"internal/hooks":       {"api"},
	"internal/mcpserver":   {"api", "client"},
	"internal/install":     {"internal/vfs", "internal/git"},
	"internal/recorder":    {"api", "session/store", "session/journal", "session/event", "session/command", "session/gate", "internal/redact"},
	"internal/node":        {"api", "coop/room", "coop/journal", "coop/mesh", "coop/ident", "session/store", "storage/filestore", "internal/recorder", "internal/httpapi", "internal/git", "internal/home", "internal/proc", "internal/clock", "internal/vfs"},
	"internal/cli":         {"api", "client", "session/store", "session/event", "session/journal", "session/transcript", "storage", "storage/filestore", "storage/natsstore", "internal/node", "internal/mcpserver", "internal/hooks", "internal/install", "internal/recorder", "internal/seglog", "internal/vfs", "internal/git", "internal/home"},
	"internal/sim":         {"api", "coop/*", "internal/clock", "internal/seglog", "internal/vfs", "internal/vfs/vfstest"},
	"internal/sim/process": {"api", "client"},
	"examples/*":           {"api", "client", "coop/*", "session/*", "storage/*"},
}

// exceptions are imports outside the picture, each with its reason.
var exceptions = map[string]string{}

// systems are the operating systems whose imports are looked at: a file behind
// a build tag counts as much as any other.
var systems = []string{"linux", "darwin", "windows"}

type pkg struct {
	ImportPath                         string
	Doc                                string
	GoFiles                            []string
	Imports, TestImports, XTestImports []string
}

func TestLayout(t *testing.T) {
	for _, system := range systems {
		t.Run(system, func(t *testing.T) {
			for _, p := range list(t, system) {
				checkPackage(t, p)
			}
		})
	}
}

// TestRootHasNoReplace keeps the module usable by others as it is.
func TestRootHasNoReplace(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mod)) {
		if strings.HasPrefix(strings.TrimSpace(line), "replace") {
			t.Errorf("go.mod has %q", strings.TrimSpace(line))
		}
	}
}

func checkPackage(t *testing.T, p pkg) {
	name := local(p.ImportPath)
	if name == "" { // the root holds this test and nothing else
		if len(p.GoFiles) > 0 {
			t.Errorf("the root has non-test files: %v", p.GoFiles)
		}
		return
	}
	allowed, listed := lookUp(name)
	if !listed {
		t.Errorf("%s is not in the list of rooms: add it there and to docs/architecture.md, with what it is for", name)
		return
	}
	if len(p.GoFiles) > 0 && p.Doc == "" {
		t.Errorf("%s has no package comment: say what it is for and where it stands", name)
	}
	for _, imp := range p.Imports {
		if in := local(imp); in != "" && !matches(allowed, in) && exceptions[name+" -> "+in] == "" {
			t.Errorf("%s imports %s; it may import %v", name, in, allowed)
		}
	}
	for _, imp := range slices.Concat(p.TestImports, p.XTestImports) {
		if in := local(imp); in != "" && otherWing(name, in) {
			t.Errorf("a test of %s imports %s, which is in the other wing", name, in)
		}
	}
}

// local returns imp without the module's path, or "" when it is not ours.
func local(imp string) string {
	in, ok := strings.CutPrefix(imp, module+"/")
	if !ok {
		return ""
	}
	return in
}

func lookUp(name string) (allowed []string, listed bool) {
	if allowed, ok := rooms[name]; ok {
		return allowed, true
	}
	for _, pattern := range slices.Sorted(maps.Keys(rooms)) {
		if matches([]string{pattern}, name) {
			return rooms[pattern], true
		}
	}
	return nil, false
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		folder, deep := strings.CutSuffix(p, "/*")
		return p == name || deep && strings.HasPrefix(name, folder+"/")
	})
}

func otherWing(a, b string) bool {
	return strings.HasPrefix(a, "coop/") && strings.HasPrefix(b, "session/") ||
		strings.HasPrefix(a, "session/") && strings.HasPrefix(b, "coop/")
}

// TestLayoutFindsForbiddenImports holds the checker itself: a list that allows
// everything would pass too.
func TestLayoutFindsForbiddenImports(t *testing.T) {
	for _, tt := range []struct {
		from, to string
		want     bool
	}{
		{"coop/fold", "coop/event", true},
		{"coop/fold", "internal/vfs", false},
		{"coop/event", "coop/fold", false},
		{"storage/natsstore", "storage/filestore", false},
		{"examples/harness", "session/store", true},
		{"examples/harness", "internal/seglog", false},
	} {
		allowed, listed := lookUp(tt.from)
		if got := listed && matches(allowed, tt.to); got != tt.want {
			t.Errorf("%s may import %s = %v, want %v", tt.from, tt.to, got, tt.want)
		}
	}
	if !otherWing("coop/room", path.Join("session", "store")) || otherWing("coop/room", "coop/fold") {
		t.Error("otherWing does not tell the wings apart")
	}
}

func list(t *testing.T, system string) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Doc,GoFiles,Imports,TestImports,XTestImports", "./...")
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list for %s: %v", system, err)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}
