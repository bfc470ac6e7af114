package journal

// A StartPos is where a replay starts: Beginning, or FromSeq. The zero value is
// Beginning.
type StartPos struct{ seq uint64 }

// Beginning starts with the first record.
func Beginning() StartPos { return StartPos{} }

// FromSeq starts with record seq, the first being 1. 0 is Beginning.
func FromSeq(seq uint64) StartPos { return StartPos{seq} }

// Seq returns what FromSeq was given, 0 for Beginning.
func (p StartPos) Seq() uint64 { return p.seq }
