package planted

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/invariant"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// The mistakes of a ledger are made in the library's own: it builds its requests, and on their way to the database one
// thing is taken out of them, or done in another order. The twin is the ledger as it is.

const shop = "shop"

var (
	euro, _ = money.ISO("EUR")
	ledgers = txn.Table{Name: ledger.DefaultTable}
	newYear = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // when every history begins
)

func cents(n int64) money.Amount {
	a, err := money.FromMinor(n, euro)
	if err != nil {
		panic(err)
	}
	return a
}

func newBook(now func() time.Time) *ledger.Ledger {
	return ledger.New(ledger.Config{Table: ledgers, DueMap: shardmap.Fixed(1), Now: now})
}

// pays is a transaction that debits one account and credits another.
func pays(id, debit, credit string, n int64) ledger.Transaction {
	return ledger.Transaction{Tenant: shop, ID: id, EffectiveAt: newYear,
		Postings: []ledger.Posting{ledger.Debit(debit, cents(n)), ledger.Credit(credit, cents(n))}}
}

// openShop opens an account of the house and one of a customer, who pays in 10.
func openShop(w *invariant.World) *ledger.Ledger {
	book := newBook(w.Now)
	w.Table(ledgers.Name, book.Indexes()...)
	settle(w, "accounts", book.OpenAccount(ledger.Account{Tenant: shop, ID: "house", Side: ledger.DebitSide}, ledger.Asset{Currency: euro, NoMinimum: true}),
		book.OpenAccount(ledger.Account{Tenant: shop, ID: "ann", Side: ledger.CreditSide}, ledger.Asset{Currency: euro}))
	settle(w, "opening", book.Post(pays("opening", "house", "ann", 10)))
	return book
}

// settle commits for the story itself, under a mark.
func settle(w *invariant.World, mark string, parts ...txn.Part) {
	_, err := txn.New(w.Client(), txn.Config{Now: w.Now, NewMark: func() string { return mark }}).Commit(w.Context(), parts...)
	w.Check("prepare", err)
}

// booksHold checks everything that the stored books promise.
func booksHold(w *invariant.World, book *ledger.Ledger) {
	b, err := invariant.ReadBooks(w.Context(), w.Client(), ledgers, book)
	w.Check("read the books", err)
	w.Check("the books hold", b.Check())
}

func wantPosted(w *invariant.World, book *ledger.Ledger, account string, want int64) {
	b, err := book.Balance(w.Context(), w.Client(), shop, account, euro)
	w.Check("read", err)
	if b.Posted != cents(want) {
		w.Check("every amount counts once", fmt.Errorf("%s has %s, not %s", account, b.Posted, cents(want)))
	}
}

// spoil is a mistake: it changes a transaction on its way.
type spoil func(ctx context.Context, client *dynamodb.Client, in *dynamodb.TransactWriteItemsInput) error

// desk is what one process of the shop has.
type desk struct {
	*dynamodb.Client
	p       *invariant.Process
	book    *ledger.Ledger
	commits *txn.Committer
	spoil   spoil
}

// at returns the desk of a process, with the mistake or, if broken is not set, without.
func at(p *invariant.Process, broken bool, mistake spoil) *desk {
	d := &desk{Client: p.Client(), p: p, book: newBook(p.Now)}
	if broken {
		d.spoil = mistake
	}
	d.commits = txn.New(d, p.Txn())
	return d
}

func (d *desk) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, opts ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if d.spoil != nil {
		if err := d.spoil(ctx, d.Client, in); err != nil {
			return nil, err
		}
	}
	return d.Client.TransactWriteItems(ctx, in, opts...)
}

// commit commits, and returns nil for whatever is decided; again is for what is not.
func (d *desk) commit(ctx context.Context, parts ...txn.Part) (decided, again error) {
	_, err := d.commits.Commit(ctx, parts...)
	var canceled *txn.CanceledError
	errors.As(err, &canceled)
	if ledger.Repeated(err) {
		return nil, nil
	}
	if canceled != nil && (canceled.Unsettled || errors.Is(err, ledger.ErrVersion)) {
		return err, err
	}
	if canceled != nil || errors.Is(err, ledger.ErrExceeds) || errors.Is(err, ledger.ErrEnded) {
		return err, nil
	}
	return err, err
}

func (d *desk) do(ctx context.Context, parts ...txn.Part) error {
	_, again := d.commit(ctx, parts...)
	return again
}

// hold reads a reservation.
func (d *desk) hold(ctx context.Context, id string) (ledger.Reservation, error) {
	return d.book.Reservation(ctx, d.Client, shop, id)
}

// workers starts one worker for each transaction.
func workers(w *invariant.World, broken bool, mistake spoil, all ...ledger.Transaction) {
	for _, tx := range all {
		w.Worker(tx.ID, func(ctx context.Context, p *invariant.Process) error {
			d := at(p, broken, mistake)
			return d.do(ctx, d.book.Post(tx))
		})
	}
}

// updates ranges over the updates whose keys begin so.
func updates(in *dynamodb.TransactWriteItemsInput, pk, sk string, change func(*types.Update)) {
	for i := range in.TransactItems {
		if u := in.TransactItems[i].Update; u != nil && strings.HasPrefix(s(u.Key["PK"]), "TEN#"+shop+"#"+pk) && strings.HasPrefix(s(u.Key["SK"]), sk) {
			copied := *u
			copied.ExpressionAttributeValues, copied.ExpressionAttributeNames = maps.Clone(u.ExpressionAttributeValues), maps.Clone(u.ExpressionAttributeNames)
			change(&copied)
			prune(&copied)
			in.TransactItems[i].Update = &copied
		}
	}
}

var placeholder = regexp.MustCompile(`[:#][A-Za-z0-9]+`)

// prune leaves out the substitutions that no expression uses any more.
func prune(u *types.Update) {
	used := placeholder.FindAllString(*u.UpdateExpression+" "+*u.ConditionExpression, -1)
	maps.DeleteFunc(u.ExpressionAttributeValues, func(name string, _ types.AttributeValue) bool { return !slices.Contains(used, name) })
	maps.DeleteFunc(u.ExpressionAttributeNames, func(name, _ string) bool { return !slices.Contains(used, name) })
}

// without takes the writes out whose sort keys begin so.
func without(in *dynamodb.TransactWriteItemsInput, gone func(pk, sk string) bool) (taken []types.TransactWriteItem) {
	kept := []types.TransactWriteItem{}
	for _, w := range in.TransactItems {
		key := map[string]types.AttributeValue{}
		if w.Put != nil {
			key = w.Put.Item
		} else if w.Update != nil {
			key = w.Update.Key
		}
		if gone(s(key["PK"]), s(key["SK"])) {
			taken = append(taken, w)
		} else {
			kept = append(kept, w)
		}
	}
	in.TransactItems = kept
	return taken
}

func s(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	}
	return ""
}

func n(v int) types.AttributeValue { return attribute(v) }
