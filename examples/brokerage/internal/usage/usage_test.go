package usage_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/examples/brokerage/internal/usage"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

var table = txn.Table{Name: "Orders"}

// metered is a database with a table, and a client behind a meter. The meter itself asks the database for sizes.
func metered(t *testing.T, fate func(dynamosim.Call) dynamosim.Fate, indexes ...types.GlobalSecondaryIndex) (*dynamosim.DB, *dynamodb.Client, *usage.Meter) {
	t.Helper()
	db := dynamosim.New(t)
	must(t, db.CreateTable(table.Name, indexes...))
	must(t, db.CreateTable(idempotency.TableName))
	plain := db.Client()
	meter := usage.New(db, usage.Brokerage(), func(name string, key map[string]types.AttributeValue) int {
		out, err := plain.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: aws.String(name), Key: key, ConsistentRead: aws.Bool(true)})
		if err != nil {
			t.Error(err)
			return 0
		}
		return capacity.ItemSize(out.Item)
	})
	client := db.Client(func(o *dynamodb.Options) {
		o.HTTPClient, o.Retryer, o.APIOptions = dynamosim.Faulty(meter, fate), aws.NopRetryer{}, append(o.APIOptions, usage.Keep)
	})
	return db, client, meter
}

func deliver(dynamosim.Call) dynamosim.Fate { return dynamosim.Deliver }

func index(name, pk, sk string) types.GlobalSecondaryIndex {
	return types.GlobalSecondaryIndex{IndexName: aws.String(name), Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String(pk), KeyType: types.KeyTypeHash}, {AttributeName: aws.String(sk), KeyType: types.KeyTypeRange}}}
}

// An order is accepted, read, listed, moved to another status, and its event is published. The answer to the first transaction
// is lost.
func TestEveryRequestIsCountedForItsPatternAndRoute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		requests, names := idempotency.New(idempotency.Config{}), sentinel.New(sentinel.Config{Table: table})
		events := outbox.New(outbox.Config{Service: "orders", Table: table})
		_, client, meter := metered(t, func(c dynamosim.Call) dynamosim.Fate {
			if c.Sequence == 1 {
				return dynamosim.LoseAnswer
			}
			return dynamosim.Deliver
		}, index("GSI1", "accountPk", "accountSk"), index("GSI2", "statusPk", "statusSk"), events.Index())

		order := table.Key("TEN#acme#ORDER#o-1", "META")
		for name, text := range map[string]string{
			"accountPk": "TEN#acme#ACCT#ann", "accountSk": "ORD#2026#o-1", "statusPk": "TEN#acme#ACCT#ann#STATUS#ACCEPTED", "statusSk": "ORD#2026#o-1",
		} {
			order[name] = &types.AttributeValueMemberS{Value: text}
		}
		event := outbox.Event{Tenant: "acme", AggregateType: "Order", AggregateID: "o-1", AggregateVersion: 1, Type: "OrderAccepted", SchemaVersion: 1,
			OccurredAt: time.Now(), Payload: make([]byte, 700)}
		event.ID = event.StableID()
		must(t, commit(ctx, client,
			requests.Once(idempotency.Request{Tenant: "acme", Key: "k-1", Operation: "accept", Command: idempotency.NewFields()}, idempotency.Result{Code: "201"}),
			names.Reserve(sentinel.Claim{Tenant: "acme", Kind: sentinel.ClientOrder, Name: "C-1", Owner: "o-1", Command: "k-1"}),
			txn.Put(table, order, txn.IfAbsent()), events.Create(event)))
		_, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(table.Name), Key: table.Key("TEN#acme#ORDER#o-1", "META")})
		must(t, err)
		_, err = client.Query(ctx, &dynamodb.QueryInput{
			TableName: aws.String(table.Name), IndexName: aws.String("GSI1"), KeyConditionExpression: aws.String("#p = :p AND begins_with(#s, :s)"),
			ExpressionAttributeNames: map[string]string{"#p": "accountPk", "#s": "accountSk"},
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":p": &types.AttributeValueMemberS{Value: "TEN#acme#ACCT#ann"}, ":s": &types.AttributeValueMemberS{Value: "ORD#"}},
		})
		must(t, err)
		must(t, commit(ctx, client, txn.Update(table, table.Key("TEN#acme#ORDER#o-1", "META"),
			expression.Set(expression.Name("statusPk"), expression.Value("TEN#acme#ACCT#ann#STATUS#FILLED")))))
		_, err = outbox.NewRelay(events, client, &outbox.Memory{}, outbox.RelayConfig{}).Once(ctx)
		must(t, err)

		whole := capacity.Whole
		want := map[string]usage.Pattern{
			"AP01": {Operations: 3, Reads: 1, Requests: 3, Read: 1, Write: whole(2 + 2), Base: whole(2 + 2)}, // put in the transaction, half a unit to get, update in one
			"AP02": {Operations: 1, Reads: 1, Requests: 2, Read: 1, Write: whole(1)},                         // an entry, and a page of it
			"AP03": {Operations: 0, Requests: 2, Write: whole(1 + 2)},                                        // an entry, and its move
			"AP08": {Operations: 1, Requests: 1, Write: whole(2), Base: whole(2)},                            // the result
			"AP17": {Operations: 1, Requests: 1, Write: whole(2), Base: whole(2)},                            // the name
			// Create 4 and 1, claim 2 and 1, complete 2, journal 1 and 1; 13 shards at half a unit, and the journals at one.
			"AP16": {Operations: 19, Reads: 14, Requests: 19, Read: 13 + 2, Write: whole(12), Base: whole(10)},
		}
		for _, p := range meter.Patterns() {
			expected := want[p.ID]
			expected.ID = p.ID
			if p != expected {
				t.Errorf("%+v, want %+v", p, expected)
			}
			delete(want, p.ID)
		}
		if len(want) > 0 || len(meter.Unknown()) > 0 || meter.Unexplained() != 0 {
			t.Errorf("not used: %v; unknown: %v; unexplained: %v", want, meter.Unknown(), meter.Unexplained())
		}
		if meter.Repeats() == 0 {
			t.Error("the lost answer was not asked for again")
		}
		for _, r := range meter.Routes() {
			used := map[string]bool{"IDX01": true, "IDX02": true, "IDX03": true, "IDX08": true, "IDX16": true, "IDX17": true, "IDX18": true, "OUT02": true}
			if r.Operations > 0 != used[r.ID] {
				t.Errorf("route %s was taken %d times", r.ID, r.Operations)
			}
		}
	})
}

func TestAQueryByBoundsTakesTheRouteOfItsPartition(t *testing.T) {
	_, client, meter := metered(t, deliver)
	_, err := client.Query(t.Context(), &dynamodb.QueryInput{
		TableName: aws.String(table.Name), KeyConditionExpression: aws.String("PK = :p AND SK BETWEEN :from AND :to"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":p": &types.AttributeValueMemberS{Value: "PROJ#orders#V#0001#SHARD#0003"}, ":from": &types.AttributeValueMemberS{Value: "SOURCE$"},
			":to": &types.AttributeValueMemberS{Value: "Z"},
		},
	})
	must(t, err)
	if got := meter.Patterns(); len(got) != 1 || got[0] != (usage.Pattern{ID: "AP13", Operations: 1, Reads: 1, Requests: 1, Read: 1}) {
		t.Errorf("%v, unknown %v", got, meter.Unknown())
	}
}

func TestWhatNoRouteTakesIsNamed(t *testing.T) {
	_, client, meter := metered(t, deliver)
	_, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String(table.Name)})
	must(t, err)
	_, err = client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(table.Name), Item: table.Key("SOMETHING#1", "ELSE")})
	must(t, err)
	if got := fmt.Sprint(meter.Unknown()); got != "map[Orders : SOMETHING#1, ELSE:1 Scan:1]" {
		t.Error(got)
	}
	if meter.Unexplained() != capacity.Whole(1) || len(meter.Patterns()) > 0 {
		t.Errorf("unexplained %v, patterns %v", meter.Unexplained(), meter.Patterns())
	}
}

func commit(ctx context.Context, client *dynamodb.Client, parts ...txn.Part) error {
	_, err := txn.Commit(ctx, client, parts...)
	return err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
