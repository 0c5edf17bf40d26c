package dynamosim_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
)

func bin(raw ...byte) types.AttributeValue { return &types.AttributeValueMemberB{Value: raw} }

// Keys of every type find their item, whatever way it is written, and sort in the order of their type.
func TestNumbersAndBytesAreKeysToo(t *testing.T) {
	client := dynamosim.New(t).Client()
	table := aws.String("typed")
	if _, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: table, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("n"), AttributeType: types.ScalarAttributeTypeN},
			{AttributeName: aws.String("b"), AttributeType: types.ScalarAttributeTypeB},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("n"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("b"), KeyType: types.KeyTypeRange},
		},
	}); err != nil {
		t.Fatal(err)
	}
	raw := [][]byte{{0}, {0, 0}, {0, 1}, {1}, {0xff}, {0xff, 0}, {0xff, 0xff}}
	for _, b := range raw {
		if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: attrs{"n": n("0100"), "b": bin(b...)}}); err != nil {
			t.Fatal(err)
		}
	}
	query := func(condition string, values attrs) (found [][]byte) {
		values[":n"] = n("1E2")
		out, err := client.Query(ctx, &dynamodb.QueryInput{
			TableName: table, KeyConditionExpression: &condition, ExpressionAttributeValues: values,
		})
		for _, item := range must(t, out, err).Items {
			found = append(found, item["b"].(*types.AttributeValueMemberB).Value)
		}
		return found
	}
	equal := func(a, b [][]byte) bool { return slices.EqualFunc(a, b, slices.Equal[[]byte]) }
	if got := query("n = :n", attrs{}); !equal(got, raw) {
		t.Errorf("order is %v", got)
	}
	if got := query("n = :n AND begins_with(b, :b)", attrs{":b": bin(0xff)}); !equal(got, raw[4:]) {
		t.Errorf("what begins with ff is %v", got)
	}
	if got := query("n = :n AND b > :b", attrs{":b": bin(0)}); !equal(got, raw[1:]) {
		t.Errorf("what is behind 00 is %v", got)
	}
	_, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: attrs{"n": n("1"), "b": bin([]byte{}...)}})
	if wantCode(t, err, "ValidationException"); !strings.Contains(err.Error(), "cannot contain an empty binary value. Key: b") {
		t.Errorf("error is %v", err)
	}
}

func TestATableMayHaveNoSortKey(t *testing.T) {
	client := dynamosim.New(t).Client()
	if _, err := client.CreateTable(ctx, accounts); err != nil {
		t.Fatal(err)
	}
	if err := open(client, "alice"); err != nil {
		t.Fatal(err)
	}
	query := func(condition string) error {
		out, err := client.Query(ctx, &dynamodb.QueryInput{
			TableName: accounts.TableName, KeyConditionExpression: &condition, ExpressionAttributeValues: attrs{":id": s("alice")},
		})
		if err == nil && (out.Count != 1 || out.LastEvaluatedKey != nil) {
			t.Errorf("found %d", out.Count)
		}
		return err
	}
	if err := query("id = :id"); err != nil {
		t.Error(err)
	}
	wantCode(t, query("id = :id AND balance = :id"), "ValidationException")
}

// Asked for more than it holds, a local index reads the table too, and each such read is charged by itself.
func TestALocalIndexFetchesWhatItDoesNotProject(t *testing.T) {
	client := dynamosim.New(t).Client()
	in := testTable("table")
	in.LocalSecondaryIndexes[0].Projection = &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}
	if _, err := client.CreateTable(ctx, in); err != nil {
		t.Fatal(err)
	}
	b := backend{client, in.TableName}
	for _, sk := range []string{"1", "2"} {
		b.alone(t, write{put: with(key("p", sk), "ls", s(sk), "note", s(strings.Repeat("x", 5000)))})
	}
	query := func(change func(*dynamodb.QueryInput)) (string, string) {
		in := &dynamodb.QueryInput{
			TableName: b.table, IndexName: aws.String("byLocal"), KeyConditionExpression: aws.String("pk = :p"),
			ExpressionAttributeValues: attrs{":p": s("p")}, ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes,
		}
		change(in)
		out, err := b.Query(ctx, in)
		return show(must(t, out, err).Items[0]), bill(out.ConsumedCapacity)
	}
	if item, cost := query(func(*dynamodb.QueryInput) {}); item != "ls=1 pk=p sk=1" || cost != "0.5 = t0 l0.5" {
		t.Errorf("the index alone: %s for %s", item, cost)
	}
	item, cost := query(func(in *dynamodb.QueryInput) { in.ProjectionExpression = aws.String("note") })
	if !strings.HasPrefix(item, "note=xxx") || cost != "2.5 = t2 l0.5" {
		t.Errorf("with a projection: %.20s for %s", item, cost)
	}
	item, cost = query(func(in *dynamodb.QueryInput) { in.Select = types.SelectAllAttributes })
	if !strings.Contains(item, "note=xxx") || cost != "2.5 = t2 l0.5" {
		t.Errorf("with all attributes: %.20s for %s", item, cost)
	}
}
