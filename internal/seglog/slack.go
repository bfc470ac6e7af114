package seglog

import (
	"io"
	"math"
)

// Slack returns the places that hold something else than zeros where nothing is
// written: around the headers and behind bodies that are no multiple of 8. No
// record is lost by it, and no reading stumbles over it; but the disk does not
// keep what it was given. Like Verify it may run beside appending.
func (s *store) Slack() ([]Damage, error) {
	var found []Damage
	for next, end := uint64(1), s.End(); next <= end; {
		sp, err := s.span(next)
		if err != nil || sp == nil {
			return found, err
		}
		list, err := sp.slack()
		sp.file.release()
		if err != nil {
			return found, err
		}
		found = append(found, list...)
		next = sp.last + 1
	}
	return found, nil
}

func (sp *span) slack() (found []Damage, err error) {
	if sp.broken { // it is damage as a whole
		return nil, nil
	}
	add := func(b []byte, off int64) {
		for i, c := range b {
			if c != 0 {
				found = append(found, Damage{sp.name, off + int64(i), int64(len(b) - i), 0, 0, "bytes that are not zero where nothing is written"})
				return
			}
		}
	}
	head := make([]byte, dataStart)
	if n, err := sp.file.ReadAt(head, 0); err != nil && (err != io.EOF || n < dataStart) {
		return nil, err
	}
	add(head[headerSize:secondHeader], headerSize)
	add(head[secondHeader+headerSize:], secondHeader+headerSize)

	c := scanner{r: sp.file, seal: sp.seal, pos: dataStart, limit: sp.limit, last: sp.first - 1, hi: sp.last, skip: math.MaxUint64, chunk: readChunk}
	for {
		switch what, err := c.next(); {
		case err != nil || what == foundEnd:
			return found, err
		case what == foundGap: // Verify tells of it
			continue
		}
		at := c.frame.off + frameHeader + int64(c.frame.length)
		n := int(c.frame.end() - at)
		if n == 0 || c.frame.end() > sp.limit {
			continue
		}
		b, err := c.window(at, n)
		if err != nil {
			return found, err
		}
		add(b[:n], at)
	}
}
