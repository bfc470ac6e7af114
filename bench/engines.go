package main

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/dgraph-io/badger/v4"
	"github.com/hashicorp/raft"
	raftwal "github.com/hashicorp/raft-wal"
	_ "github.com/mattn/go-sqlite3"
	tidwal "github.com/tidwall/wal"
	"go.etcd.io/bbolt"
	etcdwal "go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"go.etcd.io/raft/v3/raftpb"
	"go.uber.org/zap"
	_ "modernc.org/sqlite"
)

// store is an open engine. append returns once the record is durable (or, when
// opened without sync, once the engine has accepted it).
type store struct {
	append func(w int, rec []byte) error
	batch  func(recs [][]byte) error // nil where the engine has no batch of its own
	close  func() error
}

type engine struct {
	name   string
	open   func(dir string, durable bool) (*store, error)
	replay func(dir string, opened func(), each func([]byte)) error // nil: same as another row
}

// grouped puts our reference group commit in front of an engine's own batch call.
func grouped(e engine) engine {
	return engine{name: e.name + "+group", open: func(dir string, durable bool) (*store, error) {
		s, err := e.open(dir, durable)
		if err != nil {
			return nil, err
		}
		g := newGroup(s.batch)
		return &store{append: func(_ int, r []byte) error { return g.append(r) }, close: s.close}, nil
	}}
}

func idealEngine(mode string) engine {
	return engine{name: "ideal/" + mode, open: func(dir string, durable bool) (*store, error) {
		l, err := openRaw(filepath.Join(dir, "log"), mode, durable)
		if err != nil {
			return nil, err
		}
		g := newGroup(l.appendBatch)
		return &store{append: func(_ int, r []byte) error { return g.append(r) }, batch: l.appendBatch, close: l.close}, nil
	}, replay: func(dir string, opened func(), each func([]byte)) error {
		opened()
		return replayRaw(filepath.Join(dir, "log"), each)
	}}
}

// serial turns a batch call into one record a call, one caller at a time.
func serial(batch func([][]byte) error, close func() error) *store {
	var mu sync.Mutex
	return &store{append: func(_ int, r []byte) error {
		mu.Lock()
		defer mu.Unlock()
		return batch([][]byte{r})
	}, batch: batch, close: close}
}

var tidwallEngine = engine{name: "tidwall/wal", open: func(dir string, durable bool) (*store, error) {
	o := *tidwal.DefaultOptions
	o.NoSync = !durable
	l, err := tidwal.Open(filepath.Join(dir, "tw"), &o)
	if err != nil {
		return nil, err
	}
	next, err := l.LastIndex()
	if err != nil {
		return nil, err
	}
	b := new(tidwal.Batch)
	s := serial(func(recs [][]byte) error {
		b.Clear()
		for _, r := range recs {
			next++
			b.Write(next, r)
		}
		return l.WriteBatch(b)
	}, l.Close)
	var mu sync.Mutex
	s.append = func(_ int, r []byte) error {
		mu.Lock()
		defer mu.Unlock()
		next++
		return l.Write(next, r)
	}
	return s, nil
}, replay: func(dir string, opened func(), each func([]byte)) error {
	l, err := tidwal.Open(filepath.Join(dir, "tw"), nil)
	if err != nil {
		return err
	}
	defer l.Close()
	opened()
	first, _ := l.FirstIndex()
	last, _ := l.LastIndex()
	for i := first; i <= last; i++ {
		r, err := l.Read(i)
		if err != nil {
			return err
		}
		each(r)
	}
	return nil
}}

var etcdEngine = engine{name: "etcd/wal", open: func(dir string, durable bool) (*store, error) {
	w, err := etcdwal.Create(zap.NewNop(), filepath.Join(dir, "ew"), nil)
	if err != nil {
		return nil, err
	}
	if !durable {
		w.SetUnsafeNoFsync()
	}
	var index uint64
	term, typ := uint64(1), raftpb.EntryNormal
	state := &raftpb.HardState{}
	return serial(func(recs [][]byte) error {
		ents := make([]*raftpb.Entry, len(recs))
		for i, r := range recs {
			index++
			ix := index
			ents[i] = &raftpb.Entry{Term: &term, Index: &ix, Type: &typ, Data: r}
		}
		return w.Save(state, ents)
	}, w.Close), nil
}, replay: func(dir string, opened func(), each func([]byte)) error {
	w, err := etcdwal.OpenForRead(zap.NewNop(), filepath.Join(dir, "ew"), &walpb.Snapshot{})
	if err != nil {
		return err
	}
	defer w.Close()
	opened()
	_, _, ents, err := w.ReadAll()
	if err != nil {
		return err
	}
	for _, e := range ents {
		each(e.Data)
	}
	return nil
}}

var raftwalEngine = engine{name: "raft-wal", open: func(dir string, durable bool) (*store, error) {
	if !durable {
		return nil, errNoUnsynced
	}
	return openRaftWAL(dir)
}, replay: func(dir string, opened func(), each func([]byte)) error {
	w, err := raftwal.Open(dir)
	if err != nil {
		return err
	}
	defer w.Close()
	opened()
	first, _ := w.FirstIndex()
	last, _ := w.LastIndex()
	var l raft.Log
	for i := first; i <= last; i++ {
		if err := w.GetLog(i, &l); err != nil {
			return err
		}
		each(l.Data)
	}
	return nil
}}

var errNoUnsynced = fmt.Errorf("the engine has no un-synced mode")

func openRaftWAL(dir string) (*store, error) {
	w, err := raftwal.Open(dir)
	if err != nil {
		return nil, err
	}
	var index uint64
	return serial(func(recs [][]byte) error {
		logs := make([]*raft.Log, len(recs))
		for i, r := range recs {
			index++
			logs[i] = &raft.Log{Index: index, Term: 1, Data: r}
		}
		return w.StoreLogs(logs)
	}, w.Close), nil
}

func boltEngine(batch bool) engine {
	name := "bbolt/Update"
	if batch {
		name = "bbolt/Batch"
	}
	bucket := []byte("e")
	return engine{name: name, open: func(dir string, durable bool) (*store, error) {
		db, err := bbolt.Open(filepath.Join(dir, "bolt"), 0o644, &bbolt.Options{NoSync: !durable, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
		if err != nil {
			return nil, err
		}
		must(db.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucketIfNotExists(bucket); return err }))
		put := func(tx *bbolt.Tx, recs ...[]byte) error {
			b := tx.Bucket(bucket)
			b.FillPercent = 0.95
			for _, r := range recs {
				seq, _ := b.NextSequence()
				if err := b.Put(binary.BigEndian.AppendUint64(nil, seq), r); err != nil {
					return err
				}
			}
			return nil
		}
		s := &store{close: db.Close}
		s.append = func(_ int, r []byte) error {
			f := func(tx *bbolt.Tx) error { return put(tx, r) }
			if batch {
				return db.Batch(f)
			}
			return db.Update(f)
		}
		s.batch = func(recs [][]byte) error {
			return db.Update(func(tx *bbolt.Tx) error { return put(tx, recs...) })
		}
		return s, nil
	}, replay: func(dir string, opened func(), each func([]byte)) error {
		db, err := bbolt.Open(filepath.Join(dir, "bolt"), 0o644, &bbolt.Options{ReadOnly: true})
		if err != nil {
			return err
		}
		defer db.Close()
		opened()
		return db.View(func(tx *bbolt.Tx) error {
			return tx.Bucket(bucket).ForEach(func(_, v []byte) error { each(v); return nil })
		})
	}}
}

type quiet struct{}

func (quiet) Infof(string, ...any)    {}
func (quiet) Errorf(string, ...any)   {}
func (quiet) Warningf(string, ...any) {}
func (quiet) Debugf(string, ...any)   {}
func (quiet) Fatalf(f string, a ...any) {
	panic(fmt.Sprintf(f, a...))
}

func pebbleOptions() *pebble.Options {
	return &pebble.Options{Logger: quiet{}, MemTableSize: 64 << 20}
}

var pebbleEngine = engine{name: "pebble", open: func(dir string, durable bool) (*store, error) {
	db, err := pebble.Open(dir, pebbleOptions())
	if err != nil {
		return nil, err
	}
	wo := pebble.NoSync
	if durable {
		wo = pebble.Sync
	}
	var seq atomic.Uint64
	key := func() []byte { return binary.BigEndian.AppendUint64(nil, seq.Add(1)) }
	return &store{append: func(_ int, r []byte) error { return db.Set(key(), r, wo) },
		batch: func(recs [][]byte) error {
			b := db.NewBatch()
			for _, r := range recs {
				b.Set(key(), r, nil)
			}
			return b.Commit(wo)
		}, close: db.Close}, nil
}, replay: func(dir string, opened func(), each func([]byte)) error {
	db, err := pebble.Open(dir, pebbleOptions())
	if err != nil {
		return err
	}
	defer db.Close()
	opened()
	it, err := db.NewIter(nil)
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		each(v)
	}
	return it.Close()
}}

func badgerOptions(dir string) badger.Options {
	return badger.DefaultOptions(dir).WithLogger(quiet{}).WithVerifyValueChecksum(true)
}

var badgerEngine = engine{name: "badger", open: func(dir string, durable bool) (*store, error) {
	db, err := badger.Open(badgerOptions(dir).WithSyncWrites(durable))
	if err != nil {
		return nil, err
	}
	var seq atomic.Uint64
	return &store{append: func(_ int, r []byte) error {
		return db.Update(func(tx *badger.Txn) error {
			return tx.Set(binary.BigEndian.AppendUint64(nil, seq.Add(1)), r)
		})
	}, batch: func(recs [][]byte) error {
		wb := db.NewWriteBatch()
		for _, r := range recs {
			if err := wb.Set(binary.BigEndian.AppendUint64(nil, seq.Add(1)), r); err != nil {
				return err
			}
		}
		return wb.Flush()
	}, close: db.Close}, nil
}, replay: func(dir string, opened func(), each func([]byte)) error {
	db, err := badger.Open(badgerOptions(dir))
	if err != nil {
		return err
	}
	defer db.Close()
	opened()
	return db.View(func(tx *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.PrefetchSize = 256
		it := tx.NewIterator(o)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if err := it.Item().Value(func(v []byte) error { each(v); return nil }); err != nil {
				return err
			}
		}
		return nil
	})
}}

// sqliteEngine: driver "sqlite" is modernc.org/sqlite, "sqlite3" is mattn/go-sqlite3.
func sqliteEngine(driver string) engine {
	name := map[string]string{"sqlite": "sqlite/modernc", "sqlite3": "sqlite/mattn"}[driver]
	open := func(dir string, level string) (*sql.DB, error) {
		db, err := sql.Open(driver, "file:"+filepath.Join(dir, "db"))
		if err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(1)
		for _, q := range []string{"PRAGMA journal_mode=WAL", "PRAGMA synchronous=" + level, "CREATE TABLE IF NOT EXISTS e(seq INTEGER PRIMARY KEY, body BLOB NOT NULL)"} {
			if _, err := db.Exec(q); err != nil {
				return nil, err
			}
		}
		return db, nil
	}
	return engine{name: name, open: func(dir string, durable bool) (*store, error) {
		level := "NORMAL" // in WAL mode: no fsync at commit, only at a checkpoint
		if durable {
			level = "FULL"
		}
		db, err := open(dir, level)
		if err != nil {
			return nil, err
		}
		ins, err := db.Prepare("INSERT INTO e(body) VALUES(?)")
		if err != nil {
			return nil, err
		}
		return &store{append: func(_ int, r []byte) error { _, err := ins.Exec(r); return err },
			batch: func(recs [][]byte) error {
				tx, err := db.Begin()
				if err != nil {
					return err
				}
				st := tx.Stmt(ins)
				for _, r := range recs {
					if _, err := st.Exec(r); err != nil {
						return err
					}
				}
				return tx.Commit()
			}, close: db.Close}, nil
	}, replay: func(dir string, opened func(), each func([]byte)) error {
		db, err := open(dir, "FULL")
		if err != nil {
			return err
		}
		defer db.Close()
		opened()
		rows, err := db.Query("SELECT body FROM e ORDER BY seq")
		if err != nil {
			return err
		}
		defer rows.Close()
		var b sql.RawBytes
		for rows.Next() {
			if err := rows.Scan(&b); err != nil {
				return err
			}
			each(b)
		}
		return rows.Err()
	}}
}

func allEngines() []engine {
	log.SetOutput(io.Discard) // badger and raft-wal print through it
	return []engine{
		idealEngine("zero"), idealEngine("falloc"), idealEngine("grow"),
		comityEngine, filestoreEngine, ownFilesEngine,
		tidwallEngine, grouped(tidwallEngine),
		etcdEngine, grouped(etcdEngine),
		raftwalEngine, grouped(raftwalEngine),
		boltEngine(false), boltEngine(true), grouped(boltEngine(false)),
		pebbleEngine,
		sqliteEngine("sqlite"), grouped(sqliteEngine("sqlite")),
		sqliteEngine("sqlite3"), grouped(sqliteEngine("sqlite3")),
		natsEngine(false), natsEngine(true), grouped(natsAtomicEngine),
		badgerEngine,
	}
}
