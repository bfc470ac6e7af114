package journal

import "fmt"

// A Family is what a record is to a journal. Its number is stored in every
// frame and never used for anything else.
type Family uint8

// The families. All others are refused, on writing and on reading.
const (
	FamilyEvent        Family = 1 // EventRecord
	FamilyCommand      Family = 2 // CommandRecord
	FamilyFence        Family = 3 // FenceRecord
	FamilyGatePrepared Family = 4 // GatePreparedRecord
	FamilyApplication  Family = 5 // CommandApplicationRecord
	FamilyDisposition  Family = 6 // CommandDispositionRecord
	FamilyOpaque       Family = 7 // OpaqueRecord
)

var familyNames = [...]string{
	FamilyEvent:        "event",
	FamilyCommand:      "command",
	FamilyFence:        "fence",
	FamilyGatePrepared: "gate-prepared",
	FamilyApplication:  "application",
	FamilyDisposition:  "disposition",
	FamilyOpaque:       "opaque",
}

func (f Family) String() string {
	if f.known() {
		return familyNames[f]
	}
	return fmt.Sprintf("family %d", uint8(f))
}

func (f Family) known() bool { return f >= FamilyEvent && f <= FamilyOpaque }
