package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/txn"
)

// settlement posts what trades move. It follows each order from version to version, so a reservation is captured in the order of
// the fills, and the last one gives back the rest. Checkpoint, receipt, capture and postings are one transaction (CS04, CS06).
type settlement struct {
	books    *books
	versions *projection.Projection
}

func newSettlement(b *books, pace txn.Config) *settlement {
	s := &settlement{books: b}
	s.versions = projection.New(b.client, projection.Config{
		Name: "settlement", Table: ledgerTable, View: s.change, Txn: pace, First: firstVersion + 1,
	})
	return s
}

func (s *settlement) apply(ctx context.Context, e outbox.Event) (outcome projection.Outcome, err error) {
	for range 1 + repeatsMax {
		outcome, err = s.versions.Namespace(1).Apply(ctx, versionOf(e))
		var before *ledger.DuplicateError
		if !errors.As(err, &before) || !before.Same { // else another worker has just posted it; the checkpoint says so by now
			break
		}
	}
	return outcome, err
}

// change is what a version of an order changes in the books.
func (s *settlement) change(ctx context.Context, _ int, e projection.Event) ([]txn.Part, error) {
	received := inbox.New(inbox.Config{Consumer: "ledger", Table: ledgerTable})
	receipt := received.Receive(inbox.Event{ID: e.ID, Type: e.Type, Source: e.Source, SourceVersion: e.Version, Payload: e.Payload}, nil)
	tenant, orderID := orderOf(e.Source)
	held, err := s.books.ledger.Reservation(ctx, s.books.client, tenant, orderID)
	if err != nil {
		return nil, err
	}
	if e.Type == orderClosed {
		if held.State != ledger.StateOpen { // an order that expired gave back its rest in the transaction that ended it
			return []txn.Part{receipt}, nil
		}
		return []txn.Part{receipt, s.books.ledger.Release(held)}, nil
	}
	parts, err := s.books.settle(ctx, held, e)
	if err != nil {
		return nil, fmt.Errorf("trade %s: %w", e.ID, err)
	}
	return append([]txn.Part{receipt}, parts...), nil
}

// orderOf reads the name of a source back. Tenants and order IDs need no escaping, see record.go.
func orderOf(source string) (tenant, orderID string) {
	components := strings.Split(source, "#")
	return components[0], components[len(components)-1]
}

// trade is a trade as the books see it.
type trade struct {
	tradePayload
	tenant          string
	at              time.Time
	quantity, price money.Amount
}

func (b *books) readTrade(e projection.Event) (t trade, err error) {
	if err := json.Unmarshal(e.Payload, &t.tradePayload); err != nil {
		return t, err
	}
	t.tenant, t.at = t.Tenant, e.OccurredAt
	var notQuantity, notPrice error
	t.quantity, notQuantity = b.market.registry.Parse(t.Quantity)
	t.price, notPrice = b.market.registry.Parse(t.Price)
	return t, errors.Join(notQuantity, notPrice)
}

// settle captures the part of the reservation that a trade takes, and all of the rest with the last one. A trade of so little that
// it has no price in its currency moves securities alone. A trade that is posted already has no parts: the checkpoint will refuse
// the repeat.
func (b *books) settle(ctx context.Context, held ledger.Reservation, e projection.Event) ([]txn.Part, error) {
	if slices.Contains(held.CapturedBy, e.ID) {
		return nil, nil
	}
	t, err := b.readTrade(e)
	if err != nil {
		return nil, err
	}
	tx, err := t.transaction()
	if err != nil {
		return nil, err
	}
	for _, p := range tx.Postings {
		if p.Account == held.Account && p.Amount.Currency() == held.Amount.Currency() {
			return []txn.Part{b.ledger.Capture(held, ledger.Capture{Transaction: tx, Final: t.Last})}, nil
		}
	}
	switch _, err := b.ledger.Transaction(ctx, b.client, t.tenant, tx.ID); {
	case err == nil:
		return nil, nil
	case !errors.Is(err, ledger.ErrNotFound):
		return nil, err
	case t.Last:
		return []txn.Part{b.ledger.Post(tx), b.ledger.Release(held)}, nil
	default:
		return []txn.Part{b.ledger.Post(tx)}, nil
	}
}

// transaction is what a trade moves, balanced for each asset. Price and fee are rounded by themselves and what the customer pays
// once; the difference has an account.
func (t trade) transaction() (ledger.Transaction, error) {
	tx := ledger.Transaction{Tenant: t.tenant, ID: t.TradeID, EffectiveAt: t.at, Source: t.TradeID}
	value, fee, err := charges(t.quantity, t.price)
	if err != nil {
		return tx, err
	}
	sign := int64(1) // a buyer pays
	if t.Side == "sell" {
		sign, fee = -1, fee.Neg()
	}
	sheet, err := money.RoundLines(t.price.Currency(), money.HalfEven, rounding, value, fee)
	if err != nil {
		return tx, err
	}
	post := func(account string, amount money.Amount, sign int64) error {
		if amount.IsZero() {
			return nil
		}
		signed, err := amount.MulInt(sign)
		tx.Postings = append(tx.Postings, ledger.Debit(account, signed))
		return err
	}
	err = errors.Join(
		post(t.Account, sheet.Total, sign),
		post(street, sheet.Lines[0], -sign),
		post(fees, sheet.Lines[1], -sign),
		post(sheet.Difference.Account, sheet.Difference.Amount, -sign),
		post(t.Account, t.quantity, -sign),
		post(street, t.quantity, sign),
	)
	tx = houseAccount(t.tenant, street).Spread(tx)
	return houseAccount(t.tenant, fees).Spread(tx), err
}
