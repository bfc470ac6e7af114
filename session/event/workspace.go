package event

// WorkspaceCheckpointed says that the state of the workspace was saved.
type WorkspaceCheckpointed struct {
	Base       string `json:"base,omitzero"` // commit that was checked out; 40 or 64 hexadecimal digits
	Checkpoint ID     `json:"checkpoint"`
	Note       string `json:"note,omitzero"` // at most MaxText bytes
	// Ref is where the saved state is, in the words of what saved it: a commit, a
	// tree, a key. 1 to MaxName bytes.
	Ref string `json:"ref"`
}

// WorkspaceRestored says that the workspace was set back to a checkpoint.
type WorkspaceRestored struct {
	Checkpoint ID     `json:"checkpoint"`
	Note       string `json:"note,omitzero"` // at most MaxText bytes
}

// RestoreStarted says that a new owner of the session takes it up where the
// journal ends.
type RestoreStarted struct {
	Epoch uint64 `json:"epoch"` // of the lease, from 1
	Tip   uint64 `json:"tip"`   // last sequence that was there before the new owner's fence
}

// RestoreDone says that the session goes on: the restore took effect.
type RestoreDone struct {
	Checkpoint ID `json:"checkpoint,omitzero"` // to which the workspace was set back
	// Gates, Turns and Delegates count what was open and was ended by the restore.
	Delegates uint64 `json:"delegates,omitzero"`
	Gates     uint64 `json:"gates,omitzero"`
	Turns     uint64 `json:"turns,omitzero"`
}

// RestoreFailed says that a restore did not take effect.
type RestoreFailed struct {
	Error string `json:"error"` // 1 to MaxError bytes
}
