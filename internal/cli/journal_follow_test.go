package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/comity-dev/comity/internal/cli"
	records "github.com/comity-dev/comity/session/journal"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage/natsstore"
	"github.com/nats-io/nats-server/v2/server"
)

// A follower sees each record once and in order, those that were there and those
// that come, and ends without a failure when it is interrupted.
func TestJournalFollow(t *testing.T) {
	s := newShelf(t).session(sid(1))
	followed(t, s.store, s.dir)
}

func followed(t *testing.T, sessions *store.Store, at string) {
	t.Helper()
	w, err := sessions.Open(t.Context(), sid(1), nil) // its fence is record 11
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	r, out := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- cli.Run(ctx, []string{"journal", "follow", "0", "--from", "9", "--json", "--store", at}, strings.NewReader(""), out, out, newFake(t).getenv)
		out.Close()
	}()
	lines := bufio.NewScanner(r)
	next := uint64(9)
	seeUpTo := func(last uint64) {
		t.Helper()
		for ; next <= last; next++ {
			var rec struct{ Seq uint64 }
			if !lines.Scan() {
				t.Fatalf("no record %d: %v", next, lines.Err())
			}
			if err := json.Unmarshal(lines.Bytes(), &rec); err != nil || rec.Seq != next {
				t.Fatalf("%s: %v, want record %d", lines.Bytes(), err, next)
			}
		}
	}
	seeUpTo(11)
	last := uint64(11)
	for _, n := range []uint64{1, 20} { // some come together
		for range n {
			last++
			note := records.OpaqueRecord{Kind: "note", ID: fmt.Sprint(last), Public: []byte("{}")}
			if seq, err := w.Append(t.Context(), note); err != nil || seq != last {
				t.Fatal(seq, err)
			}
		}
		seeUpTo(last)
	}
	interrupt()
	if lines.Scan() {
		t.Errorf("and then: %s", lines.Text())
	}
	if code := <-ended; code != 0 {
		t.Errorf("exit %d", code)
	}
}

// A store on a server: the same commands, and looking makes nothing there.
func TestJournalOnAServer(t *testing.T) {
	if testing.Short() {
		t.Skip("a server")
	}
	srv, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true, MaxPayload: 2 << 20,
		JetStream: true, StoreDir: t.TempDir(), DisableJetStreamBanner: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	srv.Start()
	defer func() { srv.Shutdown(); srv.WaitForShutdown() }()
	if !srv.ReadyForConnections(20 * time.Second) {
		t.Fatal("the server does not start")
	}
	f := newFake(t)
	s := newShelf(t).session(sid(1)).shut()
	at, dir := srv.ClientURL()+"/bucket", t.TempDir()
	file := filepath.Join(dir, "file")
	for _, args := range [][]string{{"list"}, {"verify"}, {"show", "0"}, {"delete", "0", "--yes"}} {
		if e := reply[failure](f, 11, append([]string{"journal", "--store", at}, args...)...); e.Error.Code != "not_found" || !strings.Contains(e.Error.Message, at) {
			t.Errorf("%v: %+v", args, e)
		}
	}
	if info, err := srv.Jsz(nil); err != nil || info.Streams > 0 {
		t.Errorf("looking has made %+v, %v", info, err)
	}
	for _, args := range [][]string{
		{"export", "0", "-o", file, "--store", s.dir}, {"import", file, "--store", at}, {"list", "--store", at}, {"verify", "--store", at},
		{"show", "0", "--store", at}, {"transcript", "0", "-o", file + ".md", "--store", at}, {"repair", "0", "--store", at, "--to", filepath.Join(dir, "copy")},
	} {
		if r := f.run(append([]string{"journal"}, args...)...); r.code != 0 {
			t.Errorf("%v: %+v", args, r)
		}
	}
	b, err := natsstore.Open(t.Context(), srv.ClientURL(), &natsstore.Options{Name: "bucket"})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	sessions, err := store.New(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	followed(t, sessions, at)
	if r := f.run("journal", "delete", "0", "--yes", "--store", at); r.code != 0 {
		t.Errorf("delete: %+v", r)
	}
}
