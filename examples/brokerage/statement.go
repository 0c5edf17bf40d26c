package main

import (
	"fmt"
	"hash/fnv"
	"io"
	"strings"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/reconcile"
	"github.com/dynafin/dynafin/reconcile/ready"
	"github.com/dynafin/dynafin/txn"
)

// statement is what bank and custodian say at night about the trades of a tenant: one line for each asset that a fill moved, as the
// venue sees it. It has all that the venue reported, its mistakes too; and it is as bad as seeds make it.
func statement(orders []working, seeds *seeds) (io.Reader, error) {
	var b strings.Builder
	fmt.Fprintln(&b, "line,key,amount,asset")
	n := 0
	write := func(id string, amount money.Amount) {
		if !amount.IsZero() {
			n++
			fmt.Fprintf(&b, "%d,%s,%s,%s\n", n, streetKey(id, amount), amount.Text(), amount.Currency().Code())
		}
	}
	for _, w := range orders {
		reported, err := fills(w)
		if err != nil {
			return nil, err
		}
		open := w.Quantity
		for _, f := range reported {
			cash, err := f.notional()
			if err != nil {
				return nil, err
			}
			paid, moved := cash.Amount.Neg(), f.Quantity
			if w.Side == "sell" {
				paid, moved = paid.Neg(), moved.Neg()
			}
			rest, err := open.Sub(f.Quantity)
			if err != nil {
				return nil, err
			}
			if rest.Sign() < 0 { // more than the order had open: we refused it, the venue does not know yet
				seeds.plant(w.Tenant, batchStreet, "the venue reported more than was open", streetKeys(f.ID, paid, moved)...)
			} else {
				open = rest
				paid = seeds.spoil(w.Tenant, f.ID, paid, write)
			}
			write(f.ID, paid)
			write(f.ID, moved)
		}
	}
	return strings.NewReader(b.String()), nil
}

func streetKey(id string, amount money.Amount) string { return id + "/" + amount.Currency().Code() }

func streetKeys(id string, amounts ...money.Amount) (keys []string) {
	for _, amount := range amounts {
		if !amount.IsZero() {
			keys = append(keys, streetKey(id, amount))
		}
	}
	return keys
}

// readStatement makes rows of it.
func (m market) readStatement(text io.Reader) reconcile.Rows {
	return ready.CSV(text, ready.Columns{ID: "line", Key: "key", Amount: "amount", Currency: "asset", Currencies: m.registry})
}

// keyOfLine is what the statement calls a posting.
func keyOfLine(l ledger.Line) string { return streetKey(l.Source, l.Amount) }

// seeds are the faults of a night that were made on purpose: by the key of the break that each must become.
type seeds struct {
	planted  map[seed]string
	postings map[string]txn.Item // as they were before somebody changed them
}

type seed struct{ tenant, batch, key string }

func newSeeds() *seeds { return &seeds{planted: map[seed]string{}, postings: map[string]txn.Item{}} }

func (s *seeds) plant(tenant, batch, what string, keys ...string) {
	for _, key := range keys {
		s.planted[seed{tenant, batch, key}] = what
	}
}

// spoil makes some lines of a statement wrong: it leaves one out, changes one, or adds one of which nobody has ever heard. What happens
// to a trade follows from its ID.
func (s *seeds) spoil(tenant, id string, paid money.Amount, write func(id string, amount money.Amount)) money.Amount {
	if paid.IsZero() {
		return paid
	}
	switch draw(id) % 97 {
	case 0:
		s.plant(tenant, batchStreet, "a line was left out of the statement", streetKey(id, paid))
		return money.Zero(paid.Currency())
	case 1:
		s.plant(tenant, batchStreet, "a line of the statement has another amount", streetKey(id, paid))
		other, err := money.FromMinor(1, paid.Currency())
		if err == nil {
			if other, err = paid.Add(other); err == nil && !other.IsZero() {
				return other
			}
		}
		return money.Zero(paid.Currency())
	case 2:
		stranger := strangerPrefix + id
		s.plant(tenant, batchStreet, "a line of the statement is about nothing", streetKey(stranger, paid))
		write(stranger, paid)
	}
	return paid
}

// strangerPrefix begins the IDs of lines that belong to nobody.
const strangerPrefix = "stranger-"

func draw(text string) uint32 {
	sum := fnv.New32a()
	io.WriteString(sum, text)
	return sum.Sum32()
}
