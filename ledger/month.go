package ledger

import (
	"sync"
	"time"
)

// Month is a period of the books, "2026-11": the month of a transaction's effective time in UTC.
type Month string

// MonthOf returns the month of a time, in UTC.
func MonthOf(t time.Time) Month { return Month(t.UTC().Format("2006-01")) }

// Valid says whether the month is written as MonthOf writes it.
func (m Month) Valid() bool {
	t, err := time.Parse("2006-01", string(m))
	return err == nil && t.Year() >= 1 && t.Format("2006-01") == string(m)
}

// digits is the month as attributes and their names have it: "202611". It sorts like the month, and a name made of a
// letter and six digits needs no substitution in an expression.
func (m Month) digits() string { return string(m[:4]) + string(m[5:]) }

// monthOfDigits undoes digits.
func monthOfDigits(s string) (Month, bool) {
	if len(s) != 6 {
		return "", false
	}
	m := Month(s[:4] + "-" + s[4:])
	return m, m.Valid()
}

// isMonthAttr says whether an attribute name is one of an open month.
func isMonthAttr(name string) bool {
	if len(name) != 7 || name[0] < 'a' || name[0] > 'z' {
		return false
	}
	_, ok := monthOfDigits(name[1:])
	return ok
}

// hint is where the postings of a month go, as an authority's record last showed it.
type hint struct {
	bucket int
	room   int64
}

type hintKey struct {
	ref   ref
	month Month
}

// maxHints bounds what a Ledger remembers. Nearly every account stays in its first bucket and needs no hint.
const maxHints = 10_000

// hints remembers buckets. The zero value is ready.
type hints struct {
	mu    sync.Mutex
	known map[hintKey]hint
}

func (h *hints) get(key hintKey) (hint, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	found, ok := h.known[key]
	return found, ok
}

// learn remembers what a record showed that refused a change. A change that was planned before this Ledger learned better brings old
// news, which is dropped: within a month the bucket only rises, and the room in it only falls. But what a change met that was planned
// by this very hint is newer than the hint; if it is less, the table is not the one that it was, and the hint is wrong.
func (h *hints) learn(key hintKey, seen hint, c *change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	known, ok := h.known[key]
	if ok && !seen.after(known) && !(c.hinted && c.hint == known) {
		return
	}
	if h.known == nil || len(h.known) >= maxHints {
		h.known = make(map[hintKey]hint)
	}
	h.known[key] = seen
}

// after says whether buckets look like this later than like that.
func (a hint) after(b hint) bool {
	return a.bucket > b.bucket || a.bucket == b.bucket && a.room < b.room
}
