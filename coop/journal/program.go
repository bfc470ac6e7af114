package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"

	"github.com/comity-dev/comity/coop/fold"
)

// programHead is how much of a program's file is looked at: the linker puts the build
// id, a digest of all that it links, into the first 32 KiB (cmd/internal/buildid).
const programHead = 32 << 10

// thisProgram tells the program that runs from every other build of it: by the head of
// its file, the file's size and time, and how it was built. It is "" where that cannot
// be told.
var thisProgram = sync.OnceValue(func() string {
	file, err := runningFile()
	if err != nil {
		return ""
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return ""
	}
	return programOf(file, info)
})

func programOf(file io.Reader, info os.FileInfo) string {
	h := sha256.New()
	fmt.Fprintf(h, "fold %d, %d bytes of %d\n", fold.Version, info.Size(), info.ModTime().UnixNano())
	if built, ok := debug.ReadBuildInfo(); ok {
		fmt.Fprintln(h, built)
	}
	if _, err := io.CopyN(h, file, programHead); err != nil && err != io.EOF {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}
