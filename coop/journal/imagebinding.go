package journal

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/comity-dev/comity/coop/ident"
	"github.com/comity-dev/comity/internal/pack"
)

// A binding is what has to be the same for an image to say what the log says: who
// wrote it, of which log, and all beside the log that the state depends on.
type binding struct {
	program     string
	repo        string
	incarnation string
	limits      string
	end         uint64            // of the log
	last        [sha256.Size]byte // the digest of the record there
	believed    []ident.NodeID    // of those that the image names
	strangers   []ident.NodeID    // the others of them
}

func (b *binding) pack(c *pack.Coder) {
	pack.String(c, &b.program)
	pack.String(c, &b.repo)
	pack.String(c, &b.incarnation)
	pack.String(c, &b.limits)
	pack.Uint(c, &b.end)
	c.Fixed(b.last[:])
	nodes := func(list *[]ident.NodeID) {
		pack.List(c, list, func(n *ident.NodeID) { pack.String(c, n) })
	}
	nodes(&b.believed)
	nodes(&b.strangers)
}

var errNoProgram = errors.New("nothing tells this program from another")

// binding is that of now. The error says that there can be no image.
func (j *Journal) binding() (*binding, error) {
	b := &binding{program: j.program, repo: string(j.cfg.Repo), incarnation: j.inc, limits: fmt.Sprintf("%+v", j.cfg.Limits), end: j.log.End()}
	if b.program == "" {
		return nil, errNoProgram
	}
	rec, err := j.log.Read(b.end)
	if err != nil {
		return nil, err
	}
	if len(rec.Data) < recordHeader {
		return nil, errShortRecord
	}
	copy(b.last[:], rec.Data[2:])
	b.believed, b.strangers = j.sides()
	return b, nil
}

// sides are the nodes that an image names, by whether they are believed, but for those
// of dropped streams: what is remembered of these is the same either way. One whose
// trust changed behind the journal's back is among both, and the image is not taken.
func (j *Journal) sides() (believed, strangers []ident.NodeID) {
	yes, no := map[ident.NodeID]bool{}, map[ident.NodeID]bool{}
	for s := range j.heads {
		yes[s.Node()] = true
	}
	for s := range j.lives.byStream {
		yes[s.Node()] = true
	}
	for s := range j.withheld {
		no[s.Node()] = true
	}
	for s := range j.aside {
		no[s.Node()] = true
	}
	return slices.Sorted(maps.Keys(yes)), slices.Sorted(maps.Keys(no))
}

// differs tells what the binding of an image has otherwise than it is now;
// ImageTaken when it has nothing.
func (j *Journal) differs(b *binding) ImageUse {
	if b.program == "" || b.program != j.program {
		return ImageProgram
	}
	now, err := j.binding()
	switch {
	case len(j.log.Damage()) > 0:
		return ImageDamagedLog
	case err != nil || b.repo != now.repo || b.incarnation != now.incarnation || b.end != now.end || b.last != now.last:
		return ImageOtherLog
	case b.limits != now.limits:
		return ImageLimits
	case slices.ContainsFunc(b.strangers, j.believed) || slices.ContainsFunc(b.believed, func(n ident.NodeID) bool { return !j.believed(n) }):
		return ImageTrust
	}
	return ImageTaken
}
