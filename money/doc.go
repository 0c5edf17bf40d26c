// Package money holds exact amounts: what goes in comes out, digit for digit, or there is an error. No operation wraps,
// passes through a binary float, or rounds unless it is told how, and what rounding takes away is returned, not lost. No
// amount leaves the range that DynamoDB's Number keeps exactly.
//
//	usd, err := money.ISO("USD")
//	price, err := money.Parse("19.99", usd)
//	total, err := price.MulInt(3)        // 59.97 USD
//	cents := total.MinorUnits()          // "5997"
//	tax, err := total.MulRound(rate, money.HalfUp)                     // an amount and its exact residual
//	shares, err := total.Allocate(money.LargestRemainder(), 50, 30, 20) // parts that add up to the total
//
// # Representation
//
// An [Amount] is a whole number of minor units and a [Currency]: code, scale and kind. The scale is the number of
// decimal places, at most 18, and it is always shown: 1.10 USD stays 1.10. An amount has at most 38 digits of minor units:
//
//	scale   example              largest amount
//	0       JPY                  10^38 - 1
//	2       USD                  10^36 - 0.01
//	3       KWD                  10^35 - 0.001
//	8       a coin, registered   10^30 - 10^-8
//	18      a coin, registered   10^20 - 10^-18
//
// All of them fit 128 bits, which an Amount holds by value: arithmetic allocates nothing, and == compares.
//
// # Currencies
//
// [ISO] resolves the ISO 4217 table, which is generated and dated ([ISOTableDate]). Withdrawn codes take no new amounts
// but can be read. Codes to which ISO gives no minor unit (XAU, XXX) are not in the table. [Define] makes securities,
// funds and crypto-assets, and a [Registry] resolves them by code. A quantity is an amount of a security: 1.5 shares are
// an Amount whose currency is ACME. Two amounts mix only if code, scale and kind are the same; all else is [ErrMismatch].
//
// # Rounding
//
// A fraction that an amount cannot keep is an error ([ErrInexact]) until a [Rounding] is declared. There are seven, and no
// default:
//
//	            2.5   2.1  -2.1  -2.5
//	HalfEven    2     2    -2    -2     to the nearest, from the middle to the even one
//	HalfUp      3     2    -2    -3     to the nearest, from the middle away from zero
//	HalfDown    2     2    -2    -2     to the nearest, from the middle toward zero
//	Up          3     3    -3    -3     away from zero
//	Down        2     2    -2    -2     toward zero
//	Ceiling     3     3    -2    -2     toward the larger
//	Floor       2     2    -3    -3     toward the smaller
//
// [Amount.Round] rounds to decimal places, [Amount.RoundTo] to a multiple of a coin or a lot. Rates, percentages and
// fractions are [Rational] numbers, which hold 1/3 exactly, so that a calculation rounds in one place: [Amount.MulRound]
// for one factor, [Rational.Round] at the end of a longer one. Both return a [Rounded]: the amount, and the residual.
//
// # Dividing
//
// [Amount.Allocate] and [Amount.AllocateBy] divide in proportion to weights, [Amount.Split] into equal parts. The parts
// add up to the whole. What is left when all parts are cut to whole minor units goes where a [ResidualPolicy] says: to the parts
// that lost most, to the first, to the last, to a given one, or to an account outside.
//
// # Converting
//
// [Amount.Convert] takes a [Rate], which is not a number but a quote: source, identity, time, two currencies, value. It
// returns a [Conversion], the evidence from which the result can be computed again. The residual of a conversion is finer
// than the currency; [Rational.In] makes an amount of it in a currency with more places, to be posted.
//
// # Rounding differences
//
// Lines that are rounded and a total that is rounded disagree by some minor units. [RoundLines] does both, and returns
// the [Difference] for an account that was named before; lines and difference add up to the total.
//
// # Text and JSON
//
// [Parse] takes digits, a leading minus sign and one point, and nothing else; it refuses a hostile text after 64 bytes,
// and an exponent before expanding it. A fraction finer than the scale is [ErrInexact]. JSON is the string "19.99 USD",
// in which the point, not the table, says what the digits are worth. JSON numbers and null are refused.
//
// # DynamoDB
//
// An Amount field works with the SDK's attributevalue package. It is stored as a map, 17 bytes for 19.99 USD and at most 36
// for a code of ISO 4217, besides the attribute's own name:
//
//	a  N  the value in major units, 19.99
//	c  S  the code, USD
//	s  N  the scale at the time of writing, 2
//
// The store trims zeros: 1.10 comes back as 1.1. The stored scale makes it 1.10 again, and keeps meaning that when a
// later table gives the code another scale: the row is then read at its own scale, mixing it with today's amounts is
// [ErrMismatch], and [Amount.Rescale] moves it over if that is exact. For an attribute that expressions add to or compare
// (ADD, available >= :need) use [Amount.Number] and [FromNumber], and keep currency and scale once per record. For
// integers in minor units use [Amount.MinorUnits] and [ParseMinor].
//
// A [Conversion] has a JSON form, in which all numbers are strings.
//
// # Errors and limits
//
// Whatever can fail returns a typed error: a result of more than 38 digits is [ErrRange] from every operation, and so is
// a rational of more than 1024 bits. Neg, Abs, Equal and the formatting methods cannot fail. Only [MustParse] and
// [MustParseRational], which are for constants, panic.
//
// # Not here
//
// Symbols, grouping and locales; a source of rates; powers and logarithms. An IsZero amount still has a currency, so do
// not tag amount fields omitzero or omitempty if zero and absent differ.
package money
