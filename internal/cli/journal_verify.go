package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/comity-dev/comity/session/event"
	"github.com/comity-dev/comity/session/store"
	"github.com/comity-dev/comity/storage"
	"github.com/comity-dev/comity/storage/filestore"
	"github.com/spf13/cobra"
)

// A journalCheck is the reply of `journal verify`.
type journalCheck struct {
	OK       bool             `json:"ok"`
	Store    string           `json:"store"`
	Sessions []checkedSession `json:"sessions"`
	// Files are what is wrong in the folder as such: damage that hit no session, or
	// one that is not there any more. It is looked at when no session is named.
	Files []foundInFiles `json:"files,omitempty"`
}

type checkedSession struct {
	OK       bool        `json:"ok"`
	Session  string      `json:"session"`
	Tip      uint64      `json:"tip"`     // the last record
	Records  uint64      `json:"records"` // that are good
	Blobs    uint64      `json:"blobs"`   // references to content outside of records
	Bytes    uint64      `json:"bytes"`
	Problems []badRecord `json:"problems,omitempty"`
	More     uint64      `json:"more,omitempty"`  // problems that are not named
	Books    []string    `json:"books,omitempty"` // wrong beside the journal; made anew from it
	report   store.Report
}

type badRecord struct {
	Ledger string `json:"ledger"`
	Seq    uint64 `json:"seq"`
	Error  string `json:"error"`
}

type foundInFiles struct {
	What  string `json:"what"`
	Name  string `json:"name"`
	First uint64 `json:"first,omitempty"`
	Last  uint64 `json:"last,omitempty"`
	Text  string `json:"text"`
}

func (r *journalRun) verifyCommand() *cobra.Command {
	return r.sub(&cobra.Command{
		Use:   "verify [SESSION]",
		Short: "Read every record and all content, and name what is wrong",
		Long: `Read every record of a session with all its content, hold each to those before it,
and name what is wrong: exit code 12. Without a session all are read, and the
files of the store too. Nothing is changed; it may run beside a writer.`,
		Args: cobra.MaximumNArgs(1),
	}, func(ctx context.Context, p storePlace, args []string) error {
		j, err := p.look(ctx)
		if err != nil {
			return err
		}
		defer j.close()
		check := journalCheck{OK: true, Store: p.String(), Sessions: []checkedSession{}}
		if err := r.checkSessions(ctx, j, optional(args), &check); err != nil {
			return err
		}
		if len(args) == 0 && j.file != nil {
			if err := r.checkFiles(ctx, j.file, &check); err != nil {
				return err
			}
		}
		if !r.json {
			r.out.journalCheck(check, p)
		} else if err := r.reply(check); err != nil {
			return err
		}
		if !check.OK {
			return found(exitFound)
		}
		return nil
	})
}

func (r *journalRun) checkSessions(ctx context.Context, j *journals, name string, check *journalCheck) error {
	var list []store.Entry
	if name != "" {
		e, err := j.find(ctx, name)
		if err != nil {
			return err
		}
		list = append(list, e)
	} else {
		for e, err := range j.Catalog(ctx) {
			if err != nil {
				return err
			}
			list = append(list, e)
		}
	}
	p := r.progress()
	defer p.end()
	for i, e := range list {
		p.say("session %s, %d of %d, with %d records", shortSession(e.Session), i+1, len(list), e.Seq)
		report, err := j.verify(ctx, e.Session)
		if err != nil {
			return err
		}
		s := checkedSession{
			OK: report.Good(), Session: string(report.Session), Tip: report.Tip, Records: report.Records,
			Blobs: report.Blobs, Bytes: report.Bytes, More: report.More, report: report,
		}
		for _, b := range report.Problems {
			s.Problems = append(s.Problems, badRecord{b.Ledger, b.Seq, b.Err.Error()})
		}
		for _, b := range report.Books {
			s.Books = append(s.Books, b.Error())
		}
		check.Sessions = append(check.Sessions, s)
		check.OK = check.OK && s.OK
	}
	return nil
}

// verify is Verify of a session, and tells parts of its checkpoint that are lost from
// those that a writer at work has removed. A folder that is looked at shows rows as they
// were when it was opened, so it is opened anew: what is lost is not found then
// either, by the same name.
func (j *journals) verify(ctx context.Context, id event.ID) (store.Report, error) {
	report, err := j.Verify(ctx, id)
	if err != nil || j.file == nil || !slices.ContainsFunc(report.Books, is[*storage.NotFoundError]) {
		return report, err
	}
	again, err := j.place.look(ctx)
	if err != nil {
		return report, err
	}
	was := report.Books
	report, err = again.Verify(ctx, id)
	report.Books = slices.DeleteFunc(report.Books, func(b error) bool {
		same := func(a error) bool { return a.Error() == b.Error() }
		return is[*storage.NotFoundError](b) && !slices.ContainsFunc(was, same)
	})
	return report, closed(again, err)
}

func (r *journalRun) checkFiles(ctx context.Context, s *filestore.Store, check *journalCheck) error {
	p := r.progress()
	defer p.end()
	report, err := s.Verify(ctx, func(done, total int64) { p.say("the files: %d of %d MiB", done>>20, total>>20) })
	if err != nil {
		return err
	}
	for _, f := range report.Findings {
		check.Files = append(check.Files, foundInFiles(f))
	}
	check.OK = check.OK && len(report.Findings) == 0
	return nil
}

func (p *printer) journalCheck(check journalCheck, at storePlace) {
	for _, s := range check.Sessions {
		verdict := cell{text: "good", style: green}
		if !s.OK {
			verdict = cell{text: "bad", style: red}
		}
		p.row(0, key(shortSession(s.Session)).as(bold), verdict.pad(4), key(count(int(s.Tip), "record")),
			keyf("%d good", s.Records), key(count(int(s.Blobs), "blob")), keyf("%d bytes", s.Bytes))
		for _, b := range s.Problems {
			p.printf("  %s\n    ", p.paint(red, fmt.Sprintf("record %d of %s", b.Seq, oneLine(b.Ledger))))
			p.wrapped(4, 4, oneLine(b.Error))
		}
		if s.More > 0 {
			p.printf("  and %d more\n", s.More)
		}
		for _, b := range s.Books {
			p.printf("  ")
			p.wrapped(2, 4, oneLine(b)+" (no record is lost by it)")
		}
		if len(s.Books) > 0 {
			p.printf("  %s", p.paint(bold, "next: "))
			p.wrapped(8, 4, "comity journal repair "+shortSession(s.Session)+at.flag()+" makes it anew, and so does the next owner who comes upon it")
		}
		if len(s.Problems) > 0 {
			p.printf("  %s", p.paint(bold, "next: "))
			p.wrapped(8, 4, "comity journal repair "+shortSession(s.Session)+at.flag()+" --to DIR copies what can be read")
		}
	}
	for _, f := range check.Files {
		p.printf("%s  ", p.paint(red, "files"))
		p.wrapped(7, 4, oneLine(f.What+" "+f.Name+": "+f.Text))
	}
	if len(check.Sessions) == 0 && len(check.Files) == 0 {
		p.printf("no sessions\n")
	}
}
