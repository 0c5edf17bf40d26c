package money

// Add returns a + b. Errors are [*MismatchError] and [*RangeError].
func (a Amount) Add(b Amount) (Amount, error) {
	c, err := common("add", a, b)
	if err != nil {
		return Amount{}, err
	}
	sum, ok := a.units.add(b.units)
	if !ok {
		return Amount{}, rangeError("add", c)
	}
	return Amount{units: sum, currency: c}, nil
}

// Sub returns a - b. Errors are [*MismatchError] and [*RangeError].
func (a Amount) Sub(b Amount) (Amount, error) {
	c, err := common("subtract", a, b)
	if err != nil {
		return Amount{}, err
	}
	difference, ok := a.units.add(b.units.neg())
	if !ok {
		return Amount{}, rangeError("subtract", c)
	}
	return Amount{units: difference, currency: c}, nil
}

// MulInt returns a * n. The error is a [*RangeError]. For other factors, see [Amount.MulRound].
func (a Amount) MulInt(n int64) (Amount, error) {
	factor := fromInt64(n)
	product, ok := a.units.abs().times(factor.abs().lo)
	if !ok {
		return Amount{}, rangeError("multiply", a.currency)
	}
	return Amount{units: product.signed((a.Sign() < 0) != (n < 0)), currency: a.currency}, nil
}

// Neg returns -a. It cannot fail: the range is symmetric.
func (a Amount) Neg() Amount { return Amount{units: a.units.neg(), currency: a.currency} }

// Abs returns the amount without its sign.
func (a Amount) Abs() Amount {
	if a.Sign() < 0 {
		return a.Neg()
	}
	return a
}

// Cmp returns -1, 0 or 1 as a is less than, equal to or greater than b. The error is a [*MismatchError].
func (a Amount) Cmp(b Amount) (int, error) {
	if _, err := common("compare", a, b); err != nil {
		return 0, err
	}
	return a.units.cmp(b.units), nil
}

// Equal reports whether currency and value are the same. Zero in two currencies is not equal.
func (a Amount) Equal(b Amount) bool { return a == b }

// Rescale returns the same value in another scale of the same code and kind, for amounts stored before the table
// changed. Errors are [*MismatchError], [*InexactError] and [*RangeError].
func (a Amount) Rescale(to Currency) (Amount, error) {
	if a.currency.code != to.code || a.currency.kind != to.kind {
		return Amount{}, &MismatchError{Op: "rescale", A: a.currency, B: to}
	}
	return Parse(a.Text(), to)
}

// common returns the currency of a result. An empty sum takes the currency of the other operand.
func common(op string, a, b Amount) (Currency, error) {
	switch {
	case a.currency == b.currency, b.currency == Currency{}:
		return a.currency, nil
	case a.currency == Currency{}:
		return b.currency, nil
	}
	return Currency{}, &MismatchError{Op: op, A: a.currency, B: b.currency}
}
