package inbox

import (
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/schema"
)

// Schema describes the table of receipts and what programs do with it: inbox.receive commits receipts, inbox.read looks up, and
// inbox.operate forgets.
func (in *Inbox) Schema() schema.Table {
	t := in.config.Table
	receipt := []string{keys.Pattern("Inbox", in.config.Consumer)}
	return schema.Table{
		Name: t.Name, PK: t.PK, SK: t.SK, TTL: attrExpiresAt, Transactions: true,
		Routes: schema.Routes("", "Inbox", "InboxForgotten"),
		Roles: []schema.Role{
			{Name: "inbox.receive", Grants: []schema.Grant{
				{Actions: []schema.Action{schema.PutItem, schema.ConditionCheckItem}, Keys: receipt, InTransaction: true},
			}},
			{Name: "inbox.read", Grants: []schema.Grant{
				{Actions: []schema.Action{schema.GetItem}, Keys: receipt},
			}},
			{Name: "inbox.operate", Grants: []schema.Grant{
				{Actions: []schema.Action{schema.GetItem}, Keys: receipt},
				{Actions: []schema.Action{schema.PutItem, schema.DeleteItem}, Keys: receipt, InTransaction: true},
			}},
		},
	}
}
