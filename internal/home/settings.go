package home

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/comity-dev/comity/internal/vfs"
)

// MaxSettings bounds the settings file.
const MaxSettings = 64 << 10

// A SettingsError reports a settings file that is not understood whole. It is
// never half believed.
type SettingsError struct {
	Path string
	Err  error
}

func (e *SettingsError) Error() string {
	return fmt.Sprintf("settings %s: %v; correct the file, or move it away to have the defaults", e.Path, e.Err)
}

func (e *SettingsError) Unwrap() error { return e.Err }

// ReadSettings reads the settings of this node, one JSON object, into T, a
// struct. Without the file it is the zero T. A name that T does not have, a
// name in other capitals, one said twice, and anything after the object are a [*SettingsError].
func ReadSettings[T any](h Home) (T, error) {
	var zero, settings T
	path := h.path("settings.json")
	data, err := vfs.ReadFile(vfs.OS(), path, MaxSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return zero, nil
	}
	if err != nil {
		return zero, &SettingsError{path, err}
	}
	if err := decodeStrict(data, &settings); err != nil {
		return zero, &SettingsError{path, err}
	}
	return settings, nil
}

func decodeStrict(data []byte, into any) error {
	if jsontext.Value(data).Kind() != '{' {
		return errors.New("not a JSON object")
	}
	return json.Unmarshal(data, into, json.RejectUnknownMembers(true))
}

// WriteSettings replaces the settings of this node, durably. Only the daemon
// writes them, so that no two writers meet.
func (h Home) WriteSettings(settings any) error {
	data, err := json.Marshal(settings, jsontext.WithIndent("  "), json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	if len(data) >= MaxSettings {
		return fmt.Errorf("write settings: %d bytes, at most %d can be read back", len(data)+1, MaxSettings)
	}
	if err := vfs.WriteFile(vfs.OS(), h.path("settings.json"), append(data, '\n')); err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	return nil
}
