// Package home is where the daemon of one user lives: the state folder, the
// lock that lets exactly one daemon have it, the socket where clients find that
// daemon, and starting it in the background when a client finds none.
//
// It stands between the ground floor and the daemon with its clients, and knows
// nothing of what they say to each other. What is in the state folder:
//
//	daemon.lock    locked while a daemon runs; empty, and never removed
//	daemon.json    who holds the lock; believed only while it is held
//	daemon.log     what the daemon says, and daemon.log.1 before that
//	start.lock     locked by the client that is starting a daemon
//	held           there after `comity stop`, until a person's next command
//	settings.json  settings of this node
//	machine        an id for a machine that has none of its own
//	node.key       the node key
//	repos/<id>     one repository
//	install/       what was installed into the settings of others
//	told/          marks of what a hook has said already
package home

import (
	"errors"
	"fmt"
	"path/filepath"
)

// A Home is a state folder and the socket that belongs to it. It is a value
// that can be compared; its methods may be called concurrently and from several
// processes.
type Home struct {
	Dir    string // the state folder, absolute
	Socket string // where its daemon listens, unless that daemon's [Info] says otherwise

	// AllowNetwork lets the state folder lie on a network file system, where
	// locks and syncs promise less than this module promises its callers.
	AllowNetwork bool
}

// Locate finds the state folder ($COMITY_HOME, else $XDG_STATE_HOME/comity,
// else ~/.local/state/comity; %LOCALAPPDATA%\comity on Windows) and the socket:
// in $XDG_RUNTIME_DIR/comity, else in the state folder, else in a folder of
// this user in the temporary folder; the first that is private to this user and
// whose path a socket can have. It makes and writes nothing.
//
// The socket depends on the environment; the state folder of one user should
// not, so a client that finds nothing at Socket asks [Home.Running].
//
// Errors are a [*FolderError] or a [*SocketError].
func Locate(getenv func(string) string) (Home, error) {
	dir, err := stateDir(getenv)
	if err != nil {
		return Home{}, err
	}
	socket, err := socketFor(dir, getenv)
	if err != nil {
		return Home{}, err
	}
	return Home{Dir: dir, Socket: socket, AllowNetwork: getenv("COMITY_ALLOW_NETWORK_HOME") == "1"}, nil
}

func stateDir(getenv func(string) string) (string, error) {
	if dir := getenv("COMITY_HOME"); dir != "" {
		if !filepath.IsAbs(dir) {
			return "", &FolderError{dir, ErrRelative, "set COMITY_HOME to an absolute path: the daemon does not run where you stand"}
		}
		return filepath.Clean(dir), nil
	}
	// A relative path here is to be ignored, says the XDG specification.
	if state := getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return filepath.Join(state, "comity"), nil
	}
	if dir := defaultDir(getenv); filepath.IsAbs(dir) {
		return filepath.Clean(dir), nil
	}
	return "", &FolderError{"", ErrNoHome, "set COMITY_HOME to the absolute path of a folder for it"}
}

// RepositoryDir is the folder of the repository that has id.
func (h Home) RepositoryDir(id string) string { return h.path("repos", id) }

// NodeKey is the file of the node key.
func (h Home) NodeKey() string { return h.path("node.key") }

// LogFile is the file that a daemon in the background writes its log to.
func (h Home) LogFile() string { return h.path("daemon.log") }

func (h Home) path(elem ...string) string {
	return filepath.Join(append([]string{h.Dir}, elem...)...)
}

// What can be wrong with a folder. Each [*FolderError] wraps one of them.
var (
	ErrNoHome      = errors.New("neither COMITY_HOME nor a home folder is set")
	ErrRelative    = errors.New("not an absolute path")
	ErrNotFolder   = errors.New("a file is where the folder should be")
	ErrNotOurs     = errors.New("belongs to another user")
	ErrTooOpen     = errors.New("open to other users")
	ErrReadOnly    = errors.New("on a read-only file system")
	ErrNotWritable = errors.New("no permission to write")
	ErrNetwork     = errors.New("on a network file system")
	ErrMissing     = errors.New("does not exist")
)

// A FolderError reports a folder that cannot be used.
type FolderError struct {
	Dir  string // may be empty when none is known
	Err  error  // wraps one of the errors above
	Next string // what to do about it
}

func (e *FolderError) Error() string {
	if e.Dir == "" {
		return fmt.Sprintf("state folder: %v; %s", e.Err, e.Next)
	}
	return fmt.Sprintf("folder %s: %v; %s", e.Dir, e.Err, e.Next)
}

func (e *FolderError) Unwrap() error { return e.Err }
