// Package cases shows the twelve defects that a chapter on DynamoDB for financial systems lists and repairs, each twice: in the
// version that one writes first, and in the version that this library makes easy. Both are run on the embedded engine with
// the same fault or the same interleaving, so that the defect is seen and not told. The table is in README.md.
package cases

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/reconcile"
	"github.com/dynafin/dynafin/txn"
)

const tenant = "acme"

// opening is when every case begins.
var opening = time.Date(2026, 11, 29, 9, 30, 0, 0, time.UTC)

// store is the table of both versions.
var store = txn.Table{Name: "Brokerage"}

var (
	requests = idempotency.New(idempotency.Config{Table: store})
	events   = outbox.New(outbox.Config{Service: "brokerage", Table: store})
)

// stage is where one version is played: a database of its own, in a bubble where time is virtual.
type stage struct {
	*testing.T
	ctx    context.Context
	db     *dynamosim.DB
	client *dynamodb.Client // of a process to which nothing happens
}

// twice plays a case with the naive version and with ours.
func twice(t *testing.T, naive, ours func(s *stage)) {
	t.Helper()
	t.Run("naive", func(t *testing.T) { play(t, dynamosim.Options{}, naive) })
	t.Run("ours", func(t *testing.T) { play(t, dynamosim.Options{}, ours) })
}

func play(t *testing.T, options dynamosim.Options, act func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(opening))
		s := &stage{T: t, ctx: t.Context(), db: dynamosim.New(t, options)}
		s.client = s.process(func(dynamosim.Call) dynamosim.Fate { return dynamosim.Deliver })
		s.must(s.db.CreateTable(store.Name, events.Index(), requests.Index()))
		act(s)
	})
}

// process is the client of a process, without retries of the SDK's own. What becomes of its requests is chosen one by one.
func (s *stage) process(fate func(dynamosim.Call) dynamosim.Fate) *dynamodb.Client {
	return s.db.Client(func(o *dynamodb.Options) {
		o.HTTPClient, o.Retryer = dynamosim.Faulty(s.db, fate), aws.NopRetryer{}
	})
}

// dying is the client of a process that dies behind its first n requests: none that follows arrives.
func (s *stage) dying(n int) *dynamodb.Client {
	return s.process(func(call dynamosim.Call) dynamosim.Fate {
		if call.Sequence > n {
			return dynamosim.LoseRequest
		}
		return dynamosim.Deliver
	})
}

// now is the time of the bubble, and pass lets it pass.
func now() time.Time { return time.Now() }

func (s *stage) pass(d time.Duration) { time.Sleep(d) }

// work is what a process does.
type work func(ctx context.Context, client *dynamodb.Client) error

// inTurns runs processes side by side. Every request waits, and the schedule says whose goes next: "abab" lets two processes
// make two requests each, in turns. What is left when it ends goes in the order of the processes. It returns their errors.
func (s *stage) inTurns(schedule string, all ...work) []error {
	gate, results, left := dynamosim.NewGate(s.db), make([]error, len(all)), len(all)
	ended := make(chan int, len(all))
	for i, do := range all {
		worker := gate.Worker(string(rune('a' + i)))
		client := s.db.Client(func(o *dynamodb.Options) { o.HTTPClient, o.Retryer = worker, aws.NopRetryer{} })
		go func() {
			results[i] = do(s.ctx, client)
			ended <- i
		}()
	}
	for left > 0 {
		synctest.Wait()
		pending := gate.Pending()
		at := slices.IndexFunc(pending, func(p *dynamosim.Pending) bool { return strings.HasPrefix(schedule, p.Worker) })
		schedule = schedule[min(1, len(schedule)):]
		switch {
		case at >= 0:
			gate.Release(pending[at], dynamosim.Deliver)
		case schedule == "" && len(pending) > 0:
			gate.Release(pending[0], dynamosim.Deliver)
		case schedule == "":
			select {
			case <-ended:
				left--
			case <-time.After(time.Second): // they wait before they try again
			}
		}
	}
	return results
}

// fields are the attributes of an item beside its key.
type fields map[string]any

// write is a PutItem, and insert one that creates only.
func write(ctx context.Context, client *dynamodb.Client, pk string, content fields) error {
	return put(ctx, client, pk, content, nil)
}

func insert(ctx context.Context, client *dynamodb.Client, pk string, content fields) error {
	return put(ctx, client, pk, content, aws.String("attribute_not_exists(PK)"))
}

func put(ctx context.Context, client *dynamodb.Client, pk string, content fields, condition *string) error {
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String(store.Name), Item: item(pk, content), ConditionExpression: condition,
	})
	return err
}

// item is a stored item. Its sort key says what kind it is: the first part of its partition key.
func item(pk string, content fields) txn.Item {
	stored, err := attributevalue.MarshalMap(map[string]any(content))
	if err != nil {
		panic(err) // a test's own constants
	}
	maps.Copy(stored, key(pk))
	return stored
}

func key(pk string) txn.Item {
	kind, _, _ := strings.Cut(pk, "#")
	return store.Key(pk, kind)
}

// read is a strongly consistent GetItem; nil if there is no such item. Numbers are read as text.
func read(ctx context.Context, client *dynamodb.Client, pk string) (fields, error) {
	out, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(store.Name), Key: key(pk), ConsistentRead: aws.Bool(true)})
	if err != nil || out.Item == nil {
		return nil, err
	}
	var content fields
	decoder := attributevalue.NewDecoder(func(o *attributevalue.DecoderOptions) { o.UseNumber = true })
	if err := decoder.Decode(&types.AttributeValueMemberM{Value: out.Item}, &content); err != nil {
		return nil, err
	}
	return content, nil
}

// count is how many items have this kind as their sort key.
func (s *stage) count(kind string) (n int) {
	s.Helper()
	pages := dynamodb.NewScanPaginator(s.client, &dynamodb.ScanInput{TableName: aws.String(store.Name), ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(s.ctx)
		s.must(err)
		for _, item := range page.Items {
			if reflect.DeepEqual(item["SK"], key(kind)["SK"]) {
				n++
			}
		}
	}
	return n
}

// value is one attribute as text, "" if there is none.
func (s *stage) value(pk, attribute string) string {
	s.Helper()
	content, err := read(s.ctx, s.client, pk)
	s.must(err)
	if content[attribute] == nil {
		return ""
	}
	return fmt.Sprint(content[attribute])
}

// must ends the test if something failed that may not.
func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// wants compares.
func (s *stage) wants(what string, got, want any) {
	s.Helper()
	if !reflect.DeepEqual(got, want) {
		s.Errorf("%s: %v, want %v", what, got, want)
	}
}

// breaks compares two sets of rows and returns what differs.
func (s *stage) breaks(left, right reconcile.Rows) (found []string) {
	s.Helper()
	comparison, err := reconcile.Load(s.ctx, reconcile.Options{}, left, right)
	s.must(err)
	defer func() { s.must(comparison.Close()) }()
	_, err = comparison.Match(s.ctx, reconcile.Rules{}, reconcile.Window{Cutoff: now()}, func(o reconcile.Outcome) error {
		if o.Kind.Break() {
			found = append(found, fmt.Sprint(o.Kind, " ", o.Key))
		}
		return nil
	})
	s.must(err)
	return found
}

// list is a sequence without errors.
func list[T any](all ...T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, one := range all {
			if !yield(one, nil) {
				return
			}
		}
	}
}

// event is an event of version n of an order.
func event(order string, n int64, kind, payload string) outbox.Event {
	e := outbox.Event{
		Tenant: tenant, AggregateType: "Order", AggregateID: order, AggregateVersion: n, Type: kind, SchemaVersion: 1,
		OccurredAt: opening.Add(time.Duration(n)*time.Second - time.Hour), Payload: []byte(payload),
	}
	e.ID = e.StableID()
	return e
}
