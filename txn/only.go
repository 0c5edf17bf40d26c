package txn

// Only returns what the writes at the positions from first up to, not including, end had to say, as the cancellation of
// a transaction of their own, positions included; nil if they said nothing. Whoever commits the parts of several callers together
// gives each its own outcome with it. Err is left out: it holds the stored items of all.
func (e *CanceledError) Only(first, end int) *CanceledError {
	only := &CanceledError{Unsettled: e.Unsettled}
	for _, reason := range e.Reasons {
		if reason.Position >= first && reason.Position < end {
			reason.Position -= first
			only.add(reason)
		}
	}
	if len(only.Reasons) == 0 {
		return nil
	}
	return only
}
