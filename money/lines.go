package money

// Difference is an amount that an operation could give to none of its results. It belongs on the account that was named
// before anything was rounded: post it, and the books balance.
type Difference struct {
	// Account is the name under which the service knows the account.
	Account string
	// Amount is what to post; zero if there is no difference.
	Amount Amount
}

// RoundedLines is a sheet whose lines were rounded one by one, and whose total was rounded once.
type RoundedLines struct {
	// Lines are the rounded lines, in their order.
	Lines []Amount
	// Total is the exact sum of the lines, rounded.
	Total Amount
	// Difference is Total less the sum of Lines.
	Difference Difference
}

// RoundLines rounds the lines of an invoice, a fee run or a valuation in both places where people round: each line, and
// the total of the exact lines. The two disagree by some minor units, which is why the account for the difference is
// named up front: the lines and the difference always add up to the total. Where the lines themselves must add up
// without a difference, round the total only and divide it with [Amount.AllocateBy].
//
// Errors are [*RoundingError], also for no account, [*UnknownCurrencyError], [*RangeError], and for [NoRounding]
// [*InexactError].
func RoundLines(c Currency, mode Rounding, account string, exact ...Rational) (RoundedLines, error) {
	if account == "" {
		return RoundedLines{}, &RoundingError{Reason: "the account for the difference has no name"}
	}
	sheet := RoundedLines{Lines: make([]Amount, len(exact))}
	var total Rational
	sum := Zero(c)
	for i, line := range exact {
		rounded, err := line.Round(c, mode)
		if err != nil {
			return RoundedLines{}, err
		}
		sheet.Lines[i] = rounded.Amount
		if sum, err = sum.Add(rounded.Amount); err != nil {
			return RoundedLines{}, err
		}
		if total, err = total.Add(line); err != nil {
			return RoundedLines{}, err
		}
	}
	rounded, err := total.Round(c, mode)
	if err != nil {
		return RoundedLines{}, err
	}
	difference, err := rounded.Amount.Sub(sum)
	if err != nil {
		return RoundedLines{}, err
	}
	sheet.Total = rounded.Amount
	sheet.Difference = Difference{Account: account, Amount: difference}
	return sheet, nil
}
