package home_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/comity-dev/comity/internal/home"
)

type settings struct {
	Idle  string   `json:"idle,omitempty"`
	Seeds []string `json:"seeds,omitempty"`
}

func TestSettingsAreReadBack(t *testing.T) {
	h := home.Home{Dir: t.TempDir()}
	if got, err := home.ReadSettings[settings](h); err != nil || got.Idle != "" {
		t.Errorf("ReadSettings without a file = %+v, %v, want the zero value", got, err)
	}
	if err := h.WriteSettings(settings{Idle: "5m", Seeds: []string{"a", "b"}}); err != nil {
		t.Fatal(err)
	}
	got, err := home.ReadSettings[settings](h)
	if err != nil || got.Idle != "5m" || len(got.Seeds) != 2 {
		t.Errorf("ReadSettings = %+v, %v", got, err)
	}
	if err := h.WriteSettings(settings{Idle: strings.Repeat("x", home.MaxSettings)}); err == nil {
		t.Error("WriteSettings takes what ReadSettings would refuse")
	}
	if got, err := home.ReadSettings[settings](h); err != nil || got.Idle != "5m" {
		t.Errorf("ReadSettings after a refused write = %+v, %v", got, err)
	}
}

func TestSettingsAreStrict(t *testing.T) {
	h := home.Home{Dir: t.TempDir()}
	path := filepath.Join(h.Dir, "settings.json")
	for _, text := range []string{
		``, `{`, `null`, `[]`, `"idle"`, `{"idle":5}`, `{"idel":"5m"}`, `{"idle":"5m"} {}`, `{"idle":"5m"} x`,
		`{"idle":"5m","idle":"6m"}`, `{"IDLE":"5m"}`, "{\"idle\":\"\xff\"}", `{"idle":"5m",}`, "{\"idle\":\"" + strings.Repeat("x", home.MaxSettings) + "\"}",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := home.ReadSettings[settings](h)
		var e *home.SettingsError
		if !errors.As(err, &e) || e.Path != path || got.Idle != "" {
			t.Errorf("ReadSettings of %.40q = %+v, %v, want a SettingsError and nothing read", text, got, err)
		}
	}
}
