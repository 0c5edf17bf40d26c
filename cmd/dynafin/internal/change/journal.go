package change

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/txn"
)

// Client are the calls of the engine. *dynamodb.Client satisfies it.
type Client interface {
	txn.Client
	GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(ctx context.Context, in *dynamodb.PutItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	DescribeTable(ctx context.Context, in *dynamodb.DescribeTableInput, opts ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
}

// Selection is what a run is about, as it was asked for. It is stored with the run, so that the run can be resumed.
type Selection struct {
	// IDs names items; Where are conditions on them, all of which must hold. One of the two is given.
	IDs   []string
	Where []string
	// Args are the other arguments of the command, by name.
	Args map[string]string
	// AsOf is when the run was planned. What came later is not in the selection.
	AsOf time.Time
}

// Run is the header of a run.
type Run struct {
	ID        string
	Command   string
	Selection Selection
	By        string
	Reason    string
	// Planned is how many items were to change, Changed and Skipped how many did and did not; these are known once Ended is set.
	Planned, Changed, Skipped int
	Ended                     time.Time
}

// Entry is the audit item of one change.
type Entry struct {
	Run, Item, Command, By, Reason string
	// Before says in words what the item was.
	Before string
	At     time.Time
}

// Journal keeps runs and their audit items.
type Journal struct {
	Client Client
	Table  txn.Table
}

const (
	format    = "1"
	runLayout = "20060102T150405.000Z"
)

func runID(at time.Time, suffix string) string { return at.UTC().Format(runLayout) + "-" + suffix }

// headerKey is the key of a run's header. The month is in the ID.
func (j Journal) headerKey(run string) (txn.Item, error) {
	stamp, _, ok := strings.Cut(run, "-")
	at, err := time.Parse(runLayout, stamp)
	if !ok || err != nil {
		return nil, app.Usage("%q is no ID of a run; see dynafin audit ls", run)
	}
	return j.Table.Key(runsOf(at), txn.JoinKey("RUN", run)), nil
}

func runsOf(at time.Time) string { return txn.JoinKey("OPERATOR", "RUNS", at.UTC().Format("2006-01")) }

func itemsOf(run string) string { return txn.JoinKey("OPERATOR", "RUN", run) }

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
func number(n int) types.AttributeValue  { return &types.AttributeValueMemberN{Value: strconv.Itoa(n)} }

func texts(list []string) types.AttributeValue {
	values := make([]types.AttributeValue, len(list))
	for i, s := range list {
		values[i] = text(s)
	}
	return &types.AttributeValueMemberL{Value: values}
}

func stamp(at time.Time) (types.AttributeValue, error) {
	written, err := keys.Time(at)
	return text(written), err
}

// begin writes the header of a run. Its ID is drawn by chance, so a header that is there already is this one, whose answer was
// lost.
func (j Journal) begin(ctx context.Context, r Run) error {
	item, err := j.headerKey(r.ID)
	if err != nil {
		return err
	}
	planned, err := stamp(r.Selection.AsOf)
	if err != nil {
		return err
	}
	args := txn.Item{}
	for name, value := range r.Selection.Args {
		args[name] = text(value)
	}
	item["v"], item["command"], item["by"], item["reason"] = &types.AttributeValueMemberN{Value: format}, text(r.Command), text(r.By), text(r.Reason)
	item["plannedAt"], item["planned"], item["state"] = planned, number(r.Planned), text("OPEN")
	item["selection"] = &types.AttributeValueMemberM{Value: txn.Item{
		"ids": texts(r.Selection.IDs), "where": texts(r.Selection.Where), "args": &types.AttributeValueMemberM{Value: args},
	}}
	_, err = j.Client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &j.Table.Name, Item: item, ConditionExpression: aws.String("attribute_not_exists(#pk)"),
		ExpressionAttributeNames: map[string]string{"#pk": j.Table.WithDefaults("").PK},
	})
	var there *types.ConditionalCheckFailedException
	if err != nil && !errors.As(err, &there) {
		return fmt.Errorf("write down run %s: %w", r.ID, err)
	}
	return nil
}

// end writes down what came out. Doing it again changes nothing but the time.
func (j Journal) end(ctx context.Context, run string, changed, skipped int, at time.Time) error {
	key, err := j.headerKey(run)
	if err != nil {
		return err
	}
	ended, err := stamp(at)
	if err != nil {
		return err
	}
	_, err = j.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &j.Table.Name, Key: key,
		UpdateExpression:         aws.String("SET #state = :done, endedAt = :at, changed = :changed, skipped = :skipped"),
		ConditionExpression:      aws.String("attribute_exists(#state)"),
		ExpressionAttributeNames: map[string]string{"#state": "state"},
		ExpressionAttributeValues: txn.Item{
			":done": text("DONE"), ":at": ended, ":changed": number(changed), ":skipped": number(skipped),
		},
	})
	if err != nil {
		return fmt.Errorf("write down the end of run %s: %w", run, err)
	}
	return nil
}

// audit is the part that every change carries.
func (j Journal) audit(e Entry) (txn.Part, error) {
	at, err := stamp(e.At)
	if err != nil {
		return txn.Part{}, err
	}
	item := j.Table.Key(itemsOf(e.Run), txn.JoinKey("ITEM", e.Item))
	item["v"], item["command"], item["item"] = &types.AttributeValueMemberN{Value: format}, text(e.Command), text(e.Item)
	item["by"], item["reason"], item["at"], item["before"] = text(e.By), text(e.Reason), at, text(e.Before)
	return txn.NewPart("audit", txn.Write{
		Action: txn.ActionPut, Table: j.Table.WithDefaults(""), Item: item,
		Condition: "attribute_not_exists(#pk)", Names: map[string]string{"#pk": j.Table.WithDefaults("").PK},
		Fence: true, Settles: true,
		Explain: func(txn.Item) error { return &doneError{run: e.Run, item: e.Item} },
	}), nil
}

// doneError says that this run has changed the item before. It decides the transaction: what its other parts met is the work of
// this very run.
type doneError struct{ run, item string }

func (e *doneError) Error() string       { return fmt.Sprintf("run %s has changed %s before", e.run, e.item) }
func (e *doneError) SettlesCommit() bool { return true }

// Header reads the header of a run with a strong read.
func (j Journal) Header(ctx context.Context, run string) (Run, error) {
	key, err := j.headerKey(run)
	if err != nil {
		return Run{}, err
	}
	out, err := j.Client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &j.Table.Name, Key: key, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return Run{}, fmt.Errorf("read run %s: %w", run, err)
	}
	if out.Item == nil {
		return Run{}, app.Usage("there is no run %s; see dynafin audit ls", run)
	}
	return decodeRun(run, out.Item)
}

// Runs lists the runs of the month of a time, the newest first.
func (j Journal) Runs(ctx context.Context, month time.Time) iter.Seq2[Run, error] {
	return list(ctx, j, runsOf(month), "RUN", false, decodeRun)
}

// Entries lists the audit items of a run, by the ID of the item.
func (j Journal) Entries(ctx context.Context, run string) iter.Seq2[Entry, error] {
	return list(ctx, j, itemsOf(run), "ITEM", true, func(_ string, item txn.Item) (Entry, error) {
		d := decoder{item: item}
		e := Entry{Run: run, Item: d.text("item"), Command: d.text("command"), By: d.text("by"), Reason: d.text("reason"),
			Before: d.text("before"), At: d.time("at")}
		return e, d.err
	})
}

// list reads a partition of the journal, page by page.
func list[V any](ctx context.Context, j Journal, partition, kind string, forward bool, decode func(id string, item txn.Item) (V, error)) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		table := j.Table.WithDefaults("")
		query := &dynamodb.QueryInput{
			TableName: &table.Name, ConsistentRead: aws.Bool(true), ScanIndexForward: &forward,
			KeyConditionExpression:    aws.String("#pk = :pk AND begins_with(#sk, :kind)"),
			ExpressionAttributeNames:  map[string]string{"#pk": table.PK, "#sk": table.SK},
			ExpressionAttributeValues: txn.Item{":pk": text(partition), ":kind": text(kind + "#")},
		}
		for more := true; more; more = query.ExclusiveStartKey != nil {
			page, err := j.Client.Query(ctx, query)
			if err != nil {
				var zero V
				yield(zero, fmt.Errorf("read the journal: %w", err))
				return
			}
			for _, item := range page.Items {
				d := decoder{item: item}
				_, id, _ := strings.Cut(d.text(table.SK), "#")
				if v, err := decode(id, item); !yield(v, errors.Join(d.err, err)) {
					return
				}
			}
			query.ExclusiveStartKey = page.LastEvaluatedKey
		}
	}
}

func decodeRun(id string, item txn.Item) (Run, error) {
	d := decoder{item: item}
	r := Run{ID: id, Command: d.text("command"), By: d.text("by"), Reason: d.text("reason"), Planned: d.number("planned")}
	r.Selection.AsOf = d.time("plannedAt")
	selection := decoder{item: d.under(item["selection"])}
	r.Selection.IDs, r.Selection.Where = selection.texts("ids"), selection.texts("where")
	args := decoder{item: selection.under(selection.item["args"])}
	for name := range args.item {
		if r.Selection.Args == nil {
			r.Selection.Args = map[string]string{}
		}
		r.Selection.Args[name] = args.text(name)
	}
	if item["endedAt"] != nil {
		r.Ended, r.Changed, r.Skipped = d.time("endedAt"), d.number("changed"), d.number("skipped")
	}
	return r, errors.Join(d.err, selection.err, args.err)
}

// decoder reads attributes and keeps the first fault.
type decoder struct {
	item txn.Item
	err  error
}

func (d *decoder) fail(name string) {
	if d.err == nil {
		d.err = fmt.Errorf("the journal has a record whose attribute %s cannot be read", name)
	}
}

func (d *decoder) text(name string) string {
	s, ok := d.item[name].(*types.AttributeValueMemberS)
	if !ok {
		d.fail(name)
		return ""
	}
	return s.Value
}

func (d *decoder) number(name string) int {
	n, ok := d.item[name].(*types.AttributeValueMemberN)
	if !ok {
		d.fail(name)
		return 0
	}
	value, err := strconv.Atoi(n.Value)
	if err != nil {
		d.fail(name)
	}
	return value
}

func (d *decoder) time(name string) time.Time {
	at, err := keys.ParseTime(d.text(name))
	if err != nil {
		d.fail(name)
	}
	return at
}

func (d *decoder) texts(name string) (list []string) {
	l, ok := d.item[name].(*types.AttributeValueMemberL)
	if !ok {
		d.fail(name)
		return nil
	}
	for _, value := range l.Value {
		s, ok := value.(*types.AttributeValueMemberS)
		if !ok {
			d.fail(name)
			return nil
		}
		list = append(list, s.Value)
	}
	return list
}

func (d *decoder) under(value types.AttributeValue) txn.Item {
	m, ok := value.(*types.AttributeValueMemberM)
	if !ok {
		d.fail("selection")
		return nil
	}
	return m.Value
}
