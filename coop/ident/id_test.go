package ident_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/comity-dev/comity/coop/ident"
)

const (
	node     = "0123456789abcdef0123456789abcdef"
	rt       = "00112233445566aa"
	instance = "ffeeddccbbaa9988"
)

func TestStreamHasOneSpelling(t *testing.T) {
	good := node + "-" + rt + "-" + instance
	s, err := ident.ParseStream(good)
	if err != nil || string(s) != good || len(good) != 66 {
		t.Fatalf("ParseStream(%q) = %q, %v", good, s, err)
	}
	if got := ident.NewStream(node, rt, instance); got != s {
		t.Errorf("NewStream = %q, want %q", got, s)
	}
	if s.Node() != node || s.RuntimeID() != rt || s.Instance() != instance {
		t.Errorf("parts %q %q %q", s.Node(), s.RuntimeID(), s.Instance())
	}
	if got, want := s.Runtime().String(), node+"-"+rt; got != want {
		t.Errorf("Runtime = %q, want %q", got, want)
	}
	for _, bad := range []string{
		"", "-", good[:65], good + "0", " " + good[1:], strings.ToUpper(good), strings.Replace(good, "a", "A", 1),
		strings.Replace(good, "-", "_", 1), strings.Replace(good, "a", "g", 1), strings.Replace(good, "0", "+", 1),
		node + rt + "--" + instance, node[:31] + "-" + rt + "0-" + instance, strings.Repeat("é", 33),
	} {
		if _, err := ident.ParseStream(bad); err == nil {
			t.Errorf("ParseStream(%q) succeeded", bad)
		}
		b := ident.Stream(bad)
		if b.Valid() || b.Node() != "" || b.RuntimeID() != "" || b.Instance() != "" || b.Runtime() != (ident.Runtime{}) {
			t.Errorf("malformed stream %q has parts", bad)
		}
	}
}

func TestRuntimeHasOneSpelling(t *testing.T) {
	good := node + "-" + rt
	r, err := ident.ParseRuntime(good)
	if err != nil || r.String() != good || !r.Valid() {
		t.Fatalf("ParseRuntime(%q) = %v, %v", good, r, err)
	}
	for _, bad := range []string{"", good[1:], good + "0", strings.ToUpper(good), node + rt + "-", node[:31] + "-" + rt + "0"} {
		if _, err := ident.ParseRuntime(bad); err == nil {
			t.Errorf("ParseRuntime(%q) succeeded", bad)
		}
	}
}

func TestSessionHasOneSpelling(t *testing.T) {
	for _, sid := range []string{"a", "s-0123456789ab", "A.b_c:d#e-9", strings.Repeat("x", 64)} {
		text := node + "-" + rt + "/" + sid
		s, err := ident.ParseSessionID(text)
		if err != nil || s.String() != text || s.SID != sid {
			t.Errorf("ParseSessionID(%q) = %v, %v", text, s, err)
		}
	}
	for _, sid := range []string{"", strings.Repeat("x", 65), "a b", "a/b", "é", "a\n", "a\x00"} {
		if err := ident.ValidSID(sid); err == nil {
			t.Errorf("ValidSID(%q) = nil", sid)
		}
		if _, err := ident.ParseSessionID(node + "-" + rt + "/" + sid); err == nil {
			t.Errorf("ParseSessionID with sid %q succeeded", sid)
		}
	}
	for _, bad := range []string{"", "/", "a", node + "-" + rt, strings.ToUpper(node) + "-" + rt + "/a", node + "/a"} {
		if _, err := ident.ParseSessionID(bad); err == nil {
			t.Errorf("ParseSessionID(%q) succeeded", bad)
		}
	}
}

func TestRandomNamesAreValidAndDiffer(t *testing.T) {
	if a, b := ident.NewInstance(), ident.NewInstance(); a == b || !a.Valid() {
		t.Errorf("instances %q and %q", a, b)
	}
	if a, b := ident.NewRecord(), ident.NewRecord(); a == b || !ident.IsHex(a, 32) {
		t.Errorf("records %q and %q", a, b)
	}
	a, b := ident.NewSID(), ident.NewSID()
	if a == b || !strings.HasPrefix(a, "s-") || !ident.IsHex(a[2:], 12) || ident.ValidSID(a) != nil {
		t.Errorf("sids %q and %q", a, b)
	}
}

func TestRepositoryIDs(t *testing.T) {
	sha1, sha256 := strings.Repeat("ab", 20), strings.Repeat("ab", 32)
	root, err := ident.RepositoryFromRoot(sha1)
	if err != nil || !root.Valid() {
		t.Fatalf("RepositoryFromRoot = %q, %v", root, err)
	}
	declared, err := ident.RepositoryDeclared(sha1)
	if err != nil || declared == root {
		t.Errorf("declared by the root's own text = %q, %v; want another id than %q", declared, err, root)
	}
	if long, err := ident.RepositoryFromRoot(sha256); err != nil || long == root {
		t.Errorf("root of 64 digits = %q, %v", long, err)
	}
	for _, bad := range []string{"", sha1[1:], strings.ToUpper(sha1), sha256 + "00", "g" + sha1[1:]} {
		if _, err := ident.RepositoryFromRoot(bad); err == nil {
			t.Errorf("RepositoryFromRoot(%q) succeeded", bad)
		}
	}
	for _, n := range []int{1, 128} {
		if _, err := ident.RepositoryDeclared(strings.Repeat("x", n)); err != nil {
			t.Errorf("declared, %d bytes: %v", n, err)
		}
	}
	for _, n := range []int{0, 129} {
		if _, err := ident.RepositoryDeclared(strings.Repeat("x", n)); err == nil {
			t.Errorf("declared, %d bytes, succeeded", n)
		}
	}
}

func TestOrders(t *testing.T) {
	a := ident.Runtime{Node: node, ID: rt}
	b := ident.Runtime{Node: node, ID: "ff112233445566aa"}
	if a.Compare(b) != -1 || b.Compare(a) != 1 || a.Compare(a) != 0 {
		t.Error("runtimes are not ordered by id")
	}
	x, y := ident.SessionID{Runtime: a, SID: "z"}, ident.SessionID{Runtime: b, SID: "a"}
	if x.Compare(y) != -1 || y.Compare(x) != 1 || x.Compare(x) != 0 {
		t.Error("sessions are not ordered by runtime first")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(node + "-" + rt + "-" + instance)
	f.Add(node + "-" + rt + "/s-1")
	f.Add(node + "-" + rt)
	f.Fuzz(func(t *testing.T, s string) {
		if st, err := ident.ParseStream(s); err == nil {
			if back := ident.NewStream(st.Node(), st.RuntimeID(), st.Instance()); string(back) != s {
				t.Errorf("stream %q prints %q", s, back)
			}
		}
		if r, err := ident.ParseRuntime(s); err == nil && r.String() != s {
			t.Errorf("runtime %q prints %q", s, r)
		}
		if id, err := ident.ParseSessionID(s); err == nil && id.String() != s {
			t.Errorf("session %q prints %q", s, id)
		}
		if r := ident.Stream(s).Runtime(); r != (ident.Runtime{}) && !r.Valid() {
			t.Errorf("stream %q has the runtime %v", s, r)
		}
	})
}

func TestHexIsLowercaseDigitsOnly(t *testing.T) {
	for c := range 256 {
		s := string([]byte{'0', byte(c)})
		want := strings.IndexByte("0123456789abcdef", byte(c))
		if got := ident.IsHex(s, 2); got != (want >= 0) {
			t.Errorf("IsHex(%q) = %v", s, got)
		}
		var dst [1]byte
		if got := ident.Unhex(dst[:], s); got != (want >= 0) || got && int(dst[0]) != want {
			t.Errorf("Unhex(%q) = %v, %d", s, got, dst[0])
		}
	}
	if ident.Unhex(make([]byte, 1), "000") || ident.Unhex(make([]byte, 1), "0") || !ident.Unhex(nil, "") {
		t.Error("Unhex takes another length than it fills")
	}
}

// Eight digits are looked at at once: each byte counts in each place, alone.
func TestHexInEachPlace(t *testing.T) {
	const good = "0123456789abcdef9f"
	for at := range len(good) {
		for c := range 256 {
			b := []byte(good)
			b[at] = byte(c)
			value, err := hex.DecodeString(string(b))
			want := err == nil && !('A' <= c && c <= 'F')
			if got := ident.IsHex(b, len(b)); got != want {
				t.Errorf("IsHex(%q) = %v", b, got)
			}
			got := make([]byte, len(b)/2)
			if ok := ident.Unhex(got, b); ok != want || ok && !bytes.Equal(got, value) {
				t.Errorf("Unhex(%q) = %v, %x", b, ok, got)
			}
		}
	}
}
