package projection_test

import (
	"context"
	"fmt"
	"math/big"
	"testing/fstest"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/export"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/txn"
)

// statusView keeps the status of each order, in items that name the namespace.
func statusView(_ context.Context, namespace int, e projection.Event) ([]txn.Part, error) {
	portfolio := txn.Table{Name: "Portfolio"}
	key := portfolio.Key(txn.JoinKey("NS", fmt.Sprint(namespace), "ORDER", e.Source), "VIEW")
	return []txn.Part{txn.Update(portfolio, key, expression.Set(expression.Name("status"), expression.Value(string(e.Payload))))}, nil
}

func status(version int64, text string) projection.Event {
	return projection.Event{Source: "acme/Order/order-1", Version: version, Payload: []byte(text),
		OccurredAt: time.Date(2026, 11, 29, 9, int(version), 0, 0, time.UTC)}
}

// Version 3 comes before version 2. It waits, visibly, and follows as soon as version 2 is there.
func Example() {
	ctx := context.Background()
	client := dynamosim.Open(dynamosim.Options{}).Client()
	createTables(client)

	orders := projection.New(client, projection.Config{Name: "orders", View: statusView}).Namespace(1)
	for _, e := range []projection.Event{status(1, "accepted"), status(3, "filled"), status(1, "accepted")} {
		outcome, err := orders.Apply(ctx, e)
		fmt.Println("version", e.Version, outcome.Result, err)
	}
	for gap, err := range orders.Gaps(ctx) {
		fmt.Println("gap:", gap.Source, "misses", gap.Missing, "-", gap.Parked, "parked", err)
	}
	outcome, err := orders.Apply(ctx, status(2, "working"))
	fmt.Println("version 2", outcome.Result, "and", outcome.Drained, "drained:", "now at", outcome.Version, err)
	// Output:
	// version 1 APPLIED <nil>
	// version 3 PARKED <nil>
	// version 1 STALE <nil>
	// gap: acme/Order/order-1 misses 2 - 1 parked <nil>
	// version 2 APPLIED and 1 drained: now at 3 <nil>
}

// Version 2 will never come. An operator passes it, on record.
func ExampleNamespace_ForceAdvance() {
	ctx := context.Background()
	client := dynamosim.Open(dynamosim.Options{}).Client()
	createTables(client)

	orders := projection.New(client, projection.Config{Name: "orders", View: statusView}).Namespace(1)
	for _, e := range []projection.Event{status(1, "accepted"), status(3, "filled")} {
		if _, err := orders.Apply(ctx, e); err != nil {
			fmt.Println(err)
		}
	}
	outcome, err := orders.ForceAdvance(ctx, projection.Force{Source: "acme/Order/order-1", To: 2, By: "ann", Reason: "lost, ticket 17"})
	fmt.Println("at", outcome.Version, "after", outcome.Drained, "drained", err)
	for audit, err := range orders.ForcedAdvances(ctx) {
		fmt.Println(audit.By, "passed", audit.From+1, "to", audit.To, "-", audit.Reason, err)
	}
	// Output:
	// at 3 after 1 drained <nil>
	// ann passed 2 to 2 - lost, ticket 17 <nil>
}

// A rebuild: a new namespace from the archive, proved against its manifest and the live one; then readers move.
func ExampleNamespace_Cutover() {
	ctx := context.Background()
	client := dynamosim.Open(dynamosim.Options{}).Client()
	createTables(client)

	orders := projection.New(client, projection.Config{Name: "orders", View: statusView})
	live, next := orders.Namespace(1), orders.Namespace(2)
	archived := []projection.Event{status(1, "accepted"), status(2, "filled")}
	for _, e := range archived {
		if _, err := live.Apply(ctx, e); err != nil {
			fmt.Println(err)
		}
	}

	build, err := next.Start(ctx, "ann") // from here on live events go to both
	fmt.Println(build.State, err)
	build, err = next.Load(ctx, build, archive(archived).from(build.Position), nil)
	fmt.Println(build.State, build.Read, err)
	build, err = next.Prove(ctx, projection.Evidence{
		Want: &projection.Totals{Sources: 1, Events: 2, Control: big.NewInt(0)}, Live: live, By: "ann",
	})
	fmt.Println(build.State, err)

	before, err := orders.Alias(ctx)
	fmt.Println("readers use", before.Namespace, err)
	after, err := next.Cutover(ctx, before, "ann")
	fmt.Println("readers use", after.Namespace, err)
	back, err := orders.Rollback(ctx, after, "ann")
	fmt.Println("readers use", back.Namespace, err)
	// Output:
	// BUILDING <nil>
	// LOADED 2 <nil>
	// PROVED <nil>
	// readers use 1 <nil>
	// readers use 2 <nil>
	// readers use 1 <nil>
}

// A rebuild from a table export, by the runbook. It stops before readers move, and goes on when somebody has looked at it.
func ExampleNamespace_Runbook() {
	ctx := context.Background()
	client := dynamosim.Open(dynamosim.Options{}).Client()
	createTables(client)

	orders := projection.New(client, projection.Config{Name: "orders", View: statusView})
	bucket, at := fstest.MapFS{}, time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC)
	create := func(name string, content []byte) error { bucket[name] = &fstest.MapFile{Data: content}; return nil }
	dir, err := export.Write(create, export.WriteConfig{Table: "Orders", ExportTime: at}, func(yield func(export.Record, error) bool) {
		_ = yield(eventRecord(changed("order-1", 2)), nil) && yield(eventRecord(changed("order-1", 1)), nil)
	})
	fmt.Println(err)
	dataset, err := export.Open(bucket, dir, export.Config{})
	fmt.Println(err)

	book := orders.Namespace(2).Runbook(projection.RunbookConfig{
		By: "ann", AsOf: at, Policy: "orders are closed until readers have moved", Schema: "orders-3", Frozen: true,
		Source: projection.FromExport(dataset, eventIn),
	})
	run, err := book.Run(ctx, projection.StepProve)
	for _, done := range run.Done {
		fmt.Println(done.Step)
	}
	fmt.Println(run.Evidence(projection.StepProve)["events"], "events are proved", err)
	run, err = book.Run(ctx, projection.StepCutover)
	fmt.Println("readers use", run.Evidence(projection.StepCutover)["aliasNamespace"], err)
	// Output:
	// <nil>
	// <nil>
	// DECLARE
	// TAKE
	// VALIDATE
	// BUILD
	// CATCH_UP
	// PROVE
	// 2 events are proved <nil>
	// readers use 2 <nil>
}
