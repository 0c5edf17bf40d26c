package ledger_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// A process that died after its commit reads again and repeats. What it reads then shows what it did before, and that must
// not pass for a refusal (E1, E7).
func TestACaptureIsRepeatedWhateverWasReadInBetween(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		amount string
		final  bool
	}{
		"a part, of which less is left by now": {"50.00", false}, "all of it": {"80.00", false}, "a last part": {"10.00", true},
	} {
		b := setup(t, ledger.Config{})
		b.open(t, "bank", "ann-")
		b.commit(t, b.book.Post(transfer("in-1", "bank", "ann-", "100.00")))
		b.commit(t, b.book.Reserve(hold("r-1", "ann-", "80.00")))
		capture := ledger.Capture{Transaction: transfer("c-1", "ann-", "bank", c.amount), Final: c.final}
		b.commit(t, b.book.Capture(b.reservation(t, "r-1"), capture))
		now := b.reservation(t, "r-1")
		if err := b.untouched(t, what, ledger.ErrDuplicate, b.book.Capture(now, capture)); !ledger.Repeated(err) {
			t.Errorf("%s, again: %v", what, err)
		}
		other := capture
		other.Transaction = transfer("c-1", "ann-", "bank", "0.01")
		if err := b.untouched(t, what, ledger.ErrDuplicate, b.book.Capture(now, other)); ledger.Repeated(err) {
			t.Errorf("%s, again with another amount: %v", what, err)
		}
		other.Transaction.Tenant = "other"
		b.untouched(t, what+", for another tenant", ledger.ErrInvalid, b.book.Capture(now, other))
	}
}

// The end of a reservation is told as its end, whatever was left of it, and before anything is sent.
func TestAReservationThatWasReadAfterItsEndHasEnded(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-")
	b.commit(t, b.book.Post(transfer("in-1", "bank", "ann-", "100.00")))
	for id, final := range map[string]bool{"r-1": false, "r-2": true} {
		b.commit(t, b.book.Reserve(hold(id, "ann-", "5.00")))
		paid := map[bool]string{false: "5.00", true: "1.00"}[final]
		b.commit(t, b.book.Capture(b.reservation(t, id), ledger.Capture{Transaction: transfer("c-"+id, "ann-", "bank", paid), Final: final}))
		end := b.reservation(t, id)
		for what, err := range map[string]error{
			"capture": b.book.Capture(end, ledger.Capture{Transaction: transfer("c-3", "ann-", "bank", "1.00")}).Err(),
			"release": b.book.Release(end).Err(), "expire": b.book.Expire(end).Err(),
		} {
			var ended *ledger.EndedError
			if !errors.As(err, &ended) || ended.State != ledger.StateCaptured || ended.Reservation != id {
				t.Errorf("%s of what has ended with %s left: %v", what, end.Left, err)
			}
		}
	}
}

// mill is one thousandth of a dollar, as an amount that was stored with three decimal places is read.
func mill(t *testing.T) money.Amount {
	t.Helper()
	a, err := money.Registry{}.Decode(&types.AttributeValueMemberM{Value: txn.Item{
		"a": &types.AttributeValueMemberN{Value: "1"}, "c": &types.AttributeValueMemberS{Value: "USD"}, "s": &types.AttributeValueMemberN{Value: "3"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A capture in another scale than the reservation's is not taken for one of more.
func TestACaptureHasTheScaleOfItsReservation(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-")
	b.commit(t, b.book.Post(transfer("in-1", "bank", "ann-", "100.00")))
	b.commit(t, b.book.Reserve(hold("r-1", "ann-", "5.00")))
	tx := transfer("c-1", "ann-", "bank", "1.00")
	tx.Postings[0].Amount, tx.Postings[1].Amount = mill(t), mill(t).Neg()
	b.untouched(t, "dollars with three places", ledger.ErrScale, b.book.Capture(b.reservation(t, "r-1"), ledger.Capture{Transaction: tx}))
}

// The asset that fills an account is not refused for want of room when it is opened again.
func TestTheLastAssetIsOpenedAgain(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank")
	asset := ledger.Asset{Currency: eur, NoMinimum: true}
	read := func() ledger.Account {
		account, err := b.book.Account(t.Context(), b.client, tenant, "bank")
		if err != nil {
			t.Fatal(err)
		}
		return account
	}
	b.commit(t, b.book.OpenAsset(read(), asset))
	if err := b.untouched(t, "the second of two assets, again", ledger.ErrDuplicate, b.book.OpenAsset(read(), asset)); !ledger.Repeated(err) {
		t.Errorf("%v", err)
	}
	err := b.untouched(t, "a third of two", ledger.ErrLimit, b.book.OpenAsset(read(), ledger.Asset{Currency: money.MustParse("1 JPY").Currency(), NoMinimum: true}))
	var limit *ledger.LimitError
	if !errors.As(err, &limit) || limit.Max != 2 {
		t.Errorf("%+v", limit)
	}
}

// busyOnce finds the first write of the first transaction that is cancelled busy with another one: its condition is not judged.
type busyOnce struct {
	txn.Client
	was bool
}

func (c *busyOnce) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, opts ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	out, err := c.Client.TransactWriteItems(ctx, in, opts...)
	var canceled *types.TransactionCanceledException
	if !c.was && errors.As(err, &canceled) {
		canceled.CancellationReasons[0] = types.CancellationReason{Code: aws.String("TransactionConflict")}
		c.was = true
	}
	return out, err
}

// While the record that tells a repeat apart is busy, what the others say decides nothing: it may be this command's own
// work that took the funds (E7).
func TestNothingIsRefusedWhileItsIdentifierIsBusy(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-")
	b.commit(t, b.book.Post(transfer("in-1", "bank", "ann-", "10.00")))
	account := ledger.Account{Tenant: tenant, ID: "bob", Side: ledger.CreditSide}
	asset := ledger.Asset{Currency: usd}
	spend := ledger.Capture{Transaction: transfer("c-1", "ann-", "bank", "6.00")}
	balance := b.balance(t, "bank")
	b.commit(t, b.book.OpenAccount(account, asset))
	b.commit(t, b.book.Reserve(hold("r-1", "ann-", "6.00")))
	open := b.reservation(t, "r-1")
	b.commit(t, b.book.Capture(open, spend))
	b.commit(t, b.book.Post(transfer("out-1", "ann-", "bank", "4.00")))
	b.commit(t, b.book.Refuse(transfer("out-2", "ann-", "bank", "4.00"), "too late"))
	b.commit(t, b.book.ClosePeriod(b.balance(t, "bank"), "2026-10"))
	for what, c := range map[string]struct {
		part txn.Part
		kind error
	}{
		"post":    {b.book.Post(transfer("out-1", "ann-", "bank", "4.00")), ledger.ErrDuplicate},
		"refuse":  {b.book.Post(transfer("out-2", "ann-", "bank", "4.00")), ledger.ErrRefused},
		"reserve": {b.book.Reserve(hold("r-1", "ann-", "6.00")), ledger.ErrDuplicate},
		"capture": {b.book.Capture(open, spend), ledger.ErrDuplicate},
		"open":    {b.book.OpenAccount(account, asset), ledger.ErrDuplicate},
		"close":   {b.book.ClosePeriod(balance, "2026-10"), ledger.ErrDuplicate},
	} {
		busy := &busyOnce{Client: b.client}
		_, err := impatient(busy).Commit(t.Context(), c.part)
		if !busy.was || !errors.Is(err, c.kind) || errors.Is(err, ledger.ErrInsufficient) {
			t.Errorf("%s, again: %v, want %v", what, err, c.kind)
		}
	}
}

// A reservation that was refused for good stays refused, when funds have come as well, and gives nobody anything to capture (L7).
func TestARefusedReservationStaysRefused(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-")
	order := hold("r-1", "ann-", "10.00")
	order.ExpiresAt = day.Add(time.Hour)
	b.untouched(t, "no funds", ledger.ErrInsufficient, b.book.Reserve(order))
	b.commit(t, b.book.RefuseReservation(order, "no funds"))
	b.commit(t, b.book.Post(transfer("in-1", "bank", "ann-", "100.00")))
	err := b.untouched(t, "a repeat", ledger.ErrRefused, b.book.Reserve(order))
	var refused *ledger.RefusedError
	if !errors.As(err, &refused) || refused.Reservation != "r-1" || refused.Reason != "no funds" || !refused.At.Equal(day) {
		t.Errorf("%+v", refused)
	}
	b.untouched(t, "a second refusal", ledger.ErrRefused, b.book.RefuseReservation(order, "still no funds"))
	other := order
	other.Amount = dollars("9.00")
	if err := b.untouched(t, "another one of that name", ledger.ErrDuplicate, b.book.Reserve(other)); ledger.Repeated(err) {
		t.Errorf("passes for the same: %v", err)
	}
	stored := b.reservation(t, "r-1")
	if stored.State != ledger.StateRefused || stored.Reason != "no funds" || !stored.EndedAt.Equal(day) || stored.Left != order.Amount {
		t.Errorf("%+v", stored)
	}
	b.untouched(t, "a capture", ledger.ErrEnded, b.book.Capture(stored, ledger.Capture{Transaction: transfer("c-1", "ann-", "bank", "1.00")}))
	b.untouched(t, "a release", ledger.ErrEnded, b.book.Release(stored))
	for listed, err := range b.book.Held(t.Context(), b.client, tenant, "ann-") {
		t.Errorf("it is listed: %+v, %v", listed, err)
	}
	b.has(t, "ann-", "100.00", "0.00", "100.00")

	made := hold("r-2", "ann-", "10.00")
	b.commit(t, b.book.Reserve(made))
	if err := b.untouched(t, "the refusal of what is reserved", ledger.ErrDuplicate, b.book.RefuseReservation(made, "late")); !ledger.Repeated(err) {
		t.Errorf("%v", err)
	}
	b.unsent(t, "no reason", ledger.ErrInvalid, b.book.RefuseReservation(hold("r-3", "ann-", "1.00"), ""))
	b.unsent(t, "nothing", ledger.ErrInvalid, b.book.RefuseReservation(ledger.Reservation{}, "no"))
}
