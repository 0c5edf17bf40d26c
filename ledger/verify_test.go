package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/fault"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// books has four transactions in October, which is closed, and four in November, all in the account cash.
func books(t *testing.T) *bench {
	t.Helper()
	b := setup(t, ledger.Config{})
	b.openWide(t, "cash", 1, 1)
	b.openWide(t, "sales", 1, 1)
	for i := range 4 {
		b.pay(t, fmt.Sprint("oct-", i), day.AddDate(0, -1, i-10), "cash", "sales", fmt.Sprint(i+1))
		b.pay(t, fmt.Sprint("nov-", i), day.AddDate(0, 0, i-10), "cash", "sales", fmt.Sprint(i+1))
	}
	b.closeBooks(t, "cash", "2026-10")
	return b
}

func novemberKey(t *testing.T, i int) txn.Item {
	return postingKey(t, "cash", fmt.Sprint("nov-", i), 0, day.AddDate(0, 0, i-10))
}

func octoberKey(t *testing.T, i int) txn.Item {
	return postingKey(t, "cash", fmt.Sprint("oct-", i), 0, day.AddDate(0, -1, i-10))
}

func cashKey(sk string) txn.Item {
	return txn.Item{"PK": &types.AttributeValueMemberS{Value: "TEN#acme#ACCT#cash"}, "SK": &types.AttributeValueMemberS{Value: sk}}
}

func number(n string) types.AttributeValue { return &types.AttributeValueMemberN{Value: n} }
func text(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }

func TestAnUntouchedBalanceIsProved(t *testing.T) {
	t.Parallel()
	b := books(t)
	for _, of := range []ledger.Verification{
		{Account: "cash"}, {Account: "cash", PageSize: 1}, {Account: "sales"}, {Account: "cash", Asset: eur},
		{Account: "cash", From: "2026-01", Through: "2026-12", Strays: true, Locate: true}, {Account: "cash", From: "2026-11"}, {Account: "cash", Through: "2026-10"},
	} {
		r := b.verify(t, of)
		if r.Err() != nil || len(r.Moved) > 0 || r.More > 0 {
			t.Errorf("%+v: %v", of, r.Err())
		}
	}
	r := b.verify(t, ledger.Verification{Account: "cash"})
	if r.Months != 2 || r.Postings != 8 || r.Recomputed != b.balance(t, "cash").Totals() || r.Place != b.balance(t, "cash").Place() {
		t.Errorf("%+v", r)
	}
}

// tampering is one change behind the ledger's back.
type tampering struct {
	what string
	do   func(*testing.T, *bench)
	of   ledger.Verification
	want []string // the findings: kind, month, and the transaction if it is about one posting
}

func setAttribute(key func(*testing.T, int) txn.Item, i int, name string, value types.AttributeValue) func(*testing.T, *bench) {
	return func(t *testing.T, b *bench) {
		item := b.stored(t, key(t, i))
		if item[name] = value; value == nil {
			delete(item, name)
		}
		b.forge(t, item)
	}
}

func setRecord(sk, name string, value types.AttributeValue) func(*testing.T, *bench) {
	return setAttribute(func(*testing.T, int) txn.Item { return cashKey(sk) }, 0, name, value)
}

func move(to string, value types.AttributeValue, and ...string) func(*testing.T, *bench) {
	return func(t *testing.T, b *bench) {
		item := b.stored(t, novemberKey(t, 1))
		item[to] = value
		b.forge(t, item)
		if len(and) > 0 {
			b.lose(t, novemberKey(t, 1))
		}
	}
}

func tamperings() []tampering {
	locate := ledger.Verification{Locate: true}
	strays := ledger.Verification{From: "2026-09", Through: "2026-12", Strays: true}
	lost := func(t *testing.T, b *bench) { b.lose(t, novemberKey(t, 2)) }
	swapped := func(t *testing.T, b *bench) {
		setAttribute(novemberKey, 0, "amount", number("200"))(t, b)
		setAttribute(novemberKey, 1, "amount", number("100"))(t, b)
	}
	replaced := func(t *testing.T, b *bench) {
		move("SK", text("POST#2026-11-20T00:00:00.000000000Z#nov-1#0000"), "and lose it")(t, b)
	}
	bucket1 := text("TEN#acme#ACCT#cash#MONTH#2026-11#BKT#01")
	december := text("TEN#acme#ACCT#cash#MONTH#2026-12#BKT#00")
	return []tampering{
		{"an amount", setAttribute(novemberKey, 1, "amount", number("999")), ledger.Verification{}, []string{"CHANGED 2026-11 "}},
		{"an amount, located", setAttribute(novemberKey, 1, "amount", number("999")), locate, []string{"CHANGED 2026-11 ", "CHANGED 2026-11 nov-1"}},
		{"an amount in a closed month", setAttribute(octoberKey, 1, "amount", number("999")), locate, []string{"CHANGED 2026-10 ", "CHANGED 2026-10 oct-1"}},
		{"when it was recorded", setAttribute(novemberKey, 1, "recordedAt", text("2026-11-29T14:18:00.000000001Z")), locate, []string{"CHANGED 2026-11 ", "CHANGED 2026-11 nov-1"}},
		{"a source that was not there", setAttribute(novemberKey, 1, "source", text("order-9")), ledger.Verification{}, []string{"CHANGED 2026-11 "}},
		{"an attribute that nobody reads", setAttribute(novemberKey, 1, "note", text("x")), ledger.Verification{}, []string{"CHANGED 2026-11 "}},
		{"one that no posting has", setAttribute(novemberKey, 1, "note", &types.AttributeValueMemberBOOL{Value: true}), ledger.Verification{}, []string{"CHANGED 2026-11 ", "CHANGED 2026-11 nov-1"}},
		{"an amount of no digits", setAttribute(novemberKey, 1, "amount", text("x")), locate, []string{"CHANGED 2026-11 ", "CHANGED 2026-11 nov-1"}},
		{"an amount beyond all sums", setAttribute(novemberKey, 1, "amount", number(strings.Repeat("9", 38))), ledger.Verification{}, []string{"CHANGED 2026-11 ", "CHANGED 2026-11 nov-1"}},
		{"another scale", setAttribute(novemberKey, 1, "scale", number("3")), ledger.Verification{}, []string{"CHANGED 2026-11 ", "CHANGED 2026-11 nov-1"}},
		{"another asset", setAttribute(novemberKey, 1, "asset", text("EUR")), ledger.Verification{}, []string{"MISSING 2026-11 "}},
		{"another asset, seen from it", setAttribute(novemberKey, 1, "asset", text("EUR")), ledger.Verification{Asset: eur, From: "2026-11", Through: "2026-11", Strays: true, Locate: true},
			[]string{"EXTRA 2026-11 ", "CHANGED 2026-11 nov-1"}},
		{"no asset", setAttribute(novemberKey, 1, "asset", nil), ledger.Verification{}, []string{"MISSING 2026-11 ", "CHANGED 2026-11 nov-1"}},
		{"two amounts swapped", swapped, locate, []string{"CHANGED 2026-11 ", "CHANGED 2026-11 nov-0", "CHANGED 2026-11 nov-1"}},
		{"one lost", lost, ledger.Verification{}, []string{"MISSING 2026-11 "}},
		{"one more", move("SK", text("POST#2026-11-20T14:18:00.000000000Z#nov-1#0007")), locate, []string{"EXTRA 2026-11 ", "CHANGED 2026-11 nov-1"}},
		{"one more of no transaction", func(t *testing.T, b *bench) {
			item := b.stored(t, novemberKey(t, 1))
			item["SK"], item["transaction"] = text("POST#2026-11-20T14:18:00.000000000Z#nobody#0000"), text("nobody")
			b.forge(t, item)
		}, locate, []string{"EXTRA 2026-11 ", "EXTRA 2026-11 nobody"}},
		{"one lost and one more", replaced, ledger.Verification{}, []string{"CHANGED 2026-11 ", "CHANGED 2026-11 nov-1"}},
		{"one more in an unused bucket", move("PK", bucket1), ledger.Verification{}, nil},
		{"one more in an unused bucket, strays", move("PK", bucket1), strays, []string{"EXTRA 2026-11 "}},
		{"one moved to another bucket", move("PK", bucket1, "and lose it"), ledger.Verification{}, []string{"MISSING 2026-11 "}},
		{"one more in an unused month", move("PK", december), ledger.Verification{}, nil},
		{"one more in an unused month, strays", move("PK", december), strays, []string{"EXTRA 2026-12 ", "CHANGED 2026-12 nov-1"}},
		{"the balance", setRecord("AUTH#CASH#USD", "posted", number("5")), ledger.Verification{}, []string{"TOTALS  ", "TOTALS  "}},
		{"what is available", setRecord("AUTH#CASH#USD", "available", number("5")), ledger.Verification{}, []string{"TOTALS  "}},
		{"the count of a month", setRecord("AUTH#CASH#USD", "n202611", number("5")), ledger.Verification{}, []string{"MISSING 2026-11 "}},
		{"the digest of a month", setRecord("AUTH#CASH#USD", "x202611", number("5")), ledger.Verification{}, []string{"CHANGED 2026-11 "}},
		{"the totals of closed months", setRecord("AUTH#CASH#USD", "baseX", number("5")), ledger.Verification{}, []string{"SEAL 2026-10 "}},
		{"what is closed", setRecord("AUTH#CASH#USD", "closed", text("202611")), ledger.Verification{}, []string{"TOTALS 2026-11 "}},
		{"a seal's count", setRecord("SEAL#CASH#USD#2026-10", "count", number("3")), ledger.Verification{}, []string{"EXTRA 2026-10 ", "SEAL 2026-10 "}},
		{"a seal's end", setRecord("SEAL#CASH#USD#2026-10", "throughSum", number("3")), ledger.Verification{}, []string{"SEAL 2026-10 ", "SEAL 2026-10 "}},
		{"a seal lost", func(t *testing.T, b *bench) { b.lose(t, cashKey("SEAL#CASH#USD#2026-10")) }, ledger.Verification{}, []string{"SEAL 2026-10 "}},
	}
}

// Every change of a posting, a seal or a balance is found, and named for what can be told of it (L8).
func TestWhatWasChangedBehindTheLedgerIsFound(t *testing.T) {
	t.Parallel()
	for _, c := range tamperings() {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			b := books(t)
			c.do(t, b)
			c.of.Account = "cash"
			r := b.verify(t, c.of)
			var got []string
			for _, f := range r.Findings {
				got = append(got, fmt.Sprintf("%s %s %s", f.Kind, f.Month, f.Transaction))
				if f.Detail == "" || (f.Record == "") != (f.Transaction == "") {
					t.Errorf("finding %+v", f)
				}
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
			var unproved *ledger.UnprovedError
			if found := errors.As(r.Err(), &unproved); found != (len(c.want) > 0) || found && unproved.Findings != len(c.want) {
				t.Errorf("error: %v", r.Err())
			}
		})
	}
}

func TestFindingsSayHowMuchIsMissing(t *testing.T) {
	t.Parallel()
	b := books(t)
	b.lose(t, novemberKey(t, 2))
	r := b.verify(t, ledger.Verification{Account: "cash"})
	f := r.Findings[0]
	if f.Expected.Count-f.Found.Count != 1 || f.Expected.Sum != dollars("10.00") || f.Found.Sum != dollars("7.00") || r.Months != 1 {
		t.Errorf("%+v", f)
	}
	if found, err := b.book.VerifyTransaction(t.Context(), b.client, tenant, "nov-2"); err != nil || len(found) != 1 ||
		found[0].Kind != ledger.MissingPostings || found[0].Line != 0 || found[0].Transaction != "nov-2" {
		t.Errorf("transaction: %+v, %v", found, err)
	}
	setAttribute(novemberKey, 1, "amount", number("7"))(t, b)
	if found, err := b.book.VerifyTransaction(t.Context(), b.client, tenant, "nov-1"); err != nil || len(found) != 1 || found[0].Kind != ledger.ChangedPostings {
		t.Errorf("transaction: %+v, %v", found, err)
	}
	if found, err := b.book.VerifyTransaction(t.Context(), b.client, tenant, "nov-0"); err != nil || len(found) != 0 {
		t.Errorf("transaction: %+v, %v", found, err)
	}
}

// A posting that does not say of which asset it is may be anybody's; it is told, and its month is not proved.
func TestAPostingOfNobodyIsTold(t *testing.T) {
	t.Parallel()
	b := books(t)
	item := b.stored(t, novemberKey(t, 1))
	item["SK"] = text("POST#2026-11-20T14:18:00.000000000Z#nov-1#0007")
	delete(item, "class")
	b.forge(t, item)
	for _, asset := range []money.Currency{usd, eur} {
		r := b.verify(t, ledger.Verification{Account: "cash", Asset: asset, From: "2026-11", Through: "2026-11", Strays: true})
		if len(r.Findings) != 1 || r.Findings[0].Kind != ledger.ChangedPostings || r.Findings[0].Line != 7 || r.Months != 0 {
			t.Errorf("%v: %+v", asset, r)
		}
	}
}

func TestFindingsAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.openWide(t, "cash", 1, 1)
	b.openWide(t, "sales", 1, 1)
	const n = ledger.MaxFindings + 20
	for i := range n {
		id := fmt.Sprint("t-", i)
		b.pay(t, id, day, "cash", "sales", "1.00")
		item := b.stored(t, postingKey(t, "cash", id, 0, day))
		item["amount"] = number("101")
		b.forge(t, item)
	}
	of := ledger.Verification{Account: "cash", Locate: true, PageSize: 7}
	var checkpoint string
	of.Progress = func(p ledger.Progress) error {
		if checkpoint == "" && p.Findings > ledger.MaxFindings {
			checkpoint = p.Checkpoint
		}
		return nil
	}
	r := b.verify(t, of)
	sameBut(t, "continued", b.verify(t, ledger.Verification{Account: "cash", Locate: true, Checkpoint: checkpoint}), r)
	if len(r.Findings) != ledger.MaxFindings || r.More != n+1-ledger.MaxFindings {
		t.Errorf("%d findings and %d more", len(r.Findings), r.More)
	}
}

// breaking is a client whose nth request fails.
type breaking struct {
	*dynamodb.Client
	mu   sync.Mutex
	left int
}

func (c *breaking) fails() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left--
	return c.left == 0
}

func (c *breaking) GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	if c.fails() {
		return nil, errors.New("broken line")
	}
	return c.Client.GetItem(ctx, in, opts...)
}

func (c *breaking) Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	if c.fails() {
		return nil, errors.New("broken line")
	}
	return c.Client.Query(ctx, in, opts...)
}

// sameBut compares reports apart from what they cost.
func sameBut(t *testing.T, when string, got, want ledger.Report) {
	t.Helper()
	got.Units, want.Units = 0, 0
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n%+v\nwant\n%+v", when, got, want)
	}
}

// Broken off after any step, or at any request, and continued from the checkpoint, a verification finds the same.
func TestAVerificationContinuesWhereItWasBrokenOff(t *testing.T) {
	t.Parallel()
	b := books(t)
	setAttribute(novemberKey, 1, "amount", number("999"))(t, b)
	setAttribute(octoberKey, 2, "amount", text("x"))(t, b)
	for _, of := range []ledger.Verification{
		{Account: "cash", PageSize: 1, Locate: true}, {Account: "cash"}, {Account: "cash", PageSize: 3, From: "2026-09", Through: "2026-12", Strays: true},
	} {
		var checkpoints []string
		of.Progress = func(p ledger.Progress) error { checkpoints = append(checkpoints, p.Checkpoint); return nil }
		want := b.verify(t, of)
		of.Progress = nil
		for i, checkpoint := range checkpoints {
			of.Checkpoint = checkpoint
			sameBut(t, fmt.Sprint("after step ", i), b.verify(t, of), want)
		}
		of.Checkpoint, of.Tenant, of.Asset = "", tenant, usd
		for broken := 1; ; broken++ {
			first, err := b.book.Verify(t.Context(), &breaking{Client: b.client, left: broken}, of)
			if err == nil {
				sameBut(t, "unbroken", first, want)
				break
			}
			if !errors.Is(err, ledger.ErrRead) || first.Done {
				t.Fatalf("request %d: %+v, %v", broken, first, err)
			}
			again := of
			again.Checkpoint = first.Checkpoint
			sameBut(t, fmt.Sprint("after request ", broken), b.verify(t, again), want)
		}
	}
}

func TestProgressCanStopAVerification(t *testing.T) {
	t.Parallel()
	b := books(t)
	stop := errors.New("enough")
	var last ledger.Progress
	of := ledger.Verification{Tenant: tenant, Account: "cash", Asset: usd, PageSize: 3, Progress: func(p ledger.Progress) error {
		if last = p; p.Month == "2026-11" && p.Postings >= 6 {
			return stop
		}
		return nil
	}}
	r, err := b.book.Verify(t.Context(), b.client, of)
	if !errors.Is(err, stop) || r.Done || r.Checkpoint != last.Checkpoint || r.Units != last.Units || last.Units == 0 || last.Findings != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if r = b.verify(t, ledger.Verification{Account: "cash", Checkpoint: r.Checkpoint}); r.Err() != nil || r.Postings != 8 {
		t.Errorf("continued: %+v", r)
	}
}

func TestACheckpointContinuesNothingElse(t *testing.T) {
	t.Parallel()
	b := books(t)
	var checkpoint string
	b.verify(t, ledger.Verification{Account: "cash", PageSize: 1, Progress: func(p ledger.Progress) error {
		if checkpoint == "" {
			checkpoint = p.Checkpoint
		}
		return nil
	}})
	refused := func(what string, of ledger.Verification) {
		t.Helper()
		r, err := b.book.Verify(t.Context(), &breaking{left: 1}, of) // no request is made
		var cursor *ledger.CursorError
		if !errors.As(err, &cursor) || cursor.What != "verification" || !reflect.DeepEqual(r, ledger.Report{}) {
			t.Errorf("%s: %+v, %v", what, r, err)
		}
	}
	of := ledger.Verification{Tenant: tenant, Account: "cash", Asset: usd, Checkpoint: checkpoint}
	for what, change := range map[string]func(*ledger.Verification){
		"another tenant": func(of *ledger.Verification) { of.Tenant = "other" }, "another account": func(of *ledger.Verification) { of.Account = "sales" },
		"another asset": func(of *ledger.Verification) { of.Asset = eur }, "another stripe": func(of *ledger.Verification) { of.Stripe = 1 },
		"another beginning": func(of *ledger.Verification) { of.From = "2026-01" }, "another end": func(of *ledger.Verification) { of.Through = "2026-12" },
		"located": func(of *ledger.Verification) { of.Locate = true }, "nothing": func(of *ledger.Verification) { of.Checkpoint = "AAAA" },
		"a line end": func(of *ledger.Verification) { of.Checkpoint += "\n" },
	} {
		other := of
		change(&other)
		refused(what, other)
	}
	for i := range checkpoint {
		edited := []byte(checkpoint)
		edited[i]++
		of.Checkpoint = string(edited)
		refused(fmt.Sprint("byte ", i), of)
	}
}

func TestAVerificationThatCannotBeIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	b := books(t)
	for what, c := range map[string]struct {
		of   ledger.Verification
		kind error
	}{
		"no account":        {ledger.Verification{}, ledger.ErrInvalid},
		"no month":          {ledger.Verification{Account: "cash", From: "2026-13"}, ledger.ErrInvalid},
		"no range":          {ledger.Verification{Account: "cash", From: "2026-12", Through: "2026-11"}, ledger.ErrInvalid},
		"strays everywhere": {ledger.Verification{Account: "cash", Strays: true, From: "2026-11"}, ledger.ErrInvalid},
		"no page":           {ledger.Verification{Account: "cash", PageSize: -1}, ledger.ErrInvalid},
		"unknown account":   {ledger.Verification{Account: "nobody"}, ledger.ErrNotFound},
		"unknown stripe":    {ledger.Verification{Account: "cash", Stripe: 5}, ledger.ErrNotFound},
	} {
		c.of.Tenant, c.of.Asset = tenant, usd
		r, err := b.book.Verify(t.Context(), b.client, c.of)
		var coded interface{ Code() string }
		if !errors.Is(err, c.kind) || r.Done || !errors.As(err, &coded) || coded.Code() < fault.LedgerInvalid.ID {
			t.Errorf("%s: %+v, %v", what, r, err)
		}
	}
}
