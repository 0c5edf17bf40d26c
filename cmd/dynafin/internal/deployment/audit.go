package deployment

import "github.com/dynafin/dynafin/schema"

// Schema describes the table of runs and audit items, see package change: operator.change writes them, operator.audit reads them.
func (a *Audit) Schema() schema.Table {
	t := a.At().WithDefaults("")
	runs, items := []string{"OPERATOR#RUNS#*"}, []string{"OPERATOR#RUN#*"}
	return schema.Table{
		Name: t.Name, PK: t.PK, SK: t.SK, Transactions: true,
		Routes: []schema.Route{
			{Name: "OperatorRun", PK: "OPERATOR#RUNS#{month}", SK: "RUN#{run}"},
			{Name: "OperatorItem", PK: "OPERATOR#RUN#{run}", SK: "ITEM#{item}"},
		},
		Roles: []schema.Role{
			{Name: "operator.change", Grants: []schema.Grant{
				{Actions: []schema.Action{schema.GetItem, schema.PutItem, schema.UpdateItem}, Keys: runs},
				{Actions: []schema.Action{schema.PutItem}, Keys: items, InTransaction: true},
				{Actions: []schema.Action{schema.GetItem, schema.Query}, Keys: items},
			}},
			{Name: "operator.audit", Grants: []schema.Grant{
				{Actions: []schema.Action{schema.GetItem, schema.Query}, Keys: runs},
				{Actions: []schema.Action{schema.Query}, Keys: items},
			}},
		},
	}
}
