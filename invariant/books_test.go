package invariant_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/invariant"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/txn"
)

// storedBooks is a small ledger with something of everything in it, whose records a test can change.
type storedBooks struct {
	t      *testing.T
	client *dynamodb.Client
	book   *ledger.Ledger
}

func writeBooks(t *testing.T) *storedBooks {
	t.Helper()
	now := func() time.Time { return january }
	b := &storedBooks{t: t, client: dynamosim.Open(dynamosim.Options{Now: now}).Client(), book: newBook(now)}
	keys := []types.AttributeDefinition{{AttributeName: aws.String("PK"), AttributeType: "S"}, {AttributeName: aws.String("SK"), AttributeType: "S"}}
	_, err := b.client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: &books.Name, BillingMode: types.BillingModePayPerRequest, GlobalSecondaryIndexes: b.book.Indexes(),
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("PK"), KeyType: "HASH"}, {AttributeName: aws.String("SK"), KeyType: "RANGE"}},
		AttributeDefinitions: append(keys, b.book.IndexAttributes()...),
	})
	if err != nil {
		t.Fatal(err)
	}
	b.commit(b.book.OpenAccount(ledger.Account{Tenant: bank, ID: "house", Side: ledger.DebitSide}, ledger.Asset{Currency: dollar, NoMinimum: true}))
	b.commit(b.book.OpenAccount(ledger.Account{Tenant: bank, ID: "ann", Side: ledger.CreditSide}, ledger.Asset{Currency: dollar}))
	b.commit(b.book.Post(transaction("in", december, pays("house", "ann", 1000))))
	b.commit(b.book.Post(transaction("sale", january, pays("ann", "house", 300))))
	sale, err := b.book.Transaction(t.Context(), b.client, bank, "sale")
	if err != nil {
		t.Fatal(err)
	}
	b.commit(b.book.Reverse(sale, ledger.Reversal{ID: "refund", EffectiveAt: january,
		Parts: []ledger.ReversedPart{{Line: 0, Amount: cents(100)}, {Line: 1, Amount: cents(-100)}}}))
	b.commit(b.book.Reserve(ledger.Reservation{Tenant: bank, ID: "hold", Account: "ann", Amount: cents(400)}))
	hold, err := b.book.Reservation(t.Context(), b.client, bank, "hold")
	if err != nil {
		t.Fatal(err)
	}
	b.commit(b.book.Capture(hold, ledger.Capture{Transaction: transaction("part", january, pays("ann", "house", 150))}))
	balance, err := b.book.Balance(t.Context(), b.client, bank, "ann", dollar)
	if err != nil {
		t.Fatal(err)
	}
	b.commit(b.book.ClosePeriod(balance, ledger.MonthOf(december)))
	return b
}

func (b *storedBooks) commit(part txn.Part) {
	b.t.Helper()
	if _, err := txn.Commit(b.t.Context(), b.client, part); err != nil {
		b.t.Fatal(err)
	}
}

func (b *storedBooks) read() *invariant.Books {
	b.t.Helper()
	stored, err := invariant.ReadBooks(b.t.Context(), b.client, books, b.book)
	if err != nil {
		b.t.Fatal(err)
	}
	return stored
}

// records returns every record whose key begins so.
func (b *storedBooks) records(pk, sk string) (all []txn.Item) {
	b.t.Helper()
	out, err := b.client.Scan(b.t.Context(), &dynamodb.ScanInput{TableName: &books.Name})
	if err != nil {
		b.t.Fatal(err)
	}
	text := func(v types.AttributeValue) string { return v.(*types.AttributeValueMemberS).Value }
	for _, item := range out.Items {
		if strings.HasPrefix(text(item["PK"]), "TEN#bank#"+pk) && strings.HasPrefix(text(item["SK"]), sk) {
			all = append(all, item)
		}
	}
	return all
}

// change stores one record with other attributes, behind the ledger's back; nil takes it away.
func (b *storedBooks) change(pk, sk string, set txn.Item) {
	b.t.Helper()
	found := b.records(pk, sk)
	if len(found) == 0 {
		b.t.Fatalf("no record %s / %s", pk, sk)
	}
	if set == nil {
		key := txn.Item{"PK": found[0]["PK"], "SK": found[0]["SK"]}
		if _, err := b.client.DeleteItem(b.t.Context(), &dynamodb.DeleteItemInput{TableName: &books.Name, Key: key}); err != nil {
			b.t.Fatal(err)
		}
		return
	}
	maps.Copy(found[0], set)
	if _, err := b.client.PutItem(b.t.Context(), &dynamodb.PutItemInput{TableName: &books.Name, Item: found[0]}); err != nil {
		b.t.Fatal(err)
	}
}

func number(text string) types.AttributeValue { return &types.AttributeValueMemberN{Value: text} }

// Every check finds what it is for, and says where.
func TestBooksTellWhatWasChanged(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		pk, sk string
		set    txn.Item
		check  func(*invariant.Books) error
		says   string
	}{
		"a balance":               {"ACCT#ann", "AUTH", txn.Item{"posted": number("-800")}, (*invariant.Books).Conservation, "the balances of USD add up to -150"},
		"a posting":               {"ACCT#ann#MONTH", "POST", txn.Item{"amount": number("-999")}, (*invariant.Books).Conservation, "the postings of USD add up to 1"},
		"what is available":       {"ACCT#ann", "AUTH", txn.Item{"available": number("-501")}, (*invariant.Books).NeverBelowMinimum, "ann in USD has 501 available"},
		"a minimum":               {"ACCT#ann", "AUTH", txn.Item{"minimum": number("501"), "available": number("1")}, (*invariant.Books).NeverBelowMinimum, "has -1 available"},
		"what is reserved":        {"ACCT#ann", "AUTH", txn.Item{"reserved": number("249")}, (*invariant.Books).HoldsAgree, "reserves 249 in 1 reservations, 1 of which hold 250"},
		"how many are reserved":   {"ACCT#ann", "AUTH", txn.Item{"reservations": number("0")}, (*invariant.Books).HoldsAgree, "in 0 reservations"},
		"a word of a posting":     {"ACCT#ann#MONTH", "POST", txn.Item{"source": s("x")}, (*invariant.Books).StatementEqualsAuthority, "ann in USD, seal 199912"},
		"a posting that is gone":  {"ACCT#ann#MONTH#2000-01", "POST", nil, (*invariant.Books).StatementEqualsAuthority, "ann in USD, month 200001"},
		"a seal":                  {"ACCT#ann", "SEAL", txn.Item{"count": number("2")}, (*invariant.Books).StatementEqualsAuthority, "seal 199912: stored are 2 postings"},
		"a base":                  {"ACCT#ann", "AUTH", txn.Item{"baseCount": number("2")}, (*invariant.Books).StatementEqualsAuthority, "closed months"},
		"a balance without lines": {"ACCT#ann", "AUTH", nil, (*invariant.Books).StatementEqualsAuthority, "no balance"},
		"a month":                 {"ACCT#house", "AUTH", txn.Item{"months": &types.AttributeValueMemberSS{Value: []string{"199912", "200001", "200002"}}}, (*invariant.Books).StatementEqualsAuthority, "counts the month 200002"},
		"a header that is gone":   {"TXN#sale", "HEADER", nil, (*invariant.Books).PostingsEqualHeaders, "line 0 of sale is posted and in no header"},
		"a line that is gone":     {"ACCT#ann#MONTH#2000-01", "POST", nil, (*invariant.Books).PostingsEqualHeaders, "and posted are 0"},
		"a refusal of a posting":  {"TXN#sale", "HEADER", txn.Item{"state": s("REFUSED")}, (*invariant.Books).PostingsEqualHeaders, "line 0 of sale"},
		"a reservation":           {"RESERVATION#hold", "RESERVATION", txn.Item{"left": number("251")}, (*invariant.Books).CapturesWithinHolds, "150 captured, 251 left"},
		"a capture unnamed":       {"RESERVATION#hold", "RESERVATION", txn.Item{"capturedBy": &types.AttributeValueMemberSS{Value: []string{"x"}}}, (*invariant.Books).CapturesWithinHolds, "part is missing"},
		"an early end": {"RESERVATION#hold", "RESERVATION", txn.Item{"state": s("EXPIRED"), "expires": s("2000-01-02T00:00:00.000000000Z"),
			"endedAt": s("2000-01-01T23:59:59.999999999Z")}, (*invariant.Books).CapturesWithinHolds, "EXPIRED"},
		"a capture of nothing":   {"RESERVATION#hold", "RESERVATION", nil, (*invariant.Books).CapturesWithinHolds, "part captures hold, which is not there"},
		"links":                  {"TXN#sale", "LINKS", txn.Item{"r0": number("99")}, (*invariant.Books).ReversalsWithinOriginals, "say that 99 of ann in USD is reversed, posted back is -100"},
		"links over the line":    {"TXN#sale", "LINKS", txn.Item{"r0": number("301")}, (*invariant.Books).ReversalsWithinOriginals, "line 0 of sale is 300, and 301"},
		"links that are gone":    {"TXN#sale", "LINKS", nil, (*invariant.Books).ReversalsWithinOriginals, "has no links"},
		"a reversal of nothing":  {"TXN#sale", "HEADER", nil, (*invariant.Books).ReversalsWithinOriginals, "refund reverses sale, which is not posted"},
		"a reversal before time": {"TXN#refund", "HEADER", txn.Item{"effectiveAt": s("1999-01-01T00:00:00.000000000Z")}, (*invariant.Books).ReversalsWithinOriginals, "refund reverses sale"},
	} {
		b := writeBooks(t)
		if err := b.read().Check(); err != nil {
			t.Fatalf("unchanged books: %v", err)
		}
		b.change(c.pk, c.sk, c.set)
		changed := b.read()
		if err := c.check(changed); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want something about %q", what, err, c.says)
		}
		if changed.Check() == nil {
			t.Errorf("%s: nothing found", what)
		}
	}
}

func TestBooksNameWhatIsPosted(t *testing.T) {
	t.Parallel()
	b := writeBooks(t)
	b.commit(b.book.Refuse(transaction("no", january, pays("ann", "house", 1)), "no"))
	if got := strings.Join(b.read().Posted(), " "); got != "in part refund sale" {
		t.Errorf("posted: %s", got)
	}
}

// TestTheModelOfABalance walks through every rule of the model.
func TestTheModelOfABalance(t *testing.T) {
	t.Parallel()
	op := func(do invariant.AuthorityVerb, by int64, names ...string) invariant.AuthorityOp {
		o := invariant.AuthorityOp{Account: "a", Do: do, By: by, Opening: 10, Floor: 2, Month: "2000-01"}
		for i, name := range names {
			*[]*string{&o.ID, &o.Hold, &o.Month}[i] = name
		}
		return o
	}
	model := invariant.Authority()
	state := model.Init
	for i, step := range []struct {
		op   invariant.AuthorityOp
		want string
	}{
		{op(invariant.AuthorityPost, -9, "t1"), invariant.Insufficient(8)},
		{op(invariant.AuthorityPost, -3, "t1"), invariant.AuthorityDone},
		{op(invariant.AuthorityPost, -3, "t1"), invariant.AuthorityDone}, // once
		{op(invariant.AuthorityLook, 0), invariant.Standing(7, 0)},
		{op(invariant.AuthorityHold, 6, "", "h1"), invariant.Insufficient(5)},
		{op(invariant.AuthorityHold, 4, "", "h1"), invariant.AuthorityDone},
		{op(invariant.AuthorityHold, 4, "", "h1"), invariant.AuthorityDone},
		{op(invariant.AuthorityCapture, 5, "t2", "h1"), invariant.AuthorityExceeds},
		{op(invariant.AuthorityCapture, 1, "t2", "h1"), invariant.AuthorityDone},
		{op(invariant.AuthorityCapture, 1, "t2", "h1"), invariant.AuthorityDone},
		{op(invariant.AuthorityLook, 0), invariant.Standing(6, 3)},
		{op(invariant.AuthorityFreeze, 0), invariant.AuthorityDone},
		{op(invariant.AuthorityPost, 1, "t3"), invariant.AuthorityFrozen},
		{op(invariant.AuthorityCapture, 1, "t3", "h1"), invariant.AuthorityFrozen},
		{op(invariant.AuthorityHold, 1, "", "h2"), invariant.AuthorityFrozen},
		{op(invariant.AuthorityThaw, 0), invariant.AuthorityDone},
		{op(invariant.AuthorityCapture, 3, "t3", "h1"), invariant.AuthorityDone},
		{op(invariant.AuthorityCapture, 1, "t4", "h1"), invariant.AuthorityEnded},
		{op(invariant.AuthorityRelease, 0, "", "h1"), invariant.AuthorityDone},
		{op(invariant.AuthorityLook, 0), invariant.Standing(3, 0)},
		{op(invariant.AuthorityHold, 1, "", "h2"), invariant.AuthorityDone},
		{op(invariant.AuthorityRelease, 0, "", "h2"), invariant.AuthorityDone},
		{op(invariant.AuthorityClose, 0, "", "", "2000-01"), invariant.AuthorityDone},
		{op(invariant.AuthorityPost, 1, "t5"), invariant.AuthorityClosed},
		{op(invariant.AuthorityPost, 1, "t5", "", "2000-02"), invariant.AuthorityDone},
		{op(invariant.AuthorityLook, 0), invariant.Standing(4, 0)},
	} {
		next, said := model.Step(state, step.op)
		if said != step.want {
			t.Errorf("step %d, %+v: %v, want %q", i+1, step.op, said, step.want)
		}
		state = next
	}
}

// TestHistoriesOfALedgerAreRepeatable: one seed, one history, batches and their goroutines included.
func TestHistoriesOfALedgerAreRepeatable(t *testing.T) {
	t.Parallel()
	for name, story := range map[string]func(*invariant.World){"bank": runBank, "batches": runBatches} {
		for seed := range uint64(5) {
			one, two := invariant.Run(t, invariant.Config{Timeout: 2 * time.Minute}, seed, story), invariant.Run(t, invariant.Config{Timeout: 2 * time.Minute}, seed, story)
			if one.Hash != two.Hash || one.Failure != nil {
				t.Errorf("%s, seed %d: %v\n%s\nthen\n%s", name, seed, one.Failure, one.Schedule, two.Schedule)
			}
		}
	}
}
