package ledger

import (
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/schema"
)

// Schema describes the table of the books, its indexes, and what programs do with it: ledger.post posts, reserves, captures
// and reverses; ledger.open opens accounts, sets their status and closes periods; ledger.sweep ends reservations that have
// expired; ledger.read reads and verifies. Whoever may write is denied to change or delete a posting.
func (l *Ledger) Schema() schema.Table {
	t := l.config.Table
	account, transaction := keys.Pattern("Account"), keys.Pattern("Transaction")
	reservation := keys.Pattern("Reservation")
	immutable := schema.Grant{Deny: true, Actions: []schema.Action{schema.UpdateItem, schema.DeleteItem}, Keys: []string{keys.Pattern("Posting")}}
	table := schema.Table{
		Name: t.Name, PK: t.PK, SK: t.SK, Transactions: true,
		Routes: schema.Routes("", "Account", "CashAuthority", "SecurityAuthority", "Posting", "Seal", "StripeAuthority", "StripePosting",
			"StripeSeal", "Transaction", "Links", "Reservation"),
		Roles: []schema.Role{
			{Name: "ledger.post", Grants: []schema.Grant{
				{Actions: []schema.Action{schema.PutItem, schema.UpdateItem}, Keys: []string{account, transaction, reservation}, InTransaction: true},
				{Actions: []schema.Action{schema.ConditionCheckItem}, Keys: []string{transaction}, InTransaction: true},
				immutable,
			}},
			{Name: "ledger.open", Grants: []schema.Grant{
				{Actions: []schema.Action{schema.PutItem, schema.UpdateItem}, Keys: []string{account}, InTransaction: true},
				immutable,
			}},
			{Name: "ledger.sweep", Grants: []schema.Grant{
				{Actions: []schema.Action{schema.Query}, Index: l.config.DueIndex, Keys: []string{keys.Pattern("ReservationDue")}},
				{Actions: []schema.Action{schema.UpdateItem}, Keys: []string{account, reservation}, InTransaction: true},
				immutable,
			}},
			{Name: "ledger.read", Grants: []schema.Grant{
				{Actions: []schema.Action{schema.GetItem}, Keys: []string{account, transaction, reservation}},
				{Actions: []schema.Action{schema.Query}, Keys: []string{account}},
				{Actions: []schema.Action{schema.Query}, Index: l.config.HeldIndex, Keys: []string{keys.Pattern("AccountReservation")}},
			}},
		},
	}
	for _, index := range l.Indexes() {
		table.Indexes = append(table.Indexes, schema.IndexOf(index))
	}
	table.Routes = append(table.Routes, schema.Routes(l.config.DueIndex, "ReservationDue")...)
	table.Routes = append(table.Routes, schema.Routes(l.config.HeldIndex, "AccountReservation")...)
	return table
}
