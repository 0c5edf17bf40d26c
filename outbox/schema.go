package outbox

import (
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/schema"
)

// Schema describes the table of events, its index, and what programs do with it: outbox.create commits events, outbox.relay
// publishes them, outbox.read looks at one and at the backlog, and outbox.operate redrives, passes, holds, reschedules and pauses.
func (o *Outbox) Schema() schema.Table {
	c := o.config
	event := []string{keys.Pattern("Outbox")}
	ready, parked := keys.Pattern("OutboxReady", c.Service), keys.Pattern("OutboxParked", c.Service)
	switches := []string{keys.Pattern("OutboxSwitch", c.Service)}
	claims := []string{keys.Pattern("OutboxClaims", c.Service)}
	return schema.Table{
		Name: c.Table.Name, PK: c.Table.PK, SK: c.Table.SK, TTL: c.TTL, Transactions: true,
		Indexes: []schema.Index{schema.IndexOf(o.Index())},
		Routes:  append(schema.Routes("", "Outbox", "OutboxAudit", "OutboxClaims", "OutboxSwitch"), schema.Routes(c.Index, "OutboxReady", "OutboxParked")...),
		Roles: []schema.Role{
			{Name: "outbox.create", Grants: []schema.Grant{
				{Actions: []schema.Action{schema.PutItem}, Keys: event, InTransaction: true},
			}},
			{Name: "outbox.relay", Grants: []schema.Grant{
				{Actions: []schema.Action{schema.Query}, Index: c.Index, Keys: []string{ready}},
				{Actions: []schema.Action{schema.GetItem, schema.UpdateItem}, Keys: event},
				{Actions: []schema.Action{schema.PutItem, schema.DeleteItem, schema.Query}, Keys: claims},
				{Actions: []schema.Action{schema.GetItem}, Keys: switches},
			}},
			{Name: "outbox.read", Grants: []schema.Grant{
				{Actions: []schema.Action{schema.Query}, Index: c.Index, Keys: []string{ready, parked}},
				{Actions: []schema.Action{schema.GetItem, schema.Query}, Keys: event},
				{Actions: []schema.Action{schema.Query}, Keys: claims},
				{Actions: []schema.Action{schema.GetItem}, Keys: switches},
			}},
			{Name: "outbox.operate", Grants: []schema.Grant{
				{Actions: []schema.Action{schema.Query}, Index: c.Index, Keys: []string{ready, parked}},
				{Actions: []schema.Action{schema.GetItem, schema.UpdateItem, schema.Query}, Keys: event},
				{Actions: []schema.Action{schema.PutItem}, Keys: event, InTransaction: true},
				{Actions: []schema.Action{schema.UpdateItem}, Keys: switches, InTransaction: true},
				{Actions: []schema.Action{schema.Query}, Keys: claims},
			}},
		},
	}
}
