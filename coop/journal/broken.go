package journal

// Broken is why nothing can be written until the journal is opened again, nil
// while it can. It is Health's ReadOnly without the rest, for who asks often.
func (j *Journal) Broken() error {
	j.lock()
	defer j.unlock()
	if j.ended != nil {
		return j.ended
	}
	return j.log.Err()
}
