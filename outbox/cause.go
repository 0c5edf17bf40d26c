package outbox

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

var (
	publishText = regexp.MustCompile(`^outbox: publish event "(?:[^"\\]|\\.)*" to `)
	codeText    = regexp.MustCompile(`; [a-z ]+ \[(DFN-\d{4})\]$`)
	// particular is what tells one failure from another of its kind: IDs of requests, addresses, times.
	particular = regexp.MustCompile(`[0-9A-Za-z_:.\-]*\d[0-9A-Za-z_:.\-]*`)
)

// particularLength is from which length a word with a digit counts as particular: "503" and "1.2" say what kind it is.
const particularLength = 8

// Cause is the Failure without what is particular to this event, so that events which failed alike have the same: its IDs,
// and words of eight characters and more with a digit in them, are "…". A code of this library comes first.
func (r Record) Cause() string {
	cause := publishText.ReplaceAllString(r.Failure, "")
	code := codeText.FindStringSubmatch(cause)
	cause = codeText.ReplaceAllString(cause, "")
	for _, own := range []string{r.Event.ID, r.Event.AggregateID} {
		if len(own) >= particularLength {
			cause = strings.ReplaceAll(cause, own, "…")
		}
	}
	cause = particular.ReplaceAllStringFunc(cause, func(word string) string {
		if len(strings.TrimRight(word, ".:")) < particularLength {
			return word
		}
		return "…"
	})
	if code != nil {
		cause = code[1] + " " + cause
	}
	return cause
}

// Group names the events that failed alike: those of one Type with one Cause. It is short, and the same in every process.
func (r Record) Group() string {
	sum := sha256.Sum256([]byte(r.Event.Type + "\x00" + r.Cause()))
	return hex.EncodeToString(sum[:4])
}
