package planted

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/invariant"
	"github.com/dynafin/dynafin/ledger"
)

func ledgerHolds() []bug {
	return []bug{
		{name: "ledger: available does not know of holds", label: "L3", within: 100, twins: 20,
			lesson: "the condition asks what is posted, and reserved money is spent", story: holdsIgnored},
		{name: "ledger: hold captured twice", label: "L4", within: 100, twins: 20,
			lesson: "the capture does not ask for the version it read", story: capturedTwice},
		{name: "ledger: release of the whole after a part", label: "L4", within: 20, twins: 20,
			lesson: "what was captured is given back as well", story: wholeReleased},
		{name: "ledger: hold ended, then posted", label: "L4", within: 200, twins: 20,
			lesson: "in between the money is free, and somebody takes it", story: captureInTwo},
		{name: "ledger: expiry by local time", label: "L4, E5", within: 20, twins: 20,
			lesson: "in a zone an hour ahead every hold is over an hour early", story: localExpiry},
		{name: "ledger: reversal without a cap", label: "L5", within: 20, twins: 20,
			lesson: "two refunds of three quarters, and both are paid", story: uncappedReversal},
		{name: "ledger: cap checked by a read", label: "L5", within: 200, twins: 20,
			lesson: "both refunds saw that nothing was taken back yet", story: capByRead},
	}
}

// reserve opens a hold of the customer's, 8 of 10, for ten minutes.
func reserve(w *invariant.World, book *ledger.Ledger) {
	settle(w, "hold", book.Reserve(ledger.Reservation{Tenant: shop, ID: "hold", Account: "ann", Amount: cents(8), ExpiresAt: newYear.Add(10 * time.Minute)}))
}

func holdsIgnored(w *invariant.World, broken bool) {
	book := openShop(w)
	reserve(w, book)
	workers(w, broken, func(_ context.Context, _ *dynamodb.Client, in *dynamodb.TransactWriteItemsInput) error {
		updates(in, "ACCT#", "AUTH#", func(u *types.Update) {
			u.ConditionExpression = aws.String(strings.Replace(*u.ConditionExpression, "available <=", "posted <=", 1))
		})
		return nil
	}, pays("one", "ann", "house", 7))
	w.Run()
	w.Settle()
	booksHold(w, book)
}

// capturing starts workers that capture 5 of the hold, or all of it.
func capturing(w *invariant.World, broken bool, mistake spoil, amounts ...int64) {
	for i, amount := range amounts {
		name := fmt.Sprint("capture", i)
		w.Worker(name, func(ctx context.Context, p *invariant.Process) error {
			d := at(p, broken, mistake)
			r, err := d.hold(ctx, "hold")
			if err != nil {
				return err
			}
			return d.do(ctx, d.book.Capture(r, ledger.Capture{Transaction: pays(name, "ann", "house", amount)}))
		})
	}
}

func capturedTwice(w *invariant.World, broken bool) {
	book := openShop(w)
	reserve(w, book)
	capturing(w, broken, func(_ context.Context, _ *dynamodb.Client, in *dynamodb.TransactWriteItemsInput) error {
		updates(in, "RESERVATION#", "RESERVATION", func(u *types.Update) {
			u.ConditionExpression = aws.String(strings.NewReplacer("#state = :open AND version = :read", "version >= :read",
				"#left = :held", "(#left = :held OR #left <> :held)").Replace(*u.ConditionExpression))
		})
		return nil
	}, 8, 8)
	w.Run()
	w.Settle()
	booksHold(w, book)
}

func wholeReleased(w *invariant.World, broken bool) {
	book := openShop(w)
	reserve(w, book)
	w.Worker("part and rest", func(ctx context.Context, p *invariant.Process) error {
		d := at(p, broken, func(_ context.Context, _ *dynamodb.Client, in *dynamodb.TransactWriteItemsInput) error {
			if len(in.TransactItems) == 2 { // the release
				updates(in, "ACCT#", "AUTH#", func(u *types.Update) {
					for _, name := range []string{":reserved", ":moved", ":posted"} {
						if _, ok := u.ExpressionAttributeValues[name]; ok {
							u.ExpressionAttributeValues[name] = n(-8)
						}
					}
				})
			}
			return nil
		})
		r, err := d.hold(ctx, "hold")
		if err != nil {
			return err
		}
		if err := d.do(ctx, d.book.Capture(r, ledger.Capture{Transaction: pays("part", "ann", "house", 3)})); err != nil {
			return err
		}
		if r, err = d.hold(ctx, "hold"); err != nil {
			return err
		}
		return d.do(ctx, d.book.Release(r))
	})
	w.Run()
	w.Settle()
	booksHold(w, book)
}

// captureInTwo wants an authorised payment to succeed, whoever else wants the money.
func captureInTwo(w *invariant.World, broken bool) {
	book := openShop(w)
	reserve(w, book)
	if !broken {
		capturing(w, false, nil, 8)
	} else {
		w.Worker("capture0", func(ctx context.Context, p *invariant.Process) error {
			d := at(p, false, nil)
			r, err := d.hold(ctx, "hold")
			if err != nil {
				return err
			}
			if err := d.do(ctx, d.book.Release(r)); err != nil {
				return err
			}
			return d.do(ctx, d.book.Post(pays("capture0", "ann", "house", 8)))
		})
	}
	workers(w, false, nil, pays("other", "ann", "house", 5))
	w.Run()
	w.Settle()
	b, err := invariant.ReadBooks(w.Context(), w.Client(), ledgers, book)
	w.Check("read the books", err)
	r, err := book.Reservation(w.Context(), w.Client(), shop, "hold")
	w.Check("read the hold", err)
	if !slices.Contains(b.Posted(), "capture0") && r.StateAt(w.Now()) != ledger.StateExpired {
		w.Check("what is reserved can be captured", errors.New("somebody else has it"))
	}
}

// localExpiry has a sweeper in a zone an hour ahead.
func localExpiry(w *invariant.World, broken bool) {
	book := openShop(w)
	reserve(w, book)
	w.Worker("sweeper", func(ctx context.Context, p *invariant.Process) error {
		d, now := at(p, broken, nil), p.Now
		if broken {
			now = func() time.Time { return p.Now().Add(time.Hour) }
			d.book = newBook(now)
		}
		for r, err := range d.book.Due(ctx, d.Client, shop, 0, now()) {
			if err != nil {
				return err
			}
			if err := d.do(ctx, d.book.Expire(r)); err != nil {
				return err
			}
		}
		return nil
	})
	w.Run()
	w.Settle()
	r, err := book.Reservation(w.Context(), w.Client(), shop, "hold")
	w.Check("read the hold", err)
	if right := r.ExpiresAt.Add(-time.Minute); r.State == ledger.StateExpired && w.Now().Before(right) {
		w.Check("a hold lasts as long as it says", fmt.Errorf("it is %s at %s and expires at %s", r.State, w.Now(), r.ExpiresAt))
	}
}

// refunding starts two workers that each take back 8 of 10.
func refunding(w *invariant.World, broken bool, refund func(ctx context.Context, d *desk, original ledger.Entry) (goes bool, err error), mistake spoil) {
	for _, id := range []string{"refund1", "refund2"} {
		w.Worker(id, func(ctx context.Context, p *invariant.Process) error {
			d := at(p, broken, mistake)
			original, err := d.book.Transaction(ctx, d.Client, shop, "sale")
			if err != nil {
				return err
			}
			if broken && refund != nil {
				if goes, err := refund(ctx, d, original); err != nil || !goes {
					return err
				}
			}
			return d.do(ctx, d.book.Reverse(original, ledger.Reversal{ID: id, EffectiveAt: newYear,
				Parts: []ledger.ReversedPart{{Line: 0, Amount: cents(8)}, {Line: 1, Amount: cents(-8)}}}))
		})
	}
}

func uncap(_ context.Context, _ *dynamodb.Client, in *dynamodb.TransactWriteItemsInput) error {
	updates(in, "TXN#", "LINKS", func(u *types.Update) {
		u.ConditionExpression = aws.String("attribute_not_exists(v) OR v = :v")
	})
	return nil
}

func uncappedReversal(w *invariant.World, broken bool) {
	book := openShop(w)
	settle(w, "sale", book.Post(pays("sale", "ann", "house", 10)))
	refunding(w, broken, nil, uncap)
	w.Run()
	w.Settle()
	booksHold(w, book)
}

func capByRead(w *invariant.World, broken bool) {
	book := openShop(w)
	settle(w, "sale", book.Post(pays("sale", "ann", "house", 10)))
	refunding(w, broken, func(ctx context.Context, d *desk, original ledger.Entry) (bool, error) {
		links, err := d.book.Links(ctx, d.Client, original)
		return err == nil && links.Reversed[0].IsZero(), err
	}, uncap)
	w.Run()
	w.Settle()
	booksHold(w, book)
}
