package cli

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/home"
	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/filestore"
	"github.com/comity-dev/comity/storage/natsstore"
)

// A storePlace is where a store of journals is: a folder or a bucket of a server.
type storePlace struct {
	given  string // as the user named it, without a password; "" for the default
	dir    string
	server string // its URL, which may have a password
	bucket string
}

func (p storePlace) String() string {
	if p.dir != "" {
		return p.dir
	}
	return p.given
}

// flag is what names p in a command, with a space in front.
func (p storePlace) flag() string {
	if p.given == "" {
		return ""
	}
	return " --store " + p.given
}

// sessionsDir is the folder of the state folder where the daemon keeps the
// sessions that it records.
const sessionsDir = "sessions"

// storeAt reads --store. This is the only place that reads a URL of a store.
func (a *app) storeAt(given string) (storePlace, error) {
	if given == "" {
		h, err := home.Locate(a.getenv)
		return storePlace{dir: filepath.Join(h.Dir, sessionsDir)}, err
	}
	p := storePlace{given: given}
	if !strings.Contains(given, "://") {
		p.dir = given
		return p, nil
	}
	const forms = "a store is DIR, file:///DIR or nats://HOST/BUCKET"
	u, err := url.Parse(given)
	if err != nil {
		return p, usage("--store is not a URL").WithHint(forms) // it is not said again: a password may be in it
	}
	p.given = u.Redacted()
	if u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" {
		return p, usage("--store %s: nothing may follow the path", p.given).WithHint(forms)
	}
	switch u.Scheme {
	case "file":
		if u.Host != "" && u.Host != "localhost" || len(u.Path) < 2 {
			return p, usage("--store %s names no folder of this machine", p.given).WithHint("three slashes: file:///home/ada/journals")
		}
		p.dir = filepath.FromSlash(u.Path)
		if runtime.GOOS == "windows" {
			p.dir = strings.TrimPrefix(p.dir, `\`) // of \C:\folder
		}
		return p, nil
	case "nats":
		p.bucket = strings.Trim(u.Path, "/")
		if u.Hostname() == "" || !bucketName.MatchString(p.bucket) {
			return p, usage("--store %s names no bucket of a server", p.given).WithHint("nats://HOST/BUCKET, the bucket of letters, digits, _ and -")
		}
		u.Path = ""
		p.server = u.String()
		return p, nil
	}
	return p, usage("--store %s: %s is no kind of store", p.given, u.Scheme).WithHint(forms)
}

var bucketName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// journals are the journals of an open store.
type journals struct {
	*store.Store
	place storePlace
	file  *filestore.Store // nil on a server
	close func() error
	made  []string // folders that opening made, the store's own first
}

// look opens the store for looking: beside whoever writes to it, and without
// changing anything.
func (p storePlace) look(ctx context.Context) (*journals, error) {
	if p.dir == "" {
		return p.onServer(ctx, false)
	}
	if err := p.isFolder(); err != nil {
		return nil, err
	}
	s, err := filestore.OpenReadOnly(p.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, p.missing()
	}
	if err != nil {
		return nil, err
	}
	return p.inFolder(s)
}

// own opens the store for writing, and for a folder keeps all others from it. A
// folder that is not there is made if create is set.
func (p storePlace) own(ctx context.Context, create bool) (*journals, error) {
	if p.dir == "" {
		return p.onServer(ctx, create)
	}
	if err := p.isFolder(); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(p.dir, "log")); errors.Is(err, fs.ErrNotExist) && !create {
		return nil, p.missing()
	}
	made := missingFolders(p.dir)
	s, err := filestore.Open(p.dir, nil)
	if err != nil {
		return nil, err
	}
	j, err := p.inFolder(s)
	if err == nil {
		j.made = made
	}
	return j, err
}

// missingFolders are dir and those that it is in, as far as they are not there.
func missingFolders(dir string) (list []string) {
	for {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			return list
		}
		list = append(list, dir)
		dir = filepath.Dir(dir)
	}
}

// written closes a store to which a session was written, or was not because of
// err: then a store that was made for it goes too.
func (j *journals) written(ctx context.Context, id event.ID, err error) error {
	if err == nil || len(j.made) == 0 {
		return closed(j, err)
	}
	for other, lerr := range j.Sessions(context.WithoutCancel(ctx)) {
		if lerr != nil || other != id {
			return closed(j, err)
		}
	}
	if j.close() == nil {
		_ = os.RemoveAll(j.made[0]) // what is left of it is in nobody's way
		for _, dir := range j.made[1:] {
			_ = os.Remove(dir) // only if it is empty
		}
	}
	return err
}

// isFolder refuses a file where the folder of a store should be.
func (p storePlace) isFolder() error {
	if info, err := os.Stat(p.dir); err == nil && !info.IsDir() {
		return usage("%s is a file, and a store is a folder", p).WithHint("comity journal import FILE reads what journal export wrote")
	}
	return nil
}

func (p storePlace) inFolder(s *filestore.Store) (*journals, error) {
	sessions, err := store.New(s, nil)
	if err != nil {
		s.Close()
		return nil, err
	}
	return &journals{Store: sessions, place: p, file: s, close: s.Close}, nil
}

// onServer opens a bucket. One that is not there is made only if create is set: a
// slip of the pen would leave streams on the server.
func (p storePlace) onServer(ctx context.Context, create bool) (*journals, error) {
	s, err := natsstore.Open(ctx, p.server, &natsstore.Options{Name: p.bucket, MustExist: !create})
	if is[*storage.NotFoundError](err) {
		return nil, p.missing()
	}
	if err != nil {
		return nil, unreachable(ctx, err)
	}
	sessions, err := store.New(s, nil)
	if err != nil {
		s.Close()
		return nil, err
	}
	return &journals{Store: sessions, place: p, close: s.Close}, nil
}

func unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return api.Errorf(api.CodeUnreachable, "open the store: %v", err).
		WithHint("see that a NATS server with JetStream listens there: nats server check jetstream")
}

// missing says that there is no store, and what to do about it.
func (p storePlace) missing() error {
	if p.given == "" {
		return api.Errorf(api.CodeNotFound, "no session has been recorded here yet: there is no store in %s", p.dir).
			WithHint("--store DIR names another one; comity journal import FILE makes one")
	}
	return api.Errorf(api.CodeNotFound, "there is no store in %s", p).
		WithHint("--store names the folder with the log in it, or nats://HOST/BUCKET")
}
