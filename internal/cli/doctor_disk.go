package cli

import (
	"fmt"
	"path/filepath"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/home"
	"github.com/comity-dev/comity/internal/seglog"
	"github.com/comity-dev/comity/internal/vfs"
)

// checkDisk reads every journal of this user from disk, beside whoever may write
// it. What could not be read is a failure and never "no journal".
func checkDisk(h home.Home) []api.Check {
	dirs, err := repositories(h)
	if err != nil {
		return []api.Check{fails("journals", "could not be listed: "+err.Error(), "what they hold is not known", "make the state folder readable for you")}
	}
	if len(dirs) == 0 {
		return []api.Check{well("journals", "none on disk yet")}
	}
	checks := make([]api.Check, len(dirs))
	for i, dir := range dirs {
		checks[i] = checkJournal(dir)
	}
	return checks
}

func checkJournal(repository string) api.Check {
	name := fmt.Sprintf("journal %.8s", filepath.Base(repository))
	const unknown = "what it holds is not known"
	dir, err := journalIn(repository)
	if err != nil {
		return warns(name, err.Error(), unknown, "")
	}
	r, rep, err := seglog.OpenReadOnly(vfs.OS(), dir)
	if err != nil {
		return fails(name, "could not be read: "+err.Error(), unknown, "keep the folder "+dir+" as it is; comity log dump "+dir+" shows more")
	}
	defer r.Close()
	places, err := r.Verify() // opening alone reads no more than the end
	if err != nil {
		return fails(name, "could not be read to its end: "+err.Error(), unknown, "keep the folder "+dir+" as it is; comity log dump "+dir+" shows more")
	}
	if len(places) > 0 {
		return fails(name, fmt.Sprintf("%s: %s", count(len(places), "damaged place"), damage(places)),
			"the records named are lost here; all others are read as before",
			"keep the folder "+dir+"; peers that hold the records give them back, and comity log dump "+dir+" shows the place")
	}
	detail := fmt.Sprintf("%s, %d to %d", count(int(rep.Records), "record"), rep.FirstIndex, rep.EndIndex)
	if rep.Tail.DroppedBytes > 0 {
		detail += fmt.Sprintf("; a crash left %d bytes that nobody was told were written", rep.Tail.DroppedBytes)
	}
	return well(name, "%s", detail)
}

func damage(places []seglog.Damage) string {
	d := places[0]
	text := fmt.Sprintf("%s at byte %d, %d bytes: %s", d.Segment, d.Offset, d.Length, d.Reason)
	if d.LastIndex > 0 {
		text += fmt.Sprintf(" (records %d to %d)", d.FirstIndex, d.LastIndex)
	}
	if len(places) > 1 {
		text += fmt.Sprintf(", and %d more", len(places)-1)
	}
	return text
}
