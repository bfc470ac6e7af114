package filestore

import (
	"fmt"
	"math"
	"os"

	"github.com/comity-dev/comity/internal/seglog"
)

// settle asks of each damaged place behind what the index covers whose records
// it held. What it finds out it takes over; if it cannot find out about all,
// everything that no later record attests is in doubt.
func (r *replay) settle(found *seglog.Report) {
	s := r.s
	list := found.Damage
	if log, ok := s.reader.(interface{ Damage() []seglog.Damage }); ok {
		list = log.Damage() // with what replaying came upon
	}
	var lost, last uint64 // records of unknown owner, and the last of them
	for _, d := range list {
		own := Damage{d.Segment, d.Offset, d.Length, d.FirstIndex, d.LastIndex, d.Reason, ""}
		if d.LastIndex > r.covers {
			if h, ok := r.header(&d); ok {
				own.Owner = r.adoptLost(&h, d.LastIndex)
			} else {
				lost += d.LastIndex - max(d.FirstIndex-1, r.covers)
				last = max(last, d.LastIndex)
			}
		}
		s.report.Damage = append(s.report.Damage, own)
	}
	s.counter += lost // a grant may be among them
	for _, n := range r.jumps {
		lost -= min(lost, n)
	}
	if lost > 0 {
		s.doubt = last
	}
	if r.short {
		s.counter += 1 << 32 // nobody knows how many numbers were given out
		s.doubt = math.MaxUint64
		s.report.Damage = append(s.report.Damage, Damage{Reason: "the log ends before what the index says it had: its end is lost"})
	}
}

// header reads the header of a lost record from the damaged bytes.
func (r *replay) header(d *seglog.Damage) (h header, ok bool) {
	const frameHeader = 40 // of a frame of the log
	if d.FirstIndex != d.LastIndex || d.Length < frameHeader+headerBytes {
		return h, false
	}
	f, err := r.s.fsys.Open(r.s.path("log", d.Segment), os.O_RDONLY, 0)
	if err != nil {
		return h, false
	}
	defer f.Close()
	b := make([]byte, min(d.Length-frameHeader, headerBytes+1<<16))
	if _, err := f.ReadAt(b, d.Offset+frameHeader); err != nil {
		return h, false
	}
	return salvage(b, r.s.seed)
}

// adoptLost takes over what the header of a lost record tells, and names its
// owner.
func (r *replay) adoptLost(h *header, index uint64) (owner string) {
	s := r.s
	s.counter = max(s.counter, h.counter, h.life)
	over := h.life <= r.ended[h.tag] // something later says so
	switch h.kind {
	case kindRecord:
		l := s.ledgers[h.tag]
		if over {
			return fmt.Sprintf("record %d of a ledger that was deleted", h.seq)
		}
		if l == nil || l.gen < h.life {
			l = &ledger{tag: h.tag, name: h.name, gen: h.life}
			s.ledgers[h.tag] = l
		}
		if l.name == "" {
			l.name = h.name
		}
		if l.gen == h.life && h.seq > l.tip {
			l.tip, l.index = h.seq, index
		} else if r.jumps[h.tag] > 0 && l.gen == h.life {
			r.jumps[h.tag]--
		}
		return fmt.Sprintf("record %d of ledger %s", h.seq, l.name)
	case kindEnd:
		r.apply(h, index)
		return "end of ledger " + h.name
	case kindRow, kindRowEnd:
		if !over {
			r.apply(h, index)
		}
		return "row " + h.name
	case kindGrant:
		return "grant of " + h.name
	}
	return "mark"
}
