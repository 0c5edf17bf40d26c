package cases

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/reconcile/ready"
	"github.com/dynafin/dynafin/txn"
)

// Amounts go from JSON to a table and back, and are added and multiplied on the way.
func TestCS10_AnAmountIsTheSameBehindEveryHop(t *testing.T) {
	const large = "90071992547409.93" // 2^53 + 1 cents

	// hop stores an amount that came as JSON, reads it, and gives it out as JSON.
	hop := func(s *stage, in string, through any) string {
		s.must(json.Unmarshal([]byte(in), through))
		stored, err := attributevalue.Marshal(through)
		s.must(err)
		_, err = s.client.PutItem(s.ctx, &dynamodb.PutItemInput{TableName: aws.String(store.Name), Item: withAmount(stored)})
		s.must(err)
		out, err := s.client.GetItem(s.ctx, &dynamodb.GetItemInput{TableName: aws.String(store.Name), Key: key("AMOUNT#1"), ConsistentRead: aws.Bool(true)})
		s.must(err)
		s.must(attributevalue.Unmarshal(out.Item["amount"], through))
		text, err := json.Marshal(through)
		s.must(err)
		return string(text)
	}
	twice(t,
		func(s *stage) {
			var amount, sum float64
			s.wants("1.10, which has two places", hop(s, `1.10`, &amount), `1.1`)
			s.wants("2^53 + 1 cents", hop(s, large, &amount) == large, false)
			for range 10 {
				sum += 0.10
			}
			s.wants("ten times 0.10 is 1", sum == 1, false)
			price := 19.99
			s.wants("19.99 in cents", int(price*100), 1998)
		},
		func(s *stage) {
			var amount money.Amount
			for _, text := range []string{`"1.10 USD"`, `"` + large + ` USD"`} {
				s.wants("behind every hop", hop(s, text, &amount), text)
			}
			s.wants("a JSON number is refused", json.Unmarshal([]byte(`1.10`), &amount) != nil, true)
			dime := money.MustParse("0.10 USD")
			sum, err := dime.MulInt(10)
			s.must(err)
			s.wants("ten times 0.10", sum, money.MustParse("1.00 USD"))
			s.wants("19.99 in cents", money.MustParse("19.99 USD").MinorUnits(), "1999")
			_, err = money.Parse("0.105", dime.Currency())
			s.wants("a fraction of a cent is refused until rounding is declared", errors.Is(err, money.ErrInexact), true)
		})
}

func withAmount(stored types.AttributeValue) txn.Item {
	item := key("AMOUNT#1")
	item["amount"] = stored
	return item
}

// Two payments of 60 come at once for an account of 100; then somebody changes a balance by hand.
func TestCS11_EveryBalanceIsProvedByPostingsAndSpentOnce(t *testing.T) {
	twice(t,
		func(s *stage) {
			s.must(errors.Join(insert(s.ctx, s.client, "BALANCE#ann", fields{"usd": 100}), insert(s.ctx, s.client, "BALANCE#shop", fields{"usd": 0})))
			pay := func(ctx context.Context, client *dynamodb.Client) error { // a balance is a row that changes
				ann, err := read(ctx, client, "BALANCE#ann")
				if err != nil || whole(ann["usd"]) < 60 {
					return errors.Join(errors.New("insufficient"), err)
				}
				shop, err := read(ctx, client, "BALANCE#shop")
				if err != nil {
					return err
				}
				return errors.Join(
					write(ctx, client, "BALANCE#ann", fields{"usd": whole(ann["usd"]) - 60}),
					write(ctx, client, "BALANCE#shop", fields{"usd": whole(shop["usd"]) + 60}))
			}
			s.must(errors.Join(s.inTurns("abababab", pay, pay)...))
			s.wants("both were paid, from 100, and the shop has", []string{s.value("BALANCE#ann", "usd"), s.value("BALANCE#shop", "usd")}, []string{"40", "60"})

			s.must(write(s.ctx, s.client, "BALANCE#shop", fields{"usd": 1060})) // by hand
			s.wants("nothing else is stored that could tell", s.count("BALANCE"), 2)
		},
		func(s *stage) {
			book := openBook(s)
			pay := func(id string) work {
				return func(ctx context.Context, client *dynamodb.Client) error {
					_, err := txn.Commit(ctx, client, book.Post(ledger.Transaction{Tenant: tenant, ID: id, EffectiveAt: opening,
						Postings: []ledger.Posting{ledger.Debit("ann", money.MustParse("60.00 USD")), ledger.Credit("shop", money.MustParse("60.00 USD"))}}))
					return err
				}
			}
			errs := s.inTurns("abababab", pay("pay-1"), pay("pay-2"))
			s.wants("one was refused", []bool{errs[0] == nil, errors.Is(errs[1], ledger.ErrInsufficient)}, []bool{true, true})
			shop := func() ledger.Balance {
				balance, err := book.Balance(s.ctx, s.client, tenant, "shop", money.MustParse("0.00 USD").Currency())
				s.must(err)
				return balance
			}
			s.wants("the shop has", shop().Posted, money.MustParse("60.00 USD"))
			trial, err := book.TrialBalance(s.ctx, s.client, tenant, "bank", "ann", "shop")
			s.must(err)
			s.wants("the books balance", trial.Balanced(), true)
			compared := func() []string { // AP14 and AP15: balances against what their postings add up to
				return s.breaks(ready.Authorities(list(shop())), ready.Postings(s.ctx, book, s.client, list(shop()), now))
			}
			s.wants("breaks", compared(), []string(nil))

			_, err = s.client.UpdateItem(s.ctx, &dynamodb.UpdateItemInput{ // by hand: 1,000.00 more
				TableName: aws.String(ledger.DefaultTable), Key: txn.Table{}.Key("TEN#acme#ACCT#shop", "AUTH#CASH#USD"),
				UpdateExpression: aws.String("ADD posted :more, available :more"), ConditionExpression: aws.String("attribute_exists(PK)"),
				ExpressionAttributeValues: txn.Item{":more": &types.AttributeValueMemberN{Value: "-100000"}},
			})
			s.must(err)
			s.wants("the shop has", shop().Posted, money.MustParse("1060.00 USD"))
			s.wants("breaks", len(compared()), 1)
		})
}

// openBook opens a book with a bank that may owe, and ann, who has 100.
func openBook(s *stage) *ledger.Ledger {
	book := ledger.New(ledger.Config{})
	s.must(s.db.CreateTable(ledger.DefaultTable, book.Indexes()...))
	hundred := money.MustParse("100.00 USD")
	bank := ledger.Asset{Currency: hundred.Currency(), NoMinimum: true}
	customer := ledger.Asset{Currency: hundred.Currency()}
	for _, part := range []txn.Part{
		book.OpenAccount(ledger.Account{Tenant: tenant, ID: "bank", Side: ledger.DebitSide}, bank),
		book.OpenAccount(ledger.Account{Tenant: tenant, ID: "ann", Side: ledger.CreditSide}, customer),
		book.OpenAccount(ledger.Account{Tenant: tenant, ID: "shop", Side: ledger.CreditSide}, customer),
		book.Post(ledger.Transaction{Tenant: tenant, ID: "deposit-1", EffectiveAt: opening,
			Postings: []ledger.Posting{ledger.Debit("bank", hundred), ledger.Credit("ann", hundred)}}),
	} {
		_, err := txn.Commit(s.ctx, s.client, part)
		s.must(err)
	}
	return book
}
