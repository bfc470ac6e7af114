package scope_test

import (
	"errors"
	"path"
	"strings"
	"testing"

	"github.com/comity-dev/comity/coop/scope"
)

var (
	errOutside = errors.New("outside the repository")
	errEscapes = errors.New("a symbolic link leaves the repository")
)

// tree is a working tree in memory. A name that ends in "/" is a folder.
type tree struct {
	cwd     string // a repository path
	names   []string
	escapes string // a symbolic link that leaves the repository
}

const top = "/home/ada/repo"

func (t tree) Rel(word string) (string, error) {
	if !strings.HasPrefix(word, "/") {
		word = top + "/" + t.cwd + "/" + word
	}
	word = path.Clean(word)
	if word == top {
		return ".", nil
	}
	rel, ok := strings.CutPrefix(word, top+"/")
	if !ok {
		return "", errOutside
	}
	return rel, nil
}

func (t tree) Kind(p string) (scope.Kind, error) {
	if t.escapes != "" && (p == t.escapes || strings.HasPrefix(p, t.escapes+"/")) {
		return scope.Missing, errEscapes
	}
	if p == "." {
		return scope.Folder, nil
	}
	kind := scope.Missing
	for _, n := range t.names {
		if n == p {
			kind = scope.File
		} else if strings.HasPrefix(n, p+"/") {
			kind = scope.Folder
		}
	}
	return kind, nil
}

func TestDoor(t *testing.T) {
	names := []string{
		"main.go", "src/a.go", "src/api/b.go", "app/[id]/page.tsx", "@types/node.d.ts", "packages/@scope/pkg/index.ts",
		"odd/*.go", "odd/{a,b}", "cafe\u0301.md", "Docs/x.md", "pages/[...slug].tsx",
	}
	for _, tt := range []struct {
		cwd, word, want string
		literal         bool
	}{
		{".", "main.go", "path:main.go", false},
		{".", "./main.go", "path:main.go", false},
		{".", "src", "dir:src", false},
		{".", "src/", "dir:src", false},
		{".", "src/api/../a.go", "path:src/a.go", false},
		{".", ".", "dir:.", false},
		{".", "./", "dir:.", false},
		{"src", ".", "dir:src", false},
		{"src", "..", "dir:.", false},
		{"src", "a.go", "path:src/a.go", false},
		{"src", "../main.go", "path:main.go", false},
		{"src", top + "/main.go", "path:main.go", false},
		{"src", top, "dir:.", false},
		{".", "new.go", "path:new.go", false}, // may not exist yet
		{".", "new/", "dir:new", false},
		{".", "src/*.go", "glob:src/*.go", false},
		{"src", "*.go", "glob:src/*.go", false},
		{"src/api", "../*.go", "glob:src/*.go", false},
		{"src/api", "../../**/*.md", "glob:**/*.md", false},
		{".", top + "/src/**", "glob:src/**", false},
		{".", "./src/**/", "glob:src/**", false},
		{".", "src/*/", "glob:src/*/**", false},
		{".", "src/*.go", "path:src/*.go", true},
		{".", "src", "dir:src", true},
		// Folders and files named like patterns.
		{".", "app/[id]/page.tsx", "path:app/[id]/page.tsx", false},
		{".", "app/[id]", "dir:app/[id]", false},
		{".", "app/[id]/new.tsx", "path:app/[id]/new.tsx", false},
		{".", "app/[id]/new/", "dir:app/[id]/new", false},
		{".", "app/[id]/*.tsx", `glob:app/\[id\]/*.tsx`, false},
		{".", "app/[slug]/*.tsx", "glob:app/[slug]/*.tsx", false},
		{".", "pages/[...slug].tsx", "path:pages/[...slug].tsx", false},
		{"app/[id]", "*.tsx", `glob:app/\[id\]/*.tsx`, false},
		{"app/[id]", "page.tsx", "path:app/[id]/page.tsx", false},
		{".", "odd/*.go", "path:odd/*.go", false},
		{".", "odd/{a,b}", "path:odd/{a,b}", false},
		{".", "{src,app}/x", "glob:{src,app}/x", false},
		{".", "{src/api,app}/*", "glob:{src/api,app}/*", false},
		// @ is a resource unless its folder exists.
		{".", "@port/3000", "res:port/3000", false},
		{"src", "@port/3000", "res:port/3000", false},
		{".", "@deploy", "res:deploy", false},
		{".", "@port/3000", "path:@port/3000", true},
		{".", "./@port/3000", "path:@port/3000", false},
		{".", "@types", "dir:@types", false},
		{".", "@types/", "dir:@types", false},
		{".", "@types/node.d.ts", "path:@types/node.d.ts", false},
		{".", "@types/new.d.ts", "path:@types/new.d.ts", false},
		{".", "@types/*.ts", "glob:@types/*.ts", false},
		{"packages", "@scope/new", "path:packages/@scope/new", false},
		{"src", "@types/x", "res:types/x", false}, // not here
		{".", "cafe\u0301/x", "path:caf\u00e9/x", false},
	} {
		e, err := scope.Door(tree{cwd: tt.cwd, names: names}, tt.word, tt.literal)
		if err != nil || e.String() != tt.want {
			t.Errorf("Door(%q in %s, literal %v) = %v, %v, want %s", tt.word, tt.cwd, tt.literal, e, err, tt.want)
		}
		if again, err := scope.Parse(e.String()); err != nil || again != e {
			t.Errorf("Parse(%q) = %v, %v", e, again, err)
		}
	}
}

// What the program shows can be typed again at the top of the repository.
func TestShownIsTyped(t *testing.T) {
	names := []string{"src/a.go", "@types/node.d.ts", "app/[id]/page.tsx"}
	for _, s := range []string{"path:src/a.go", "dir:src", "dir:new", "dir:.", "glob:src/*.go", "res:port/3000", "path:@types/node.d.ts",
		"path:@new/x", "dir:@new", "glob:@new/*", `glob:app/\[id\]/*`, "path:app/[id]/page.tsx", "path:new"} {
		e := mustParse(t, s)
		got, err := scope.Door(tree{cwd: ".", names: names}, e.Show(), false)
		if want := e; err != nil || got != want && s != `glob:app/\[id\]/*` {
			t.Errorf("%s is shown as %q, which is read as %v, %v", s, e.Show(), got, err)
		}
	}
}

type hinting struct{ tree }

func (h hinting) Kind(p string) (scope.Kind, error) {
	return scope.Missing, &scope.Error{Reason: "a link", Hint: "unlink it", Err: errEscapes}
}

func TestDoorRefuses(t *testing.T) {
	at := tree{cwd: "src", names: []string{"main.go", "src/a.go"}, escapes: "src/out"}
	for _, tt := range []struct {
		word   string
		reason string
		is     error
	}{
		{"", "empty", nil},
		{"a\nb", "U+000A", nil},
		{"a\xff", "UTF-8", nil},
		{"a.go/", "is a file", nil},
		{"../../x", "outside", errOutside},
		{"../../*.go", "outside", errOutside},
		{"/etc/passwd", "outside", errOutside},
		{"/*.go", "outside", errOutside},
		{"/", "outside", errOutside},
		{"@a/../../../x", "outside", errOutside},
		{"out", "symbolic link", errEscapes},
		{"out/x", "symbolic link", errEscapes},
		{"out/", "symbolic link", errEscapes},
		{"out/*", "symbolic link", errEscapes},
		{`C:\repo\a.go`, "backslash", nil},
		{`lib\a.go`, "backslash", nil},
		{`lib\*.go`, "no wildcard", nil},
		{`lib\x\*.go`, `a \ before`, nil},
		{"@a/*", "a resource name with '*'", nil},
		{"[a", "without its ]", nil},
		{"*/..", "climbs", nil},
		{"api/*/../..", "climbs", nil},
	} {
		e, err := scope.Door(at, tt.word, false)
		var ours *scope.Error
		if !errors.As(err, &ours) || ours.Word != tt.word || !strings.Contains(ours.Reason, tt.reason) {
			t.Errorf("Door(%q) = %v, %v, want an Error about it with %q", tt.word, e, err, tt.reason)
		}
		if tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("Door(%q): %v, want %v within", tt.word, err, tt.is)
		}
	}
	// A tree may answer in our words.
	_, err := scope.Door(hinting{at}, "out", false)
	var ours *scope.Error
	if !errors.As(err, &ours) || ours.Word != "out" || ours.Hint != "unlink it" || !errors.Is(err, errEscapes) {
		t.Errorf("Door(out) = %v, want the tree's own hint and cause", err)
	}
	// From the top, a drive letter is what is left to see.
	if _, err := scope.Door(tree{cwd: "."}, "C:/repo/a.go", true); err == nil || !strings.Contains(err.Error(), "drive letter") {
		t.Errorf("Door(C:/repo/a.go) = %v, want a refusal of the drive letter", err)
	}
}

func FuzzDoor(f *testing.F) {
	for _, s := range []string{".", "a/[id]/*", "@a/b", "/home/ada/repo/*", "{a,b", "../x", "a\\b", "./@a/*", "a/*/../b/", "//", "e\u0301/?"} {
		f.Add(s, false)
	}
	at := tree{cwd: "a", names: []string{"a/[id]/x", "a/@types/y", "b"}}
	f.Fuzz(func(t *testing.T, word string, literal bool) {
		e, err := scope.Door(at, word, literal)
		if err != nil {
			var ours *scope.Error
			if !errors.As(err, &ours) {
				t.Fatalf("Door(%q): %v, want an Error", word, err)
			}
			return
		}
		if literal && e.Form() != scope.FormPath && e.Form() != scope.FormDir {
			t.Fatalf("Door(%q, literal) = %v", word, e)
		}
		checkPair(t, e, e)
	})
}
