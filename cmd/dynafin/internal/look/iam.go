package look

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/schema"
)

type roleItem struct {
	Role    string   `json:"role"`
	Table   string   `json:"table"`
	Index   string   `json:"index,omitempty"`
	Effect  string   `json:"effect"`
	Actions []string `json:"actions"`
	Keys    []string `json:"keys"`
	Only    string   `json:"only,omitempty"`
}

const iamHelp = `Writes the least policy of a program that has the given roles: their actions, on their keys, and nothing else. A role is what one kind of
program does, such as outbox.relay; the name of a primitive, such as outbox, is all its roles. Without --for it lists each role with what it
does and on which keys, which is the reason of every action.`

// IAM is the command that writes policies.
func IAM(a *app.App) *cobra.Command {
	var roles []string
	var scope schema.Scope
	cmd := &cobra.Command{
		Use: "iam", Short: "writes the least IAM policy of a program, or lists roles and their reasons", Long: iamHelp,
		Example: "  dynafin --config brokerage.json iam\n  dynafin --config brokerage.json iam --for outbox.create,idempotency.once --account 123456789012",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, _, err := planned(a)
			if err != nil {
				return err
			}
			if len(roles) == 0 {
				return listRoles(a, s)
			}
			wanted, err := rolesNamed(s, roles)
			if err != nil {
				return err
			}
			policy, err := s.Policy(scope, wanted...)
			if err != nil {
				return app.Usage("%v", err)
			}
			text, err := policy.JSON()
			if err != nil {
				return err
			}
			a.Hint("roles: %s", strings.Join(wanted, ", "))
			_, err = a.Stdout.Write(text)
			return err
		},
	}
	cmd.Flags().StringSliceVar(&roles, "for", nil, "`ROLES` of the program, or primitives, separated by commas")
	cmd.Flags().StringVar(&scope.Account, "account", "", "the twelve digits of the AWS `ACCOUNT`")
	cmd.Flags().StringVar(&scope.Region, "policy-region", "", "`REGION` of the tables (default: the home Region of the deployment)")
	cmd.Flags().StringVar(&scope.Partition, "partition", "", "AWS `PARTITION` (default: aws)")
	cmd.Flags().StringVar(&scope.Tenant, "only-tenant", "", "limit keys that begin with a tenant to this `TENANT`")
	return cmd
}

// rolesNamed turns the names of primitives into their roles.
func rolesNamed(s schema.Deployment, names []string) (roles []string, err error) {
	has := s.Roles()
	for _, name := range names {
		n := len(roles)
		for _, role := range has {
			if role == name || strings.HasPrefix(role, name+".") {
				roles = append(roles, role)
			}
		}
		if len(roles) == n {
			return nil, app.Usage("%q is no role of this deployment; there are %s", name, strings.Join(has, ", "))
		}
	}
	slices.Sort(roles)
	return slices.Compact(roles), nil
}

func listRoles(a *app.App, s schema.Deployment) error {
	l := app.List[roleItem]{Schema: "iam/v1"}
	for _, t := range s.Tables {
		for _, r := range t.Roles {
			for _, g := range r.Grants {
				item := roleItem{Role: r.Name, Table: t.Name, Index: g.Index, Effect: "ALLOW", Keys: g.Keys}
				if g.Deny {
					item.Effect = "DENY"
				}
				if g.InTransaction {
					item.Only = "in transactions"
				}
				for _, action := range g.Actions {
					item.Actions = append(item.Actions, string(action))
				}
				l.Items = append(l.Items, item)
			}
		}
	}
	slices.SortStableFunc(l.Items, func(x, y roleItem) int { return strings.Compare(x.Role, y.Role) })
	l.Columns = []app.Column[roleItem]{
		{Name: "role", Value: func(r roleItem) string { return r.Role }},
		{Name: "effect", Value: func(r roleItem) string { return r.Effect }},
		{Name: "actions", Value: func(r roleItem) string { return strings.Join(r.Actions, " ") }},
		{Name: "table", Value: func(r roleItem) string { return r.Table }},
		{Name: "index", Value: func(r roleItem) string { return r.Index }},
		{Name: "keys", Value: func(r roleItem) string { return strings.Join(r.Keys, " ") }},
		{Name: "only", Value: func(r roleItem) string { return r.Only }},
	}
	if len(l.Items) > 0 {
		l.Next = fmt.Sprintf("dynafin iam --for %s --account 123456789012", l.Items[0].Role)
	}
	return app.Print(a, l)
}
