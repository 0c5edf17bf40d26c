package sentinel

import (
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/schema"
)

// Schema describes the table of names and what programs do with it: sentinel.reserve reserves, moves and releases,
// sentinel.read looks up. Name the kinds that the service uses, for example [ClientOrder]: without any the roles reach
// every key of a tenant that has three parts.
func (n *Names) Schema(kinds ...string) schema.Table {
	t := n.table
	if len(kinds) == 0 {
		kinds = []string{""}
	}
	var names []string
	for _, kind := range kinds {
		names = append(names, keys.Pattern("Name", "", kind))
	}
	return schema.Table{
		Name: t.Name, PK: t.PK, SK: t.SK, Transactions: true,
		Routes: schema.Routes("", "Name"),
		Roles: []schema.Role{
			{Name: "sentinel.reserve", Grants: []schema.Grant{
				{Actions: []schema.Action{schema.UpdateItem}, Keys: names, InTransaction: true},
			}},
			{Name: "sentinel.read", Grants: []schema.Grant{
				{Actions: []schema.Action{schema.GetItem}, Keys: names},
			}},
		},
	}
}
