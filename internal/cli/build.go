package cli

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

// stamped is set by the linker for builds that want an id of their own:
// -ldflags "-X github.com/comity-dev/comity/internal/cli.stamped=20261129T153835-abc".
// It must begin with the same form of time.
var stamped string

const buildTime = "20060102T150405"

// build is the id of this build: a UTC time of fixed width, a dash, and what
// tells two builds of that time apart. Daemon and client compare it as text: the
// later one replaces the other.
//
// A build from a checkout has the time and hash of its commit, and when the
// checkout was changed, the time and digest of the program's file as well, so
// that a later edit of one commit is a later build. Any other build has the time
// at which its file was written and a digest of the file's path, size and time:
// two copies of such a build count as two builds.
func build() string {
	if stamped != "" {
		return stamped
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	switch at, revision, modified := commit(info); {
	case at.IsZero() || revision == "":
		return fileBuild()
	case modified:
		return at.UTC().Format(buildTime) + "-" + revision + "-" + fileBuild()
	default:
		return at.UTC().Format(buildTime) + "-" + revision
	}
}

// commit is the time and hash of the commit that the build is of, and whether the
// checkout differed from it.
func commit(info *debug.BuildInfo) (at time.Time, revision string, modified bool) {
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case "vcs.time":
			at, _ = time.Parse(time.RFC3339, s.Value) // stays zero
		case "vcs.modified":
			modified = s.Value == "true"
		}
	}
	return at, revision, modified
}

func fileBuild() string {
	exe, err := os.Executable()
	if err != nil {
		return ""
	}
	file, err := os.Stat(exe)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%d", exe, file.Size(), file.ModTime().UnixNano()))
	return file.ModTime().UTC().Format(buildTime) + "-file-" + hex.EncodeToString(sum[:4])
}

// version is the release as people name it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return strings.TrimPrefix(cmp.Or(info.Main.Version, "unknown"), "v")
}
