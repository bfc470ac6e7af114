package seglog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/comity-dev/comity/internal/vfs"
)

// asideName is the name under damage/ of the bytes at d: it says all that the
// report says of them but the reason.
func asideName(d Damage) string {
	return fmt.Sprintf("%s-%d-%d-%d-%d", d.Segment, d.Offset, d.Length, d.FirstIndex, d.LastIndex)
}

func parseAside(name string) (d Damage, ok bool) {
	if len(name) < 25 {
		return Damage{}, false
	}
	d.Segment = name[:24]
	_, err := fmt.Sscanf(name[24:], "-%d-%d-%d-%d", &d.Offset, &d.Length, &d.FirstIndex, &d.LastIndex)
	d.Reason = "found before; its bytes are kept in " + damageDir + "/" + name
	_, seg := parseName(d.Segment)
	return d, err == nil && seg && asideName(d) == name
}

// keepAside copies the bytes of the damage to damage/, where they stay until
// somebody removes them. That a disk is full or ailing does not keep a log
// from opening: the reason says then that they are not kept.
func (l *Log) keepAside(list []Damage) {
	for i, d := range list {
		if err := l.keepOneAside(d); err != nil {
			list[i].Reason += fmt.Sprintf(" (its bytes are not kept aside: %v)", err)
		}
	}
}

func (l *Log) keepOneAside(d Damage) error {
	if d.Length == 0 {
		return nil
	}
	dir := filepath.Join(l.dir, damageDir)
	name := filepath.Join(dir, asideName(d))
	if there, err := exists(l.fsys, name); there || err != nil {
		return err
	}
	if err := vfs.MkdirAll(l.fsys, dir); err != nil {
		return err
	}
	f, err := l.fsys.Open(filepath.Join(l.dir, d.Segment), 0, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.NewSectionReader(f, d.Offset, d.Length))
	if err != nil {
		return err
	}
	return vfs.WriteFile(l.fsys, name, data)
}

// keptAside returns the damage that earlier openings found.
func (s *store) keptAside() []Damage {
	names, err := s.fsys.List(filepath.Join(s.dir, damageDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var list []Damage
	for _, name := range names {
		if d, ok := parseAside(name); ok {
			list = append(list, d)
		}
	}
	return list
}
