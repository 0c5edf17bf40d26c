package idempotency

import (
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/schema"
)

// Schema describes the table of requests, its index, and what programs do with it: idempotency.once commits results,
// idempotency.claim works with leases, idempotency.read looks up, idempotency.repair is the repair worker, and
// idempotency.operate decides about what was escalated.
func (r *Requests) Schema() schema.Table {
	c := r.config
	request := []string{keys.Pattern("Request")}
	due, escalated := keys.Pattern("RepairDue"), keys.Pattern("RepairEscalated")
	read := schema.Grant{Actions: []schema.Action{schema.GetItem}, Keys: request}
	return schema.Table{
		Name: c.Table.Name, PK: c.Table.PK, SK: c.Table.SK, TTL: attrExpiresAt, Transactions: true,
		Indexes: []schema.Index{schema.IndexOf(r.Index())},
		Routes:  append(schema.Routes("", "Request", "RequestAudit"), schema.Routes(c.Index, "RepairDue", "RepairEscalated")...),
		Roles: []schema.Role{
			{Name: "idempotency.once", Grants: []schema.Grant{
				{Actions: []schema.Action{schema.PutItem}, Keys: request, InTransaction: true},
			}},
			{Name: "idempotency.claim", Grants: []schema.Grant{
				{Actions: []schema.Action{schema.PutItem, schema.UpdateItem}, Keys: request},
			}},
			{Name: "idempotency.read", Grants: []schema.Grant{read}},
			{Name: "idempotency.repair", Grants: []schema.Grant{
				{Actions: []schema.Action{schema.Query}, Index: c.Index, Keys: []string{due}},
				{Actions: []schema.Action{schema.GetItem, schema.UpdateItem}, Keys: request},
			}},
			{Name: "idempotency.operate", Grants: []schema.Grant{
				{Actions: []schema.Action{schema.Query}, Index: c.Index, Keys: []string{due, escalated}},
				{Actions: []schema.Action{schema.GetItem, schema.Query}, Keys: request},
				{Actions: []schema.Action{schema.UpdateItem, schema.PutItem}, Keys: request, InTransaction: true},
			}},
		},
	}
}
