package reconcile

import (
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/schema"
)

// Schema describes the table of batches and breaks, its index, and what programs do with it: reconcile.run creates and runs
// batches, reconcile.read lists them and what is due, and reconcile.operate assigns, escalates, resolves and reopens breaks, for
// which it needs the role of reading too.
func (r *Reconciler) Schema() schema.Table {
	c := r.config
	records := []string{keys.Pattern("Batch")} // breaks have partitions of the same form
	return schema.Table{
		Name: c.Table.Name, PK: c.Table.PK, SK: c.Table.SK, Transactions: true,
		Indexes: []schema.Index{schema.IndexOf(r.Index())},
		Routes:  append(schema.Routes("", "Batch", "Break"), schema.Routes(c.Index, "BreakDue")...),
		Roles: []schema.Role{
			{Name: "reconcile.run", Grants: []schema.Grant{
				{Actions: []schema.Action{schema.GetItem, schema.PutItem}, Keys: records},
				{Actions: []schema.Action{schema.UpdateItem}, Keys: records, InTransaction: true},
			}},
			{Name: "reconcile.read", Grants: []schema.Grant{
				{Actions: []schema.Action{schema.GetItem, schema.Query}, Keys: records},
				{Actions: []schema.Action{schema.Query}, Index: c.Index, Keys: []string{keys.Pattern("BreakDue")}},
			}},
			{Name: "reconcile.operate", Grants: []schema.Grant{
				{Actions: []schema.Action{schema.UpdateItem}, Keys: records, InTransaction: true},
			}},
		},
	}
}
