package projection

import (
	"strings"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/schema"
)

// Schema describes the table of checkpoints and what programs do with it: projection.apply applies events, forces and sweeps,
// projection.read lists, and projection.rebuild builds a namespace and moves readers to it, for which it needs the role of
// applying too. What the view writes is the view's. Roles of a projection also reach those of a projection whose name begins
// with this one's and an @.
func (p *Projection) Schema() schema.Table {
	t := p.config.Table
	alias := []string{keys.Pattern("Alias", p.config.Name)}
	source := []string{strings.Replace(keys.Pattern("Checkpoint", p.config.Name+"@"), "@#V#", "@*#V#", 1)} // of any namespace, see keyed
	return schema.Table{
		Name: t.Name, PK: t.PK, SK: t.SK, Transactions: true,
		Routes: schema.Routes("", "Checkpoint", "Gap", "Parked", "Forced", "Alias", "Build", "Runbook"),
		Roles: []schema.Role{
			{Name: "projection.apply", Grants: []schema.Grant{
				{Actions: []schema.Action{schema.GetItem, schema.Query, schema.UpdateItem}, Keys: source},
				{Actions: []schema.Action{schema.PutItem, schema.DeleteItem}, Keys: source, InTransaction: true},
			}},
			{Name: "projection.read", Grants: []schema.Grant{
				{Actions: []schema.Action{schema.GetItem, schema.Query}, Keys: source},
				{Actions: []schema.Action{schema.GetItem}, Keys: alias},
			}},
			{Name: "projection.rebuild", Grants: []schema.Grant{
				{Actions: []schema.Action{schema.GetItem, schema.PutItem, schema.UpdateItem}, Keys: alias},
				{Actions: []schema.Action{schema.ConditionCheckItem}, Keys: alias, InTransaction: true},
			}},
		},
	}
}
