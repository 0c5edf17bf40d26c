package money_test

import (
	"fmt"
	"time"

	"github.com/dynafin/dynafin/money"
)

// The sum that binary floats get wrong: 0.1 + 0.2 is 0.30000000000000004 there, and a balance check fails.
func Example_decimalFractions() {
	tenth, fifth := 0.1, 0.2
	fmt.Println(tenth+fifth == 0.3)

	sum, err := money.MustParse("0.10 USD").Add(money.MustParse("0.20 USD"))
	fmt.Println(sum == money.MustParse("0.30 USD"), err)
	// Output:
	// false
	// true <nil>
}

// Cents are not universal: "1000 minor units" is ten dollars, a thousand yen, one dinar, and next to nothing of a coin
// with 18 decimal places.
func Example_scales() {
	coin, err := money.Define("ETH", 18, money.KindSecurity)
	if err != nil {
		fmt.Println(err)
		return
	}
	usd, _ := money.ISO("USD")
	jpy, _ := money.ISO("JPY")
	kwd, _ := money.ISO("KWD")
	for _, c := range []money.Currency{usd, jpy, kwd, coin} {
		amount, _ := money.FromMinor(1000, c)
		fmt.Println(amount)
	}
	_, err = money.Parse("10.50", jpy)
	fmt.Println(err)
	// Output:
	// 10.00 USD
	// 1000 JPY
	// 1.000 KWD
	// 0.000000000000001000 ETH
	// money: parse: the value needs 1 decimal places, JPY has 0; retrying cannot help [DFN-1102]
}

// Divided by 3 and multiplied by 3, 100.00 is 99.99. An allocation loses nothing, with a debt as well.
func ExampleAmount_Allocate() {
	for _, whole := range []string{"100.00 USD", "-100.00 USD"} {
		shares, err := money.MustParse(whole).Allocate(money.LargestRemainder(), 1, 1, 1)
		fmt.Println(shares.Parts, err)
	}
	// Whoever has no weight gets nothing, and an account may take what is left instead of a part.
	shares, err := money.MustParse("100.00 USD").Allocate(money.ToAccount("rounding"), 1, 0, 2)
	fmt.Println(shares.Parts, shares.Rest, err)
	// Output:
	// [33.34 USD 33.33 USD 33.33 USD] <nil>
	// [-33.34 USD -33.33 USD -33.33 USD] <nil>
	// [33.33 USD 0.00 USD 66.66 USD] {rounding 0.01 USD} <nil>
}

// A discount is spread over the lines in proportion to their amounts. Rounded line by line it would be 10.01.
func ExampleAmount_AllocateBy() {
	var weights []money.Rational
	for _, line := range []string{"19.99 USD", "19.99 USD", "59.97 USD"} {
		weights = append(weights, money.MustParse(line).Rational())
	}
	discount, err := money.MustParse("-10.02 USD").AllocateBy(money.ToLast(), weights...)
	fmt.Println(discount.Parts, err)
	// Output:
	// [-2.00 USD -2.00 USD -6.02 USD] <nil>
}

func ExampleAmount_Split() {
	instalments, err := money.MustParse("1000.00 EUR").Split(12)
	fmt.Println(instalments[0], instalments[3], instalments[4], instalments[11], err)
	// Output:
	// 83.34 EUR 83.34 EUR 83.33 EUR 83.33 EUR <nil>
}

// The same price under four of the roundings. Half-up goes away from zero, so that a refund is rounded as the sale was.
func ExampleAmount_Round() {
	for _, text := range []string{"2.50 USD", "-2.50 USD"} {
		for _, mode := range []money.Rounding{money.HalfEven, money.HalfUp, money.Floor, money.NoRounding} {
			rounded, err := money.MustParse(text).Round(0, mode)
			if err != nil {
				fmt.Println(err)
				continue
			}
			fmt.Println(text, mode, rounded)
		}
	}
	// Output:
	// 2.50 USD half-even 2.00 USD
	// 2.50 USD half-up 3.00 USD
	// 2.50 USD floor 2.00 USD
	// money: round: the result in USD has a fraction and no rounding is declared; retrying cannot help [DFN-1102]
	// -2.50 USD half-even -2.00 USD
	// -2.50 USD half-up -3.00 USD
	// -2.50 USD floor -3.00 USD
	// money: round: the result in USD has a fraction and no rounding is declared; retrying cannot help [DFN-1102]
}

// The smallest Swiss coin is five centimes; the account may still hold single ones.
func ExampleAmount_RoundTo() {
	cash, err := money.MustParse("17.93 CHF").RoundTo(money.MustParse("0.05 CHF"), money.HalfUp)
	fmt.Println(cash, err)
	// Output:
	// 17.95 CHF <nil>
}

// A tax of 8.25 % on 19.99 is 1.649175: what is charged and what rounding took away add up to just that.
func ExampleAmount_MulRound() {
	rate, err := money.ParsePercent("8.25")
	if err != nil {
		fmt.Println(err)
		return
	}
	tax, err := money.MustParse("19.99 USD").MulRound(rate, money.HalfUp)
	fmt.Println(tax.Amount, tax.Residual, err)
	// Output:
	// 1.65 USD -0.000825 <nil>
}

// A calculation of several steps that rounds in each of them drifts. With exact numbers it rounds once, at the end: 91
// days of interest at 3.7 % on 1000.00, which a rounded daily interest of 0.10 would make 9.10.
func ExampleRational() {
	yearly, _ := money.ParsePercent("3.7")
	days, _ := money.NewRational(91, 365)
	factor, err := yearly.Mul(days)
	if err != nil {
		fmt.Println(err)
		return
	}
	interest, err := money.MustParse("1000.00 EUR").MulRound(factor, money.HalfEven)
	fmt.Println(factor, interest.Amount, err)
	// Output:
	// 3367/365000 9.22 EUR <nil>
}

// A conversion is evidence: which rate, of whom, as of when, how it was rounded, and what rounding took away. Amounts
// in the quoted currency are divided by the same rate, because a rounded inverse (0.9223) would be another rate.
func ExampleAmount_Convert() {
	eur, _ := money.ISO("EUR")
	usd, _ := money.ISO("USD")
	rate := money.Rate{Source: "ECB", ID: "2026-11-27", AsOf: time.Date(2026, 11, 27, 15, 0, 0, 0, time.UTC),
		Base: eur, Quote: usd, Value: money.MustParseRational("1.0842")}

	bought, err := money.MustParse("99.95 EUR").Convert(rate, money.HalfEven)
	fmt.Println(bought.To, bought.Residual, err)
	sold, err := money.MustParse("1000000.00 USD").Convert(rate, money.HalfEven)
	fmt.Println(sold.To, sold.Residual, err)
	// Output:
	// 108.37 USD -0.00421 <nil>
	// 922339.05 EUR 199/108420 <nil>
}

// What rounding takes away from thousands of conversions is somebody's money. In a currency with more places it can be
// posted and added up, until there is enough of it to pay out.
func ExampleRational_In() {
	eur, _ := money.ISO("EUR")
	usd, _ := money.ISO("USD")
	dust, err := money.Define("USD.fraction", 8, money.KindCash)
	if err != nil {
		fmt.Println(err)
		return
	}
	rate := money.Rate{Source: "ECB", ID: "2026-11-27", AsOf: time.Date(2026, 11, 27, 15, 0, 0, 0, time.UTC),
		Base: eur, Quote: usd, Value: money.MustParseRational("1.0842")}

	kept := money.Zero(dust)
	for range 1000 {
		conversion, err := money.MustParse("9.95 EUR").Convert(rate, money.Down)
		if err != nil {
			fmt.Println(err)
			return
		}
		residual, err := conversion.Residual.In(dust)
		if err != nil {
			fmt.Println(err)
			return
		}
		kept, _ = kept.Add(residual)
	}
	payable, err := kept.Rational().Round(usd, money.Down)
	fmt.Println(kept, payable.Amount, err)
	// Output:
	// 7.79000000 USD.fraction 7.79 USD <nil>
}

// Three lines of 0.005 round to 0.03 or to nothing, and their total to 0.02. Whichever the customer pays, the books need
// an account for the difference.
func ExampleRoundLines() {
	usd, _ := money.ISO("USD")
	line := money.MustParseRational("0.005")
	for _, mode := range []money.Rounding{money.HalfUp, money.HalfEven} {
		sheet, err := money.RoundLines(usd, mode, "rounding-differences", line, line, line)
		fmt.Println(sheet.Lines, sheet.Total, sheet.Difference, err)
	}
	// Output:
	// [0.01 USD 0.01 USD 0.01 USD] 0.02 USD {rounding-differences -0.01 USD} <nil>
	// [0.00 USD 0.00 USD 0.00 USD] 0.02 USD {rounding-differences 0.02 USD} <nil>
}
