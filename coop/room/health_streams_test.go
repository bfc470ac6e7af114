package room_test

import (
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/coop/journal"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

// take hands events in, as a link does.
func (f *fixture) take(events ...*event.Event) event.IngestReport {
	f.Helper()
	var batch [][]byte
	for _, e := range events {
		batch = append(batch, e.Raw)
	}
	return f.j.Ingest(f.Context(), batch)
}

var streamRows = []string{"key", "own stream", "forks", "waiting", "trust", "bounds", "compaction"}

// but wants every row of streams to be well but one.
func (f *fixture) but(name string) {
	f.Helper()
	for _, row := range streamRows {
		if c := f.check(row); row != name && (c.State != api.CheckOK || c.Impact != "" || c.Remedy != "") {
			f.Errorf("%s: %+v, want it well", row, c)
		}
	}
}

func TestDoctorOfStreamsInOrder(t *testing.T) {
	f := newFixture(t)
	f.but("")
	f.join("ada")
	f.but("")
}

func TestDoctorTellsWhatIsWaitedFor(t *testing.T) {
	f, far, life := beside(t)
	*life = journal.Live
	f.join("ada")
	first := far.opens("zoe")
	missing := far.claims(0, "zoe", "path:a")
	f.take(first, far.claims(0, "zoe", "path:b"), far.claims(0, "zoe", "path:c"))
	f.wantCheck("waiting", api.CheckWarn, "2 events in 1 stream", fmt.Sprintf("%.8s of node", far.at.Stream.Instance()), "at event 2 (not here yet)")
	f.but("waiting")
	f.take(missing)
	f.but("")
}

func TestDoctorTellsOfForks(t *testing.T) {
	f, far, life := beside(t)
	*life = journal.Live
	f.join("ada")
	first := far.opens("zoe")
	was := far.at
	one := far.claims(0, "zoe", "path:a")
	far.at = was
	other := far.claims(0, "zoe", "path:b")
	f.take(first, one)
	f.but("")
	f.take(other)
	f.wantCheck("forks", api.CheckFail, "1 stream with two signed histories", "from event 2")
	f.but("forks")
	f.shut()
	f.open()
	f.wantCheck("forks", api.CheckFail, "from event 2")
}

func TestDoctorTellsThatSomebodyElseWroteAsUs(t *testing.T) {
	f, _, _ := beside(t)
	ada := f.join("ada")
	held := f.claim(ada, "src/")
	key, err := event.ParseKey(held.Claim.Claim)
	if err != nil {
		t.Fatal(err)
	}
	us := &peer{t: t, key: newKey(t, 0), at: event.Header{Repo: testRepo(t), Stream: key.Stream, At: 1_800_000_000}}
	page, err := f.j.Tail(1)
	if err != nil {
		t.Fatal(err)
	}
	last := page.Arrivals[0].Event
	us.at.Seq, us.at.Lamport, us.at.Prev = last.Seq, last.Lamport, hex.EncodeToString(last.Hash[:])
	f.take(us.claims(0, "ada", "path:theirs"))
	f.wantCheck("own stream", api.CheckFail, "1 run given up", fmt.Sprintf("%.8s of node", key.Stream.Instance()))
	f.claim(ada, "docs/") // the session goes on in a run of its own
	f.wantSession("ada", api.SessionOpen, "")
}

func TestDoctorTellsWhatIsNotTrusted(t *testing.T) {
	f, far, life := beside(t)
	*life = journal.Live
	f.join("ada")
	f.take(far.opens("zoe"))
	f.but("")
	if err := f.SetTrust(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	f.wantCheck("trust", api.CheckWarn, "1 stream on disk of keys that are not trusted")
	f.but("trust")
	if err := f.SetTrust(t.Context(), trustAll); err != nil {
		t.Fatal(err)
	}
	f.but("")
}

// A bound is told from four fifths of it on.
func TestDoctorTellsWhatIsNearABound(t *testing.T) {
	f, far, life := beside(t)
	*life = journal.Live
	f.shut()
	f.cfg.Journal.Limits.NodeEvents = 10
	f.open()
	f.join("ada")
	f.take(far.opens("zoe"))
	for i := range 6 {
		f.take(far.claims(0, "zoe", fmt.Sprint("path:f", i)))
	}
	f.wantCheck("bounds", api.CheckOK, "2 nodes", "7 events of 10")
	f.take(far.claims(0, "zoe", "path:more"))
	f.wantCheck("bounds", api.CheckWarn, fmt.Sprintf("node %.8s: 8 of 10 events", far.at.Stream.Node()))
	f.but("bounds")
	f.shut()
	f.cfg.Journal.Limits.NodeEvents, f.cfg.Journal.Limits.NodeRuns, f.cfg.Journal.Limits.NodeSize = 0, 1, 4096
	f.open()
	f.wantCheck("bounds", api.CheckWarn, fmt.Sprintf("node %.8s: 1 of 1 runs", far.at.Stream.Node()), "of 4096 bytes")
	f.shut()
	f.cfg.Journal.Limits.NodeRuns, f.cfg.Journal.Limits.NodeSize = 0, 0
	f.open()
	for i := range journal.MaxRuntimes {
		far.at = event.Header{Repo: far.at.Repo, Stream: ident.NewStream(far.at.Stream.Node(), ident.RuntimeID(fmt.Sprintf("%016x", i)), ident.NewInstance())}
		f.j.Ingest(t.Context(), [][]byte{far.opens("eve").Raw})
	}
	f.wantCheck("bounds", api.CheckWarn, fmt.Sprintf("node %.8s: names more than 4 runtimes, where one is all that a machine has; ", far.at.Stream.Node()))
}

func TestDoctorTellsOfWhatTheJournalWasMade(t *testing.T) {
	f := newFixtureOn(t, vfstest.New(), nil)
	f.join("ada")
	f.wantCheck("journal", api.CheckOK, "opened by its events (image: none)")
	f.reopen()
	f.wantCheck("journal", api.CheckOK, "opened by the image of the last stop")
}

func TestDoctorTellsOfALogThatIsShorterThanItWas(t *testing.T) {
	disk := vfstest.New()
	f := newFixtureOn(t, disk, nil)
	ada := f.join("ada")
	f.shut()
	older := disk.Clone()
	f.open()
	f.claim(ada, "src/")
	f.wantCheck("tail", api.CheckOK)
	f.shut()
	older.SetBytes("/journal/image", disk.Bytes("/journal/image"))
	f.fsys = older
	f.open()
	f.wantCheck("tail", api.CheckFail, "records that were there at the last clean stop are gone")
}
