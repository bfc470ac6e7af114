package fold

// Form is the input of the digest of everything.
func (s *State) Form() []byte { return s.form() }
