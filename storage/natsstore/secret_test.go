package natsstore_test

import (
	"strings"
	"testing"
	"time"

	"github.com/comity-dev/comity/storage/natsstore"
)

// What a URL has besides the server is a credential, and an error may end in a log.
func TestErrorsHoldNoCredentials(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"nats://ada:hunter2@127.0.0.1:1", "nats://hunter2@127.0.0.1:1", "nats://ada:hunter2@127.0.0.1:port", "nats://ada:hunter2@127.0.0.1:1,nats://ada:hunter2@[::1",
		"nats://ada:hunter2@127.0.0.1:99999", "nats://ada:hunter2@%zz:1", "nats://ada:hun%zzhunter2@127.0.0.1:1", "ada:hunter2@127.0.0.1:port", "://ada:hunter2@127.0.0.1",
		"nats://ada:hunter2\x7f@127.0.0.1:1", "nats://ada:hunter2/x@127.0.0.1:1", "nats://ada:hunter2@127.0.0.1:1,ws://ada:hunter2@127.0.0.1:1",
	} {
		_, err := natsstore.Open(t.Context(), url, &natsstore.Options{Timeout: 200 * time.Millisecond})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Open(%q) = %v, want an error without the password", url, err)
		}
	}
}
