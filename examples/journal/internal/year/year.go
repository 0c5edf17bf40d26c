// Package year makes a long journal: a year of a small trading firm in several currencies, commodities and crypto-assets.
// It is the same whenever it is made.
package year

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Transactions is how many the journal has, and Seed what it grows from.
const (
	Transactions = 600
	Seed         = 20260101
)

// asset is something that the firm trades: how it is written, and how finely it is counted.
type asset struct {
	symbol string
	places int
	before bool // the symbol stands before the number
	price  int64
}

var assets = []asset{
	{"BTC", 8, false, 6_412_345},
	{"ETH", 8, false, 318_907},
	{`"ACME 2026"`, 0, false, 13_325},
	{"VTI", 4, false, 29_247},
	{"EUR", 2, false, 109},
	{"£", 2, true, 127},
	{"JPY", 0, false, 1},
}

var people = []string{"Zoë", "Müller & Söhne", "東京商店", `"Quoted" Ltd`, "100% Cotton #9", "O'Neil, José"}

// Journal returns the journal of so many transactions.
func Journal(seed uint64, transactions int) string {
	dice := rand.New(rand.NewPCG(seed, 0))
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var text strings.Builder
	fmt.Fprintf(&text, "; A year of a trading firm, made by internal/year.\n\n%s * Opening\n    assets:bank:dollars    $500000.00\n    equity:opening\n",
		first.Format(time.DateOnly))
	for i := range transactions {
		day := first.AddDate(0, 0, i*364/transactions)
		status := []string{"", "* ", "! "}[dice.IntN(3)]
		fmt.Fprintf(&text, "\n%s %s(T-%04d) %s\n", day.Format(time.DateOnly), status, i%550, people[dice.IntN(len(people))])
		switch dice.IntN(4) {
		case 0:
			trade(&text, dice, "@")
		case 1:
			trade(&text, dice, "@@")
		case 2:
			transfer(&text, dice)
		default:
			expense(&text, dice)
		}
	}
	return text.String()
}

// trade buys or sells an asset for dollars, at a cost.
func trade(text *strings.Builder, dice *rand.Rand, cost string) {
	a := assets[dice.IntN(len(assets))]
	units := dice.Int64N(9) + 1 // whole ones, so that their price is in whole cents
	quantity, dollars := units, units*a.price
	for range a.places {
		quantity *= 10
	}
	price := a.price
	if cost == "@@" { // at a total cost the quantity can be anything
		quantity += dice.Int64N(99)
		price = dollars
	}
	if dice.IntN(2) == 0 {
		quantity, dollars = -quantity, -dollars
	}
	fmt.Fprintf(text, "    assets:holdings:%s    %s %s $%s  ; trade:%s\n", strings.Trim(a.symbol, `"`), a.write(quantity), cost, decimal(price, 2), cost)
	fmt.Fprintf(text, "    assets:bank:dollars    $%s\n", decimal(-dollars, 2))
}

// transfer moves an asset between two of the firm's places.
func transfer(text *strings.Builder, dice *rand.Rand) {
	a := assets[dice.IntN(len(assets))]
	quantity := dice.Int64N(1_000_000) + 1
	fmt.Fprintf(text, "    assets:custody:%s    %s\n    assets:holdings:%s\n", people[dice.IntN(2)], a.write(quantity), strings.Trim(a.symbol, `"`))
}

// expense spends dollars on several things.
func expense(text *strings.Builder, dice *rand.Rand) {
	for i := range dice.IntN(3) + 1 {
		fmt.Fprintf(text, "    expenses:office:%s    $%s\n", []string{"tea & coffee", "rent", "tax #2 19%"}[i], decimal(dice.Int64N(99_999)+1, 2))
	}
	text.WriteString("    liabilities:card\n")
}

// write writes a quantity of minor units.
func (a asset) write(minor int64) string {
	if a.before {
		return a.symbol + decimal(minor, a.places)
	}
	return decimal(minor, a.places) + " " + a.symbol
}

// decimal writes minor units in major ones.
func decimal(minor int64, places int) string {
	sign := ""
	if minor < 0 {
		sign, minor = "-", -minor
	}
	digits := fmt.Sprintf("%0*d", places+1, minor)
	if places == 0 {
		return sign + digits
	}
	return sign + digits[:len(digits)-places] + "." + digits[len(digits)-places:]
}
