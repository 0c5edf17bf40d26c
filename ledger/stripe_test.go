package ledger_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/dynafin/dynafin/ledger"
)

func TestARepeatGoesWhereTheFirstAttemptWent(t *testing.T) {
	house := ledger.Account{Tenant: tenant, ID: "house", Stripes: 8, Lanes: 4}
	before := transfer("t-1", "house", "ann-", "1.00")
	first, again := house.Spread(before), house.Spread(house.Spread(before))
	if !slices.Equal(first.Postings, again.Postings) {
		t.Errorf("first %+v, then %+v", first.Postings, again.Postings)
	}
	if before.Postings[0].Stripe != 0 || before.Postings[0].Lane != 0 || first.Postings[1] != before.Postings[1] {
		t.Errorf("more than the postings of the house has changed: %+v, %+v", before.Postings, first.Postings)
	}
	other := before
	other.Tenant = "emca"
	if spread := house.Spread(other); !slices.Equal(spread.Postings, before.Postings) {
		t.Errorf("an account of the same name of another tenant is spread: %+v", spread.Postings)
	}
	plain := ledger.Account{Tenant: tenant, ID: "house"}
	if spread := plain.Spread(before); !slices.Equal(spread.Postings, before.Postings) {
		t.Errorf("an account without stripes is spread: %+v", spread.Postings)
	}
}

// Chi-squared with 31 degrees of freedom is above 61.1 once in a thousand times; the identifiers are fixed, so it is
// either always or never.
func TestTransactionsAreSpreadEvenly(t *testing.T) {
	house := ledger.Account{Tenant: tenant, ID: "house", Stripes: 8, Lanes: 4}
	const n = 100_000
	var hits [8][4]int
	for i := range n {
		p := house.Spread(transfer(fmt.Sprintf("pay-%d", i), "house", "ann-", "1.00")).Postings[0]
		hits[p.Stripe][p.Lane]++
	}
	const expected = n / 32
	sum := 0 // of squared differences
	for _, lanes := range hits {
		for _, hit := range lanes {
			sum += (hit - expected) * (hit - expected)
		}
	}
	if sum*10 > 611*expected {
		t.Errorf("squares of %d differ from %d by %d in sum: %v", n, expected, sum, hits)
	}
}

// Where it is stored makes no other transaction of it, and the sum of the stripes is the balance.
func TestAStripedAccountIsOneAccount(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "ann-")
	house := ledger.Account{Tenant: tenant, ID: "house", Side: ledger.DebitSide, Stripes: 4, Lanes: 3}
	b.commit(t, b.book.OpenAccount(house, ledger.Asset{Currency: usd, NoMinimum: true}))
	used := map[int]bool{}
	for i := range 20 {
		tx := house.Spread(transfer(fmt.Sprint(i), "house", "ann-", "1.00"))
		used[tx.Postings[0].Stripe] = true
		b.commit(t, b.book.Post(tx))
	}
	if _, err := b.try(t, b.book.Post(transfer("0", "house", "ann-", "1.00"))); !ledger.Repeated(err) {
		t.Errorf("the same transaction on another stripe: %v", err)
	}
	total, err := b.book.Total(t.Context(), b.client, tenant, "house", usd)
	if err != nil || total.Signed != dollars("20.00") || total.Postings != 20 || len(used) != 4 {
		t.Errorf("%+v on %d stripes, %v", total, len(used), err)
	}
}
