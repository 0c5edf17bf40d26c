// Command projection shows the pattern: a view of orders is kept in step with events that come late, twice and in the
// wrong order, and what is missing is listed. Then the view is built anew beside the old one, proved, and readers move. It
// runs on the embedded engine and prints what happens.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/txn"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "projection:", err)
		os.Exit(1)
	}
}

// views is the table of what readers see.
var views = txn.Table{Name: "Views"}

var nine = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

// desk keeps the view.
type desk struct {
	out     io.Writer
	client  *dynamodb.Client
	orders  *projection.Projection
	archive []projection.Event // what the order service committed, in its order
}

// run is the program.
func run(ctx context.Context, out io.Writer) error {
	db := dynamosim.Open(dynamosim.Options{})
	if err := errors.Join(db.CreateTable(views.Name), db.CreateTable(projection.DefaultTable)); err != nil {
		return err
	}
	client := db.Client() // in production: the *dynamodb.Client that you have
	d := &desk{out: out, client: client}
	d.orders = projection.New(client, projection.Config{Name: "orders", View: view, Now: func() time.Time { return nine }, Poll: time.Millisecond})
	for i, status := range []string{"ACCEPTED", "WORKING", "FILLED"} {
		d.archive = append(d.archive, version("order-1", i+1, status))
	}
	d.archive = append(d.archive, version("order-2", 1, "ACCEPTED"), version("order-2", 2, "CANCELLED"))

	for _, chapter := range []func(context.Context) error{d.deliver, d.wait, d.rebuild} {
		if err := chapter(ctx); err != nil {
			return err
		}
	}
	return nil
}

func version(order string, n int, status string) projection.Event {
	return projection.Event{Source: order, Version: int64(n), Payload: []byte(status), OccurredAt: nine.Add(time.Duration(n) * time.Minute)}
}

// view says what an event changes: its checkpoint moves in the same transaction. The second edition of the view, which is
// namespace 2, also says since when an order has its status.
func view(_ context.Context, namespace int, e projection.Event) ([]txn.Part, error) {
	change := expression.Set(expression.Name("status"), expression.Value(string(e.Payload)))
	if namespace >= 2 {
		change = change.Set(expression.Name("since"), expression.Value(e.OccurredAt.Format(time.TimeOnly)))
	}
	return []txn.Part{txn.Update(views, viewKey(fmt.Sprint(namespace), e.Source), change)}, nil
}

func viewKey(namespace, order string) txn.Item {
	return views.Key(txn.JoinKey("NS", namespace, "ORDER", order), "VIEW")
}

// deliver brings the versions of an order as a bus may bring them. A naive view beside it takes whatever comes last.
func (d *desk) deliver(ctx context.Context) error {
	fmt.Fprintf(d.out, "%-23s%-22s%4s%7s   %-10s%s\n", "DELIVERED", "RESULT", "AT", "UNITS", "VIEW", "NAIVE")
	one, two, three := d.archive[0], d.archive[1], d.archive[2]
	for _, e := range []projection.Event{one, three, three, two, two} {
		outcome, err := d.orders.Namespace(1).Apply(ctx, e)
		if err != nil {
			return err // do not acknowledge: let the bus deliver it again
		}
		result := string(outcome.Result)
		if outcome.Drained > 0 {
			result += fmt.Sprintf(", and %d drained", outcome.Drained)
		}
		naive := expression.Set(expression.Name("status"), expression.Value(string(e.Payload)))
		if _, err := txn.Commit(ctx, d.client, txn.Update(views, viewKey("naive", e.Source), naive)); err != nil {
			return err
		}
		fmt.Fprintf(d.out, "%s v%d %-12s%-22s%4d%7s   %-10s%s\n", e.Source, e.Version, e.Payload, result, outcome.Version, outcome.Units,
			d.read(ctx, "1", e.Source)["status"], d.read(ctx, "naive", e.Source)["status"])
		for gap, err := range d.orders.Namespace(1).Gaps(ctx) {
			if err != nil {
				return err
			}
			fmt.Fprintf(d.out, "%23sgap: %s misses version %d; waiting behind it: %d\n", "", gap.Source, gap.Missing, gap.Parked)
		}
	}
	return nil
}

// wait does what a program does that must see its own write in the view: it waits until the view has it.
func (d *desk) wait(ctx context.Context) error {
	delivered := make(chan error, 1)
	go func() {
		_, first := d.orders.Namespace(1).Apply(ctx, d.archive[3])
		_, second := d.orders.Namespace(1).Apply(ctx, d.archive[4])
		delivered <- errors.Join(first, second)
	}()
	err := d.orders.Namespace(1).WaitCaughtUp(ctx, map[string]int64{"order-1": 3, "order-2": 2})
	fmt.Fprintf(d.out, "\ncaught up: order-2 is %s\n\n", d.read(ctx, "1", "order-2")["status"])
	return errors.Join(err, <-delivered)
}

// rebuild makes the second edition of the view from the archive, while the first one goes on serving.
func (d *desk) rebuild(ctx context.Context) error {
	live, next := d.orders.Namespace(1), d.orders.Namespace(2)
	build, err := next.Start(ctx, "ann@acme") // from here on every live event goes to both
	if err != nil {
		return err
	}
	d.say(build.State, "namespace %d, by %s", build.Namespace, build.By)
	if build, err = next.Load(ctx, build, d.full, nil); err != nil {
		return err
	}
	d.say(build.State, "%d events of the archive", build.Read)
	if build, err = next.Prove(ctx, projection.Evidence{Live: live, By: "ann@acme"}); err != nil {
		return err
	}
	d.say(build.State, "%d sources with %d events, as in namespace 1; no gap", build.Totals.Sources, build.Totals.Events)

	before, err := d.orders.Alias(ctx)
	if err != nil {
		return err
	}
	after, err := next.Cutover(ctx, before, "ann@acme")
	if err != nil {
		return err
	}
	d.say("CUTOVER", "readers move from namespace %d to %d; going back is one write, too", before.Namespace, after.Namespace)
	shown := d.read(ctx, fmt.Sprint(after.Namespace), "order-1")
	d.say("READ", "order-1 is %s since %s", shown["status"], shown["since"])
	return nil
}

// full yields the archive. A real one begins behind build.Position, so that a crash costs little.
func (d *desk) full(yield func(projection.Entry, error) bool) {
	for i, e := range d.archive {
		if !yield(projection.Entry{Event: e, Position: fmt.Sprint(i)}, nil) {
			return
		}
	}
}

// read returns the text attributes of an order in a view.
func (d *desk) read(ctx context.Context, namespace, order string) map[string]string {
	out, err := d.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(views.Name), Key: viewKey(namespace, order)})
	if err != nil {
		return map[string]string{"status": err.Error()}
	}
	texts := map[string]string{}
	for name, value := range out.Item {
		if text, ok := value.(*types.AttributeValueMemberS); ok {
			texts[name] = text.Value
		}
	}
	return texts
}

func (d *desk) say(step any, format string, args ...any) {
	fmt.Fprintf(d.out, "%-10s%s\n", step, fmt.Sprintf(format, args...))
}
