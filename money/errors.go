package money

import (
	"fmt"

	"github.com/dynafin/dynafin/internal/fault"
)

// The kinds of errors, for errors.Is. Each has a type with the facts, for errors.As. No error text repeats an amount.
var (
	// ErrSyntax: the text is not a plain decimal. See [SyntaxError].
	ErrSyntax error = fault.New(fault.MoneySyntax, "money: not a plain decimal")
	// ErrInexact: the result has a fraction that cannot be kept, and no rounding was asked for. See [InexactError].
	ErrInexact error = fault.New(fault.MoneyInexact, "money: fraction finer than the currency's scale")
	// ErrRange: more digits than can be kept exactly. See [RangeError].
	ErrRange error = fault.New(fault.MoneyRange, "money: too many digits")
	// ErrMismatch: two currencies where one is needed. See [MismatchError].
	ErrMismatch error = fault.New(fault.MoneyMismatch, "money: different currencies")
	// ErrUnknownCurrency: the code means nothing here. See [UnknownCurrencyError].
	ErrUnknownCurrency error = fault.New(fault.MoneyUnknownCurrency, "money: unknown currency")
	// ErrDefinition: a currency cannot be defined or registered like this. See [DefinitionError].
	ErrDefinition error = fault.New(fault.MoneyDefinition, "money: invalid currency definition")
	// ErrEncoding: a JSON or DynamoDB value is not an amount. See [EncodingError].
	ErrEncoding error = fault.New(fault.MoneyEncoding, "money: not an encoded amount")
	// ErrAllocation: an amount cannot be divided like this. See [AllocationError].
	ErrAllocation error = fault.New(fault.MoneyAllocation, "money: invalid allocation")
	// ErrRounding: a rounding is not declared as it should be. See [RoundingError].
	ErrRounding error = fault.New(fault.MoneyRounding, "money: invalid rounding")
	// ErrRate: an exchange rate is incomplete or impossible. See [RateError].
	ErrRate error = fault.New(fault.MoneyRate, "money: invalid rate")
	// ErrDivision: a division by zero. See [DivisionError].
	ErrDivision error = fault.New(fault.MoneyDivision, "money: division by zero")
)

// SyntaxError says where a text stops being a plain decimal.
type SyntaxError struct {
	// Offset is the byte at which the text breaks the grammar.
	Offset int
	// Reason says what is wrong there.
	Reason string
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fault.MoneySyntax.Text("money: parse: byte %d: %s", e.Offset, e.Reason)
}

// Unwrap returns [ErrSyntax].
func (e *SyntaxError) Unwrap() error { return ErrSyntax }

// InexactError says how fine a fraction was.
type InexactError struct {
	// Op is the operation, for example "parse".
	Op string
	// Currency is the currency that was asked for.
	Currency Currency
	// Places is the number of decimal places that the value needs, where it exceeds the currency's scale. It is 0 if no
	// number is enough, as for 1/3, and if fewer places than the currency's were asked for.
	Places int
}

// Error implements error.
func (e *InexactError) Error() string {
	if e.Places == 0 {
		return fault.MoneyInexact.Text("money: %s: the result in %s has a fraction and no rounding is declared", e.Op, e.Currency)
	}
	return fault.MoneyInexact.Text("money: %s: the value needs %d decimal places, %s has %d", e.Op, e.Places, e.Currency, e.Currency.Scale())
}

// Unwrap returns [ErrInexact].
func (e *InexactError) Unwrap() error { return ErrInexact }

// RangeError says which operation left the range.
type RangeError struct {
	// Op is the operation, for example "add".
	Op string
	// Currency is the currency of the result; no currency for a [Rational].
	Currency Currency
	// Limit is the bound in words.
	Limit string
}

// Error implements error.
func (e *RangeError) Error() string {
	if e.Currency == (Currency{}) {
		return fault.MoneyRange.Text("money: %s: the result does not fit %s", e.Op, e.Limit)
	}
	return fault.MoneyRange.Text("money: %s: the result in %s does not fit %s", e.Op, e.Currency, e.Limit)
}

// Unwrap returns [ErrRange].
func (e *RangeError) Unwrap() error { return ErrRange }

// MismatchError names two currencies that differ in code, scale or kind.
type MismatchError struct {
	// Op is the operation, for example "add".
	Op string
	// A and B are the currencies of the receiver and of the argument.
	A, B Currency
}

// Error implements error.
func (e *MismatchError) Error() string {
	return fault.MoneyMismatch.Text("money: %s: %s with %s", e.Op, e.A.describe(), e.B.describe())
}

// Unwrap returns [ErrMismatch].
func (e *MismatchError) Unwrap() error { return ErrMismatch }

// UnknownCurrencyError names a code that cannot be resolved.
type UnknownCurrencyError struct {
	// Code is the code as given; empty when the amount has no currency at all.
	Code string
	// Withdrawn is true for an ISO 4217 code that may be read but takes no new amounts.
	Withdrawn bool
}

// Error implements error.
func (e *UnknownCurrencyError) Error() string {
	switch {
	case e.Code == "":
		return fault.MoneyUnknownCurrency.Text("money: the amount has no currency")
	case e.Withdrawn:
		return fault.MoneyUnknownCurrency.Text("money: currency %s is withdrawn from ISO 4217", e.Code)
	}
	return fault.MoneyUnknownCurrency.Text("money: unknown currency %s", quote(e.Code))
}

// Unwrap returns [ErrUnknownCurrency].
func (e *UnknownCurrencyError) Unwrap() error { return ErrUnknownCurrency }

// DefinitionError says why a currency cannot be defined or registered.
type DefinitionError struct {
	// Code is the code of the definition.
	Code string
	// Reason says which rule it breaks.
	Reason string
}

// Error implements error.
func (e *DefinitionError) Error() string {
	return fault.MoneyDefinition.Text("money: define currency %s: %s", quote(e.Code), e.Reason)
}

// Unwrap returns [ErrDefinition].
func (e *DefinitionError) Unwrap() error { return ErrDefinition }

// EncodingError says why a JSON or DynamoDB value is not an amount.
type EncodingError struct {
	// Form is "JSON" or "DynamoDB".
	Form string
	// Reason says what is missing or of the wrong type.
	Reason string
}

// Error implements error.
func (e *EncodingError) Error() string {
	return fault.MoneyEncoding.Text("money: decode %s: %s", e.Form, e.Reason)
}

// Unwrap returns [ErrEncoding].
func (e *EncodingError) Unwrap() error { return ErrEncoding }

// AllocationError says why an amount cannot be divided.
type AllocationError struct {
	// Op is the operation, for example "split".
	Op string
	// Part is the index of the weight at fault, -1 if it is not one alone.
	Part int
	// Reason says which rule is broken.
	Reason string
}

// Error implements error.
func (e *AllocationError) Error() string {
	if e.Part < 0 {
		return fault.MoneyAllocation.Text("money: %s: %s", e.Op, e.Reason)
	}
	return fault.MoneyAllocation.Text("money: %s: part %d: %s", e.Op, e.Part, e.Reason)
}

// Unwrap returns [ErrAllocation].
func (e *AllocationError) Unwrap() error { return ErrAllocation }

// RoundingError says why a rounding cannot be done.
type RoundingError struct {
	// Reason says which rule is broken.
	Reason string
}

// Error implements error.
func (e *RoundingError) Error() string { return fault.MoneyRounding.Text("money: round: %s", e.Reason) }

// Unwrap returns [ErrRounding].
func (e *RoundingError) Unwrap() error { return ErrRounding }

// RateError names a rate that cannot be used.
type RateError struct {
	// Source and ID name the rate.
	Source, ID string
	// Reason says which rule it breaks.
	Reason string
}

// Error implements error.
func (e *RateError) Error() string {
	return fault.MoneyRate.Text("money: convert: rate %s of %s: %s", quote(e.ID), quote(e.Source), e.Reason)
}

// Unwrap returns [ErrRate].
func (e *RateError) Unwrap() error { return ErrRate }

// DivisionError names the operation that would divide by zero.
type DivisionError struct {
	// Op is the operation, for example "divide".
	Op string
}

// Error implements error.
func (e *DivisionError) Error() string {
	return fault.MoneyDivision.Text("money: %s: the denominator is zero", e.Op)
}

// Unwrap returns [ErrDivision].
func (e *DivisionError) Unwrap() error { return ErrDivision }

// quote keeps a hostile code from flooding a log.
func quote(code string) string {
	if len(code) > MaxCodeBytes {
		return fmt.Sprintf("%q and %d bytes more", code[:MaxCodeBytes], len(code)-MaxCodeBytes)
	}
	return fmt.Sprintf("%q", code)
}
