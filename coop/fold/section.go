package fold

import (
	"reflect"

	"github.com/comity-dev/comity/internal/pack"
)

// A table numbers the objects of one type: in the order in which they are first
// named when an image is written, and so that a number can be followed before the
// object is read when it is.
type table[T any] struct {
	numbers map[*T]uint32 // when writing
	all     []*T
}

func newTable[T any]() *table[T] { return &table[T]{numbers: map[*T]uint32{}} }

// of is the number of an object, from 1; a new one when it has none.
func (t *table[T]) of(p *T) uint32 {
	n := t.numbers[p]
	if n == 0 {
		t.all = append(t.all, p)
		n = uint32(len(t.all))
		t.numbers[p] = n
	}
	return n
}

// at is the object of a number, nil when there is none.
func (t *table[T]) at(n uint64) *T {
	if n == 0 || n > uint64(len(t.all)) {
		return nil
	}
	return t.all[n-1]
}

// rowBytes are of objects that are read and lie together, and stay while one of them
// is in use: what fills a piece of memory of a size that there is.
const rowBytes = 8<<10 - 8

// makeRoom makes n objects.
func (t *table[T]) makeRoom(n int) {
	t.all = make([]*T, 0, n)
	most := max(1, rowBytes/int(reflect.TypeFor[T]().Size()))
	for len(t.all) < n {
		row := make([]T, min(n-len(t.all), most))
		for i := range row {
			t.all = append(t.all, &row[i])
		}
	}
}

// A section is all objects of one type in an image.
type section struct {
	name    string
	written int    // objects
	held    uint64 // objects to be read
	out     *pack.Coder
	in      []byte
	err     error

	write func() bool // those that have no place yet; reports whether there were any
	room  func()      // for those that are to be read
	read  func()
}

// sectionOf describes the objects of a table. describe returns the description of
// them, which may remember one for the next.
func sectionOf[T any](name string, t *table[T], describe func(*pack.Coder) func(*T)) *section {
	one := &section{name: name, out: pack.NewWriter(nil)}
	each := describe(one.out)
	one.write = func() bool {
		from := one.written
		for ; one.written < len(t.all); one.written++ {
			each(t.all[one.written])
		}
		return one.written > from
	}
	one.room = func() { t.makeRoom(int(one.held)) }
	one.read = func() {
		c := pack.NewReader(one.in)
		each := describe(c)
		for _, p := range t.all {
			each(p)
		}
		one.err = c.End()
	}
	return one
}

// maybe is a reference to an object of a table, or to none; sure is one to an
// object.
func maybe[T any](c *pack.Coder, t *table[T], p **T) {
	var n uint64
	if !c.Reading() && *p != nil {
		n = uint64(t.of(*p))
	}
	pack.Uint(c, &n)
	if !c.Reading() {
		return
	}
	if *p = t.at(n); *p == nil && n > 0 {
		c.Fail()
	}
}

func sure[T any](c *pack.Coder, t *table[T], p **T) {
	if maybe(c, t, p); *p == nil {
		c.Fail()
	}
}

// many are references to objects of a table.
func many[T any](c *pack.Coder, t *table[T], list *[]*T) {
	pack.List(c, list, func(p **T) { sure(c, t, p) })
}

// several are those of a list that mostly has one.
func several[T any](c *pack.Coder, t *table[T], list *few[T]) {
	all := list.all()
	n := c.Len(len(all))
	switch {
	case !c.Reading():
		for i := range all {
			sure(c, t, &all[i])
		}
	case n == 1:
		sure(c, t, &list.one[0])
	case n > 1:
		all = make([]*T, n)
		for i := range all {
			sure(c, t, &all[i])
		}
		list.more = &all
	}
}

// lists are many short lists of references: those that are read lie together.
type lists[T any] struct {
	*table[T]
	block []*T
}

// listBlock is how many references lie together, and stay while a list is in use.
const listBlock = 64

func (l *lists[T]) many(c *pack.Coder, list *[]*T) {
	n := c.Len(len(*list))
	if c.Reading() {
		if n == 0 {
			return
		}
		if n > len(l.block) {
			l.block = make([]*T, max(n, listBlock))
		}
		*list, l.block = l.block[:n:n], l.block[n:]
	}
	for i := range *list {
		sure(c, l.table, &(*list)[i])
	}
}
