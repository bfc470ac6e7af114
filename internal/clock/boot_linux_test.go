package clock

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestBootTimeIsTheKernels(t *testing.T) {
	b, err := os.ReadFile("/proc/uptime")
	if err != nil {
		t.Skip(err)
	}
	secs, err := strconv.ParseFloat(strings.Fields(string(b))[0], 64)
	if err != nil {
		t.Fatal(err)
	}
	if d := sinceBoot() - time.Duration(secs*1e9); d < -20*time.Millisecond || d > time.Minute {
		t.Errorf("sinceBoot() is %v away from /proc/uptime", d)
	}
}

func TestBootIDNamesTheTimeNamespace(t *testing.T) {
	for _, tt := range []struct{ offsets, want string }{
		{"", "id"},
		{"monotonic           0         0\nboottime            0         0\n", "id"},
		{"monotonic          86         7\nboottime            0         0\n", "id"},
		{"monotonic           0         0\nboottime        -3600       500\n", "id+-3600.500"},
		{"monotonic           0         0\nboottime            0         1", "id+0.1"},
		{"boottime\n", "id"},
	} {
		if got := withOffset("id", tt.offsets); got != tt.want {
			t.Errorf("withOffset(id, %q) = %q, want %q", tt.offsets, got, tt.want)
		}
	}
}
