package seglog

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/comity-dev/comity/internal/vfs"
)

// An inventory is what a folder holds, found without changing anything.
type inventory struct {
	fsys vfs.FS
	dir  string

	inc      [16]byte
	segs     []*segment // in order, ranges known
	broken   []*segment // without a readable header, or of another log
	stale    []string   // files that a rewritten segment stands for
	unsealed []*segment // with a successor and without a footer, by a crash in recovery
	damage   []Damage
	next     uint64 // at least: behind what broken segments may have held

	clean  bool    // the last segment ends with the mark of a clean close
	sealed bool    // or with a footer
	survey *survey // else
}

func inspect(fsys vfs.FS, dir string) (*inventory, error) {
	inv := &inventory{fsys: fsys, dir: dir}
	if err := inv.read(); err != nil {
		inv.release()
		return nil, err
	}
	return inv, nil
}

func (inv *inventory) read() error {
	names, err := inv.segmentNames()
	if err != nil || len(names) == 0 {
		return err
	}
	if ok, err := inv.quick(names); err != nil || ok {
		return err
	}
	if err := inv.readAll(names); err != nil || len(inv.segs) == 0 {
		return err
	}
	return inv.readLast()
}

func (inv *inventory) segmentNames() ([]string, error) {
	all, err := inv.fsys.List(inv.dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range all {
		if _, ok := parseName(name); ok {
			names = append(names, name)
		}
	}
	return names, nil
}

func (inv *inventory) release() {
	for _, g := range append(inv.segs, inv.broken...) {
		g.drop()
	}
}

// open opens the file of a segment and reads its headers.
func (inv *inventory) open(name string) (*segment, header, error) {
	first, _ := parseName(name)
	g := &segment{name: name, first: first, limit: dataStart}
	f, err := g.acquire(inv.fsys, inv.dir)
	if err != nil {
		return nil, header{}, err
	}
	defer f.release()
	if g.size, err = f.Size(); err != nil {
		return nil, header{}, errors.Join(err, g.drop())
	}
	h, ok, bad, err := readHeaders(f)
	switch {
	case err != nil:
	case ok && h.version > formatVersion:
		err = fmt.Errorf("segment %s has version %d, known is %d: %w", name, h.version, formatVersion, ErrNewerFormat)
	case !ok || h.first != first:
		g.broken = true
	default:
		g.adopt(&h)
		g.loaded = true
		inv.damage = append(inv.damage, headerDamage(name, bad)...)
	}
	if err != nil {
		return nil, header{}, errors.Join(err, g.drop())
	}
	return g, h, nil
}

// quick knows a log that was closed cleanly from the mark at its end, so that
// the time does not depend on what the log holds.
func (inv *inventory) quick(names []string) (bool, error) {
	last, h, err := inv.open(names[len(names)-1])
	if err != nil {
		return false, err
	}
	sum, ok, err := inv.closeMark(last, names)
	if err != nil || !ok {
		inv.damage = nil
		return false, errors.Join(err, last.drop())
	}
	for i, row := range sum.table {
		inv.segs = append(inv.segs, &segment{name: names[i], first: row.first, last: row.last, kept: row.kept, records: row.records, size: int64(row.size)})
	}
	inv.segs = append(inv.segs, last)
	inv.inc, inv.clean = h.incarnation, true
	last.adoptSummary(&sum, last.size)
	return true, nil
}

// closeMark returns the mark at the end of g, if it knows just the segments
// that are there.
func (inv *inventory) closeMark(g *segment, names []string) (summary, bool, error) {
	if g.broken {
		return summary{}, false, nil
	}
	sum, _, ok, err := readTrailer(g.file, g.seal, kindClose)
	if err != nil || !ok || len(sum.table) != len(names)-1 {
		return summary{}, false, err
	}
	next := uint64(1)
	for i, row := range sum.table {
		if segmentName(row.first) != names[i] || row.first != next {
			return summary{}, false, nil
		}
		next = row.last + 1
	}
	return sum, g.first == next && sum.last >= g.first-1, nil
}

func (g *segment) adoptSummary(sum *summary, limit int64) {
	g.last, g.kept, g.records, g.places, g.limit = sum.last, sum.kept, sum.records, sum.places, limit
}

// readAll reads the headers of all segments, puts them in order and reads the
// footers of all but the last.
func (inv *inventory) readAll(names []string) error {
	var all []*segment
	heads := make(map[*segment]header)
	count := make(map[[16]byte]int)
	for _, name := range names {
		g, h, err := inv.open(name)
		if err != nil {
			for _, g := range all {
				g.drop()
			}
			return err
		}
		all = append(all, g)
		heads[g] = h
		if !g.broken {
			if count[h.incarnation]++; count[h.incarnation] > count[inv.inc] {
				inv.inc = h.incarnation
			}
		}
	}
	until := uint64(0) // what the last segment says that it stands for
	for _, g := range all {
		h := heads[g]
		switch {
		case g.broken || h.incarnation != inv.inc:
			g.broken = true
			inv.broken = append(inv.broken, g)
		case g.first <= until:
			inv.stale = append(inv.stale, g.name)
			g.drop()
		default:
			g.last, until = h.last, h.last
			inv.segs = append(inv.segs, g)
		}
	}
	for i := 0; i+1 < len(inv.segs); i++ {
		if err := inv.readSealed(inv.segs[i], inv.segs[i+1]); err != nil {
			return err
		}
	}
	inv.joinAll()
	return nil
}

// readSealed reads what is known of g, which next comes behind.
func (inv *inventory) readSealed(g, next *segment) error {
	sum, at, ok, err := readTrailer(g.file, g.seal, kindFooter)
	if err != nil {
		return err
	}
	if ok && sum.last < next.first {
		g.adoptSummary(&sum, at)
		return nil
	}
	if g.last == 0 {
		g.last = next.first - 1
	}
	v, err := surveySegment(g.file, g, g.size, g.last)
	if err != nil {
		return err
	}
	if v.attested > g.last {
		v.attested = g.last // frames that a recovery has moved to the next segment
	}
	holes, cut := v.split()
	g.adoptSurvey(v, cut)
	for _, h := range holes {
		inv.damage = append(inv.damage, h.damage(g.name))
	}
	switch {
	case v.footer:
	case next.flags&segRecovered != 0:
		inv.unsealed = append(inv.unsealed, g)
	default:
		inv.damage = append(inv.damage, Damage{g.name, cut, max(v.junk-cut, 0), 0, 0, "the footer is unreadable"})
	}
	return nil
}

// adoptSurvey takes over what is attested.
func (g *segment) adoptSurvey(v *survey, cut int64) {
	g.records, g.kept, g.limit, g.last = v.records-uint64(len(v.tail)), v.kept, cut, v.attested
	if g.kept > g.last {
		g.kept = 0
	}
	g.places = v.places
	for n := len(g.places); n > 0 && g.places[n-1].off >= cut; n-- {
		g.places = g.places[:n-1]
	}
}

// joinAll reports the ranges that no segment stands for.
func (inv *inventory) joinAll() {
	next := uint64(1)
	for i, g := range inv.segs {
		if g.first > next {
			inv.missing(next, g.first-1)
		}
		if i+1 < len(inv.segs) {
			next = g.last + 1
		}
	}
	if len(inv.segs) == 0 {
		inv.missing(next, 0)
		return
	}
	last := inv.segs[len(inv.segs)-1]
	for _, g := range inv.broken {
		if g.first > last.first {
			inv.missing(g.first, 0)
			return
		}
	}
}

// missing reports that the indexes from first to last are lost, or with last 0
// all behind first, because segments are missing or broken.
func (inv *inventory) missing(first, last uint64) {
	inside := func(g *segment) bool { return g.first >= first && (last == 0 || g.first <= last) }
	found := false
	for _, g := range inv.broken {
		if !inside(g) {
			continue
		}
		found = true
		until := last
		if last == 0 {
			until = g.first + uint64(max(g.size-dataStart, 0))/frameHeader
			inv.next = max(inv.next, until+1)
		}
		inv.damage = append(inv.damage, Damage{g.name, 0, g.size, first, until, "both headers are unreadable or of another log"})
	}
	if !found && last != 0 {
		inv.damage = append(inv.damage, Damage{segmentName(first), 0, 0, first, last, "the segment is missing"})
	}
}

// readLast reads the last segment, whose end no successor tells.
func (inv *inventory) readLast() error {
	g := inv.segs[len(inv.segs)-1]
	for _, kind := range []uint16{kindFooter, kindClose} {
		sum, at, ok, err := readTrailer(g.file, g.seal, kind)
		if err != nil {
			return err
		}
		if ok {
			if inv.clean = kind == kindClose; inv.clean {
				at = g.size
			}
			inv.sealed = !inv.clean
			g.adoptSummary(&sum, at)
			return nil
		}
	}
	attested := max(g.first-1, g.last)
	for _, b := range inv.broken {
		if b.first > g.first { // it was opened when all before it was synced
			attested = max(attested, b.first-1)
			break
		}
	}
	v, err := surveySegment(g.file, g, g.size, attested)
	if err != nil {
		return err
	}
	holes, cut := v.split()
	for _, h := range holes {
		inv.damage = append(inv.damage, h.damage(g.name))
	}
	g.adoptSurvey(v, cut)
	inv.survey = v
	return nil
}

// exists reports whether name is there.
func exists(fsys vfs.FS, name string) (bool, error) {
	_, err := fsys.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
