// Command money shows exact amounts: reading them, dividing them, converting them, rounding them, and beside each what
// goes wrong with a binary float or with rounding that nobody declared. It prints what it does and stores nothing.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/dynafin/dynafin/money"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "money:", err)
		os.Exit(1)
	}
}

// page is where the chapters are printed.
type page struct{ out io.Writer }

// run is the program.
func run(_ context.Context, out io.Writer) error {
	p := page{out}
	for _, chapter := range []func() error{p.read, p.divide, p.convert, p.invoice, p.store} {
		if err := chapter(); err != nil {
			return err
		}
	}
	return nil
}

func (p page) title(text string) { fmt.Fprintf(p.out, "%s\n", text) }

func (p page) line(what string, result any) { fmt.Fprintf(p.out, "  %-50s%v\n", what, result) }

// read takes amounts from texts, and nothing that could mean something else.
func (p page) read() error {
	p.title("Reading")
	tenth, fifth := 0.1, 0.2
	p.line("0.1 + 0.2 as floats", tenth+fifth)
	sum, err := money.MustParse("0.10 USD").Add(money.MustParse("0.20 USD"))
	if err != nil {
		return err
	}
	p.line("0.10 USD + 0.20 USD", sum)
	for _, text := range []string{"1234.50", "19.999", "1e3", "1,234.50", "٣"} {
		amount, err := money.Parse(text, sum.Currency())
		if err != nil {
			p.line(fmt.Sprintf("%q as USD", text), reason(err))
			continue
		}
		p.line(fmt.Sprintf("%q as USD", text), amount)
	}
	_, err = sum.Add(money.MustParse("1.00 EUR"))
	p.line("0.30 USD + 1.00 EUR", reason(err))
	return nil
}

// reason says in a word why an amount was refused. A program asks the same way; the types behind the kinds have the facts.
func reason(err error) string {
	switch {
	case errors.Is(err, money.ErrSyntax):
		return "refused: not a plain decimal"
	case errors.Is(err, money.ErrInexact):
		return "refused: a fraction that cannot be kept, and no rounding declared"
	case errors.Is(err, money.ErrMismatch):
		return "refused: two currencies"
	}
	return fmt.Sprint(err)
}

// divide cuts an amount into parts that add up to it.
func (p page) divide() error {
	p.title("Dividing 100.00 USD by 1 : 1 : 1")
	bill, third := money.MustParse("100.00 USD"), money.MustParseRational("1/3")
	each, err := bill.MulRound(third, money.HalfEven)
	if err != nil {
		return err
	}
	lost, err := each.Amount.MulInt(3)
	if err != nil {
		return err
	}
	p.line("each part rounded alone, three times", lost)
	for _, policy := range policies {
		parts, err := bill.Allocate(policy.to, 1, 1, 1)
		if err != nil {
			return err
		}
		line := fmt.Sprint(parts.Parts)
		if !parts.Rest.Amount.IsZero() {
			line += fmt.Sprintf(", and %s to %s", parts.Rest.Amount, parts.Rest.Account)
		}
		p.line(policy.what, line)
	}
	return nil
}

// policies say who gets the cent that is left.
var policies = []struct {
	what string
	to   money.ResidualPolicy
}{
	{"the cent to the largest remainder", money.LargestRemainder()},
	{"the cent to the last", money.ToLast()},
	{"the cent to an account", money.ToAccount("rounding")},
}

// convert changes a currency at a rate that has an identity, and keeps what rounding took away.
func (p page) convert() error {
	p.title("Converting")
	usd, eur := money.MustParse("0 USD").Currency(), money.MustParse("0 EUR").Currency()
	rate := money.Rate{
		Source: "ECB", ID: "2026-11-30", AsOf: time.Date(2026, 11, 30, 15, 0, 0, 0, time.UTC),
		Base: eur, Quote: usd, Value: money.MustParseRational("1.0842"),
	}
	for _, from := range []string{"19.99 EUR", "19.99 USD"} {
		c, err := money.MustParse(from).Convert(rate, money.HalfEven)
		if err != nil {
			return err
		}
		p.line(fmt.Sprintf("%s at %s %s, 1 EUR = %s USD", c.From, c.Rate.Source, c.Rate.ID, c.Rate.Value), fmt.Sprintf("%s, residual %s", c.To, c.Residual))
	}
	_, err := money.MustParse("19.99 EUR").Convert(rate, money.NoRounding)
	p.line("the same without a rounding declared", reason(err))
	return nil
}

// invoice rounds the lines and the total, and names the account of the difference before anybody asks for it.
func (p page) invoice() error {
	p.title("An invoice: three lines of 0.335 USD")
	usd := money.MustParse("0 USD").Currency()
	line := money.MustParseRational("0.335")
	sheet, err := money.RoundLines(usd, money.HalfUp, "rounding", line, line, line)
	if err != nil {
		return err
	}
	p.line("the lines, rounded", sheet.Lines)
	p.line("the exact sum, rounded", sheet.Total)
	p.line("the difference, to "+sheet.Difference.Account, sheet.Difference.Amount)
	total, err := money.MustParse("12.37 CHF").RoundTo(money.MustParse("0.05 CHF"), money.HalfUp)
	p.line("12.37 CHF in coins", total)
	return err
}

// store shows the texts by which amounts travel.
func (p page) store() error {
	p.title("Storing")
	ether, err := money.Define("ETH", 18, money.KindSecurity)
	if err != nil {
		return err
	}
	quantity, err := money.Parse("1.000000000000000001", ether)
	if err != nil {
		return err
	}
	text, err := json.Marshal(quantity)
	if err != nil {
		return err
	}
	var float float64
	if err := json.Unmarshal([]byte("1.000000000000000001"), &float); err != nil {
		return err
	}
	p.line("a JSON number of 18 places, read as a float", float)
	p.line("as JSON", string(text))
	p.line("in minor units", quantity.MinorUnits())
	p.line("as a DynamoDB Number", quantity.Number().Value)
	return nil
}
