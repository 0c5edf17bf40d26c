package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// counting counts the transactions that reach the store.
type counting struct {
	txn.Client
	sent int
}

func (c *counting) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, opts ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	c.sent++
	return c.Client.TransactWriteItems(ctx, in, opts...)
}

// unsent fails the test unless a part is refused with an error of the kind, and nothing is sent.
func (b *bench) unsent(t *testing.T, what string, kind error, parts ...txn.Part) {
	t.Helper()
	client := &counting{Client: b.client}
	_, err := impatient(client).Commit(t.Context(), parts...)
	if !errors.Is(err, kind) {
		t.Errorf("%s: %v, want %v", what, err, kind)
	}
	if client.sent != 0 {
		t.Errorf("%s: %d requests were sent", what, client.sent)
	}
	if err != nil && len(err.Error()) > 4000 {
		t.Errorf("%s: the message has %d bytes", what, len(err.Error()))
	}
}

// What was never read, what is empty, and what a client made up: refused by its rule before anything is sent, without a panic.
func TestPartsOfNothingAreRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-")
	b.commit(t, b.book.Post(transfer("in-1", "bank", "ann-", "100.00")))
	b.commit(t, b.book.Reserve(hold("r-1", "ann-", "50.00")))
	sale, open, balance := b.entry(t, "in-1"), b.reservation(t, "r-1"), b.balance(t, "ann-")
	account, err := b.book.Account(t.Context(), b.client, tenant, "ann-")
	if err != nil {
		t.Fatal(err)
	}
	pay := transfer("t-1", "ann-", "bank", "1.00")
	back := func(parts ...ledger.ReversedPart) txn.Part {
		return b.book.Reverse(sale, ledger.Reversal{ID: "t-1", EffectiveAt: day, Parts: parts})
	}
	long := strings.Repeat("x", 1<<20)
	forged := func(change func(*ledger.Balance)) txn.Part {
		made := balance
		change(&made)
		return b.book.ClosePeriod(made, "2026-10")
	}
	for what, c := range map[string]struct {
		kind error
		part txn.Part
	}{
		"no transaction":            {ledger.ErrInvalid, b.book.Post(ledger.Transaction{})},
		"a refusal of nothing":      {ledger.ErrInvalid, b.book.Refuse(ledger.Transaction{}, "no")},
		"a refusal without reason":  {ledger.ErrInvalid, b.book.Refuse(pay, "")},
		"a reason of 1 MB":          {ledger.ErrLimit, b.book.Refuse(pay, long)},
		"a reason in no encoding":   {ledger.ErrInvalid, b.book.Refuse(pay, "\xff")},
		"no reservation":            {ledger.ErrInvalid, b.book.Reserve(ledger.Reservation{})},
		"a reservation of 1 MB":     {ledger.ErrInvalid, b.book.Reserve(hold(long, "ann-", "1.00"))},
		"a reservation of zero":     {ledger.ErrInvalid, b.book.Reserve(hold("r-2", "ann-", "0.00"))},
		"a capture of no read":      {ledger.ErrInvalid, b.book.Capture(ledger.Reservation{}, ledger.Capture{})},
		"a capture by nothing":      {ledger.ErrInvalid, b.book.Capture(open, ledger.Capture{})},
		"a capture elsewhere":       {ledger.ErrInvalid, b.book.Capture(open, ledger.Capture{Transaction: transfer("t-1", "bank", "ann-", "1.00")})},
		"a capture of more":         {ledger.ErrExceeds, b.book.Capture(open, ledger.Capture{Transaction: transfer("t-1", "ann-", "bank", "50.01")})},
		"a release of no read":      {ledger.ErrInvalid, b.book.Release(ledger.Reservation{Tenant: tenant, ID: "r-1"})},
		"an expiry of no read":      {ledger.ErrInvalid, b.book.Expire(ledger.Reservation{})},
		"a reversal of nothing":     {ledger.ErrInvalid, b.book.Reverse(ledger.Entry{}, ledger.Reversal{})},
		"a reversal without name":   {ledger.ErrInvalid, b.book.Reverse(sale, ledger.Reversal{EffectiveAt: day})},
		"a reversal before":         {ledger.ErrInvalid, b.book.Reverse(sale, ledger.Reversal{ID: "t-1", EffectiveAt: day.Add(-1)})},
		"line minus one":            {ledger.ErrInvalid, back(ledger.ReversedPart{Line: -1, Amount: dollars("1.00")})},
		"line two of two":           {ledger.ErrInvalid, back(ledger.ReversedPart{Line: 2, Amount: dollars("1.00")})},
		"one line twice":            {ledger.ErrInvalid, back(ledger.ReversedPart{Amount: dollars("1.00")}, ledger.ReversedPart{Amount: dollars("1.00")})},
		"a line in euros":           {ledger.ErrInvalid, back(ledger.ReversedPart{Amount: euros("1.00")}, ledger.ReversedPart{Line: 1, Amount: euros("-1.00")})},
		"none of a line":            {ledger.ErrInvalid, back(ledger.ReversedPart{Amount: money.Amount{}})},
		"a line the other way":      {ledger.ErrInvalid, back(ledger.ReversedPart{Amount: dollars("-1.00")}, ledger.ReversedPart{Line: 1, Amount: dollars("1.00")})},
		"more than a line":          {ledger.ErrExceeds, back(ledger.ReversedPart{Amount: dollars("100.01")}, ledger.ReversedPart{Line: 1, Amount: dollars("-100.01")})},
		"one line of two":           {ledger.ErrInvalid, back(ledger.ReversedPart{Amount: dollars("1.00")})},
		"two lines, unequal":        {ledger.ErrUnbalanced, back(ledger.ReversedPart{Amount: dollars("1.00")}, ledger.ReversedPart{Line: 1, Amount: dollars("-2.00")})},
		"a correction of nothing":   {ledger.ErrInvalid, b.book.Correct(ledger.Entry{}, pay)},
		"a correction by nothing":   {ledger.ErrInvalid, b.book.Correct(sale, ledger.Transaction{Tenant: tenant, EffectiveAt: day})},
		"a period of no read":       {ledger.ErrInvalid, b.book.ClosePeriod(ledger.Balance{}, "2026-10")},
		"month 13":                  {ledger.ErrInvalid, b.book.ClosePeriod(balance, "2026-13")},
		"no month":                  {ledger.ErrInvalid, b.book.ClosePeriod(balance, "")},
		"a closed month made up":    {ledger.ErrInvalid, forged(func(b *ledger.Balance) { b.ClosedThrough = "1" })},
		"an open month made up":     {ledger.ErrInvalid, forged(func(b *ledger.Balance) { b.Open = []ledger.MonthTotals{{Month: "1"}} })},
		"the status of no account":  {ledger.ErrInvalid, b.book.SetStatus(ledger.Account{}, ledger.StatusFrozen)},
		"the status of no balance":  {ledger.ErrInvalid, b.book.SetBalanceStatus(ledger.Balance{}, ledger.StatusFrozen)},
		"no status":                 {ledger.ErrInvalid, b.book.SetStatus(account, "", balance)},
		"another status":            {ledger.ErrInvalid, b.book.SetBalanceStatus(balance, "OPEN ")},
		"another's balance":         {ledger.ErrInvalid, b.book.SetStatus(account, ledger.StatusFrozen, b.balance(t, "bank"))},
		"no account":                {ledger.ErrInvalid, b.book.OpenAccount(ledger.Account{})},
		"an account in no encoding": {ledger.ErrInvalid, b.book.OpenAccount(ledger.Account{Tenant: "\xff", ID: "a", Side: ledger.DebitSide})},
		"a third side":              {ledger.ErrInvalid, b.book.OpenAccount(ledger.Account{Tenant: tenant, ID: "a", Side: "X"})},
		"no currency":               {ledger.ErrInvalid, b.book.OpenAsset(account, ledger.Asset{})},
		"a minimum in euros":        {ledger.ErrInvalid, b.book.OpenAsset(account, ledger.Asset{Currency: usd, Minimum: euros("1.00")})},
		"an asset of no read":       {ledger.ErrInvalid, b.book.OpenAsset(ledger.Account{Tenant: tenant, ID: "a", Side: ledger.DebitSide}, ledger.Asset{Currency: eur})},
		"a million stripes":         {ledger.ErrLimit, b.book.OpenAccount(ledger.Account{Tenant: tenant, ID: "a", Side: ledger.DebitSide, Stripes: 1_000_000})},
	} {
		b.unsent(t, what, c.kind, c.part)
	}
	if _, err := b.book.Batcher(t.Context(), impatient(b.client), ledger.BatchConfig{}).Post(t.Context(), ledger.Submission{}); !errors.Is(err, ledger.ErrInvalid) {
		t.Errorf("no submission: %v", err)
	}
}

// A transaction that fits by itself does not fit with 94 writes of the caller's, and 93 do.
func TestTheCallersWritesCountAmongTheHundred(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-")
	with := func(others int) []txn.Part {
		parts := []txn.Part{b.book.Post(transfer("t-1", "bank", "ann-", "1.00"))} // header, two postings, two balances
		for i := range others {
			parts = append(parts, txn.Put(b.books, b.books.Key(fmt.Sprintf("OWN#%03d", i), "X"), txn.IfAbsent()))
		}
		return parts
	}
	b.unsent(t, "101 writes", txn.ErrInvalid, with(96)...)
	if receipt := b.commit(t, with(95)...); receipt.Items != txn.MaxItems {
		t.Errorf("%d writes", receipt.Items)
	}
}

// Text that is no amount never becomes one, however long it is.
func TestHostileTextIsNoAmount(t *testing.T) {
	t.Parallel()
	for what, text := range map[string]string{
		"1 MiB of digits": strings.Repeat("9", 1<<20), "1 MiB of zeros": strings.Repeat("0", 1<<20) + ".001", "an exponent": "1e999999999",
		"a small exponent": "1e2", "not a number": "NaN", "infinity": "-Inf", "39 digits": strings.Repeat("9", 39) + ".00", "hexadecimal": "0x10",
		"separators": "1,000.00", "underscores": "1_000.00", "wide digits": "１２.００", "a finer scale": "0.001", "two signs": "+-1", "a sign": "-", "nothing": "",
	} {
		if a, err := money.Parse(text, usd); err == nil || len(err.Error()) > 2000 {
			t.Errorf("%s: %v, an error of %d bytes", what, a.IsZero(), len(fmt.Sprint(err)))
		}
	}
}

// Two equal lines are two postings, and a reversal of one is no reversal of the other.
func TestEqualLinesAreTwo(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-")
	tx := transfer("t-1", "bank", "ann-", "1.00")
	tx.Postings = append(tx.Postings, tx.Postings...)
	b.commit(t, b.book.Post(tx))
	b.has(t, "ann-", "2.00", "0.00", "2.00")
	entry := b.entry(t, "t-1")
	for i, lines := range [][2]int{{0, 1}, {2, 3}} {
		r := ledger.Reversal{ID: fmt.Sprint("back-", i), EffectiveAt: day,
			Parts: []ledger.ReversedPart{{Line: lines[0], Amount: dollars("1.00")}, {Line: lines[1], Amount: dollars("-1.00")}}}
		b.commit(t, b.book.Reverse(entry, r))
		r.ID += "-again"
		b.untouched(t, "a line reversed twice", ledger.ErrExceeds, b.book.Reverse(entry, r))
	}
	b.has(t, "ann-", "0.00", "0.00", "0.00")
}

// What a caller leaves empty is empty, and comes back as it was.
func TestEmptyFieldsAreKeptEmpty(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-")
	tx := transfer("t-1", "bank", "ann-", "1.00")
	tx.Source, tx.Metadata = "", map[string]string{}
	b.commit(t, b.book.Post(tx))
	tx.Metadata = nil
	if err := b.untouched(t, "an empty map again as none", ledger.ErrDuplicate, b.book.Post(tx)); !ledger.Repeated(err) {
		t.Errorf("%v", err)
	}
	if e := b.entry(t, "t-1"); e.Source != "" || len(e.Metadata) != 0 {
		t.Errorf("%+v", e)
	}
	named := hold("r #%\x00é", "ann-", "1.00")
	named.Metadata = map[string]string{"é": "", "a b": "\x00"}
	named.ExpiresAt = day.Add(time.Hour)
	b.commit(t, b.book.Reserve(named))
	if r := b.reservation(t, named.ID); len(r.Metadata) != 2 || r.Metadata["a b"] != "\x00" || !r.ExpiresAt.Equal(named.ExpiresAt) {
		t.Errorf("%+v", r)
	}
}
