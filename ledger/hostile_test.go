package ledger_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
)

// Whatever a client sends: a typed error, and nothing written (L1, E4).
func TestHostileTransactionsAreRefusedWithNothingWritten(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-", "fees")
	b.commit(t, b.book.Post(transfer("in-1", "bank", "ann-", "5.00")))
	lines := func(n int) (all []ledger.Posting) {
		for range n / 2 {
			all = append(all, ledger.Debit("bank", dollars("1.00")), ledger.Credit("fees", dollars("1.00")))
		}
		return all
	}
	fine, err := money.Define("DUST", 18, money.KindSecurity)
	if err != nil {
		t.Fatal(err)
	}
	mills, err := money.Registry{}.Decode(&types.AttributeValueMemberM{Value: map[string]types.AttributeValue{
		"a": &types.AttributeValueMemberN{Value: "1"}, "c": &types.AttributeValueMemberS{Value: "USD"}, "s": &types.AttributeValueMemberN{Value: "3"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		kind  error
		spoil func(*ledger.Transaction)
	}{
		"no tenant":               {ledger.ErrInvalid, func(tx *ledger.Transaction) { tx.Tenant = "" }},
		"no identifier":           {ledger.ErrInvalid, func(tx *ledger.Transaction) { tx.ID = "" }},
		"an identifier of 1 MB":   {ledger.ErrInvalid, func(tx *ledger.Transaction) { tx.ID = strings.Repeat("x", 1<<20) }},
		"invalid UTF-8":           {ledger.ErrInvalid, func(tx *ledger.Transaction) { tx.ID = "\xff" }},
		"an invalid source":       {ledger.ErrInvalid, func(tx *ledger.Transaction) { tx.Source = "\xff" }},
		"a source of 1 MB":        {ledger.ErrLimit, func(tx *ledger.Transaction) { tx.Source = strings.Repeat("x", 1<<20) }},
		"metadata of 1 MB":        {ledger.ErrLimit, func(tx *ledger.Transaction) { tx.Metadata = map[string]string{"k": strings.Repeat("x", 1<<20)} }},
		"invalid metadata":        {ledger.ErrInvalid, func(tx *ledger.Transaction) { tx.Metadata = map[string]string{"k": "\xff"} }},
		"unnamed metadata":        {ledger.ErrInvalid, func(tx *ledger.Transaction) { tx.Metadata = map[string]string{"": "v"} }},
		"no time":                 {ledger.ErrInvalid, func(tx *ledger.Transaction) { tx.EffectiveAt = time.Time{} }},
		"the year 10000":          {ledger.ErrInvalid, func(tx *ledger.Transaction) { tx.EffectiveAt = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }},
		"no postings":             {ledger.ErrInvalid, func(tx *ledger.Transaction) { tx.Postings = nil }},
		"one posting":             {ledger.ErrInvalid, func(tx *ledger.Transaction) { tx.Postings = tx.Postings[:1] }},
		"100 postings":            {ledger.ErrLimit, func(tx *ledger.Transaction) { tx.Postings = lines(100) }},
		"98 postings, 101 writes": {ledger.ErrLimit, func(tx *ledger.Transaction) { tx.Postings = lines(98) }},
		"a cent too much":         {ledger.ErrUnbalanced, func(tx *ledger.Transaction) { tx.Postings[0].Amount = dollars("1.01") }},
		"a zero":                  {ledger.ErrInvalid, func(tx *ledger.Transaction) { tx.Postings[0].Amount = dollars("0.00") }},
		"no amount":               {ledger.ErrInvalid, func(tx *ledger.Transaction) { tx.Postings[0].Amount = money.Amount{} }},
		"two currencies":          {ledger.ErrUnbalanced, func(tx *ledger.Transaction) { tx.Postings[0].Amount = euros("1.00") }},
		"two scales":              {ledger.ErrScale, func(tx *ledger.Transaction) { tx.Postings[0].Amount = mills }},
		"another scale than stored": {ledger.ErrScale, func(tx *ledger.Transaction) {
			tx.Postings[0].Amount, tx.Postings[1].Amount = mills, mills.Neg()
		}},
		"38 digits": {ledger.ErrLimit, func(tx *ledger.Transaction) {
			huge, err := money.ParseMinor("1"+strings.Repeat("0", 37), fine)
			if err != nil {
				t.Fatal(err)
			}
			tx.Postings[0].Amount, tx.Postings[1].Amount = huge, huge.Neg()
		}},
		"an unknown account": {ledger.ErrNotFound, func(tx *ledger.Transaction) { tx.Postings[0].Account = "nobody" }},
		"an empty account":   {ledger.ErrInvalid, func(tx *ledger.Transaction) { tx.Postings[0].Account = "" }},
		"an asset that is not open": {ledger.ErrNotFound, func(tx *ledger.Transaction) {
			tx.Postings[0].Amount, tx.Postings[1].Amount = euros("1.00"), euros("-1.00")
		}},
		"a key in an account":   {ledger.ErrNotFound, func(tx *ledger.Transaction) { tx.Postings[0].Account = "bank#MONTH#2026-11#BKT#00" }},
		"a stripe of minus one": {ledger.ErrInvalid, func(tx *ledger.Transaction) { tx.Postings[0].Stripe = -1 }},
		"a lane of ten million": {ledger.ErrInvalid, func(tx *ledger.Transaction) { tx.Postings[0].Lane = 10_000_000 }},
	} {
		tx := transfer("t-1", "bank", "fees", "1.00")
		c.spoil(&tx)
		err := b.untouched(t, what, c.kind, b.book.Post(tx))
		if err != nil && len(err.Error()) > 2000 {
			t.Errorf("%s: the message has %d bytes", what, len(err.Error()))
		}
		if part := b.book.Refuse(tx, "no"); beforehand(c.kind, what) != (part.Err() != nil) {
			t.Errorf("%s: refused for good: %v", what, part.Err())
		}
	}
}

// beforehand says whether a fault is found without a stored record, and so also when the transaction is refused for good.
func beforehand(kind error, what string) bool {
	return kind != ledger.ErrNotFound && !strings.HasPrefix(what, "another scale") && !strings.HasSuffix(what, "101 writes") && !strings.HasPrefix(what, "an empty account")
}

// What looks like a key is a name like any other (E6).
func TestNamesCannotSpellKeys(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	names := []string{"a#AUTH", "a", "%23", "#", "a#STRIPE#0001", "ACCOUNT", "é", "a b\nc"}
	for _, name := range names {
		account := ledger.Account{Tenant: tenant, ID: name, Side: ledger.DebitSide}
		b.commit(t, b.book.OpenAccount(account, ledger.Asset{Currency: usd, NoMinimum: true}))
	}
	for i, name := range names {
		b.commit(t, b.book.Post(transfer("t#"+name, name, names[(i+1)%len(names)], fmt.Sprintf("%d.00", i+1))))
	}
	for i, name := range names {
		want := i + 1 - (i+len(names)-1)%len(names) - 1
		if got := b.balance(t, name).Posted; got != dollars(fmt.Sprintf("%d.00", want)) {
			t.Errorf("%q has %s, want %d", name, got, want)
		}
		if e := b.entry(t, "t#"+name); e.Postings[0].Account != name {
			t.Errorf("%q: %+v", name, e)
		}
	}
}

// The largest balances are kept exactly, and the next unit is refused.
func TestBalancesStayWithinTheirDigits(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	dust, err := money.Define("DUST", 18, money.KindSecurity)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "z"} {
		b.commit(t, b.book.OpenAccount(ledger.Account{Tenant: tenant, ID: name, Side: ledger.DebitSide}, ledger.Asset{Currency: dust, NoMinimum: true}))
	}
	units := func(text string) money.Amount {
		a, err := money.ParseMinor(text, dust)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	move := func(id string, a money.Amount) ledger.Transaction {
		return ledger.Transaction{Tenant: tenant, ID: id, EffectiveAt: day, Postings: []ledger.Posting{ledger.Debit("a", a), ledger.Credit("z", a)}}
	}
	most := strings.Repeat("9", ledger.MaxDigits)
	b.commit(t, b.book.Post(move("t-1", units(most[1:]))))
	rest := units("9" + strings.Repeat("0", ledger.MaxDigits-1))
	b.commit(t, b.book.Post(move("t-2", rest)))
	b.untouched(t, "past the last digit", ledger.ErrLimit, b.book.Post(move("t-3", units("1"+strings.Repeat("0", 19)))))
	now, err := b.book.Balance(t.Context(), b.client, tenant, "a", dust)
	if err != nil || now.Posted.MinorUnits() != most {
		t.Errorf("%s, %v", now.Posted.MinorUnits(), err)
	}
	b.commit(t, b.book.Post(move("t-4", units("1")))) // below 64 bits the digit to spare is never used up
	if now, err := b.book.Balance(t.Context(), b.client, tenant, "z", dust); err != nil || now.Signed.MinorUnits() != "-1"+strings.Repeat("0", ledger.MaxDigits) {
		t.Errorf("%s, %v", now.Signed.MinorUnits(), err)
	}
}

func TestConfigurationsThatBreakARuleAreReportedByEveryUse(t *testing.T) {
	t.Parallel()
	for field, config := range map[string]ledger.Config{
		"BucketPostings": {BucketPostings: -1}, "BucketKiB": {BucketKiB: -1}, "MonthlyCap": {MonthlyCap: 250_001},
		"HeldIndex": {HeldIndex: ledger.DefaultDueIndex},
	} {
		book := ledger.New(config)
		for _, err := range []error{
			config.Validate(), book.Post(transfer("t-1", "bank", "fees", "1.00")).Err(), book.Reserve(hold("r-1", "bank", "1.00")).Err(),
			book.OpenAccount(ledger.Account{Tenant: tenant, ID: "a", Side: ledger.DebitSide}).Err(),
		} {
			var invalid *ledger.InvalidError
			if !errors.As(err, &invalid) || invalid.Field != field {
				t.Errorf("%s: %v", field, err)
			}
		}
	}
}
