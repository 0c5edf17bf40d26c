package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// The accounts of the house, in the books of each tenant. What the house has at its bank and its custodian stands opposite to
// what it owes its customers.
const (
	street   = "STREET"   // cash at the bank, securities at the custodian
	fees     = "FEES"     // what trades earn
	rounding = "ROUNDING" // what rounding gives and takes
)

// stripes is over how many balances the accounts are spread that every trade touches.
const stripes = 4

// books are the ledger: the authority on what every account has, and what of it is reserved (AP10 to AP12). A customer's
// account is what the house owes, so it is a credit account; it never goes below nothing.
type books struct {
	client    *dynamodb.Client
	committer *txn.Committer
	ledger    *ledger.Ledger
	market    market
	clock     *clock

	mu     sync.Mutex
	opened map[account]bool
}

func newBooks(client *dynamodb.Client, pace txn.Config, m market, hours *clock) *books {
	return &books{
		client: client, committer: txn.New(client, pace), market: m, opened: map[account]bool{},
		clock: hours, ledger: ledger.New(ledger.Config{Table: ledgerTable, Now: hours.now}),
	}
}

func houseAccount(tenant, id string) ledger.Account {
	a := ledger.Account{Tenant: tenant, ID: id, Side: ledger.CreditSide, Assets: 2 * len(listed), Stripes: stripes}
	switch id {
	case street:
		a.Side = ledger.DebitSide
	case rounding:
		a.Stripes = 1
	}
	return a
}

// knows says whether this process knows that an account is open and paid in.
func (b *books) knows(of account) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.opened[of]
}

// open opens the account of a customer and pays in what it begins the day with, any number of times. It is called when an order comes
// from an account that the ledger does not know, or that may not be paid in yet: in between it has nothing.
func (b *books) open(ctx context.Context, of account) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.opened[of] {
		return nil
	}
	if err := b.openAndPay(ctx, of); err != nil {
		return fmt.Errorf("open account %s of %s: %w", of.id, of.tenant, err)
	}
	b.opened[of] = true
	return nil
}

func (b *books) openAndPay(ctx context.Context, of account) error {
	if house := (account{of.tenant, street}); !b.opened[house] {
		if err := b.openHouse(ctx, of.tenant); err != nil {
			return err
		}
		b.opened[house] = true
	}
	var assets []ledger.Asset
	var paidIn []ledger.Posting
	for _, asset := range b.market.assets() {
		assets = append(assets, ledger.Asset{Currency: asset})
		amount, err := endowment(of, asset)
		if err != nil {
			return err
		}
		if !amount.IsZero() {
			paidIn = append(paidIn, ledger.Debit(street, amount), ledger.Credit(of.id, amount))
		}
	}
	customer := ledger.Account{Tenant: of.tenant, ID: of.id, Side: ledger.CreditSide, Assets: len(assets)}
	first := houseAccount(of.tenant, street).Spread(ledger.Transaction{
		Tenant: of.tenant, ID: "opening-" + of.id, EffectiveAt: dayOpens, Source: "opening", Postings: paidIn,
	})
	if err := b.once(ctx, b.ledger.OpenAccount(customer, assets...)); err != nil {
		return err
	}
	return b.once(ctx, b.ledger.Post(first))
}

func (b *books) openHouse(ctx context.Context, tenant string) error {
	for _, id := range [...]string{street, fees, rounding} {
		var assets []ledger.Asset
		for _, asset := range b.market.assets() {
			if id == street || asset.Kind() == money.KindCash {
				assets = append(assets, ledger.Asset{Currency: asset, NoMinimum: true})
			}
		}
		if err := b.once(ctx, b.ledger.OpenAccount(houseAccount(tenant, id), assets...)); err != nil {
			return fmt.Errorf("open %s of %s: %w", id, tenant, err)
		}
	}
	return nil
}

// once commits parts of the ledger until they are there, now or before.
func (b *books) once(ctx context.Context, parts ...txn.Part) error {
	_, err := insist(ctx, b.committer, parts...)
	var before *ledger.DuplicateError
	if errors.As(err, &before) && (before.Same || before.What == "account") {
		return nil
	}
	return err
}

// insistMax is how often a commit is tried of which nobody can tell whether it was applied.
const insistMax = 30

// insist commits parts until it is known what became of them. unsure says that an attempt before the last one had no answer: then an
// error of parts that are there already may be about that attempt.
func insist(ctx context.Context, committer *txn.Committer, parts ...txn.Part) (unsure bool, err error) {
	for range insistMax {
		_, err = committer.Commit(ctx, parts...)
		switch {
		case errors.Is(err, txn.ErrAmbiguous):
			unsure = true
		case !errors.Is(err, txn.ErrContention):
			return unsure, err
		}
	}
	return unsure, err
}

// assets are all currencies and securities, in a fixed order.
func (m market) assets() []money.Currency {
	var list []money.Currency
	for _, l := range listed {
		in := m.instruments[l.symbol]
		list = append(list, in.security)
		if !slices.Contains(list, in.currency) {
			list = append(list, in.currency)
		}
	}
	return list
}

// primeAccount is the suffix of accounts that are large enough for any order.
const primeAccount = "-PRIME"

// endowment is what an account begins the day with: plenty of everything but one security, of which it has none, so that an
// order to sell that one is refused, whatever else happens. Whether an order is covered never depends on which came first.
func endowment(of account, asset money.Currency) (money.Amount, error) {
	zeros := 6
	switch {
	case asset.Kind() == money.KindCash:
		zeros = 9
	case notHeld(of.id) == asset.Code():
		return money.Zero(asset), nil
	}
	if strings.HasSuffix(of.id, primeAccount) && asset.Scale() < 10 {
		zeros += 13
	} else if strings.HasSuffix(of.id, primeAccount) {
		zeros += 4
	}
	return money.Parse("1"+strings.Repeat("0", zeros), asset)
}

// notHeld is the security of which an account has none.
func notHeld(id string) string {
	sum := fnv.New32a()
	sum.Write([]byte(id))
	return listed[sum.Sum32()%uint32(len(listed))].symbol
}

// commission is what a trade costs the customer.
var commission = money.MustParseRational("0.00075")

// charges are the exact value of a trade and the exact fee.
func charges(quantity, price money.Amount) (value, fee money.Rational, err error) {
	value, err = quantity.Rational().Mul(price.Rational())
	if err != nil {
		return value, fee, err
	}
	fee, err = value.Mul(commission)
	return value, fee, err
}

// roundings is how many minor units more than its price an order may cost, because every part of it is rounded by itself.
const roundings = 10

// cover is what an order may take at most, as a reservation that is made when it is accepted: cash for a buyer, the securities for
// a seller. An order for the day gives back at the close what it has not used.
func (b *books) cover(o order) (ledger.Reservation, error) {
	r := ledger.Reservation{Tenant: o.Tenant, ID: o.id(), Account: o.Account, Amount: o.Quantity}
	if o.TimeInForce != "gtc" {
		r.ExpiresAt = marketCloses
	}
	if o.Side == "sell" {
		return r, nil
	}
	price := b.market.instruments[o.Symbol].last
	if limit := o.limitPrice(); limit != nil {
		price = *limit
	}
	exact, fee, err := charges(o.Quantity, price)
	if err != nil {
		return r, err
	}
	if exact, err = exact.Add(fee); err != nil {
		return r, err
	}
	most, err := exact.Round(o.Currency, money.Up)
	if err != nil {
		return r, err
	}
	margin, err := money.FromMinor(roundings, o.Currency)
	if err != nil {
		return r, err
	}
	r.Amount, err = most.Amount.Add(margin)
	return r, err
}

// notCoveredBy finds in the error of a Commit that an account does not have what an order needs.
func notCoveredBy(err error) bool {
	var poor *ledger.InsufficientError
	var tooLarge *ledger.LimitError
	var beyond *money.RangeError
	return errors.As(err, &poor) || errors.As(err, &tooLarge) || errors.As(err, &beyond)
}

// held is how many open reservations there are, per tenant and account, by the index (AP12).
func (b *books) held(ctx context.Context, accounts []account) (open int, err error) {
	for _, of := range accounts {
		for _, err := range b.ledger.Held(ctx, b.client, of.tenant, of.id) {
			if err != nil {
				return open, err
			}
			open++
		}
	}
	return open, nil
}
