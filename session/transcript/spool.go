package transcript

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// spoolMemory is how much of one spool is kept in memory.
const spoolMemory = 32 << 10

// A spool keeps what is written until it is copied, in memory first, then in a file
// that is removed with it.
type spool struct {
	dir  string
	mem  bytes.Buffer
	file *os.File
}

func (s *spool) Write(b []byte) (int, error) {
	if s.file == nil && s.mem.Len()+len(b) > spoolMemory {
		f, err := os.CreateTemp(s.dir, "comity-transcript-*")
		if err != nil {
			return 0, err
		}
		s.file = f
	}
	if s.file == nil {
		return s.mem.Write(b)
	}
	if s.mem.Len() > 0 {
		if _, err := s.mem.WriteTo(s.file); err != nil {
			return 0, err
		}
		s.mem = bytes.Buffer{}
	}
	return s.file.Write(b)
}

// copyTo writes all of s to w and discards it.
func (s *spool) copyTo(w io.Writer) error {
	defer s.discard()
	if s.file == nil {
		_, err := s.mem.WriteTo(w)
		return err
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := io.Copy(w, s.file)
	return err
}

func (s *spool) discard() {
	s.mem = bytes.Buffer{}
	if s.file == nil {
		return
	}
	err := errors.Join(s.file.Close(), os.Remove(s.file.Name()))
	_ = err // a file that stays in the folder for temporary files harms nobody
	s.file = nil
}
