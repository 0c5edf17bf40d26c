package ledger

import (
	"fmt"

	"github.com/dynafin/dynafin/capacity"
)

// FindingKind says what a verification found.
type FindingKind string

// The kinds. A posting that was replaced under its own key is changed; one that was moved to another key is missing at the
// one and extra at the other.
const (
	// MissingPostings: fewer postings are stored than were counted when they were posted.
	MissingPostings FindingKind = "MISSING"
	// ExtraPostings: more postings are stored than were counted; or this one belongs to no transaction.
	ExtraPostings FindingKind = "EXTRA"
	// ChangedPostings: as many are stored as were counted, and their sum or their digest is another; or this one cannot
	// be read, or is not what its transaction says.
	ChangedPostings FindingKind = "CHANGED"
	// BrokenTotals: the balance's record contradicts itself: what was posted, reserved and is available, or the totals
	// of its months.
	BrokenTotals FindingKind = "TOTALS"
	// BrokenSeal: the seals of closed months, from the first to the last, do not lead to what the balance says of them.
	BrokenSeal FindingKind = "SEAL"
)

// Finding is one thing that does not agree.
type Finding struct {
	Kind FindingKind
	// Month is the month whose postings, or whose seal, it is.
	Month Month
	// Expected are the control totals, Found the recomputed ones: of all postings of the month, or of all closed months.
	// They are zero in a finding about one posting.
	Expected, Found Totals
	// Record is the key of the one posting that it is about, Transaction and Line what that key says.
	Record      string
	Transaction string
	Line        int
	// Detail says in words what is wrong, without amounts.
	Detail string
}

// String returns the finding in words, without amounts.
func (f Finding) String() string {
	text := fmt.Sprintf("%s %s: %s", f.Kind, f.Month, f.Detail)
	if f.Record != "" {
		text += " (" + f.Record + ")"
	}
	return text
}

// MaxFindings is how many findings a [Report] keeps. Others are counted.
const MaxFindings = 100

// Report is what a verification has found, so far or in the end.
type Report struct {
	// Place is the balance.
	Place Place
	// Done says that it came to its end.
	Done bool
	// Checkpoint continues it, if it did not; see [Verification.Checkpoint].
	Checkpoint string
	// Months is how many months were proved: their postings are those that were counted.
	Months int
	// Postings is how many postings were read in all months, Recomputed what they add up to. If all months are proved this is
	// what the balance says.
	Postings   int64
	Recomputed Totals
	// Moved are months that were posted to in every attempt to read them. What was seen of them lies between what was
	// counted before and after, so nothing speaks against them, but they are not proved.
	Moved []Month
	// Findings are the first MaxFindings of what does not agree, More is how many more there are.
	Findings []Finding
	More     int
	// Units are the read units that DynamoDB reported.
	Units capacity.Units
}

// Err returns nil if everything is proved, an [UnprovedError] if there are findings, or else a [MovedError] if a month moved.
func (r Report) Err() error {
	switch {
	case len(r.Findings) > 0:
		return &UnprovedError{Place: r.Place, Findings: len(r.Findings) + r.More, First: r.Findings[0]}
	case len(r.Moved) > 0:
		return &MovedError{What: "verification", Tenant: r.Place.Tenant, ID: r.Place.Account + " " + string(r.Moved[0]), Tries: verifyPasses}
	}
	return nil
}

func (r *Report) find(findings ...Finding) {
	for _, f := range findings {
		if len(r.Findings) == MaxFindings {
			r.More++
			continue
		}
		r.Findings = append(r.Findings, f)
	}
}

// outcome is what the totals of a month say about the postings that were read.
type outcome int

const (
	monthProved outcome = iota
	monthBroken
	monthMoved
)

// judgeMonth compares what was read with the control totals before and after. Nobody removes postings and everything is
// read that was there before, so what was seen has all of before and nothing that is not in after; as many as before can
// only be those of before. Only strictly between the two nothing can be said.
func judgeMonth(before, after, seen Totals) (outcome, Finding) {
	f := Finding{Expected: after, Found: seen}
	switch {
	case seen == before || seen == after:
		return monthProved, f
	case seen.Count < before.Count:
		f.Kind, f.Expected = MissingPostings, before
		f.Detail = fmt.Sprintf("%d of %d postings are missing", before.Count-seen.Count, before.Count)
	case seen.Count > after.Count:
		f.Kind, f.Detail = ExtraPostings, fmt.Sprintf("%d postings are stored, %d were posted", seen.Count, after.Count)
	case seen.Count == before.Count || seen.Count == after.Count:
		if seen.Count == before.Count {
			f.Expected = before
		}
		f.Kind, f.Detail = ChangedPostings, fmt.Sprintf("as many postings as were posted, %d, but not the same", seen.Count)
	default:
		return monthMoved, f
	}
	return monthBroken, f
}
