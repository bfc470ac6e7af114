package journal

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/comity-dev/comity/coop/fold"
	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/pack"
	"github.com/comity-dev/comity/internal/vfs"
)

// An image is what a journal knows when it is closed, for the next one who opens it:
// it takes the image in place of reading and folding every event. It is
//
//	magic (8 bytes) | binding | parts | fold | kept | HMAC-SHA-256 (32)
//
// with the four in between as package pack writes pieces: their length in front. Parts
// are the journal's own, fold is that of package fold, kept what Config.Keep gave. The
// key of the HMAC is derived as that of the records, under a name of its own.
//
// The log says what is so, and the image is thrown away wherever it might say
// anything else: see binding and well. Who takes it removes it first; one that a crash
// brings back is bound to what the log was. The commit point is the rename of
// [vfs.WriteFile]; a crash before it leaves no image.
const (
	imageName     = "image"
	imageMagic    = "\x89IMG\x01\r\n\x1a" // with the version
	maxImageBytes = 256 << 20             // of some three million events
)

var errNoFile = errors.New("no regular file")

// ImageUse tells whether a journal was opened by the image of its state, and if not,
// why it was made of its events.
type ImageUse string

// The uses of an image.
const (
	ImageTaken       ImageUse = "taken"
	ImageNone        ImageUse = "none"         // there was none
	ImageUnreadable  ImageUse = "unreadable"   // its file cannot be read, or not be removed
	ImageMalformed   ImageUse = "malformed"    // it is no image, or not all of one
	ImageUnsealed    ImageUse = "not sealed"   // this node did not write it
	ImageProgram     ImageUse = "program"      // another program wrote it
	ImageOtherLog    ImageUse = "log"          // it is of another log, or the log went on
	ImageLimits      ImageUse = "limits"       // others were in force
	ImageTrust       ImageUse = "trust"        // other keys were believed
	ImageDamagedLog  ImageUse = "damage"       // the log has damage
	ImageNotWanted   ImageUse = "not wanted"   // who observes wants to hear of each event
	ImageNotRecalled ImageUse = "not recalled" // who observes could do nothing with it
)

// imagePlace is where a journal's image is; the zero one is nowhere.
type imagePlace struct {
	fsys vfs.FS
	dir  string
}

func (p imagePlace) file() string { return filepath.Join(p.dir, imageName) }

// leave writes the image, or none: the log has all that is in it, and nobody waits
// for it when ctx has ended.
func (p imagePlace) leave(ctx context.Context, j *Journal) {
	if p.fsys == nil || ctx.Err() != nil || !j.well() {
		return
	}
	if image, err := j.image(); err == nil && len(image) <= maxImageBytes {
		vfs.WriteFile(p.fsys, p.file(), image)
	}
}

// take reads the image and removes it. One that cannot be removed is not taken. A crash
// may bring it back, which is bound to what the log was.
func (p imagePlace) take() ([]byte, ImageUse) {
	if p.fsys == nil {
		return nil, ImageNone
	}
	image, err := p.read()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ImageNone
	}
	if errors.Join(err, p.fsys.Remove(p.file())) != nil {
		return nil, ImageUnreadable
	}
	return image, ImageTaken
}

// read reads the image into one piece of memory.
func (p imagePlace) read() ([]byte, error) {
	switch info, err := p.fsys.Stat(p.file()); {
	case err != nil:
		return nil, err
	case !info.Mode.IsRegular(): // opening a pipe would wait for who writes into it
		return nil, errNoFile
	}
	f, err := p.fsys.Open(p.file(), os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	if size > maxImageBytes {
		return nil, fmt.Errorf("%d bytes, want at most %d", size, maxImageBytes)
	}
	image := make([]byte, size)
	_, err = io.ReadFull(io.NewSectionReader(f, 0, size), image)
	return image, err
}

// well reports whether an image can say all that the log does: nothing was lost, left
// out or given up, and nothing is under way.
func (j *Journal) well() bool {
	h := &j.health
	switch {
	case j.log.End() == 0, j.ended != nil, j.log.Err() != nil, len(j.log.Damage()) > 0, len(j.inflight)+len(j.dead) > 0,
		len(h.Damaged)+len(h.Suspects)+len(h.Unknown)+len(h.Forsaken) > 0, h.Newer+h.BadMACs > 0:
		return false
	}
	for why := range h.Refused {
		if why != RefusedUntrusted {
			return false
		}
	}
	for _, h := range j.heads {
		if h.whole < h.seq {
			return false
		}
	}
	for _, t := range j.tombs.order { // that it was let back shows by its events alone
		if t.returned && j.heads[t.stream] == nil && j.withheld[t.stream] == nil {
			return false
		}
	}
	for _, l := range j.lives.byStream { // which of its events count depends on when that was found
		if l.second {
			return false
		}
	}
	return true
}

// image is that of now.
func (j *Journal) image() ([]byte, error) {
	bound, err := j.binding()
	if err != nil {
		return nil, err
	}
	state, err := j.state.AppendImage(nil)
	if err != nil {
		return nil, err
	}
	var kept []byte
	if j.cfg.Keep != nil {
		kept = j.cfg.Keep(View{j})
	}
	c := pack.NewWriter([]byte(imageMagic))
	c.Part(bound.pack)
	c.Part(newParts(j).pack)
	c.Bytes(&state)
	c.Bytes(&kept)
	if err := c.Err(); err != nil {
		return nil, err
	}
	return j.imageSum(c.Written(), c.Written()), nil
}

// imageSum appends the digest of an image to dst.
func (j *Journal) imageSum(dst, image []byte) []byte {
	mac := hmac.New(sha256.New, j.cfg.Key.DeriveMAC(imageLabel(j.cfg.Repo)))
	mac.Write(image)
	return mac.Sum(dst)
}

func imageLabel(repo ident.RepositoryID) string { return "journal-image/v1\n" + string(repo) }

// An opened image is one whose pieces were told apart, and nothing more: they share
// its memory.
type openedImage struct {
	all, digest        []byte
	bound              binding
	parts, state, kept []byte
}

func openImage(image []byte) (o openedImage, err error) {
	if len(image) < len(imageMagic)+sha256.Size || string(image[:len(imageMagic)]) != imageMagic {
		return o, pack.ErrMalformed
	}
	o.all, o.digest = image[:len(image)-sha256.Size], image[len(image)-sha256.Size:]
	c := pack.NewReader(o.all[len(imageMagic):])
	bound := pack.NewReader(c.Part(nil))
	o.parts, o.state, o.kept = c.Part(nil), c.Part(nil), c.Part(nil)
	o.bound.pack(bound)
	return o, errors.Join(c.End(), bound.End())
}

// sealed reports whether this node wrote an image.
func (j *Journal) sealed(o openedImage) bool {
	return hmac.Equal(j.imageSum(nil, o.all), o.digest)
}

// recall makes j, which is new, of the image that lies beside its log. When that
// cannot be, it says why; j may be half made then. The error is ctx's.
func (j *Journal) recall(ctx context.Context) (ImageUse, error) {
	image, use := j.place.take()
	if use != ImageTaken {
		return use, nil
	}
	opened, err := openImage(image)
	switch {
	case err != nil:
		return ImageMalformed, nil
	case j.cfg.Observe != nil && j.cfg.Recall == nil:
		return ImageNotWanted, nil
	}
	if use := j.differs(&opened.bound); use != ImageTaken {
		if b := &opened.bound; use == ImageOtherLog && b.incarnation == j.inc && b.end > j.log.End() && j.sealed(opened) {
			j.health.Shortened = b.end - j.log.End()
		}
		return use, nil
	}
	r := recalling{j: j, image: opened}
	if use, err := r.all(ctx); use != ImageTaken {
		return use, err
	}
	r.parts.install(j)
	j.state, j.health.Records = r.state, r.records
	if j.cfg.Recall != nil && j.cfg.Recall(View{j}, opened.kept) != nil {
		return ImageNotRecalled, nil
	}
	return ImageTaken, nil
}

// ballast is memory that nobody touches, about as much as the state of an image will
// take. While it is held the collector does not run again and again as the state is
// made, which takes half as long as all else.
func ballast(image int) *strings.Builder {
	b := new(strings.Builder) // it is not cleared
	b.Grow(2 * image)
	return b
}

// recalling reads an image while the log is read for damage.
type recalling struct {
	j     *Journal
	image openedImage

	parts   *parts
	state   *fold.State
	records map[RecordType]uint64

	badParts, badState, badLog error
}

// all reads the image, once its seal is known to be good, and the log beside it.
func (r *recalling) all(ctx context.Context) (ImageUse, error) {
	var under sync.WaitGroup
	under.Go(func() { r.badLog = r.walk(ctx) })
	sealed := r.j.sealed(r.image)
	if sealed {
		defer runtime.KeepAlive(ballast(len(r.image.all)))
		under.Go(func() { r.parts, r.badParts = readParts(r.image.parts) })
		r.state, r.badState = fold.Restore(r.image.state)
	}
	under.Wait()
	switch {
	case ctx.Err() != nil:
		return ImageNone, ctx.Err()
	case r.badLog != nil || len(r.j.log.Damage()) > 0:
		return ImageDamagedLog, nil
	case !sealed:
		return ImageUnsealed, nil
	case r.badParts != nil || r.badState != nil:
		return ImageMalformed, nil
	case r.records[RecordEvent] != r.parts.events():
		return ImageOtherLog, nil
	}
	return ImageTaken, nil
}

// walk reads every byte of the log, as each start does, so that damage is found when
// it is young. It counts the records by type.
func (r *recalling) walk(ctx context.Context) error {
	var found [256]uint64
	for rec, err := range r.j.log.Scan(1) {
		switch {
		case err != nil:
			return err
		case rec.Index%1024 == 0 && ctx.Err() != nil:
			return ctx.Err()
		case len(rec.Data) < recordHeader:
			return errShortRecord
		}
		found[rec.Data[0]]++
	}
	r.records = map[RecordType]uint64{}
	for t, n := range found {
		if n > 0 {
			r.records[RecordType(t)] = n
		}
	}
	return nil
}
