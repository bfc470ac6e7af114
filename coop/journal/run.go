package journal

import (
	"cmp"
	"slices"

	"github.com/comity-dev/comity/coop/event"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/canon"
)

// The run record is a local row.
const (
	runRowKind = "run"
	runRowKey  = "record"
)

// run is this machine's run record, as its row has it: who counts the runs, and
// how far. It is written with the first event of each run.
type run struct {
	Machine string `json:"machine"`
	Folder  string `json:"folder,omitempty"`
	Record  string `json:"record"`
	Run     uint64 `json:"run"`
}

// here reports whether the record was written in this folder on this machine. A
// folder that is not named on one side says nothing.
func (r run) here(cfg *Config) bool {
	return r.Machine == cfg.Machine && (r.Folder == cfg.Folder || r.Folder == "" || cfg.Folder == "") && ident.IsHex(r.Record, 32)
}

// nextRun gives this run its place. Without a record of this machine and folder,
// and of them alone, it begins one: what other records' runs left is not ours to
// succeed, since whoever counts there may live.
func (j *Journal) nextRun() run {
	var last run
	row := j.rows.of(runRowKind, runRowKey)
	if row == nil || canon.Unmarshal(row, &last) != nil || !last.here(&j.cfg) {
		return run{Machine: j.cfg.Machine, Folder: j.cfg.Folder, Record: ident.NewRecord(), Run: 1}
	}
	last.Folder = cmp.Or(j.cfg.Folder, last.Folder)
	for s := range j.state.Streams() { // the row may be lost and its event not
		if s.Stream.Runtime() == j.runtime && s.Record == last.Record {
			last.Run = max(last.Run, s.Run)
		}
	}
	last.Run++
	return last
}

// secondUsers are the streams of our key that count under another record.
func (j *Journal) secondUsers() []ident.Stream {
	var found []ident.Stream
	for s := range j.state.Streams() {
		if s.Stream.Node() == j.runtime.Node && s.Record != "" && s.Record != j.run.Record {
			found = append(found, s.Stream)
		}
	}
	slices.Sort(found)
	return found
}

// succession is the first event of this run, and the sessions that Continue
// named and that do not fit.
func (j *Journal) succession() (first event.StreamSucceeded, ended []string) {
	first = event.StreamSucceeded{Record: j.run.Record, Run: j.run.Run}
	if j.run.Run == 1 || j.cfg.Continue == nil || j.lapsed {
		return first, nil
	}
	sids := slices.DeleteFunc(unique(j.cfg.Continue(View{j})), func(sid string) bool {
		return ident.ValidSID(sid) != nil
	})
	keep := min(len(sids), event.MaxSessions)
	streams := j.standing(sids[:keep])
	for len(streams) > event.MaxStreams {
		keep--
		streams = j.standing(sids[:keep])
	}
	first.Sessions = slices.Sorted(slices.Values(sids[:keep]))
	first.Streams = streams
	return first, sids[keep:]
}

// standing names, in order, the earlier runs in which something of these
// sessions stands: an opening, an unreleased claim, an open review, and an end
// of something, or the checkpoint, in a run that is itself named.
func (j *Journal) standing(sids []string) []ident.Stream {
	line := j.lineages.of(j.run.Record)
	named := map[ident.Stream]bool{}
	going := map[string]bool{}
	for _, sid := range sids {
		going[sid] = true
		id := ident.SessionID{Runtime: j.runtime, SID: sid}
		for _, s := range line.opened[sid] {
			named[s] = true
		}
		if s, ok := j.state.Session(id); ok {
			named[s.Opened.Stream] = true
		}
		for _, c := range j.state.ClaimsOf(id) {
			named[c.Key.Stream] = true
		}
	}
	for r := range j.state.OpenReviews() {
		if r.Session.Runtime == j.runtime && going[r.Session.SID] {
			named[r.Key.Stream] = true
		}
	}
	for s := range named {
		if !line.goesOn[s] {
			delete(named, s)
		}
	}
	return line.close(named)
}

func unique(sids []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(sids), func(sid string) bool {
		again := seen[sid]
		seen[sid] = true
		return again
	})
}
