package sim

import (
	"container/heap"
	"time"
)

// A queue is what is going to happen, nearest first.
type queue struct {
	due  dues
	made uint64
}

type due struct {
	at  time.Duration // true time
	age uint64
	do  func()
}

type dues []due

func (d dues) Len() int { return len(d) }
func (d dues) Less(i, j int) bool {
	return d[i].at < d[j].at || d[i].at == d[j].at && d[i].age < d[j].age
}
func (d dues) Swap(i, j int) { d[i], d[j] = d[j], d[i] }
func (d *dues) Push(x any)   { *d = append(*d, x.(due)) }
func (d *dues) Pop() any {
	old := *d
	x := old[len(old)-1]
	*d = old[:len(old)-1]
	return x
}

func (q *queue) put(at time.Duration, do func()) {
	q.made++
	heap.Push(&q.due, due{at, q.made, do})
}

// next takes what is due until then; false when nothing is.
func (q *queue) next(until time.Duration) (due, bool) {
	if len(q.due) == 0 || q.due[0].at > until {
		return due{}, false
	}
	return heap.Pop(&q.due).(due), true
}
