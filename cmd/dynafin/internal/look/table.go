package look

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/schema"
)

// Table returns the verbs about tables. One of them creates what is missing.
func Table(a *app.App) []*cobra.Command {
	return []*cobra.Command{tablePlan(a), tableCreate(a), tableVerify(a), tableShow(a), tableExport(a)}
}

type plannedTable struct {
	Table   string   `json:"table"`
	Keys    string   `json:"keys"`
	Indexes []string `json:"indexes,omitempty"`
	TTL     string   `json:"ttl,omitempty"`
	Stream  string   `json:"stream,omitempty"`
	Roles   []string `json:"roles,omitempty"`
}

// planned is the deployment with its tables merged.
func planned(a *app.App) (schema.Deployment, []plannedTable, error) {
	d, err := a.Deployment()
	if err != nil {
		return schema.Deployment{}, nil, err
	}
	s, err := d.Schema()
	if err != nil {
		return s, nil, app.Usage("%v", err)
	}
	if s, err = s.Plan(); err != nil {
		return s, nil, err
	}
	var all []plannedTable
	for _, t := range s.Tables {
		p := plannedTable{Table: t.Name, Keys: strings.TrimSuffix(t.PK+" "+t.SK, " "), TTL: t.TTL, Stream: string(t.Stream)}
		for _, i := range t.Indexes {
			p.Indexes = append(p.Indexes, i.Name)
		}
		for _, r := range t.Roles {
			p.Roles = append(p.Roles, r.Name)
		}
		slices.Sort(p.Roles)
		p.Roles = slices.Compact(p.Roles)
		all = append(all, p)
	}
	return s, all, nil
}

func planColumns() []app.Column[plannedTable] {
	return []app.Column[plannedTable]{
		{Name: "table", Value: func(t plannedTable) string { return t.Table }},
		{Name: "keys", Value: func(t plannedTable) string { return t.Keys }},
		{Name: "indexes", Value: func(t plannedTable) string { return strings.Join(t.Indexes, " ") }},
		{Name: "ttl", Value: func(t plannedTable) string { return t.TTL }},
		{Name: "stream", Value: func(t plannedTable) string { return t.Stream }},
		{Name: "roles", Data: true, Value: func(t plannedTable) string { return strings.Join(t.Roles, " ") }},
	}
}

func tablePlan(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "plan", Short: "says which tables the deployment needs, without looking at any", Args: cobra.NoArgs,
		Example: "  dynafin --config brokerage.json table plan",
		RunE: func(*cobra.Command, []string) error {
			_, tables, err := planned(a)
			if err != nil {
				return err
			}
			return app.Print(a, app.List[plannedTable]{Schema: "table.plan/v1", Items: tables, Columns: planColumns(), Next: "dynafin table verify"})
		},
	}
}

func tableCreate(a *app.App) *cobra.Command {
	yes, dryRun := false, false
	cmd := &cobra.Command{
		Use:   "create",
		Short: "creates the tables that are missing (changes data)",
		Long: `Creates the tables of the deployment that are missing, on demand, with their indexes, TTL, point-in-time recovery and protection from
deletion, and waits until they can be used. A table that is there is left as it is. The plan is printed first.`,
		Example: "  dynafin --config brokerage.json table create --dry-run",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return createTables(cmd.Context(), a, yes, dryRun)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print the plan only")
	return cmd
}

func createTables(ctx context.Context, a *app.App, yes, dryRun bool) error {
	s, tables, err := planned(a)
	if err != nil {
		return err
	}
	store, err := a.Store(ctx)
	if err != nil {
		return err
	}
	creations, err := s.Create()
	if err != nil {
		return err
	}
	var missing []schema.Creation
	var plan []plannedTable
	for _, c := range creations {
		name := aws.ToString(c.CreateTable.TableName)
		_, err := store.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
		var none *types.ResourceNotFoundException
		switch {
		case errors.As(err, &none):
			missing = append(missing, c)
			i := slices.IndexFunc(tables, func(t plannedTable) bool { return t.Table == name })
			plan = append(plan, tables[i])
		case err != nil:
			return err
		}
	}
	l := app.List[plannedTable]{Schema: "table.create/v1", Items: plan, Columns: planColumns(), Empty: "no table is missing", Next: "dynafin table verify"}
	if len(missing) > 0 {
		l.Head = []string{fmt.Sprintf("plan: create %s of %d", plural(len(missing), "table", "tables"), len(creations))}
	}
	if err := app.Print(a, l); err != nil || dryRun || len(missing) == 0 {
		return err
	}
	if err := agree(a, yes, len(missing)); err != nil {
		return err
	}
	for _, c := range missing {
		if err := create(ctx, a, store, c); err != nil {
			return err
		}
	}
	return nil
}

// agree asks a person to type a count, unless told not to. Where nobody can answer, --yes is required.
func agree(a *app.App, yes bool, count int) error {
	if yes {
		return nil
	}
	if !a.InTerminal {
		return app.Usage("nothing was changed: add --yes, or --dry-run to see the plan only")
	}
	fmt.Fprintf(a.Stderr, "type %d to go on: ", count)
	answer, _ := bufio.NewReader(a.Stdin).ReadString('\n')
	if strings.TrimSpace(answer) != strconv.Itoa(count) {
		return errors.New("nothing was changed: the count was not typed")
	}
	return nil
}

// How long a table may take to become usable, and how often it is looked at.
const (
	createWait = 5 * time.Minute
	createPoll = 2 * time.Second
)

func create(ctx context.Context, a *app.App, store *app.Store, c schema.Creation) error {
	name := aws.ToString(c.CreateTable.TableName)
	if _, err := store.CreateTable(ctx, c.CreateTable); err != nil {
		return fmt.Errorf("create table %s: %w", name, err)
	}
	for waited := time.Duration(0); ; waited += createPoll {
		out, err := store.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
		if err != nil {
			return fmt.Errorf("wait for table %s: %w", name, err)
		}
		if out.Table.TableStatus == types.TableStatusActive {
			break
		}
		if waited >= createWait {
			return fmt.Errorf("table %s is %s still", name, out.Table.TableStatus)
		}
		if err := a.Sleep(ctx, createPoll); err != nil {
			return err
		}
	}
	if c.TimeToLive != nil {
		if _, err := store.UpdateTimeToLive(ctx, c.TimeToLive); err != nil {
			return fmt.Errorf("time to live of table %s: %w", name, err)
		}
	}
	if c.Backups != nil {
		_, err := store.UpdateContinuousBackups(ctx, c.Backups)
		var unknown smithy.APIError
		if errors.As(err, &unknown) && unknown.ErrorCode() == "UnknownOperationException" {
			err = errors.New("this endpoint has no backups")
		}
		if err != nil {
			a.Hint("table %s has no point-in-time recovery: %v", name, err)
		}
	}
	a.Hint("created table %s", name)
	return nil
}

type mistake struct {
	Table    string `json:"table"`
	Index    string `json:"index,omitempty"`
	Severity string `json:"severity"`
	Mistake  string `json:"mistake"`
	Want     string `json:"want"`
	Got      string `json:"got"`
}

func tableVerify(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:     "verify",
		Short:   "holds live tables against what the deployment needs",
		Long:    "Describes the live tables and lists what is wrong with them. It changes nothing. Findings: errors; warnings are no findings.",
		Example: "  dynafin --config brokerage.json table verify",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, _, err := planned(a)
			if err != nil {
				return err
			}
			store, err := a.Store(cmd.Context())
			if err != nil {
				return err
			}
			findings, err := s.Verify(cmd.Context(), store)
			if err != nil {
				return err
			}
			l := app.List[mistake]{Schema: "table.verify/v1", Empty: "every table is as it must be"}
			wrong, absent := 0, 0
			for _, f := range findings {
				m := mistake{Table: f.Table, Index: f.Index, Severity: "ERROR", Mistake: string(f.Mistake), Want: f.Want, Got: f.Got}
				if f.Mistake.Warning() {
					m.Severity = "WARNING"
				} else if wrong++; f.Mistake == schema.TableMissing {
					absent++
				}
				l.Items = append(l.Items, m)
			}
			if absent > 0 {
				l.Next = "dynafin table create --dry-run"
			}
			l.Columns = []app.Column[mistake]{
				{Name: "severity", Value: func(m mistake) string { return m.Severity }},
				{Name: "table", Value: func(m mistake) string { return m.Table }},
				{Name: "index", Value: func(m mistake) string { return m.Index }},
				{Name: "mistake", Value: func(m mistake) string { return m.Mistake }},
				{Name: "want", Value: func(m mistake) string { return m.Want }},
				{Name: "got", Value: func(m mistake) string { return m.Got }},
			}
			if err := app.Print(a, l); err != nil {
				return err
			}
			var f found
			f.add(wrong, "mistake in the tables", "mistakes in the tables")
			return f.err()
		},
	}
}

type liveTable struct {
	Table   string   `json:"table"`
	Status  string   `json:"status"`
	Items   string   `json:"items"`
	Bytes   string   `json:"bytes"`
	Billing string   `json:"billing"`
	Indexes []string `json:"indexes,omitempty"`
	TTL     string   `json:"ttl,omitempty"`
	Stream  string   `json:"stream,omitempty"`
	Guarded bool     `json:"deletion_protection"`
}

func tableShow(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "show [TABLE...]", Short: "describes live tables", Long: "Describes live tables: those of the call, or of the deployment. Counts and sizes are DynamoDB's own, a few hours old.",
		Example: "  dynafin --config brokerage.json table show",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				d, err := a.Deployment()
				if err != nil {
					return err
				}
				args = d.Tables()
			}
			if len(args) == 0 {
				return app.Usage("which table?")
			}
			l := app.List[liveTable]{Schema: "table.show/v1", Next: "dynafin table verify"}
			for _, name := range args {
				t, err := describe(cmd.Context(), a, name)
				if err != nil {
					return fmt.Errorf("table %s: %w", name, err)
				}
				l.Items = append(l.Items, t)
			}
			l.Columns = []app.Column[liveTable]{
				{Name: "table", Value: func(t liveTable) string { return t.Table }},
				{Name: "status", Value: func(t liveTable) string { return t.Status }},
				{Name: "items", Kind: app.Number, Value: func(t liveTable) string { return t.Items }},
				{Name: "bytes", Kind: app.Number, Value: func(t liveTable) string { return t.Bytes }},
				{Name: "billing", Value: func(t liveTable) string { return t.Billing }},
				{Name: "indexes", Value: func(t liveTable) string { return strings.Join(t.Indexes, " ") }},
				{Name: "ttl", Value: func(t liveTable) string { return t.TTL }},
				{Name: "stream", Value: func(t liveTable) string { return t.Stream }},
			}
			return app.Print(a, l)
		},
	}
}

func describe(ctx context.Context, a *app.App, name string) (t liveTable, err error) {
	store, err := a.Store(ctx)
	if err != nil {
		return t, err
	}
	out, err := store.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	if err != nil {
		return t, err
	}
	d := out.Table
	t = liveTable{Table: name, Status: string(d.TableStatus), Items: strconv.FormatInt(aws.ToInt64(d.ItemCount), 10),
		Bytes: strconv.FormatInt(aws.ToInt64(d.TableSizeBytes), 10), Billing: string(types.BillingModeProvisioned), Guarded: aws.ToBool(d.DeletionProtectionEnabled)}
	if d.BillingModeSummary != nil {
		t.Billing = string(d.BillingModeSummary.BillingMode)
	}
	for _, i := range d.GlobalSecondaryIndexes {
		t.Indexes = append(t.Indexes, aws.ToString(i.IndexName))
	}
	slices.Sort(t.Indexes)
	if d.StreamSpecification != nil && aws.ToBool(d.StreamSpecification.StreamEnabled) {
		t.Stream = string(d.StreamSpecification.StreamViewType)
	}
	ttl, err := store.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &name})
	if err != nil {
		return t, err
	}
	if ttl.TimeToLiveDescription != nil {
		t.TTL = aws.ToString(ttl.TimeToLiveDescription.AttributeName)
	}
	return t, nil
}

func tableExport(a *app.App) *cobra.Command {
	format := ""
	cmd := &cobra.Command{
		Use:   "export",
		Short: "writes the tables as a template for another tool",
		Long: `Writes the tables of the deployment for another tool: cloudformation, which SAM takes as it is and CDK includes (cfn, sam and cdk are
other names of it), terraform, workbench (a data model to look at), or json (CreateTable requests).`,
		Example: "  dynafin --config brokerage.json table export --format terraform > tables.tf.json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, _, err := planned(a)
			if err != nil {
				return err
			}
			var text []byte
			switch format {
			case "cloudformation", "cfn", "sam", "cdk":
				text, err = s.CloudFormation()
			case "terraform":
				text, err = s.Terraform()
			case "workbench":
				text, err = s.Workbench()
			case "json":
				var creations []schema.Creation
				if creations, err = s.Create(); err == nil {
					text, err = json.MarshalIndent(creations, "", "  ")
				}
			default:
				return app.Usage("--format %q is none of cloudformation, terraform, workbench, json", format)
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(a.Stdout, strings.TrimRight(string(text), "\n"))
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", "cloudformation", "`FORMAT`: cloudformation, terraform, workbench, json")
	return cmd
}
