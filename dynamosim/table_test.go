package dynamosim_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
)

func TestATableIsDescribedAsItWasCreated(t *testing.T) {
	b := newBackend(t)
	b.alone(t, write{put: with(key("p", "s"), "gk", s("g"), "gs", n("1"), "ls", s("l"))})
	out, err := b.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: b.table})
	table := must(t, out, err).Table
	if table.TableStatus != types.TableStatusActive || *table.ItemCount != 1 || !strings.HasSuffix(*table.TableArn, ":table/"+*b.table) {
		t.Errorf("status %s, %d items, %s", table.TableStatus, *table.ItemCount, *table.TableArn)
	}
	global, local := table.GlobalSecondaryIndexes[0], table.LocalSecondaryIndexes[0]
	if *global.IndexName != "byGroup" || global.IndexStatus != types.IndexStatusActive || !slices.Equal(global.Projection.NonKeyAttributes, []string{"proj"}) {
		t.Errorf("global index is %+v", global)
	}
	if *local.IndexName != "byLocal" || local.Projection.ProjectionType != types.ProjectionTypeAll {
		t.Errorf("local index is %+v", local)
	}
	if table.BillingModeSummary.BillingMode != types.BillingModePayPerRequest || len(table.KeySchema) != 2 {
		t.Errorf("table is %+v", table)
	}
}

func TestTablesAreListedInPages(t *testing.T) {
	client := dynamosim.New(t).Client()
	var want, got []string
	for _, name := range []string{"accounts", "balances", "clients", "deals", "events"} {
		want = append(want, name)
		if _, err := client.CreateTable(ctx, testTable(name)); err != nil {
			t.Fatal(err)
		}
	}
	for p := dynamodb.NewListTablesPaginator(client, &dynamodb.ListTablesInput{Limit: aws.Int32(2)}); p.HasMorePages(); {
		page, err := p.NextPage(ctx)
		got = append(got, must(t, page, err).TableNames...)
	}
	if !slices.Equal(got, want) {
		t.Errorf("listed %v", got)
	}
}

func TestADeletedTableIsGone(t *testing.T) {
	client := dynamosim.New(t).Client()
	protected := testTable("protected")
	protected.DeletionProtectionEnabled = aws.Bool(true)
	for _, in := range []*dynamodb.CreateTableInput{testTable("table"), protected} {
		if _, err := client.CreateTable(ctx, in); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String("table")}); err != nil {
		t.Fatal(err)
	}
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("table"), Item: key("p", "s")})
	wantCode(t, err, "ResourceNotFoundException")
	_, err = client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String("protected")})
	wantCode(t, err, "ValidationException")
}

func TestCreateTableRefusesWhatDoesNotFit(t *testing.T) {
	const invalid = "One or more parameter values were invalid: "
	hash := func(name string) map[string]any { return map[string]any{"AttributeName": name, "KeyType": "HASH"} }
	sort := func(name string) map[string]any { return map[string]any{"AttributeName": name, "KeyType": "RANGE"} }
	ix := func(name string, projection map[string]any, keys ...any) map[string]any {
		return map[string]any{"IndexName": name, "KeySchema": keys, "Projection": projection}
	}
	all := map[string]any{"ProjectionType": "ALL"}
	for _, c := range []struct {
		change map[string]any
		want   string
	}{
		{map[string]any{"TableName": nil}, "The parameter 'TableName' is required but was not present in the request"},
		{map[string]any{"TableName": "ab"}, "1 validation error detected: Value 'ab' at 'tableName' failed to satisfy constraint: " +
			"Member must have length greater than or equal to 3"},
		{map[string]any{"TableName": "a b"}, "1 validation error detected: Value 'a b' at 'tableName' failed to satisfy constraint: " +
			"Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"},
		{map[string]any{"KeySchema": []any{}}, "1 validation error detected: Value '[]' at 'keySchema' failed to satisfy constraint: " +
			"Member must have length greater than or equal to 1"},
		{map[string]any{"KeySchema": []any{sort("sk"), hash("pk")}}, "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"},
		{map[string]any{"KeySchema": []any{hash("pk"), hash("sk")}}, "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"},
		{map[string]any{"KeySchema": []any{hash("pk"), sort("none")}}, "Invalid KeySchema: Some index key attribute have no definition"},
		{map[string]any{"KeySchema": []any{hash("pk")}}, invalid +
			"Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions"},
		{map[string]any{"BillingMode": "FREE"}, "1 validation error detected: Value 'FREE' at 'billingMode' failed to satisfy constraint: " +
			"Member must satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]"},
		{map[string]any{"ProvisionedThroughput": map[string]any{"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}}, invalid +
			"Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"},
		{map[string]any{"GlobalSecondaryIndexes": []any{}}, invalid + "List of GlobalSecondaryIndexes is empty"},
		{map[string]any{"GlobalSecondaryIndexes": []any{ix("gix", all, hash("gk"))}}, invalid +
			"Some index key attributes are not defined in AttributeDefinitions. Keys: [gk], AttributeDefinitions: [pk, sk]"},
		{map[string]any{"GlobalSecondaryIndexes": []any{ix("gix", map[string]any{}, hash("sk"))}}, invalid + "Unknown ProjectionType: null"},
		{map[string]any{"GlobalSecondaryIndexes": []any{ix("gix", map[string]any{"ProjectionType": "INCLUDE"}, hash("sk"))}}, invalid +
			"ProjectionType is INCLUDE, but NonKeyAttributes is not specified"},
		{map[string]any{"GlobalSecondaryIndexes": []any{ix("gix", all, hash("sk")), ix("gix", all, hash("sk"))}}, invalid +
			"Duplicate index name: gix"},
		{map[string]any{"GlobalSecondaryIndexes": []any{ix("gix", all, hash("sk"))}, "LocalSecondaryIndexes": []any{ix("lix", all, hash("sk"), sort("pk"))}},
			invalid + "Index KeySchema does not have the same leading hash key as table KeySchema for index: lix. index hash key: sk, table hash key: pk"},
		{map[string]any{"LocalSecondaryIndexes": []any{ix("lix", all, hash("pk"))}}, invalid +
			"Index KeySchema does not have a range key for index: lix"},
	} {
		request := map[string]any{
			"TableName": "tab", "BillingMode": "PAY_PER_REQUEST", "KeySchema": []any{hash("pk"), sort("sk")},
			"AttributeDefinitions": []any{
				map[string]any{"AttributeName": "pk", "AttributeType": "S"}, map[string]any{"AttributeName": "sk", "AttributeType": "S"},
			},
		}
		for name, value := range c.change {
			request[name] = value
		}
		body, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		status, answer := post(t, dynamosim.Open(dynamosim.Options{}), "CreateTable", body)
		var got struct{ Message string }
		if err := json.Unmarshal([]byte(answer), &got); err != nil {
			t.Fatal(err)
		}
		if status != http.StatusBadRequest || got.Message != c.want {
			t.Errorf("%s\n got %s\nwant %s", body, answer, c.want)
		}
	}
}

func TestLimitsAreTheDefaultQuotas(t *testing.T) {
	out, err := dynamosim.New(t).Client().DescribeLimits(ctx, &dynamodb.DescribeLimitsInput{})
	if must(t, out, err); *out.AccountMaxWriteCapacityUnits != 80_000 || *out.TableMaxReadCapacityUnits != 40_000 {
		t.Errorf("limits are %d and %d", *out.AccountMaxWriteCapacityUnits, *out.TableMaxReadCapacityUnits)
	}
}
