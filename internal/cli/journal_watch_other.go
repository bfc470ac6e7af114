//go:build !linux

package cli

import (
	"context"
	"time"
)

// A folderWatch says that the files in a folder may have changed: each second,
// where this program does not know how the system would tell.
type folderWatch struct{ tick *time.Ticker }

func watchFolder(string) (*folderWatch, error) {
	return &folderWatch{time.NewTicker(time.Second)}, nil
}

func (w *folderWatch) wait(ctx context.Context) error {
	select {
	case <-w.tick.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *folderWatch) close() { w.tick.Stop() }
