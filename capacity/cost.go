package capacity

import (
	"errors"
	"strings"
)

// MonthSeconds is the month that a cost is for: 730 hours.
const MonthSeconds = 730 * 3600

const million = 1_000_000

// Prices are what the user pays, as decimal text in the currency, such as "0.625". No price is built in: they differ by
// Region and contract, and they change. A price that is "" is left out of the cost.
type Prices struct {
	// Currency is repeated in the cost.
	Currency string
	// MillionReads and MillionWrites are the prices of a million read or write request units.
	MillionReads, MillionWrites string
	// GiBMonth is the price of storing 1 GiB for a month.
	GiBMonth string
}

// Cost is what a plan costs in a month of 730 hours at its mean load. It is exact, and no offer: free tiers, discounts,
// backups, streams and replicas are not in it.
type Cost struct {
	// Currency is that of the prices.
	Currency string
	// Reads, Writes, Storage and Total are money.
	Reads, Writes, Storage, Total Figure
	// StoredGiB is what is stored, ReadUnits and WriteUnits what is consumed in the month.
	StoredGiB, ReadUnits, WriteUnits Figure
}

// Cost prices the plan. The error joins a *FigureError for every price that is no plain decimal.
func (p *Plan) Cost(prices Prices) (Cost, error) {
	r := &reader{}
	price := func(name, text string) Figure {
		if text == "" {
			return Figure{}
		}
		f, wrong := parseFigure(text)
		if wrong != "" {
			r.fail("prices: "+name, wrong)
		}
		return f
	}
	month := figureOf(MonthSeconds).times(p.mean)
	c := Cost{
		Currency:   prices.Currency,
		ReadUnits:  p.ReadUnits.times(month),
		WriteUnits: p.WriteUnits.times(month),
		StoredGiB:  p.storage.over(figureOf(1 << 30)),
	}
	c.Reads = c.ReadUnits.over(figureOf(million)).times(price("MillionReads", prices.MillionReads))
	c.Writes = c.WriteUnits.over(figureOf(million)).times(price("MillionWrites", prices.MillionWrites))
	c.Storage = c.StoredGiB.times(price("GiBMonth", prices.GiBMonth))
	c.Total = c.Reads.plus(c.Writes).plus(c.Storage)
	return c, errors.Join(r.errs...)
}

// String returns the cost as a table, money with two decimal places.
func (c Cost) String() string {
	var b strings.Builder
	writeTable(&b, [][]string{
		{"a month", "amount", c.Currency},
		{"read units", c.ReadUnits.Fixed(0), c.Reads.Fixed(2)},
		{"write units", c.WriteUnits.Fixed(0), c.Writes.Fixed(2)},
		{"GiB stored", c.StoredGiB.Fixed(2), c.Storage.Fixed(2)},
		{"total", "", c.Total.Fixed(2)},
	})
	return b.String()
}
