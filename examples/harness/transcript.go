package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/transcript"
)

// writeTranscript writes the session for people. The file is made beside its
// place and renamed, so that it is there whole or not at all.
func (h *harness) writeTranscript(ctx context.Context, name string) error {
	records, err := h.sessions.Records().Open(ctx, journal.ReplayRequest{SessionID: h.session})
	if err != nil {
		return err
	}
	defer records.Close()
	f, err := os.CreateTemp(filepath.Dir(name), ".transcript-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once it is renamed
	sum, err := transcript.Write(ctx, f, records, transcript.Markdown, nil)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	h.screen.print("%s: %d records, %d turns, %d calls, %d warnings", name, sum.Records, sum.Turns, sum.Calls, sum.Warnings)
	return nil
}
