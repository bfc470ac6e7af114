package seglog

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/comity-dev/comity/internal/vfs"
)

// Dump prints what the folder of a log holds, for people: each segment with its
// headers, each frame with its flags, each bad place, and what is kept in
// damage/. It changes nothing and takes no lock, so that of a log which is being
// written it may show the end half done.
func Dump(fsys vfs.FS, dir string, w io.Writer) error {
	inv := &inventory{fsys: fsys, dir: dir}
	names, err := inv.segmentNames()
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	for _, name := range names {
		if err := dumpSegment(inv, name, out); err != nil {
			return errors.Join(fmt.Errorf("dump segment %s: %w", name, err), out.Flush())
		}
	}
	s := &store{fsys: fsys, dir: dir}
	for _, d := range s.keptAside() {
		fmt.Fprintf(out, "damage  %s\n", asideName(d))
	}
	return out.Flush()
}

func dumpSegment(inv *inventory, name string, out io.Writer) error {
	g, h, err := inv.open(name)
	if err != nil {
		return err
	}
	defer g.drop()
	fmt.Fprintf(out, "segment %s  %d bytes", name, g.size)
	for _, d := range inv.damage {
		fmt.Fprintf(out, "  bad header at %d", d.Offset)
	}
	inv.damage = nil
	if g.broken {
		fmt.Fprintf(out, "  no readable header\n")
		return nil
	}
	fmt.Fprintf(out, "\n  version %d  incarnation %s  salt %016x  first %d", h.version, hex.EncodeToString(h.incarnation[:]), h.salt, h.first)
	if h.last != 0 {
		fmt.Fprintf(out, "  last %d", h.last)
	}
	fmt.Fprintf(out, "  flags %s\n", names(uint(h.flags), "rewritten", "recovered"))
	k := &walker{sparse: g.sparse(), prev: g.first - 1}
	k.scanner = scanner{r: g.file, seal: g.seal, pos: dataStart, limit: g.size, last: g.first - 1, hi: math.MaxUint64 - 1, chunk: 1 << 20}
	k.onHole = func(h hole) {
		d := h.damage(name)
		fmt.Fprintf(out, "  %10d  BAD    %d bytes  records %d to %d  %s\n", d.Offset, d.Length, d.FirstIndex, d.LastIndex, d.Reason)
	}
	for {
		ok, err := k.next()
		if err != nil {
			return err
		}
		if !ok {
			k.settle(k.prev, k.pos)
			return nil
		}
		dumpFrame(&k.frame, k.body, out)
	}
}

func dumpFrame(f *frame, body []byte, out io.Writer) {
	if !f.mark() {
		fmt.Fprintf(out, "  %10d  record %d  synced %d  %d bytes  left %d  %s\n", f.off, f.index, f.synced, f.length, f.left, names(uint(f.flags), "first", "last"))
		return
	}
	kind := [...]string{kindClose: "clean close", kindIdle: "idle", kindFooter: "footer"}[f.kind]
	fmt.Fprintf(out, "  %10d  mark   %s  synced %d", f.off, kind, f.synced)
	if sum, ok := parseSummary(body); ok {
		fmt.Fprintf(out, "  last %d  kept from %d  records %d  places %d  segments before %d", sum.last, sum.kept, sum.records, len(sum.places), len(sum.table))
	}
	fmt.Fprintln(out)
}

// names lists the flags that are set.
func names(flags uint, all ...string) string {
	var set []string
	for i, name := range all {
		if flags>>i&1 != 0 {
			set = append(set, name)
		}
	}
	if len(set) == 0 {
		return "none"
	}
	return strings.Join(set, ",")
}
