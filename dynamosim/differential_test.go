package dynamosim_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/internal/stores"
)

// TestRandomOperationsAgreeWithAnotherEngine draws operations and sends each to the simulator and to the engine at
// DYNAMODB_ENDPOINT, through the real client: results, error codes, the reasons of cancellations and consumed capacity
// are the same. Without an endpoint the other engine is a second simulator behind a socket, so that at least the two ways
// in agree, whatever their seeds order differently.
func TestRandomOperationsAgreeWithAnotherEngine(t *testing.T) {
	ours, theirs := simulator(t), anotherEngine(t)
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		d := drawer{T: t}
		for _, pk := range drawnPartitions {
			for _, sk := range drawnSorts {
				agree(t, seen, operation{"clean", d.remove(key(pk, sk))}, ours, theirs)
			}
		}
		for range rapid.IntRange(1, 30).Draw(t, "operations") {
			agree(t, seen, d.operation(), ours, theirs)
		}
		for _, op := range d.everything() {
			agree(t, seen, op, ours, theirs)
		}
	})
	for _, kind := range append(slices.Clone(drawnOperations), "canceled", "ConditionalCheckFailedException", "ValidationException") {
		if seen[kind] == 0 {
			t.Errorf("no operation was: %s (%v)", kind, seen)
		}
	}
}

func simulator(t testing.TB) backend {
	return newTestTable(t, dynamosim.New(t).Client())
}

// anotherEngine is the endpoint, or else a simulator that orders by another seed, behind a socket.
func anotherEngine(t testing.TB) backend {
	if stores.Endpoint() != "" {
		return newBackend(t)
	}
	return newTestTable(t, serve(t, dynamosim.Options{Seed: 7}))
}

// serve returns a client of a simulator behind a socket.
func serve(t testing.TB, opts dynamosim.Options) *dynamodb.Client {
	server := httptest.NewServer(dynamosim.New(t, opts))
	t.Cleanup(server.Close)
	return stores.At(server.URL)
}

func newTestTable(t testing.TB, client *dynamodb.Client) backend {
	b := backend{client, aws.String("Test")}
	if _, err := b.CreateTable(ctx, testTable(*b.table)); err != nil {
		t.Fatal(err)
	}
	return b
}

// operation is one request that any engine can be sent.
type operation struct {
	kind string
	send func(backend) (any, error)
}

func agree(t *rapid.T, seen map[string]int, op operation, ours, theirs backend) {
	seen[op.kind]++
	out, err := op.send(ours)
	other, otherErr := op.send(theirs)
	got, want := answerText(*ours.table, out, err), answerText(*theirs.table, other, otherErr)
	if got != want && !excused(op, got, want, err) {
		t.Fatalf("%s: the simulator answers\n%s\nthe other engine\n%s\n(%v and %v)", op.kind, got, want, err, otherErr)
	}
	var api smithy.APIError
	if errors.As(err, &api) {
		seen[api.ErrorCode()]++
	}
	var canceled *types.TransactionCanceledException
	if errors.As(err, &canceled) {
		seen["canceled"]++
	}
}

// answerText shows an answer: everything that an engine must get right, and neither order nor wording where it is free.
func answerText(table string, out any, err error) string {
	if err != nil {
		return failureText(err)
	}
	switch out := out.(type) {
	case *dynamodb.GetItemOutput:
		return lines(wire(out.Item), capacities(table, out.ConsumedCapacity))
	case *dynamodb.PutItemOutput:
		return lines(wire(out.Attributes), capacities(table, out.ConsumedCapacity))
	case *dynamodb.UpdateItemOutput:
		return lines(wire(out.Attributes), capacities(table, out.ConsumedCapacity))
	case *dynamodb.DeleteItemOutput:
		return lines(wire(out.Attributes), capacities(table, out.ConsumedCapacity))
	case *dynamodb.QueryOutput:
		return lines(fmt.Sprint(out.Count, " of ", out.ScannedCount), wires(out.Items), "next "+wire(out.LastEvaluatedKey),
			capacities(table, out.ConsumedCapacity))
	case *dynamodb.ScanOutput: // partitions come in an order of the engine's own
		return lines(fmt.Sprint(out.Count, " of ", out.ScannedCount), sortedWires(out.Items), "next "+wire(out.LastEvaluatedKey),
			capacities(table, out.ConsumedCapacity))
	case *dynamodb.BatchGetItemOutput:
		return lines(sortedWires(out.Responses[table]), fmt.Sprint(len(out.UnprocessedKeys), " unprocessed"), capacityList(table, out.ConsumedCapacity))
	case *dynamodb.BatchWriteItemOutput:
		return lines(fmt.Sprint(len(out.UnprocessedItems), " unprocessed"), capacityList(table, out.ConsumedCapacity))
	case *dynamodb.TransactGetItemsOutput:
		var items []attrs
		for _, r := range out.Responses {
			items = append(items, r.Item)
		}
		return lines(wires(items), capacityList(table, out.ConsumedCapacity))
	case *dynamodb.TransactWriteItemsOutput:
		return capacityList(table, out.ConsumedCapacity)
	default:
		return fmt.Sprintf("%T", out)
	}
}

func failureText(err error) string {
	var failed *types.ConditionalCheckFailedException
	var canceled *types.TransactionCanceledException
	var api smithy.APIError
	switch {
	case errors.As(err, &failed):
		return lines(failed.ErrorCode(), wire(failed.Item))
	case errors.As(err, &canceled):
		text := []string{canceled.ErrorCode()}
		for _, reason := range canceled.CancellationReasons {
			text = append(text, aws.ToString(reason.Code)+" "+wire(reason.Item))
		}
		return lines(text...)
	case errors.As(err, &api):
		return api.ErrorCode()
	default:
		return err.Error()
	}
}

func lines(text ...string) string { return strings.Join(text, "\n") }

// wire shows an item, with the types of its values.
func wire(item attrs) string {
	if item == nil {
		return "-"
	}
	var words []string
	for _, name := range slices.Sorted(maps.Keys(item)) {
		words = append(words, name+"="+wireValue(item[name]))
	}
	return "{" + strings.Join(words, " ") + "}"
}

func wireValue(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberM:
		return "M" + wire(v.Value)
	case *types.AttributeValueMemberL:
		var words []string
		for _, element := range v.Value {
			words = append(words, wireValue(element))
		}
		return fmt.Sprint("L", words)
	case *types.AttributeValueMemberSS:
		return fmt.Sprintf("SS%q", slices.Sorted(slices.Values(v.Value)))
	case *types.AttributeValueMemberNS:
		return fmt.Sprintf("NS%q", slices.Sorted(slices.Values(v.Value)))
	case *types.AttributeValueMemberBS:
		return fmt.Sprintf("BS%q", slices.SortedFunc(slices.Values(v.Value), slices.Compare))
	case *types.AttributeValueMemberS:
		return fmt.Sprintf("S%q", v.Value)
	case *types.AttributeValueMemberN:
		return "N" + v.Value
	case *types.AttributeValueMemberB:
		return fmt.Sprintf("B%q", v.Value)
	case *types.AttributeValueMemberBOOL:
		return fmt.Sprint(v.Value)
	case *types.AttributeValueMemberNULL:
		return "null"
	default:
		return fmt.Sprintf("%T", v)
	}
}

func wires(items []attrs) string {
	var text []string
	for _, item := range items {
		text = append(text, wire(item))
	}
	return lines(text...)
}

func sortedWires(items []attrs) string {
	text := strings.Split(wires(items), "\n")
	slices.Sort(text)
	return lines(text...)
}

func capacityList(table string, all []types.ConsumedCapacity) string {
	var text []string
	for _, c := range all {
		text = append(text, capacities(table, &c))
	}
	return lines(text...)
}

// capacities shows consumed capacity with every member that is present.
func capacities(table string, c *types.ConsumedCapacity) string {
	if c == nil {
		return "no capacity"
	}
	words := []string{capacityArm("all", &types.Capacity{CapacityUnits: c.CapacityUnits, ReadCapacityUnits: c.ReadCapacityUnits, WriteCapacityUnits: c.WriteCapacityUnits})}
	if aws.ToString(c.TableName) != table {
		words = append(words, "of "+aws.ToString(c.TableName))
	}
	words = append(words, capacityArm("table", c.Table))
	for _, arms := range []map[string]types.Capacity{c.GlobalSecondaryIndexes, c.LocalSecondaryIndexes} {
		for _, name := range slices.Sorted(maps.Keys(arms)) {
			arm := arms[name]
			words = append(words, capacityArm(name, &arm))
		}
	}
	return strings.Join(words, " ")
}

func capacityArm(name string, c *types.Capacity) string {
	if c == nil {
		return "no " + name
	}
	units := func(u *float64) string {
		if u == nil {
			return "-"
		}
		return fmt.Sprint(*u)
	}
	return fmt.Sprintf("%s:%s/%s/%s", name, units(c.CapacityUnits), units(c.ReadCapacityUnits), units(c.WriteCapacityUnits))
}
