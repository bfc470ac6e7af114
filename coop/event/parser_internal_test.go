package event

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/comity-dev/comity/coop/ident"
)

// A parser knows as good as all streams of a room of usual size, and of more than it has
// room for none that is another's.
func TestAParserKnowsTheStreamsThatTakeTurns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, streams := range []int{1, 64, 1000} {
		var of Parser
		var all []Event
		for range streams {
			s := ident.Stream(fmt.Sprintf("%016x%016x-%016x-%016x", r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()))
			all = append(all, Event{Repo: "repo", Stream: s, PK: "key of " + string(s)})
		}
		known := 0
		for range 2 {
			known = 0
			for _, e := range all {
				env := envelope{repo: quote(e.Repo), stream: quote(e.Stream), pk: quote(e.PK)}
				switch o := of.known(&env); {
				case o == nil:
					of.keep(&e)
				case o.stream != e.Stream || o.pk != e.PK:
					t.Fatalf("%s is taken for %s", e.Stream, o.stream)
				default:
					known++
				}
				env.pk = quote("another key")
				if of.known(&env) != nil {
					t.Fatalf("%s is known by another key", e.Stream)
				}
			}
		}
		if streams <= 64 && known < streams*9/10 {
			t.Errorf("of %d streams that take turns %d are known", streams, known)
		}
	}
}

func quote[S ~string](s S) []byte { return []byte(`"` + string(s) + `"`) }
