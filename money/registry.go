package money

import (
	"errors"
	"strings"
)

// Registry resolves currency codes: the ISO 4217 table and the currencies that a service defines. It is immutable and
// safe for concurrent use. The zero Registry knows ISO 4217 alone.
type Registry struct {
	defined map[string]Currency // never written after NewRegistry
}

// NewRegistry returns a registry that knows the given currencies, made by [Define], besides ISO 4217. The error joins a
// [*DefinitionError] for every code that occurs twice; codes that differ only in letter case count as the same.
func NewRegistry(currencies ...Currency) (Registry, error) {
	var faults []error
	defined := make(map[string]Currency, len(currencies))
	folded := make(map[string]bool, len(currencies))
	for _, c := range currencies {
		fold := strings.ToUpper(c.code)
		if _, iso := findISO(fold); iso || c.code == "" {
			faults = append(faults, &DefinitionError{Code: c.code, Reason: "it was not made by Define"})
			continue
		}
		if folded[fold] {
			faults = append(faults, &DefinitionError{Code: c.code, Reason: "the code is registered twice"})
			continue
		}
		folded[fold] = true
		defined[c.code] = c
	}
	if len(faults) > 0 {
		return Registry{}, errors.Join(faults...)
	}
	return Registry{defined: defined}, nil
}

// Currency resolves a code for new amounts. The error is an [*UnknownCurrencyError].
func (r Registry) Currency(code string) (Currency, error) {
	c, withdrawn, known := r.find(code)
	if !known || withdrawn {
		return Currency{}, &UnknownCurrencyError{Code: code, Withdrawn: withdrawn}
	}
	return c, nil
}

// Parse reads what [Amount.String] writes: "19.99 USD", a number as [Parse] takes it, one space, a code. Withdrawn
// codes are read, since the text may be history; check new input with [Registry.Currency].
//
// Errors are [*SyntaxError], [*UnknownCurrencyError], [*InexactError] and [*RangeError].
func (r Registry) Parse(text string) (Amount, error) {
	if len(text) > maxFullTextBytes {
		return Amount{}, &SyntaxError{Offset: maxFullTextBytes, Reason: "the text is too long for an amount"}
	}
	number, code, found := strings.Cut(text, " ")
	if !found || !validCode(code) {
		return Amount{}, &SyntaxError{Offset: len(number), Reason: "one space and a currency code must follow the number"}
	}
	c, _, known := r.find(code)
	if !known {
		return Amount{}, &UnknownCurrencyError{Code: code}
	}
	return Parse(number, c)
}

// find resolves a code, withdrawn ones included.
func (r Registry) find(code string) (c Currency, withdrawn, known bool) {
	if c, known := r.defined[code]; known {
		return c, false, true
	}
	e, known := findISO(code)
	if !known {
		return Currency{}, false, false
	}
	return Currency{code: e.Code, scale: uint8(e.Scale), kind: KindCash}, e.Withdrawn, true
}
