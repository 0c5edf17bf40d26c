package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dynafin/dynafin/money"
)

// quantity is a number as a journal writes it, read digit by digit.
type quantity struct {
	text   string // the number in canonical form: a point, no zeros that pad it, no minus before zero
	places int    // how many decimal places were written
	mark   byte   // the decimal mark that was written, '.' or ',', or 0 for none
}

// parseQuantity reads a bare amount of hledger's CSV: a minus sign, digits and one decimal mark, which may be a comma.
// Such amounts have no digit groups, so one mark is never a thousands separator; two marks are refused, not guessed at.
func parseQuantity(text string) (quantity, error) {
	digits, negative := strings.CutPrefix(text, "-")
	if digits == "" || strings.Trim(digits, "0123456789.,") != "" {
		return quantity{}, fmt.Errorf("%.40q is no plain number", text)
	}
	q := quantity{}
	whole, fraction := digits, ""
	if at := strings.IndexAny(digits, ".,"); at >= 0 {
		q.mark, whole, fraction = digits[at], digits[:at], digits[at+1:]
	}
	switch {
	case strings.ContainsAny(fraction, ".,"):
		return quantity{}, fmt.Errorf("%.40q has digit groups, or two decimal marks", text)
	case whole+fraction == "":
		return quantity{}, errors.New("a decimal mark is no number")
	}
	q.places = len(fraction)
	whole, fraction = strings.TrimLeft(whole, "0"), strings.TrimRight(fraction, "0")
	if whole == "" {
		whole = "0"
	}
	q.text = whole
	if fraction != "" {
		q.text += "." + fraction
	}
	if len(fraction) > money.MaxScale {
		return quantity{}, fmt.Errorf("%.40q has more than %d decimal places", text, money.MaxScale)
	}
	if negative && q.text != "0" {
		q.text = "-" + q.text
	}
	return q, nil
}

func (q quantity) isZero() bool { return q.text == "0" }

// needs is how many decimal places the number needs.
func (q quantity) needs() int {
	_, fraction, _ := strings.Cut(q.text, ".")
	return len(fraction)
}
