package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/session/store"
	"github.com/spf13/cobra"
)

// A carried is the reply of `journal export` and `journal import`.
type carried struct {
	store.Manifest
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
	Store string `json:"store"`
}

func (r *journalRun) exportCommand() *cobra.Command {
	var to string
	c := r.look(&cobra.Command{
		Use:   "export SESSION -o FILE",
		Short: "Write a session to one file",
		Long: `Write a session to one file with all its content, private records too, which
journal import reads on any machine. It may run beside a writer. A session with
damage is refused: repair it first.`,
	}, func(ctx context.Context, j *journals, e store.Entry) error {
		var m store.Manifest
		n, err := r.writeFile(to, func(w io.Writer) (err error) {
			p := r.progress()
			defer p.end()
			m, err = j.Export(ctx, e.Session, &counter{w: w, told: func(n int64) { p.say("%d MiB written", n>>20) }})
			return err
		})
		if err != nil || to == "-" {
			return err
		}
		if r.json {
			return r.reply(carried{m, to, n, j.place.String()})
		}
		r.out.row(0, key(shortSession(m.Session)).as(bold), key("exported"), key(count(int(m.Records), "record")), keyf("%d bytes", n), flex(to))
		return nil
	})
	outFlag(c, &to)
	return c
}

func outFlag(c *cobra.Command, to *string) {
	c.Flags().StringVarP(to, "out", "o", "", "write to `FILE`, - for standard output")
}

// writeFile writes a file beside its place and renames it, so that it is there
// whole or not at all. It returns how long it is.
func (r *journalRun) writeFile(to string, write func(io.Writer) error) (int64, error) {
	switch {
	case to == "":
		return 0, usage("where to is not said").WithHint("-o FILE, or -o - for standard output")
	case to == "-" && r.json:
		return 0, usage("--json and -o - would both write to standard output").WithHint("name a file with -o")
	case to == "-":
		return 0, write(r.out.w)
	}
	if info, err := os.Stat(to); err == nil && info.IsDir() {
		return 0, usage("%s is a folder", to).WithHint("name a file with -o")
	}
	f, err := os.CreateTemp(filepath.Dir(to), ".comity-*") // 0600: what is in it is private
	if err != nil {
		return 0, usage("write %s: %s", to, reason(err)).WithHint("-o names a file in a folder that is there")
	}
	defer os.Remove(f.Name()) // fails once it is renamed
	defer f.Close()
	c := &counter{w: f, told: func(int64) {}}
	w := bufio.NewWriterSize(c, 64<<10)
	if err := write(w); err != nil {
		return 0, err
	}
	for _, step := range []func() error{w.Flush, f.Sync, f.Close} {
		if err := step(); err != nil {
			return 0, api.Errorf(api.AsError(err).Code, "write %s: %s", to, reason(err))
		}
	}
	return c.n, os.Rename(f.Name(), to)
}

func (r *journalRun) importCommand() *cobra.Command {
	var as store.Manifest
	c := r.sub(&cobra.Command{
		Use:   "import FILE [--as ID]",
		Short: "Make a session from a file that export wrote",
		Long: `Make a session from a file that export wrote: it is read to its end and held to
its digest before anything is written. A store that is not there is made.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("%s needs one file", called(cmd)).WithHint("comity journal export SESSION -o FILE writes one")
			}
			return nil
		},
	}, func(ctx context.Context, p storePlace, args []string) error {
		f, err := os.Open(args[0])
		if errors.Is(err, fs.ErrNotExist) {
			return api.Errorf(api.CodeNotFound, "there is no file %s", args[0]).WithHint("comity journal export SESSION -o FILE writes one")
		}
		if err != nil {
			return usage("read %s: %s", args[0], reason(err)).WithHint("comity journal export SESSION -o FILE writes one")
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil || info.IsDir() {
			return usage("%s is not a file", args[0]).WithHint("comity journal export SESSION -o FILE writes one")
		}
		j, err := p.own(ctx, true)
		if err != nil {
			return err
		}
		pr := r.progress()
		m, err := j.Import(ctx, &readCounter{f, 0, func(n int64) { pr.say("%d of %d MiB read", n>>20, 2*info.Size()>>20) }}, as.Session)
		pr.end()
		if as.Session != "" { // that is what it is called here
			m.Session = as.Session
		}
		if err == nil {
			_, err = j.RepairCatalog(ctx, m.Session) // else a list knows nothing of it
		}
		if err := j.written(ctx, m.Session, err); err != nil {
			return err
		}
		if r.json {
			return r.reply(carried{m, args[0], info.Size(), p.String()})
		}
		r.out.row(0, key(shortSession(m.Session)).as(bold), key("imported"), key(count(int(m.Records), "record")), flexf("into %s", p))
		return nil
	})
	c.Flags().StringVar((*string)(&as.Session), "as", "", "give the session the `ID` (default: the one it had)")
	return c
}

// A readCounter passes a file on and counts what is read of it.
type readCounter struct {
	*os.File
	n    int64
	told func(n int64)
}

func (c *readCounter) Read(b []byte) (int, error) {
	n, err := c.File.Read(b)
	c.n += int64(n)
	c.told(c.n)
	return n, err
}
