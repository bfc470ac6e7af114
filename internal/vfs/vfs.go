// Package vfs is the few file operations that durable storage needs, behind
// interfaces small enough that a disk in memory can stand in for the operating
// system and tear, fail, forget and crash (package vfstest).
//
// It stands on the ground floor and imports nothing of this module. Names are
// paths of the operating system. Everything that it creates by itself is 0600
// (files) or 0700 (folders) from the first byte.
//
// What the operating system promises, and what callers must do:
//
//   - WriteAt, Truncate and Preallocate are durable only after Sync of the same
//     file returned nil. After a Sync that failed nothing can be said about
//     any byte written since the last good one: do not retry, reopen.
//   - Open with O_CREATE, Rename, Remove and Mkdir are durable only after
//     SyncDir of the folder (both folders, for a rename between two).
//   - Rename replaces an existing file atomically.
package vfs

import (
	"errors"
	"io"
	"io/fs"
)

// An FS is a file system. All its methods are safe for concurrent use. Errors
// wrap the sentinels of package io/fs where those apply.
type FS interface {
	// Open opens a file. flag takes the flags of package os (O_RDONLY, O_RDWR,
	// O_CREATE, O_EXCL, O_TRUNC). The entry of a created file is durable after
	// SyncDir of its folder.
	Open(name string, flag int, perm fs.FileMode) (File, error)
	// Rename moves a file, atomically replacing what is at to.
	Rename(from, to string) error
	// Remove removes a file or an empty folder.
	Remove(name string) error
	// Mkdir makes one folder.
	Mkdir(name string, perm fs.FileMode) error
	// List returns the names in dir, sorted.
	List(dir string) ([]string, error)
	Stat(name string) (Info, error)
	// SyncDir makes the entries of dir durable.
	SyncDir(dir string) error
	// Lock takes the exclusive lock of a file, which it creates if missing,
	// and holds it until the closer is closed or the process ends. It does not
	// wait: the error wraps ErrLocked when another holds it. The content of the
	// file stays readable and writable by everybody.
	Lock(name string) (io.Closer, error)
}

// A File is an open file. Reads may run beside everything; writes, Truncate
// and Sync of one file are the business of one goroutine at a time.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	// Sync makes the content and the size durable.
	Sync() error
	Truncate(size int64) error
	// Preallocate writes zeros over n bytes from off, so that later writes
	// there need no new blocks. Durable after Sync, as any write.
	Preallocate(off, n int64) error
	Size() (int64, error)
}

// Info describes a file.
type Info struct {
	Size int64
	Dir  bool
	Mode fs.FileMode
}

// ErrLocked reports that another holds the lock.
var ErrLocked = errors.New("locked by another process")
