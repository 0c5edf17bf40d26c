package dynamosim_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim"
)

// stove is a database with heat and a clock in the hand of the test. Its client does not retry.
type stove struct {
	t      testing.TB
	now    time.Time
	db     *dynamosim.DB
	client *dynamodb.Client
}

func newStove(t testing.TB, heat dynamosim.Heat, tables ...*dynamodb.CreateTableInput) *stove {
	v := &stove{t: t, now: time.Unix(1_000_000, 0)}
	v.db = dynamosim.Open(dynamosim.Options{Now: func() time.Time { return v.now }, Heat: &heat})
	v.client = v.db.Client(func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	if len(tables) == 0 {
		tables = append(tables, testTable("T01"))
	}
	for _, table := range tables {
		_, err := v.client.CreateTable(ctx, table)
		must(t, true, err)
	}
	return v
}

// provisioned is the test table in the other billing mode.
func provisioned() *dynamodb.CreateTableInput {
	table := testTable("T01")
	units := &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(9999), WriteCapacityUnits: aws.Int64(9999)}
	table.BillingMode, table.ProvisionedThroughput = types.BillingModeProvisioned, units
	table.GlobalSecondaryIndexes[0].ProvisionedThroughput = units
	return table
}

func (v *stove) put(item attrs) error {
	_, err := v.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("T01"), Item: item})
	return err
}

func (v *stove) get(pk string) error {
	_, err := v.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("T01"), Key: key(pk, "x")})
	return err
}

func (v *stove) transact(items ...attrs) error {
	in := &dynamodb.TransactWriteItemsInput{}
	for _, item := range items {
		in.TransactItems = append(in.TransactItems, types.TransactWriteItem{Put: &types.Put{TableName: aws.String("T01"), Item: item}})
	}
	_, err := v.client.TransactWriteItems(ctx, in)
	return err
}

// heatOf returns the meter of a key.
func (v *stove) heatOf(index, key string) dynamosim.KeyHeat {
	v.t.Helper()
	for _, heat := range v.db.Hottest(-1) {
		if heat.Index == index && heat.Key == key {
			return heat
		}
	}
	v.t.Fatalf("nothing known of key %q of index %q", key, index)
	return dynamosim.KeyHeat{}
}

// throttling returns the reason and the resource that a throttled request names; whichever exception it is.
func throttling(t testing.TB, err error) (reason, resource string) {
	t.Helper()
	var onDemand *types.ThrottlingException
	var provisioned *types.ProvisionedThroughputExceededException
	var reasons []types.ThrottlingReason
	switch {
	case errors.As(err, &onDemand):
		reasons = onDemand.ThrottlingReasons
	case errors.As(err, &provisioned):
		reasons = provisioned.ThrottlingReasons
	}
	if len(reasons) != 1 {
		t.Fatalf("want one throttling reason: %v", err)
	}
	return *reasons[0].Reason, *reasons[0].Resource
}

// demandPerSecond offers a number of requests in each second and returns how many were served in each.
func (v *stove) demandPerSecond(seconds, offered int, request func(i int) error) []int {
	served := make([]int, seconds)
	for second := range seconds {
		for i := range offered {
			if request(i) == nil {
				served[second]++
			}
			v.now = v.now.Add(time.Second / time.Duration(offered))
		}
	}
	return served
}

func (v *stove) writeHot(int) error    { return v.put(key("hot", "x")) }
func (v *stove) readHot(int) error     { return v.get("hot") }
func (v *stove) transactHot(int) error { return v.transact(key("hot", "x")) }

func TestAHotKeySustainsItsBudgetAndNoMoreAfterItsBurst(t *testing.T) {
	tests := map[string]struct {
		burst   time.Duration
		offered int
		request func(*stove, int) error
		want    string
	}{
		"writes":                         {0, 1250, (*stove).writeHot, "[1000 1000 1000 1000]"},
		"writes with a second's burst":   {time.Second, 1250, (*stove).writeHot, "[1250 1250 1250 1250 1000 1000]"},
		"transactions at twice the cost": {0, 600, (*stove).transactHot, "[500 500 500]"},
		"eventual reads at half of it":   {0, 6500, (*stove).readHot, "[6000 6000]"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			v := newStove(t, dynamosim.Heat{Burst: test.burst})
			seconds := strings.Count(test.want, " ") + 1
			got := v.demandPerSecond(seconds, test.offered, func(i int) error { return test.request(v, i) })
			if fmt.Sprint(got) != test.want {
				t.Fatalf("served in each second: %v, want %s", got, test.want)
			}
		})
	}
}

func TestABurstIsWhatWasNotUsedAndNoMoreThanItsBound(t *testing.T) {
	v := newStove(t, dynamosim.Heat{WriteUnits: 10, Burst: 3 * time.Second})
	drain := func() int {
		served := 0
		for v.writeHot(0) == nil {
			served++
		}
		return served
	}
	for i, step := range []struct {
		rest time.Duration
		want int
	}{{0, 40}, {time.Second, 10}, {2 * time.Second, 20}, {time.Hour, 40}, {0, 0}, {-time.Hour, 0}} {
		v.now = v.now.Add(step.rest)
		if got := drain(); got != step.want {
			t.Fatalf("step %d: after %v of rest %d writes are served, want %d", i, step.rest, got, step.want)
		}
	}
}

func TestARequestLargerThanTheBudgetIsServedOnceAndOwed(t *testing.T) {
	v := newStove(t, dynamosim.Heat{WriteUnits: 2})
	large := with(key("hot", "x"), "v", s(strings.Repeat("v", 4*1024))) // 5 units
	for second, want := range []bool{true, false, false, true} {
		if served := v.put(large) == nil; served != want {
			t.Fatalf("second %d: served is %v", second, served)
		}
		v.now = v.now.Add(time.Second)
	}
}

func TestThrottlingNamesTheLimitAndTheResource(t *testing.T) {
	const table = "arn:aws:dynamodb:us-east-1:000000000000:table/T01"
	query := func(v *stove, index *string, condition string) error {
		_, err := v.client.Query(ctx, &dynamodb.QueryInput{
			TableName: aws.String("T01"), IndexName: index, KeyConditionExpression: aws.String(condition),
			ExpressionAttributeValues: attrs{":v": s("hot")},
		})
		return err
	}
	tests := map[string]struct {
		request          func(v *stove, i int) error
		reason, resource string
	}{
		"write": {(*stove).writeHot, "TableWriteKeyRangeThroughputExceeded", table},
		"read":  {(*stove).readHot, "TableReadKeyRangeThroughputExceeded", table},
		"query": {func(v *stove, _ int) error { return query(v, nil, "pk = :v") }, "TableReadKeyRangeThroughputExceeded", table},
		"query of a local index": {func(v *stove, _ int) error { return query(v, aws.String("byLocal"), "pk = :v") },
			"TableReadKeyRangeThroughputExceeded", table},
		"query of a global index": {func(v *stove, _ int) error { return query(v, aws.String("byGroup"), "gk = :v") },
			"IndexReadKeyRangeThroughputExceeded", table + "/index/byGroup"},
		"write to a hot key of an index": {func(v *stove, i int) error {
			return v.put(with(key(fmt.Sprint("cold", i), "x"), "gk", s("hot"), "gs", n("1")))
		}, "IndexWriteKeyRangeThroughputExceeded", table + "/index/byGroup"},
	}
	for name, test := range tests {
		for mode, create := range map[string]*dynamodb.CreateTableInput{
			"ThrottlingException": testTable("T01"), "ProvisionedThroughputExceededException": provisioned(),
		} {
			t.Run(name+" "+mode, func(t *testing.T) {
				v := newStove(t, dynamosim.Heat{WriteUnits: 2, ReadUnits: 1}, create)
				must(t, true, errors.Join(test.request(v, 1), test.request(v, 2)))
				err := test.request(v, 3)
				wantCode(t, err, mode)
				reason, resource := throttling(t, err)
				if reason != test.reason || resource != test.resource {
					t.Fatalf("throttled by %s of %s, want %s of %s", reason, resource, test.reason, test.resource)
				}
			})
		}
	}
}

func TestAnIndexThatIsTooHotKeepsTheTableFromBeingWritten(t *testing.T) {
	v := newStove(t, dynamosim.Heat{})
	member := func(i int) attrs { return with(key(fmt.Sprint(i), "x"), "gk", s("hot"), "gs", n("1")) }
	served := v.demandPerSecond(2, 1100, func(i int) error { return v.put(member(i)) })
	if fmt.Sprint(served) != "[1000 1100]" { // in the second second the entries are there already and do not change
		t.Fatalf("served in each second: %v", served)
	}
	v = newStove(t, dynamosim.Heat{WriteUnits: 1})
	must(t, true, v.put(member(1)))
	wantCode(t, v.put(member(2)), "ThrottlingException")
	out, err := v.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("T01"), Key: key("2", "x")})
	if must(t, out, err).Item != nil {
		t.Fatal("the table has the item that its index could not take")
	}
	if heat := v.heatOf("byGroup", "hot").Write; heat.Total != capacity.Whole(1) || heat.Throttled != 1 {
		t.Fatalf("the index's key consumed %v", heat)
	}
	if heat := v.heatOf("", "2"); heat.Write.Total != 0 {
		t.Fatalf("the refused write cost its key %v", heat.Write)
	}
}

func TestAMovedIndexKeyIsPaidByBothPartitions(t *testing.T) {
	v := newStove(t, dynamosim.Heat{})
	must(t, true, v.put(with(key("1", "x"), "gk", s("a"), "gs", n("1"))))
	must(t, true, v.put(with(key("1", "x"), "gk", s("b"), "gs", n("1"))))
	for index, want := range map[string]capacity.Units{"a": capacity.Whole(2), "b": capacity.Whole(1)} {
		if got := v.heatOf("byGroup", index).Write.Total; got != want {
			t.Errorf("partition %s paid %v, want %v", index, got, want)
		}
	}
}

func TestThrottlingInATransactionIsAReasonAtItsPlace(t *testing.T) {
	for code, create := range map[string]*dynamodb.CreateTableInput{
		"ThrottlingError": testTable("T01"), "ProvisionedThroughputExceeded": provisioned(),
	} {
		v := newStove(t, dynamosim.Heat{WriteUnits: 5}, create)
		must(t, true, v.transact(key("hot", "1"), key("hot", "2")))
		var canceled *types.TransactionCanceledException
		if err := v.transact(key("cold", "1"), key("hot", "3")); !errors.As(err, &canceled) {
			t.Fatalf("%v is no cancellation", err)
		}
		if got := codes(canceled); got != "None "+code {
			t.Errorf("reasons %s, want None %s", got, code)
		}
		must(t, true, v.transact(key("cold", "1")))
		if v.get("cold") != nil || v.heatOf("", "hot").Write.Throttled != 1 {
			t.Errorf("meter of the hot key: %v", v.heatOf("", "hot"))
		}
	}
}

// codes are the codes of a cancellation in a line.
func codes(canceled *types.TransactionCanceledException) string {
	list := make([]string, len(canceled.CancellationReasons))
	for i, reason := range canceled.CancellationReasons {
		list[i] = *reason.Code
	}
	return strings.Join(list, " ")
}

func TestABatchGetsBackWhatIsTooHotAndAnErrorIfNothingSucceeds(t *testing.T) {
	v := newStove(t, dynamosim.Heat{WriteUnits: 1, ReadUnits: 1})
	write := func(keys ...attrs) (*dynamodb.BatchWriteItemOutput, error) {
		var requests []types.WriteRequest
		for _, k := range keys {
			requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: k}})
		}
		return v.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"T01": requests}})
	}
	written, err := write(key("hot", "1"), key("hot", "2"), key("cold", "1"))
	left := must(t, written, err).UnprocessedItems["T01"]
	if len(left) != 1 || text(left[0].PutRequest.Item["sk"]) != "2" {
		t.Fatalf("unprocessed: %v", left)
	}
	_, err = write(key("hot", "2"))
	wantCode(t, err, "ThrottlingException")

	read := func(keys ...map[string]types.AttributeValue) (*dynamodb.BatchGetItemOutput, error) {
		return v.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{"T01": {Keys: keys, ConsistentRead: aws.Bool(true)}},
		})
	}
	found, err := read(key("hot", "1"), key("hot", "2"), key("cold", "1"))
	if got := must(t, found, err); len(got.Responses["T01"]) != 2 || len(got.UnprocessedKeys["T01"].Keys) != 1 {
		t.Fatalf("%d items, unprocessed: %v", len(got.Responses["T01"]), got.UnprocessedKeys)
	}
	_, err = read(key("hot", "2"))
	wantCode(t, err, "ThrottlingException")
}

func TestAFailedConditionCostsItsKey(t *testing.T) {
	v := newStove(t, dynamosim.Heat{WriteUnits: 2})
	fail := func() error {
		_, err := v.client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: aws.String("T01"), Item: key("hot", "x"), ConditionExpression: aws.String("attribute_exists(pk)"),
		})
		return err
	}
	for _, want := range []string{"ConditionalCheckFailedException", "ConditionalCheckFailedException", "ThrottlingException"} {
		wantCode(t, fail(), want)
	}
}

func TestAFailedConditionInATransactionIsThrottledLikeAWrite(t *testing.T) {
	v := newStove(t, dynamosim.Heat{WriteUnits: 4})
	for i, want := range []string{"ConditionalCheckFailed", "ConditionalCheckFailed", "ThrottlingError"} {
		_, err := v.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{Put: &types.Put{
			TableName: aws.String("T01"), Item: key("hot", "x"), ConditionExpression: aws.String("attribute_exists(pk)")}}}})
		var canceled *types.TransactionCanceledException
		if !errors.As(err, &canceled) || codes(canceled) != want {
			t.Errorf("attempt %d: %v, want %s", i+1, err, want)
		}
	}
	if heat := v.heatOf("", "hot").Write; heat.Total != capacity.Whole(4) || heat.Throttled != 1 {
		t.Errorf("the key consumed %v", heat)
	}
}

func TestTheMeterShowsTotalsAndPeaksHottestFirst(t *testing.T) {
	v := newStove(t, dynamosim.Heat{})
	for second, writes := range []int{3, 5, 1} {
		for range writes {
			must(t, true, v.put(key("hot", "x")))
		}
		must(t, true, errors.Join(v.put(key("cold", fmt.Sprint(second))), v.get("cold")))
		v.now = v.now.Add(time.Second)
	}
	hottest := v.db.Hottest(1)
	want := dynamosim.KeyHeat{Table: "T01", Key: "hot", Write: dynamosim.Consumption{Total: capacity.Whole(9), Peak: capacity.Whole(5)}}
	if len(hottest) != 1 || hottest[0] != want {
		t.Fatalf("hottest: %v, want %v", hottest, want)
	}
	if got := v.heatOf("", "cold").Read; got != (dynamosim.Consumption{Total: 3, Peak: 1}) {
		t.Fatalf("three eventual reads of nothing: %v", got)
	}
	calm := dynamosim.Open(dynamosim.Options{})
	must(t, true, calm.CreateTable("T01"))
	if got := calm.Hottest(-1); len(got) != 0 {
		t.Fatalf("without heat the meter knows %v", got)
	}
}
