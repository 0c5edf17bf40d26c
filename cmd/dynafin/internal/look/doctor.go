package look

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/schema"
)

type checkItem struct {
	Check   string `json:"check"`
	Verdict string `json:"verdict"`
	Detail  string `json:"detail"`
	Fix     string `json:"fix,omitempty"`
}

// The verdicts of a check.
const (
	verdictOK   = "OK"
	verdictWarn = "WARN"
	verdictFix  = "FIX"
)

// doctor collects what it finds.
type doctor struct {
	a     *app.App
	store *app.Store
	items []checkItem
}

func (d *doctor) add(check, verdict, detail, fix string) {
	d.items = append(d.items, checkItem{check, verdict, detail, fix})
}

// skewMax is how far a clock may be off: leases are judged by it, and requests are signed with it.
const skewMax = 5 * time.Second

// Doctor is the command that looks at what everything else needs.
func Doctor(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "checks credentials, Region, clock, SDK versions and the tables",
		Long: `Checks what everything else needs, one line each: the deployment file, credentials, Region, connection, this machine's clock, the
versions of the AWS SDK, and the tables with their indexes, TTL, streams and recovery. It changes nothing. Findings: lines that say FIX.`,
		Example: "  dynafin --config brokerage.json doctor",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := &doctor{a: a}
			d.run(cmd.Context())
			l := app.List[checkItem]{Schema: "doctor/v1", Items: d.items, Next: "dynafin status"}
			fixes := 0
			for _, item := range d.items {
				if item.Verdict == verdictFix {
					fixes++
				}
			}
			l.Columns = []app.Column[checkItem]{
				{Name: "verdict", Value: func(c checkItem) string { return c.Verdict }},
				{Name: "check", Value: func(c checkItem) string { return c.Check }},
				{Name: "detail", Value: func(c checkItem) string { return c.Detail }},
				{Name: "fix", Value: func(c checkItem) string { return c.Fix }},
			}
			if fixes > 0 {
				l.Next = ""
			}
			if err := app.Print(a, l); err != nil {
				return err
			}
			var f found
			f.add(fixes, "thing to fix", "things to fix")
			return f.err()
		},
	}
}

func (d *doctor) run(ctx context.Context) {
	d.versions()
	deploy, err := d.a.Deployment()
	if err != nil {
		d.add("deployment", verdictFix, err.Error(), "mend the deployment file")
		return
	}
	s, tables, err := planned(d.a)
	if err != nil {
		d.add("deployment", verdictFix, err.Error(), "name the parts in a deployment file or with --table")
		return
	}
	d.add("deployment", verdictOK, plural(len(tables), "table", "tables")+": "+strings.Join(deploy.Tables(), ", "), "")
	if d.store, err = d.a.Store(ctx); err != nil {
		d.add("connection", verdictFix, err.Error(), "set AWS_REGION, or name --region, --endpoint or --load")
		return
	}
	d.region(deploy.HomeRegion)
	if d.credentials(ctx) && d.connection(ctx) {
		d.tables(ctx, s)
	}
}

func (d *doctor) versions() {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		d.add("sdk", verdictWarn, "the program was built without module information", "build it with go install or go build")
		return
	}
	var versions []string
	for _, m := range info.Deps {
		if name, ok := strings.CutPrefix(m.Path, "github.com/aws/aws-sdk-go-v2"); ok && (name == "" || name == "/service/dynamodb") {
			versions = append(versions, strings.TrimPrefix(first(name, "/core"), "/")+" "+m.Version)
		}
	}
	d.add("sdk", verdictOK, first(strings.Join(versions, ", "), "versions are not recorded")+", one build: they fit", "")
}

func (d *doctor) region(home string) {
	switch {
	case home == "":
		d.add("region", verdictWarn, d.store.Region+"; the deployment names no home Region", "set homeRegion, so that nobody writes elsewhere")
	case home != d.store.Region:
		d.add("region", verdictFix, fmt.Sprintf("%s, but the home Region is %s", d.store.Region, home), "use --region "+home)
	default:
		d.add("region", verdictOK, d.store.Region, "")
	}
}

func (d *doctor) credentials(ctx context.Context) bool {
	if d.store.Simulator != nil {
		d.add("credentials", verdictOK, "a simulator needs none", "")
		return true
	}
	c, err := d.store.Options().Credentials.Retrieve(ctx)
	if err != nil {
		d.add("credentials", verdictFix, firstLine(err), "set AWS_PROFILE, or the AWS_ variables")
		return false
	}
	d.add("credentials", verdictOK, "from "+c.Source, "")
	return true
}

func (d *doctor) connection(ctx context.Context) bool {
	out, err := d.store.ListTables(ctx, &dynamodb.ListTablesInput{})
	var api smithy.APIError
	switch {
	case errors.As(err, &api): // it answers; a policy may not allow to list
		d.add("connection", verdictOK, "answers "+api.ErrorCode(), "")
	case err != nil:
		d.add("connection", verdictFix, firstLine(err), "check --endpoint, Region and network")
		return false
	default:
		d.add("connection", verdictOK, first(d.store.Endpoint, "AWS")+" answers", "")
		d.clock(out)
	}
	return true
}

// clock compares this machine's clock with that of the service's answer.
func (d *doctor) clock(out *dynamodb.ListTablesOutput) {
	server, ok := awsmiddleware.GetServerTime(out.ResultMetadata)
	answered, _ := awsmiddleware.GetResponseAt(out.ResultMetadata)
	if !ok || server.IsZero() {
		d.add("clock", verdictOK, app.Stamp(d.a.Now())+"; the endpoint does not tell its own", "")
		return
	}
	if skew := answered.Sub(server).Abs(); skew > skewMax {
		d.add("clock", verdictFix, "differs from the service's by "+app.Span(skew), "set this machine's clock: leases are judged by it")
		return
	}
	d.add("clock", verdictOK, "agrees with the service's", "")
}

func (d *doctor) tables(ctx context.Context, s schema.Deployment) {
	findings, err := s.Verify(ctx, d.store)
	if err != nil {
		d.add("tables", verdictFix, firstLine(err), "allow what the role "+schema.VerifyRole+" of dynafin iam allows")
		return
	}
	byTable := map[string]int{}
	for _, f := range findings {
		verdict := verdictFix
		if f.Mistake.Warning() {
			verdict = verdictWarn
		}
		byTable[f.Table]++
		where := "table " + f.Table
		if f.Index != "" {
			where += " index " + f.Index
		}
		d.add(where, verdict, fmt.Sprintf("%s: want %s, got %s", f.Mistake, f.Want, f.Got), d.a.Where(fixes[f.Mistake]))
	}
	for _, t := range s.Tables {
		if byTable[t.Name] == 0 {
			d.add("table "+t.Name, verdictOK, "keys, indexes, TTL, stream and recovery are as they must be", "")
		}
	}
}
