package planted

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/invariant"
	"github.com/dynafin/dynafin/ledger"
)

func ledgerPosts() []bug {
	return []bug{
		{name: "ledger: balance read, then set", label: "L2, L8", within: 100, twins: 20,
			lesson: "two postings read one balance, and the statement has one more than the balance", story: balanceSet},
		{name: "ledger: funds checked, then posted", label: "L3", within: 200, twins: 20,
			lesson: "both saw enough, and no condition asks again", story: fundsChecked},
		{name: "ledger: identifier unique within its month", label: "L1", within: 60, twins: 20,
			lesson: "the header is filed by month, and the repeat comes after midnight", story: idWithinMonth},
		{name: "ledger: posting without one balance", label: "L2", within: 20, twins: 20,
			lesson: "the credit is only in the statement", story: balanceLeftOut},
		{name: "ledger: statement after the balance", label: "L2, L8", within: 100, twins: 20,
			lesson: "balances in one transaction, postings in the next, and a crash between", story: statementAfter},
		{name: "ledger: sign of the credit side", label: "L8", within: 20, twins: 20,
			lesson: "what the house owes goes up when it pays", story: signFlipped},
		{name: "ledger: two lines, one write, one amount", label: "L2", within: 20, twins: 20,
			lesson: "a record can be written once, and the last line wins", story: lastLineWins},
		{name: "ledger: balance from an eventual read", label: "L8", within: 60, twins: 20, config: invariant.Config{Staleness: 30 * time.Second},
			lesson: "who has just paid in is told what there was before", story: eventualBalance},
		{name: "ledger: period closed without a condition", label: "L1, L8", within: 200, twins: 20,
			lesson: "a posting arrives between the totals and the seal", story: closedBlindly},
		{name: "ledger: frozen in the account's record only", label: "L1", within: 200, twins: 20,
			lesson: "nobody who posts reads that record", story: frozenElsewhere},
		{name: "ledger: refused while a copy is on its way", label: "L7, E1", within: 300, twins: 20,
			config: invariant.Config{Fates: []dynamosim.Fate{dynamosim.LateCommit}, Crashes: -1},
			lesson: "the client is told no, funds come, and then the copy arrives", story: copyAfterRefusal},
	}
}

// balanceSet turns what an update adds into what was read, and more.
func balanceSet(w *invariant.World, broken bool) {
	book := openShop(w)
	workers(w, broken, func(ctx context.Context, client *dynamodb.Client, in *dynamodb.TransactWriteItemsInput) (err error) {
		updates(in, "ACCT#", "AUTH#", func(u *types.Update) {
			out, failed := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: u.TableName, Key: u.Key, ConsistentRead: aws.Bool(true)})
			if failed != nil {
				err = failed
				return
			}
			by := number(s(u.ExpressionAttributeValues[":posted"]))
			u.ExpressionAttributeValues[":p"], u.ExpressionAttributeValues[":a"] = n(number(s(out.Item["posted"]))+by), n(number(s(out.Item["available"]))+by)
			set := strings.Replace(*u.UpdateExpression, ", posted :posted, available :posted", "", 1)
			u.UpdateExpression = aws.String(strings.Replace(set, "SET ", "SET posted = :p, available = :a, ", 1))
		})
		return err
	}, pays("one", "house", "ann", 5), pays("two", "house", "ann", 7))
	w.Run()
	w.Settle()
	booksHold(w, book)
}

var fundsClause = regexp.MustCompile(` AND \(attribute_not_exists\(minimum\) OR side = :\w+ OR available [<>]= :\w+\)`)

func fundsChecked(w *invariant.World, broken bool) {
	book := openShop(w)
	for _, tx := range []ledger.Transaction{pays("one", "ann", "house", 7), pays("two", "ann", "house", 6)} {
		w.Worker(tx.ID, func(ctx context.Context, p *invariant.Process) error {
			d := at(p, broken, func(_ context.Context, _ *dynamodb.Client, in *dynamodb.TransactWriteItemsInput) error {
				updates(in, "ACCT#", "AUTH#", func(u *types.Update) {
					u.ConditionExpression = aws.String(fundsClause.ReplaceAllString(*u.ConditionExpression, ""))
				})
				return nil
			})
			if broken {
				b, err := d.book.Balance(ctx, d.Client, shop, "ann", euro)
				if err != nil {
					return err
				}
				if enough, err := b.Available.Cmp(tx.Postings[0].Amount); err != nil || enough < 0 {
					return err
				}
			}
			return d.do(ctx, d.book.Post(tx))
		})
	}
	w.Run()
	w.Settle()
	booksHold(w, book)
}

// idWithinMonth dates a payment when it is served, as some do; the histories begin at midnight of the New Year.
func idWithinMonth(w *invariant.World, broken bool) {
	book := openShop(w)
	w.Command("pay", func(ctx context.Context, p *invariant.Process) ([]byte, error) {
		d := at(p, broken, func(_ context.Context, _ *dynamodb.Client, in *dynamodb.TransactWriteItemsInput) error {
			for i, w := range in.TransactItems {
				if w.Put != nil && s(w.Put.Item["SK"]) == "HEADER" {
					copied := *w.Put
					copied.Item = merge(copied.Item, "PK", text(s(copied.Item["PK"])+s(copied.Item["effectiveAt"])[:7]))
					in.TransactItems[i].Put = &copied
				}
			}
			return nil
		})
		tx := pays("pay", "house", "ann", 5)
		tx.EffectiveAt = p.Now()
		return []byte("paid"), d.do(ctx, d.book.Post(tx))
	})
	w.Run()
	w.Settle()
	wantPosted(w, book, "ann", 15)
}

func merge(item map[string]types.AttributeValue, name string, value types.AttributeValue) map[string]types.AttributeValue {
	copied := map[string]types.AttributeValue{name: value}
	for other, v := range item {
		if other != name {
			copied[other] = v
		}
	}
	return copied
}

func balanceLeftOut(w *invariant.World, broken bool) {
	book := openShop(w)
	workers(w, broken, func(_ context.Context, _ *dynamodb.Client, in *dynamodb.TransactWriteItemsInput) error {
		without(in, func(pk, sk string) bool { return strings.HasSuffix(pk, "#ann") && strings.HasPrefix(sk, "AUTH#") })
		return nil
	}, pays("one", "house", "ann", 5))
	w.Run()
	w.Settle()
	booksHold(w, book)
}

func statementAfter(w *invariant.World, broken bool) {
	book := openShop(w)
	w.Worker("pay", func(ctx context.Context, p *invariant.Process) error {
		var later []types.TransactWriteItem
		d := at(p, broken, func(_ context.Context, _ *dynamodb.Client, in *dynamodb.TransactWriteItemsInput) error {
			later = without(in, func(_, sk string) bool { return strings.HasPrefix(sk, "POST#") })
			return nil
		})
		if err := d.do(ctx, d.book.Post(pays("one", "house", "ann", 5))); err != nil || later == nil {
			return err
		}
		_, err := d.Client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: later})
		return err
	})
	w.Run()
	w.Settle()
	booksHold(w, book)
}

func signFlipped(w *invariant.World, broken bool) {
	book := openShop(w)
	workers(w, broken, func(_ context.Context, _ *dynamodb.Client, in *dynamodb.TransactWriteItemsInput) error {
		updates(in, "ACCT#ann", "AUTH#", func(u *types.Update) {
			u.ExpressionAttributeValues[":posted"] = n(-number(s(u.ExpressionAttributeValues[":posted"])))
		})
		return nil
	}, pays("one", "house", "ann", 5))
	w.Run()
	w.Settle()
	booksHold(w, book)
}

func lastLineWins(w *invariant.World, broken bool) {
	book := openShop(w)
	tx := pays("one", "house", "ann", 5)
	tx.Postings = append(tx.Postings, pays("", "house", "ann", 2).Postings...)
	workers(w, broken, func(_ context.Context, _ *dynamodb.Client, in *dynamodb.TransactWriteItemsInput) error {
		updates(in, "ACCT#ann", "AUTH#", func(u *types.Update) { u.ExpressionAttributeValues[":posted"] = n(-2) })
		return nil
	}, tx)
	w.Run()
	w.Settle()
	booksHold(w, book)
}

// eventually reads as the SDK does if nobody says otherwise.
type eventually struct{ *dynamodb.Client }

func (e eventually) GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	copied := *in
	copied.ConsistentRead = nil
	return e.Client.GetItem(ctx, &copied, opts...)
}

func eventualBalance(w *invariant.World, broken bool) {
	openShop(w)
	w.Advance(time.Hour) // the opening is known everywhere
	w.Command("pay in", func(ctx context.Context, p *invariant.Process) ([]byte, error) {
		d := at(p, broken, nil)
		if err := d.do(ctx, d.book.Post(pays("one", "house", "ann", 5))); err != nil {
			return nil, err
		}
		var reader ledger.Client = d.Client
		if broken {
			reader = eventually{d.Client}
		}
		b, err := d.book.Balance(ctx, reader, shop, "ann", euro)
		return []byte(b.Posted.Text()), err
	})
	w.Run()
	w.Settle()
	for _, a := range w.Answers() {
		if string(a.Body) != "0.15" {
			w.Check("who paid in sees it", fmt.Errorf("%s was told %s", a.Worker, a.Body))
		}
	}
}

func closedBlindly(w *invariant.World, broken bool) {
	book := openShop(w)
	blind := func(_ context.Context, _ *dynamodb.Client, in *dynamodb.TransactWriteItemsInput) error {
		updates(in, "ACCT#", "AUTH#", func(u *types.Update) { u.ConditionExpression = aws.String("v = :v") })
		return nil
	}
	w.Worker("close", func(ctx context.Context, p *invariant.Process) error {
		d := at(p, broken, blind)
		b, err := d.book.Balance(ctx, d.Client, shop, "ann", euro)
		if err != nil || b.ClosedThrough != "" {
			return err
		}
		return d.do(ctx, d.book.ClosePeriod(b, ledger.MonthOf(newYear)))
	})
	workers(w, false, nil, pays("one", "house", "ann", 5), pays("two", "house", "ann", 7))
	w.Run()
	w.Settle()
	booksHold(w, book)
}

func frozenElsewhere(w *invariant.World, broken bool) {
	openShop(w)
	op := invariant.AuthorityOp{Account: "ann", Opening: 10}
	w.Worker("freeze", func(ctx context.Context, p *invariant.Process) error {
		d := at(p, broken, func(_ context.Context, _ *dynamodb.Client, in *dynamodb.TransactWriteItemsInput) error {
			without(in, func(_, sk string) bool { return strings.HasPrefix(sk, "AUTH#") })
			return nil
		})
		account, err := d.book.Account(ctx, d.Client, shop, "ann")
		if err != nil || account.Status == ledger.StatusFrozen {
			return err
		}
		b, err := d.book.Balance(ctx, d.Client, shop, "ann", euro)
		if err != nil {
			return err
		}
		freeze := op
		freeze.Do = invariant.AuthorityFreeze
		answered := p.Begin(freeze)
		decided, again := d.commit(ctx, d.book.SetStatus(account, ledger.StatusFrozen, b))
		if decided == nil {
			answered(invariant.AuthorityDone)
		}
		return again
	})
	for i := range 2 {
		w.Worker(fmt.Sprint("pay", i), func(ctx context.Context, p *invariant.Process) error {
			for j := range 3 {
				if err := payWatched(ctx, at(p, false, nil), op, fmt.Sprint(p.Name(), ".", j)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	w.Run()
	w.Settle()
	w.Check("a frozen account takes nothing", w.Linearizable(invariant.Authority()))
}

// payWatched posts a cent and tells the model.
func payWatched(ctx context.Context, d *desk, op invariant.AuthorityOp, id string) error {
	op.Do, op.ID, op.By, op.Month = invariant.AuthorityPost, id, 1, "2000-01"
	answered := d.p.Begin(op)
	decided, again := d.commit(ctx, d.book.Post(pays(id, "house", "ann", 1)))
	switch {
	case decided == nil:
		answered(invariant.AuthorityDone)
	case again == nil:
		answered(invariant.AuthorityFrozen)
	}
	return again
}

// copyAfterRefusal: 12 are wanted where 10 are, and 5 are paid in.
func copyAfterRefusal(w *invariant.World, broken bool) {
	book := openShop(w)
	told := ""
	w.Worker("pay out", func(ctx context.Context, p *invariant.Process) error {
		d := at(p, false, nil)
		tx := pays("out", "ann", "house", 12)
		decided, again := d.commit(ctx, d.book.Post(tx))
		if !errors.Is(decided, ledger.ErrInsufficient) {
			return again
		}
		if !broken {
			_, err := d.commits.Commit(ctx, d.book.Refuse(tx, "too little"))
			if ledger.Repeated(err) {
				return nil // the copy was faster
			}
			if err != nil && !errors.Is(err, ledger.ErrRefused) {
				return err
			}
		}
		told = "refused"
		return nil
	})
	workers(w, false, nil, pays("in", "house", "ann", 5))
	w.Run()
	w.Settle()
	b, err := invariant.ReadBooks(w.Context(), w.Client(), ledgers, book)
	w.Check("read the books", err)
	if told != "" && slices.Contains(b.Posted(), "out") {
		w.Check("what was refused is not there", fmt.Errorf("the client was told that it is %s", told))
	}
}
