package money

import (
	"fmt"
	"slices"
	"strings"
)

//go:generate go -C ../tools run ./iso4217 -out ../money/iso4217_table.go

const (
	// MaxScale is the largest number of decimal places of a currency.
	MaxScale = 18
	// MaxCodeBytes is the longest currency code.
	MaxCodeBytes = 32
)

// Kind says what an amount counts.
type Kind uint8

const (
	// KindCash is money: the currencies of ISO 4217, and whatever else a service accounts for as cash.
	KindCash Kind = iota + 1
	// KindSecurity is a quantity of an instrument: shares, units, coins, contracts.
	KindSecurity
)

// String returns "cash" or "security".
func (k Kind) String() string {
	switch k {
	case KindCash:
		return "cash"
	case KindSecurity:
		return "security"
	}
	return "no kind"
}

// Currency is what an amount counts and how finely: code, scale (decimal places) and kind. It is a small comparable
// value; two currencies are the same only if all three are. The zero Currency is no currency.
type Currency struct {
	code  string
	scale uint8
	kind  Kind
}

// Code returns the code, such as "USD", or "" for no currency.
func (c Currency) Code() string { return c.code }

// Scale returns the number of decimal places.
func (c Currency) Scale() int { return int(c.scale) }

// Kind returns the kind, 0 for no currency.
func (c Currency) Kind() Kind { return c.kind }

// String returns the code.
func (c Currency) String() string {
	if c.code == "" {
		return "no currency"
	}
	return c.code
}

// MarshalText implements [encoding.TextMarshaler] with the code, so that a record which names a currency does not lose
// it. The error, for no currency, is an [*UnknownCurrencyError].
func (c Currency) MarshalText() ([]byte, error) {
	if c.code == "" {
		return nil, &UnknownCurrencyError{}
	}
	return []byte(c.code), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler] for currencies of ISO 4217, withdrawn ones included; for others,
// use [Registry.Currency]. The error is an [*UnknownCurrencyError].
func (c *Currency) UnmarshalText(text []byte) error {
	if len(text) > MaxCodeBytes {
		text = text[:MaxCodeBytes+1] // no code is that long; do not copy a megabyte first
	}
	found, _, known := Registry{}.find(string(text))
	if !known {
		return &UnknownCurrencyError{Code: string(text)}
	}
	*c = found
	return nil
}

// describe tells two currencies of one code apart.
func (c Currency) describe() string {
	if c.code == "" {
		return c.String()
	}
	return fmt.Sprintf("%s (%s, %d decimal places)", c.code, c.kind, c.scale)
}

// Define makes a currency that is not in ISO 4217: a security, a fund, a crypto-asset. The code has 1 to 32 bytes: a
// letter or digit, then letters, digits and any of . : / _ -. Codes that ISO 4217 uses or used are refused in any
// case, because the text "5 ALL" must not mean five lek here and five shares there: qualify it, "XNYS:ALL".
// The scale is 0 to 18.
//
// The error is a [*DefinitionError].
func Define(code string, scale int, kind Kind) (Currency, error) {
	fail := func(reason string) (Currency, error) {
		return Currency{}, &DefinitionError{Code: code, Reason: reason}
	}
	if !validCode(code) {
		return fail("the code is not 1 to 32 letters, digits or . : / _ -, beginning with a letter or digit")
	}
	if _, taken := findISO(strings.ToUpper(code)); taken {
		return fail("ISO 4217 uses this code")
	}
	if scale < 0 || scale > MaxScale {
		return fail(fmt.Sprintf("the scale %d is not between 0 and %d", scale, MaxScale))
	}
	if kind != KindCash && kind != KindSecurity {
		return fail("the kind is neither cash nor security")
	}
	return Currency{code: code, scale: uint8(scale), kind: kind}, nil
}

func validCode(code string) bool {
	if code == "" || len(code) > MaxCodeBytes {
		return false
	}
	for i := range len(code) {
		switch c := code[i]; {
		case 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		case i > 0 && strings.IndexByte(".:/_-", c) >= 0:
		default:
			return false
		}
	}
	return true
}

// ISO returns a currency of the ISO 4217 table, such as ISO("USD"). Codes are upper case. Withdrawn codes are refused
// here, because they take no new amounts; stored and transmitted amounts in them can still be read.
//
// The error is an [*UnknownCurrencyError].
func ISO(code string) (Currency, error) { return Registry{}.Currency(code) }

// ISOEntry is one line of the ISO 4217 table.
type ISOEntry struct {
	// Code is the alphabetic code.
	Code string
	// Numeric is the numeric code; ISO writes it with three digits. A withdrawn code may share it with its successor.
	Numeric int
	// Scale is the number of decimal places of the minor unit.
	Scale int
	// Withdrawn is true if the code is not in the current list.
	Withdrawn bool
}

// ISOTable returns a copy of the table, in order of codes. It holds the state of [ISOTableDate].
func ISOTable() []ISOEntry { return slices.Clone(isoTable[:]) }

func findISO(code string) (ISOEntry, bool) {
	i, found := slices.BinarySearchFunc(isoTable[:], code, func(e ISOEntry, code string) int {
		return strings.Compare(e.Code, code)
	})
	if !found {
		return ISOEntry{}, false
	}
	return isoTable[i], true
}
