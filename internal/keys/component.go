package keys

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	timeLayout  = "2006-01-02T15:04:05.000000000Z"
	dateLayout  = "2006-01-02"
	monthLayout = "2006-01"

	bucketDigits   = 2
	versionDigits  = 4
	shardDigits    = 4
	lineDigits     = 4
	stripeDigits   = 4
	revisionDigits = 9

	// maxDigits keeps every number within an int64.
	maxDigits = 18
	zeros     = "000000000000000000"
)

// component is one encoded component of a key, or the reason why it cannot be encoded.
type component struct {
	text   string
	reason Reason
}

// text escapes what would otherwise end the segment. The escape character escapes itself, which makes the
// mapping injective.
func text(s string) component {
	if s == "" {
		return component{reason: Empty}
	}
	if !utf8.ValidString(s) {
		return component{reason: NotUTF8}
	}
	return component{text: escape(s)}
}

func escape(s string) string {
	if !strings.ContainsAny(s, "#%") {
		return s
	}
	s = strings.ReplaceAll(s, "%", "%25")
	return strings.ReplaceAll(s, "#", "%23")
}

// Join escapes segments as the routes do and joins them, for keys outside the grammar. It is injective, checks
// nothing and refuses nothing.
func Join(segments ...string) string {
	escaped := make([]string, len(segments))
	for i, segment := range segments {
		escaped[i] = escape(segment)
	}
	return strings.Join(escaped, separator)
}

// parseText undoes text. It refuses an escape that text would not have written.
func parseText(s string) (string, Reason) {
	if s == "" {
		return "", Empty
	}
	if !utf8.ValidString(s) {
		return "", NotUTF8
	}
	if strings.Count(s, "%") != strings.Count(s, "%23")+strings.Count(s, "%25") {
		return "", Malformed
	}
	s = strings.ReplaceAll(s, "%23", "#")
	return strings.ReplaceAll(s, "%25", "%"), ""
}

// word accepts an upper-case word, the only form that can stand where a route has a literal.
func word(s string) component {
	if s == "" {
		return component{reason: Empty}
	}
	for i, c := range []byte(s) {
		upper := 'A' <= c && c <= 'Z'
		if !upper && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return component{reason: Malformed}
		}
	}
	return component{text: s}
}

func number(n, width int) component {
	if n < 0 || width < 1 || width > maxDigits {
		return component{reason: OutOfRange}
	}
	digits := strconv.Itoa(n)
	if len(digits) > width {
		return component{reason: OutOfRange}
	}
	return component{text: zeros[:width-len(digits)] + digits}
}

func parseNumber(s string, width int) (int, Reason) {
	if len(s) != width || strings.Trim(s, "0123456789") != "" {
		return 0, Malformed
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, OutOfRange
	}
	return n, ""
}

func instant(t time.Time) component {
	t = t.UTC()
	if year := t.Year(); year < 1 || year > 9999 {
		return component{reason: OutOfRange}
	}
	return component{text: t.Format(timeLayout)}
}

func parseInstant(s string) (time.Time, Reason) {
	t, err := time.Parse(timeLayout, s)
	// time.Parse is lenient, for example about a comma before the fraction; a key has one spelling.
	if err != nil || instant(t).text != s {
		return time.Time{}, Malformed
	}
	return t, ""
}

// calendar checks a month or a date that is already text.
func calendar(s, layout string) component {
	if s == "" {
		return component{reason: Empty}
	}
	t, err := time.Parse(layout, s)
	if err != nil || t.Format(layout) != s {
		return component{reason: Malformed}
	}
	if t.Year() < 1 {
		return component{reason: OutOfRange}
	}
	return component{text: s}
}

// Time returns t in UTC as text of fixed width with nanoseconds, which sorts in the order of time. Years before 0001
// and after 9999 are errors.
func Time(t time.Time) (string, error) {
	return alone("Time", "time", instant(t))
}

// ParseTime reads what [Time] wrote, and nothing else.
func ParseTime(s string) (time.Time, error) {
	t, reason := parseInstant(s)
	if reason != "" {
		return time.Time{}, &Error{Route: "ParseTime", Component: "time", Reason: reason}
	}
	return t, nil
}

// Expiry returns the value of a TTL attribute: the time in epoch seconds, rounded up so that no retention ends early.
// Outside the years 2000 to 9999, where only a broken clock gets, it is an error.
func Expiry(end time.Time) (int64, error) {
	const first, last = 946684800, 253402300799
	seconds := end.Unix()
	if end.Nanosecond() > 0 {
		seconds++
	}
	if seconds < first || seconds > last {
		return 0, &Error{Route: "Expiry", Component: "time", Reason: "is outside the years 2000 to 9999"}
	}
	return seconds, nil
}

// Number returns n with leading zeros, exactly width digits (1 to 18), which sorts in the order of value. A negative
// number, or one of more digits, is an error.
func Number(n, width int) (string, error) {
	return alone("Number", "number", number(n, width))
}

// ParseNumber reads what [Number] wrote with the same width, and nothing else.
func ParseNumber(s string, width int) (int, error) {
	n, reason := parseNumber(s, width)
	if reason != "" {
		return 0, &Error{Route: "ParseNumber", Component: "number", Reason: reason}
	}
	return n, nil
}

func alone(route, name string, c component) (string, error) {
	if c.reason != "" {
		return "", &Error{Route: route, Component: name, Reason: c.reason}
	}
	return c.text, nil
}
