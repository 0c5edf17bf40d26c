package observe

// Outcome is how an operation ended. The set is closed, and an operation has exactly one of it.
type Outcome string

// The outcomes, from the best to the worst.
const (
	// OK: done, or read.
	OK Outcome = "ok"
	// Recovered: done by an attempt whose answer was lost; a later attempt proved it.
	Recovered Outcome = "recovered"
	// Replayed: the same command or event was done before. Nothing was changed, the caller has the stored result.
	Replayed Outcome = "replayed"
	// Deferred: kept durably for later, as an event behind a gap is.
	Deferred Outcome = "deferred"
	// NotFound: there is no such record.
	NotFound Outcome = "not_found"
	// Stale: somebody else was faster, and nothing was changed. Expected where workers meet.
	Stale Outcome = "stale"
	// Rejected: a rule of the business did not hold, and nothing was changed: a name is taken, funds are short.
	Rejected Outcome = "rejected"
	// Abandoned: the caller's context ended first, and nothing is known to have been changed.
	Abandoned Outcome = "abandoned"
	// Busy: conflicts or throttling outlived the retries. Nothing was changed.
	Busy Outcome = "busy"
	// Ambiguous: nobody knows whether it was done. A repeat finds out.
	Ambiguous Outcome = "ambiguous"
	// Invalid: the call or its configuration breaks a rule. Nothing was sent.
	Invalid Outcome = "invalid"
	// Failed: a read failed, a record cannot be read, or DynamoDB refused the request as such.
	Failed Outcome = "failed"
)

// Outcomes returns the whole set, from the best to the worst.
func Outcomes() []Outcome {
	return []Outcome{OK, Recovered, Replayed, Deferred, NotFound, Stale, Rejected, Abandoned, Busy, Ambiguous, Invalid, Failed}
}

// Expected says whether an outcome belongs to a healthy system. The others are worth a look when they pile up.
func (o Outcome) Expected() bool {
	switch o {
	case OK, Recovered, Replayed, Deferred, NotFound, Stale, Rejected:
		return true
	default:
		return false
	}
}
