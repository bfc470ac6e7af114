package scope

import "testing"

// What is removed leaves nothing behind, however often claims come and go.
func TestAnEmptyIndexHoldsNothing(t *testing.T) {
	var x Index[int]
	for i, stored := range []string{"path:a/b", "dir:a/c", "dir:.", "glob:a/**/x/*.go", "glob:**/x/*", "glob:*", "res:port/1", "glob:{a,b}/*/c/?"} {
		e, err := Parse(stored)
		if err != nil {
			t.Fatal(err)
		}
		x.Add(i, Set{e}.Plan())
		x.Add(i+100, Set{e}.Plan())
	}
	for i := range 200 {
		x.Remove(i)
	}
	r := &x.root
	if n := len(x.rows) + len(x.resources) + len(r.below) + len(r.paths) + len(r.dirs) + len(r.globs) + len(r.anchored); n != 0 {
		t.Errorf("an emptied index holds %d things: %+v", n, x)
	}
}
