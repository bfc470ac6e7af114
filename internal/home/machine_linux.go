package home

import (
	"encoding/hex"
	"strings"

	"github.com/comity-dev/comity/internal/vfs"
)

// systemMachine reads what systemd or D-Bus wrote when the system was installed.
func systemMachine() (raw, source string) {
	for _, name := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		data, err := vfs.ReadFile(vfs.OS(), name, 128)
		if err != nil {
			continue
		}
		if id := strings.TrimSpace(string(data)); validMachine(id) {
			return id, name
		}
	}
	return "", ""
}

// validMachine refuses "uninitialized" and all zeros, which images carry until
// their first boot.
func validMachine(id string) bool {
	b, err := hex.DecodeString(id)
	return err == nil && len(b) == 16 && strings.Trim(id, "0") != ""
}
