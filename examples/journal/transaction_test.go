package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// read returns the transactions of a text.
func read(t *testing.T, text string) (entries []*entry) {
	t.Helper()
	r := newReader(strings.NewReader(text))
	for {
		e, err := r.next()
		if err != nil {
			return entries
		}
		entries = append(entries, e)
	}
}

// identifiers returns the identifiers that the transactions of a text get.
func identifiers(t *testing.T, text string, sorted bool) (all []string) {
	ids := identities{sorted: sorted}
	for _, e := range read(t, text) {
		all = append(all, ids.of(e))
	}
	return all
}

// An identifier that changed from one version to the next would post every journal a second time.
func TestIdentifiersAreTheSameInEveryVersion(t *testing.T) {
	got := identifiers(t, header+coffee(1)+coffee(2), true)
	want := []string{"2026-01-02-fe8f0bd323afe2b2005f59cbd81b5599-1", "2026-01-02-fe8f0bd323afe2b2005f59cbd81b5599-2"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTwoEqualTransactionsOfADayAreTwoInWhateverOrder(t *testing.T) {
	text := header + coffee(1) + rows(2, "2026-01-02", "Tea", "expenses:tea|2|EUR", "assets:cash|-2|EUR") + coffee(3)
	got := imports(t, text, "-")
	if want := "assets:cash\tEUR\t-8.40\nexpenses:coffee\tEUR\t6.40\nexpenses:tea\tEUR\t2.00\n"; got.stdout != want {
		t.Errorf("the balances are\n%s", got.stdout)
	}
	sorted, unsorted := identifiers(t, text, true), identifiers(t, text, false)
	if !slices.Equal(sorted, unsorted) {
		t.Errorf("%q, or %q in a file without order", sorted, unsorted)
	}
}

func TestAFileOutOfOrderIsImportedAllTheSame(t *testing.T) {
	second := rows(2, "2026-01-01", "Earlier", "expenses:tea|2|EUR", "assets:cash|-2|EUR")
	text := header + coffee(1) + second + coffee(3)
	url, _ := server(t)
	for _, said := range []string{": 3 posted", ": 0 posted, 3 there before"} {
		got := imports(t, text, "-endpoint", url, "-")
		got.says(t, said)
		if want := "assets:cash\tEUR\t-8.40\nexpenses:coffee\tEUR\t6.40\nexpenses:tea\tEUR\t2.00\n"; got.stdout != want {
			t.Errorf("the balances are\n%s", got.stdout)
		}
	}
}

// What hledger shows differently on another day is no other transaction: its number, how zeros are written, the status and
// the comments.
func TestATransactionIsKnownByWhatItBooks(t *testing.T) {
	first := `7,2026-01-02,,,c-1,Coffee,,expenses:coffee,3.2,EUR,,,,
7,2026-01-02,,,c-1,Coffee,,assets:cash,-3.20,EUR,,,,
`
	later := `9,2026-01-02,2026-01-05,*,c-1,Coffee,"with
cake",expenses:coffee,3.20,EUR,,3.20,!,a comment
9,2026-01-02,2026-01-05,*,c-1,Coffee,"with
cake",assets:cash,-3.200,EUR,3.20,,,
`
	url, db := server(t)
	imports(t, header+first, "-endpoint", url, "-")
	stored := items(t, db)
	got := imports(t, header+later, "-endpoint", url, "-")
	got.says(t, "1 transaction: 0 posted, 1 there before, 0 refused; 1 of those there before have another status, comment or secondary date now")
	if items(t, db) != stored {
		t.Error("the second import wrote something")
	}
	for name, other := range map[string]string{
		"date":        strings.ReplaceAll(first, "2026-01-02", "2026-01-03"),
		"code":        strings.ReplaceAll(first, "c-1", "c-2"),
		"description": strings.ReplaceAll(first, "Coffee", "Coffees"),
		"account":     strings.ReplaceAll(first, "assets:cash", "assets:bank"),
		"amount":      strings.ReplaceAll(first, "3.2", "3.3"),
		"commodity":   strings.ReplaceAll(first, "EUR", "USD"),
		"brackets":    strings.ReplaceAll(strings.ReplaceAll(first, "assets:cash", "[assets:cash]"), "expenses:coffee", "[expenses:coffee]"),
	} {
		if identifiers(t, header+first, true)[0] == identifiers(t, header+other, true)[0] {
			t.Errorf("another %s is no other transaction", name)
		}
	}
}

// testBooks are books with the commodities of a text, in a database of their own.
func testBooks(t *testing.T, text string) *books {
	t.Helper()
	s := newSurvey()
	for _, e := range read(t, text) {
		s.add(e)
	}
	client := dynamosim.New(t).Client()
	b := newBooks(t.Context(), "test", client, txn.Config{}, s)
	if err := createTable(t.Context(), client, b.book); err != nil {
		t.Fatal(err)
	}
	if err := b.learn(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestWhatAJournalSaysIsKeptWithTheTransaction(t *testing.T) {
	text := file(t, "household.csv")
	b := testBooks(t, text)
	wanted := map[string]map[string]string{
		"Opening balances | carried over": {
			"status": "*", "code": "OB-1", "description": "Opening balances | carried over", "comment": "year:2026\nchecked by both",
		},
		`Rent, "the old flat"`: {
			"status": "!", "code": "4711", "description": `Rent, "the old flat"`, "comment": "due on the 5th", "date2": "2026-01-07",
			"posting.1": "; flat:3, 1st floor", "posting.2": "!",
		},
		"Budget for the month": {"description": "Budget for the month", "posting.1": "(budget:food)", "posting.2": "(budget:fun%2F)"},
		"Put aside": {
			"status": "*", "description": "Put aside", "posting.3": "[goals:bicycle]", "posting.4": "[assets:bank:savings:free]",
		},
	}
	ids := identities{sorted: true}
	for _, e := range read(t, text) {
		want, ok := wanted[e.description]
		if !ok {
			continue
		}
		id := ids.of(e)
		parts, err := b.transactions(e, id)
		if err != nil || len(parts) != 1 {
			t.Fatalf("%s: %d parts, %v", e.description, len(parts), err)
		}
		if _, err := b.post(t.Context(), parts[0]); err != nil {
			t.Fatal(err)
		}
		stored, err := b.book.Transaction(t.Context(), b.client, "test", id)
		if err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(stored.Metadata, want) || !stored.EffectiveAt.Equal(e.date) {
			t.Errorf("%s: stored is %v, %q", e.description, stored.EffectiveAt, stored.Metadata)
		}
	}
}

func TestPostingsOfZeroAreKeptInWords(t *testing.T) {
	text := header + rows(1, "2026-01-02", "x", "a|1|EUR", "b|-1|EUR", "c|0.00|EUR", "[d]|0|")
	parts, err := testBooks(t, text).transactions(read(t, text)[0], "id")
	if err != nil || len(parts) != 1 || len(parts[0].Postings) != 2 {
		t.Fatalf("%v, %v", parts, err)
	}
	if got := parts[0].Metadata["zeros"]; got != "c  0  EUR\n[d]  0" {
		t.Errorf("%q", got)
	}
}

// hledger: 5 GIFT @ $0, and 5 GIFT @@ $0 against an account without an amount.
func TestWhatCostNothingIsTakenInAtNothing(t *testing.T) {
	text := header + rows(1, "2026-01-02", "x", "a|5|GIFT", "b|0|$") + rows(2, "2026-01-02", "y", "a|5|GIFT", "b|0|")
	if got := imports(t, text, "-equity", "-"); got.stdout != "a\tGIFT\t10\nequity:conversion  GIFT\tGIFT\t-10\n" {
		t.Errorf("the balances are\n%s", got.stdout)
	}
	got := journal(t.Context(), strings.NewReader(header+rows(1, "2026-01-02", "x", "a|5|GIFT", "b|0|GIFT")), "-")
	got.says(t, "standard input:2: does not balance: 5 GIFT too much")
}

// A transaction of more accounts than one DynamoDB transaction holds: opening balances, for example.
func TestALongTransactionIsPostedInParts(t *testing.T) {
	var postings []string
	var want strings.Builder
	for i := range 130 {
		account := "assets:" + string(rune('a'+i/26)) + ":" + string(rune('a'+i%26))
		postings = append(postings, account+"|1.25|EUR", account+"|-2|USD")
		want.WriteString(account + "\tEUR\t1.25\n" + account + "\tUSD\t-2\n")
	}
	want.WriteString("equity:opening\tEUR\t-162.50\nequity:opening\tUSD\t260\n")
	text := header + rows(1, "2026-01-02", "Opening", append(postings, "equity:opening|-162.50|EUR", "equity:opening|260|USD")...)
	url, _ := server(t)
	for _, said := range []string{"1 transaction: 1 posted", "1 transaction: 0 posted, 1 there before"} {
		got := imports(t, text, "-endpoint", url, "-")
		got.says(t, said)
		if got.stdout != want.String() {
			t.Errorf("the balances are\n%s", got.stdout)
		}
	}
	if whole := imports(t, text, "-equity", "-endpoint", url, "-"); whole.stdout != want.String() {
		t.Errorf("something is left in transit:\n%s", whole.stdout)
	}
}

func TestEveryCommodityHasACodeOfItsOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := rapid.String().Draw(t, "x"), rapid.String().Draw(t, "y")
		if (codeOf(x) == codeOf(y)) != (x == y) {
			t.Fatalf("%q is %s, %q is %s", x, codeOf(x), y, codeOf(y))
		}
		if _, err := currencyOf(x, rapid.IntRange(0, money.MaxScale).Draw(t, "places")); err != nil {
			t.Fatal(err)
		}
		if got := (&books{}).symbolOf(codeOf(x)); got != x && !strings.HasPrefix(got, codePrefix) {
			t.Fatalf("%q comes back as %q", x, got)
		}
	})
}

func TestACommodityIsACurrencyIfItCanBe(t *testing.T) {
	for _, c := range []struct {
		symbol string
		places int
		code   string
		scale  int
	}{
		{"EUR", 2, "EUR", 2}, {"EUR", 0, "EUR", 2}, {"EUR", 3, "hl:EUR", 3}, {"JPY", 0, "JPY", 0}, {"JPY", 2, "hl:JPY", 2},
		{"BTC", 8, "hl:BTC", 8}, {"eur", 2, "hl:eur", 2}, {"$", 2, "hl:_24", 2}, {"ACME 2026", 0, "hl:ACME_202026", 0}, {"", 0, "hl:", 0},
	} {
		got, err := currencyOf(c.symbol, c.places)
		if err != nil || got.Code() != c.code || got.Scale() != c.scale {
			t.Errorf("%q with %d places is %s with %d, %v", c.symbol, c.places, got, got.Scale(), err)
		}
	}
}

func TestBalancesAreRoundedOnlyIfAskedTo(t *testing.T) {
	text := header + rows(1, "2026-01-02", "x", "a|33|FOO", "b|-35.7885|$") + rows(2, "2026-01-02", "y", "c|1|FOO", "d|-2600.545|$")
	exact := imports(t, text, "-")
	if want := "a\tFOO\t33\nb\t$\t-35.7885\nc\tFOO\t1\nd\t$\t-2600.5450\n"; exact.stdout != want {
		t.Errorf("%q, want %q", exact.stdout, want)
	}
	exact.says(t, "amounts of $ have 3 to 4 decimal places; hledger may show balances of it rounded to 3, as -places '$=3' does\n")
	if got, want := imports(t, text, "-places", "$=2", "-").stdout, "a\tFOO\t33\nb\t$\t-35.79\nc\tFOO\t1\nd\t$\t-2600.54\n"; got != want {
		t.Errorf("%q, want %q, as hledger 1.25 prints it", got, want)
	}
}

func TestAccountsHaveTheirSide(t *testing.T) {
	for id, want := range map[string]ledger.Side{
		"Assets:Bank": ledger.DebitSide, "expenses": ledger.DebitSide, "whatever": ledger.DebitSide, "Liabilities:card": ledger.CreditSide,
		"income:salary": ledger.CreditSide, "revenues": ledger.CreditSide, internal(conversions, "$", "€"): ledger.CreditSide,
	} {
		if got := sideOf(id); got != want {
			t.Errorf("%s is a %s account", id, got)
		}
	}
}
