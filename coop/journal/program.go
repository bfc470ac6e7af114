package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"runtime/debug"
	"sync"

	"github.com/comity-dev/comity/coop/fold"
)

// thisProgram tells the program that runs from every other build of it: by how it was
// built, and by its file as that was when it was first asked for. It is "" where that
// cannot be told.
var thisProgram = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	file, err := os.Stat(path)
	if err != nil {
		return ""
	}
	h := sha256.New()
	fmt.Fprintf(h, "fold %d, %d bytes of %d\n", fold.Version, file.Size(), file.ModTime().UnixNano())
	if built, ok := debug.ReadBuildInfo(); ok {
		fmt.Fprintln(h, built)
	}
	return hex.EncodeToString(h.Sum(nil))
})
