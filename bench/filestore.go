package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/filestore"
)

// filestoreEngine is storage/filestore with a ledger for each writer: each append
// expects the tip that the writer's last one returned. It has no un-synced mode.
var filestoreEngine = engine{name: "filestore", open: func(dir string, durable bool) (*store, error) {
	if !durable {
		return nil, errNoUnsynced
	}
	s, err := filestore.Open(filepath.Join(dir, "store"), nil)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	var mu sync.Mutex
	ends := map[int]*ledgerEnd{}
	get := func(w int) *ledgerEnd {
		mu.Lock()
		defer mu.Unlock()
		if ends[w] == nil {
			ends[w] = &ledgerEnd{name: fmt.Sprint("sessions/", w)}
		}
		return ends[w]
	}
	add := func(w int, recs ...[]byte) (err error) {
		e := get(w)
		e.tip, err = s.Ledger().Append(ctx, e.name, e.tip, recs...)
		return err
	}
	return &store{
		append: func(w int, rec []byte) error { return add(w, rec) },
		batch:  func(recs [][]byte) error { return add(0, recs...) },
		close:  s.Close,
	}, nil
}, replay: func(dir string, opened func(), each func([]byte)) error {
	s, err := filestore.Open(filepath.Join(dir, "store"), nil)
	if err != nil {
		return err
	}
	opened()
	for rec, err := range s.Ledger().Read(context.Background(), "sessions/0", 1) {
		if err != nil {
			return errors.Join(err, s.Close())
		}
		each(rec.Data)
	}
	return s.Close()
}}

type ledgerEnd struct {
	name string
	tip  storage.Tip
}
