package ledger_test

import (
	"testing"
	"time"

	stored "github.com/dynafin/dynafin/internal/golden"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/txn"
)

// The shapes of stored records are a public format: programs of other versions, and of other languages, read them.
func TestStoredRecordsMatchTheGoldenFiles(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.commit(t, b.book.OpenAccount(ledger.Account{
		Tenant: tenant, ID: "bank", Side: ledger.DebitSide, Metadata: map[string]string{"name": "Bank of the house"},
	}, ledger.Asset{Currency: usd, NoMinimum: true}))
	b.commit(t, b.book.OpenAccount(ledger.Account{Tenant: tenant, ID: "ann", Side: ledger.CreditSide, Assets: 4, Lanes: 2},
		ledger.Asset{Currency: usd, Minimum: dollars("-20.00")}))
	golden(t, b, "account", "TEN#acme#ACCT#bank / ACCOUNT")
	golden(t, b, "authority_empty", "TEN#acme#ACCT#ann / AUTH#CASH#USD")

	pay := transfer("pay-1", "bank", "ann", "100.00")
	pay.Metadata = map[string]string{"note": "first"}
	b.commit(t, b.book.Post(pay))
	golden(t, b, "header", "TEN#acme#TXN#pay-1 / HEADER")
	golden(t, b, "posting", "TEN#acme#ACCT#ann#MONTH#2026-11#BKT#00 / POST#2026-11-29T14:18:00.000000000Z#pay-1#0001")

	r := hold("order-1", "ann", "0.00")
	r.Amount, r.ExpiresAt, r.Metadata = dollars("30.00"), day.Add(time.Hour), map[string]string{"order": "1"}
	b.commit(t, b.book.Reserve(r))
	golden(t, b, "reservation_open", "TEN#acme#RESERVATION#order-1 / RESERVATION")
	golden(t, b, "authority", "TEN#acme#ACCT#ann / AUTH#CASH#USD")
	b.commit(t, b.book.Capture(b.reservation(t, "order-1"), ledger.Capture{Transaction: transfer("fill-1", "ann", "bank", "12.34"), Final: true}))
	golden(t, b, "reservation_captured", "TEN#acme#RESERVATION#order-1 / RESERVATION")

	r.ID = "order-2"
	b.commit(t, b.book.RefuseReservation(r, "no funds"))
	golden(t, b, "reservation_refused", "TEN#acme#RESERVATION#order-2 / RESERVATION")

	b.commit(t, b.book.Reverse(b.entry(t, "pay-1"), refund("refund-1", "1.00")))
	golden(t, b, "links", "TEN#acme#TXN#pay-1 / LINKS")
	b.commit(t, b.book.Refuse(transfer("pay-2", "bank", "ann", "1.00"), "no such customer"))
	golden(t, b, "refusal", "TEN#acme#TXN#pay-2 / HEADER")
	b.commit(t, b.book.ClosePeriod(b.balance(t, "ann"), "2026-11"))
	golden(t, b, "seal", "TEN#acme#ACCT#ann / SEAL#CASH#USD#2026-11")
	golden(t, b, "authority_closed", "TEN#acme#ACCT#ann / AUTH#CASH#USD")
}

// golden compares a record with a file, all but the marks, which txn makes anew for every commit.
func golden(t *testing.T, b *bench, name, key string) {
	t.Helper()
	item := b.dump(t)[key]
	var marks []string
	for _, mark := range []string{txn.MarkAttribute, txn.UpdateMarkAttribute} {
		if _, ok := item[mark]; ok {
			marks = append(marks, mark)
		}
	}
	stored.Item(t, name, item, marks...)
}
