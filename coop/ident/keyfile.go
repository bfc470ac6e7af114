package ident

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"runtime"

	"github.com/go-json-experiment/json"

	"github.com/comity-dev/comity/internal/vfs"
)

const (
	// KeySchema opens the key file of this format.
	KeySchema = "comity-node-key/v1"

	maxKeyFileBytes = 4096
)

// keyFile is the stored form of a key. The public key is there to find damage
// of the seed, which would otherwise make another node without a word.
type keyFile struct {
	Schema string `json:"schema"`
	Node   NodeID `json:"node"`
	Public string `json:"public"`
	Seed   string `json:"seed"`
}

// A DamagedKeyError reports a key file that is no key. The file is never
// replaced: a node without its key is another node.
type DamagedKeyError struct {
	Path   string
	Reason string
}

func (e *DamagedKeyError) Error() string {
	return fmt.Sprintf("node key %s is damaged: %s; restore it from a backup, or move it away to become a new node", e.Path, e.Reason)
}

// An OpenKeyError reports a key file that others than its owner may use.
type OpenKeyError struct {
	Path string
	Mode fs.FileMode
}

func (e *OpenKeyError) Error() string {
	return fmt.Sprintf("node key %s is open to others (mode %04o): run chmod 600 %[1]s", e.Path, e.Mode.Perm())
}

// LoadKey reads the key at path. The error is a *DamagedKeyError when the file
// is no key, an *OpenKeyError when its mode lets others in (not looked at on
// windows), and wraps fs.ErrNotExist when there is none.
func LoadKey(fsys vfs.FS, path string) (*Key, error) {
	info, err := fsys.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("node key: %w", err)
	}
	switch {
	case info.Dir:
		return nil, &DamagedKeyError{path, "a folder is in its place"}
	case runtime.GOOS != "windows" && info.Mode.Perm()&0o077 != 0:
		return nil, &OpenKeyError{path, info.Mode}
	case info.Size > maxKeyFileBytes:
		return nil, &DamagedKeyError{path, fmt.Sprintf("%d bytes, more than a key has", info.Size)}
	}
	data, err := vfs.ReadFile(fsys, path, maxKeyFileBytes)
	if err != nil {
		return nil, fmt.Errorf("node key: %w", err)
	}
	k, reason := parseKeyFile(data)
	if reason != "" {
		return nil, &DamagedKeyError{path, reason}
	}
	return k, nil
}

// parseKeyFile reads the content of a key file, or says why it is none, in
// words that hold nothing of the content.
func parseKeyFile(data []byte) (k *Key, reason string) {
	if len(data) == 0 {
		return nil, "empty"
	}
	var f keyFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, "not the JSON of a key"
	}
	seed, err := hex.DecodeString(f.Seed)
	switch {
	case f.Schema != KeySchema:
		return nil, fmt.Sprintf("schema %.40q, this build reads %q", f.Schema, KeySchema)
	case err != nil, !IsHex(f.Seed, 2*ed25519.SeedSize):
		return nil, "the seed is not 64 lowercase hex digits"
	}
	k = keyOf(ed25519.NewKeyFromSeed(seed))
	if f.Public != k.PublicHex() || f.Node != k.Node() {
		return nil, "seed, public key and node do not belong together"
	}
	return k, ""
}

// LoadOrCreateKey is LoadKey when path is there; else it makes a key and
// stores it, mode 0600, synced with its folder before it returns, and reports
// created. A crash leaves no key or the whole one, and perhaps a file
// path.<random>.tmp with a key that nobody has used. It never replaces a file.
// Call it under the lock of the folder: of two that make the key at once, one
// would go on with a key that is not stored.
func LoadOrCreateKey(fsys vfs.FS, path string) (k *Key, created bool, err error) {
	k, err = LoadKey(fsys, path)
	if !errors.Is(err, fs.ErrNotExist) {
		return k, false, err
	}
	if k, err = Generate(); err != nil {
		return nil, false, err
	}
	err = vfs.CreateFile(fsys, path, k.file())
	if errors.Is(err, fs.ErrExist) { // another made it since
		k, err = LoadKey(fsys, path)
		return k, false, err
	}
	if err != nil {
		return nil, false, fmt.Errorf("store node key %s: %w", path, err)
	}
	return k, true, nil
}

// file returns the content of k's key file.
func (k *Key) file() []byte {
	return fmt.Appendf(nil, "{\n  \"schema\": %q,\n  \"node\": %q,\n  \"public\": %q,\n  \"seed\": %q\n}\n",
		KeySchema, k.node, k.PublicHex(), hex.EncodeToString(k.secret().Seed()))
}
