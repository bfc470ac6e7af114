package node

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/comity-dev/comity/api"
	"github.com/comity-dev/comity/internal/clock"
	"github.com/comity-dev/comity/internal/vfs/vfstest"
)

// A daemon that nobody needs ends after its idle time; a request under way and an
// open session keep it.
func TestTheDaemonEndsOnceNobodyNeedsIt(t *testing.T) {
	top := newRepo(t)
	synctest.Test(t, func(t *testing.T) {
		n := newTestNode(t, clock.InBubble("boot"), vfstest.New())
		hold := make(chan struct{})
		asked := n.activity.count(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hold }), n.clock)
		ended := make(chan time.Duration, 1)
		go func() {
			n.awaitIdle(t.Context())
			ended <- n.clock.Boot()
		}()
		stays := func(why string) {
			t.Helper()
			time.Sleep(3 * DefaultIdle)
			synctest.Wait()
			select {
			case <-ended:
				t.Fatalf("the daemon ended with %s", why)
			default:
			}
		}
		go asked.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/v1/watch", nil))
		stays("an open request")
		openSession(t, n, top, "ada")
		hold <- struct{}{}
		stays("an open session")
		mustCall[api.SessionCloseReply](t, n, nobody, api.OpSessionClose, api.SessionCloseRequest{Where: api.Where{Dir: top, Session: "ada"}})
		go asked.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/v1/version", nil))
		hold <- struct{}{}
		synctest.Wait()
		last := n.clock.Boot()
		if idle := <-ended - last; idle < DefaultIdle || idle > DefaultIdle+DefaultIdle/10 {
			t.Errorf("the daemon ended %v after the last request, want %v or little more", idle, DefaultIdle)
		}
		n.rooms.stop()
	})
}
