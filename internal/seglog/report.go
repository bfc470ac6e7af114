package seglog

// A Report says what opening found.
type Report struct {
	Records    uint64 // that are there
	FirstIndex uint64 // as Log.First
	EndIndex   uint64 // as Log.End
	Segments   int
	Created    bool // the log was new
	Clean      bool // the log was new or had been closed: nothing was recovered
	// Recovered counts the records of the tail that were complete and that
	// recovery made durable, though nobody may have been told so before.
	Recovered uint64

	Tail   TailReport
	Damage []Damage
}

// A TailReport counts what a crash left incomplete. None of it was ever
// acknowledged.
type TailReport struct {
	DroppedBatches int
	DroppedBytes   int64
}

// Damage is a place that was synced once and cannot be read back. The records
// before and behind it are not touched by it.
type Damage struct {
	Segment        string // name of the file in the folder of the log
	Offset, Length int64
	// FirstIndex and LastIndex enclose the records that are lost; both are 0
	// when none is, or when it cannot be told. In a segment that Rewrite wrote
	// some of them may have been dropped before.
	FirstIndex, LastIndex uint64
	Reason                string
}

// same reports whether two reports are of one place.
func (d Damage) same(e Damage) bool {
	return d.Segment == e.Segment && d.Offset == e.Offset && d.Length == e.Length &&
		d.FirstIndex == e.FirstIndex && d.LastIndex == e.LastIndex
}

// addDamage appends those of more that are not in list yet.
func addDamage(list []Damage, more ...Damage) []Damage {
next:
	for _, d := range more {
		for _, have := range list {
			if have.same(d) {
				continue next
			}
		}
		list = append(list, d)
	}
	return list
}
