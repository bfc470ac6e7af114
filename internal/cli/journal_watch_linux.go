package cli

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// A folderWatch waits for changes of the files in a folder.
type folderWatch struct{ events *os.File }

func watchFolder(dir string) (*folderWatch, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	events := os.NewFile(uintptr(fd), "inotify")
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_MODIFY|unix.IN_CREATE|unix.IN_DELETE|unix.IN_MOVED_TO); err != nil {
		events.Close()
		return nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	return &folderWatch{events}, nil
}

// wait returns when something has changed since the last call, or since the watch
// began.
func (w *folderWatch) wait(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { w.events.Close() })()
	_, err := w.events.Read(make([]byte, 16<<10)) // what it was does not matter
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func (w *folderWatch) close() { w.events.Close() }
