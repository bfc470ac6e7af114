package home

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/comity-dev/comity/internal/vfs"
)

// A Machine names the machine that the state folder is used on.
type Machine struct {
	// ID is 32 hex digits, constant for an installed system. It is a digest:
	// the system's own id is not to be shown around.
	ID string

	// Source says where it comes from: a file, or how it was asked for.
	Source string

	// Drawn says that the system has no id of its own and one was drawn at
	// random and put into the state folder: it goes with a copy of that folder to
	// another machine and then does not tell the two apart.
	Drawn bool
}

// MachineID is the ID of [Home.Machine].
func (h Home) MachineID() (string, error) {
	m, err := h.Machine()
	return m.ID, err
}

// Machine names this machine. Where it draws an id it writes that into the
// state folder, durably: there only the daemon, holding the lock, calls it.
func (h Home) Machine() (Machine, error) {
	if raw, source := systemMachine(); raw != "" {
		return Machine{ID: machineDigest(raw), Source: source}, nil
	}
	return h.drawnMachine(vfs.OS())
}

func machineDigest(raw string) string {
	sum := sha256.Sum256([]byte("comity-machine/v1\n" + strings.ToLower(raw)))
	return hex.EncodeToString(sum[:16])
}

func (h Home) drawnMachine(fsys vfs.FS) (Machine, error) {
	name := h.path("machine")
	data, err := vfs.ReadFile(fsys, name, 128)
	if errors.Is(err, fs.ErrNotExist) {
		var id [16]byte
		rand.Read(id[:])
		data = []byte(hex.EncodeToString(id[:]) + "\n")
		err = vfs.WriteFile(fsys, name, data)
	}
	if err != nil {
		return Machine{}, fmt.Errorf("machine id: %w", err)
	}
	id := strings.TrimSuffix(string(data), "\n")
	if b, err := hex.DecodeString(id); err != nil || len(b) != 16 || id != strings.ToLower(id) {
		return Machine{}, fmt.Errorf("machine id: %s is damaged; move it away to have another drawn", name)
	}
	return Machine{ID: id, Source: name, Drawn: true}, nil
}
