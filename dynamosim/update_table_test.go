package dynamosim_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
)

// changing is a database with the test table, whose changes take a minute a step.
type changing struct {
	backend
	clock *clock
}

func newChanging(t *testing.T, step time.Duration) changing {
	t.Helper()
	now := newClock()
	db := dynamosim.New(t, dynamosim.Options{Now: func() time.Time { return now.now }, UpdateStep: step})
	// The SDK takes LimitExceededException for a throttle and would repeat it.
	client := db.Client(func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	b := backend{client, aws.String("tab")}
	if _, err := b.CreateTable(ctx, testTable(*b.table)); err != nil {
		t.Fatal(err)
	}
	return changing{b, now}
}

// createIndex asks for a global index "byOther" on the text attribute "other".
func (c changing) createIndex() error {
	_, err := c.UpdateTable(ctx, &dynamodb.UpdateTableInput{
		TableName:            c.table,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("other"), AttributeType: "S"}},
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: &types.CreateGlobalSecondaryIndexAction{
			IndexName:  aws.String("byOther"),
			KeySchema:  []types.KeySchemaElement{{AttributeName: aws.String("other"), KeyType: "HASH"}},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		}}},
	})
	return err
}

func (c changing) deleteIndex(name string) error {
	_, err := c.UpdateTable(ctx, &dynamodb.UpdateTableInput{
		TableName: c.table,
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{
			{Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: &name}},
		},
	})
	return err
}

// status shows the table's status and that of its global indexes, with "allocating" and "backfilling" for CREATING.
func (c changing) status(t *testing.T) string {
	t.Helper()
	out, err := c.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: c.table})
	table := must(t, out, err).Table
	shown := string(table.TableStatus)
	for _, ix := range table.GlobalSecondaryIndexes {
		status := string(ix.IndexStatus)
		if ix.Backfilling != nil {
			status += map[bool]string{false: " allocating", true: " backfilling"}[*ix.Backfilling]
		}
		shown += ", " + *ix.IndexName + " " + status
	}
	return shown
}

func (c changing) wantStatus(t *testing.T, want string) {
	t.Helper()
	if got := c.status(t); got != want {
		t.Errorf("status is %q, want %q", got, want)
	}
}

// entries reads the new index.
func (c changing) entries() (string, error) {
	out, err := c.Scan(ctx, &dynamodb.ScanInput{TableName: c.table, IndexName: aws.String("byOther")})
	if err != nil {
		return "", err
	}
	found := make([]string, len(out.Items))
	for i, item := range out.Items {
		found[i] = text(item["pk"]) + "=" + text(item["other"])
	}
	return strings.Join(found, " "), nil
}

func (c changing) put(item attrs) error {
	_, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: c.table, Item: item})
	return err
}

func TestANewIndexIsAllocatedBackfilledAndThenRead(t *testing.T) {
	c := newChanging(t, time.Minute)
	for pk, other := range map[string]types.AttributeValue{
		"fits": s("o"), "number": n("1"), "empty": s(""), "long": s(strings.Repeat("x", 2049)), "none": nil,
	} {
		item := key(pk, "s")
		if other != nil {
			item["other"] = other
		}
		if err := c.put(item); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.createIndex(); err != nil {
		t.Fatal(err)
	}
	c.wantStatus(t, "UPDATING, byGroup ACTIVE, byOther CREATING allocating")
	_, err := c.entries()
	wantMessage(t, err, "Cannot read from backfilling global secondary index: byOther")
	if err := c.put(with(key("early", "s"), "other", n("1"))); err != nil {
		t.Errorf("while the index is allocated nothing keeps an item out: %v", err)
	}
	wantMessage(t, c.deleteIndex("byOther"), "Attempt to change a resource which is still in use: Index creation is in resource "+
		"allocation phase. Retry deletion during backfilling phase or when the index is active. Table: tab Index: byOther")

	c.clock.pass(time.Minute)
	c.wantStatus(t, "ACTIVE, byGroup ACTIVE, byOther CREATING backfilling")
	_, err = c.entries()
	wantMessage(t, err, "Cannot read from backfilling global secondary index: byOther")
	wantCode(t, c.put(with(key("late", "s"), "other", n("1"))), "ValidationException")
	if err := c.put(with(key("during", "s"), "other", s("o"))); err != nil {
		t.Error(err)
	}
	_, err = c.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: c.table})
	wantCode(t, err, "ResourceInUseException")

	c.clock.pass(time.Minute)
	c.wantStatus(t, "ACTIVE, byGroup ACTIVE, byOther ACTIVE")
	got, err := c.entries()
	if err != nil || got != "during=o fits=o" && got != "fits=o during=o" {
		t.Errorf("the index holds %q, error %v", got, err)
	}
}

func TestWithoutStepsAnIndexIsThereAtOnce(t *testing.T) {
	c := newChanging(t, 0)
	for i := range 100 {
		if err := c.put(with(key(strconv.Itoa(i), "s"), "other", s("o"))); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.createIndex(); err != nil {
		t.Fatal(err)
	}
	c.wantStatus(t, "ACTIVE, byGroup ACTIVE, byOther ACTIVE")
	got, err := c.entries()
	if err != nil || strings.Count(got, "=") != 100 {
		t.Errorf("%d entries, error %v", strings.Count(got, "="), err)
	}
	if err := c.deleteIndex("byOther"); err != nil {
		t.Fatal(err)
	}
	c.wantStatus(t, "ACTIVE, byGroup ACTIVE")
	_, err = c.entries()
	wantMessage(t, err, "The table does not have the specified index: byOther")
}

func TestADeletedIndexGoesAfterAStepAndTakesItsAttributeAlong(t *testing.T) {
	c := newChanging(t, time.Minute)
	if err := c.deleteIndex("byGroup"); err != nil {
		t.Fatal(err)
	}
	c.wantStatus(t, "UPDATING, byGroup DELETING")
	wantMessage(t, c.deleteIndex("byGroup"), "Attempt to change a resource which is still in use: Index is being deleted. Table: tab "+
		"Index: byGroup")
	wantCode(t, c.createIndex(), "LimitExceededException")
	if err := c.put(with(key("p", "s"), "gk", n("1"))); err != nil {
		t.Errorf("a deleted index keeps nothing out: %v", err)
	}
	c.clock.pass(time.Minute)
	c.wantStatus(t, "ACTIVE")
	out, err := c.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: c.table})
	var names []string
	for _, a := range must(t, out, err).Table.AttributeDefinitions {
		names = append(names, *a.AttributeName)
	}
	if strings.Join(names, " ") != "pk sk ls" {
		t.Errorf("defined: %v", names)
	}
	if err := c.createIndex(); err != nil {
		t.Error(err)
	}
}

func TestThroughputAndBillingModeChange(t *testing.T) {
	c := newChanging(t, time.Minute)
	units := func(n int64) *types.ProvisionedThroughput {
		return &types.ProvisionedThroughput{ReadCapacityUnits: &n, WriteCapacityUnits: &n}
	}
	_, err := c.UpdateTable(ctx, &dynamodb.UpdateTableInput{
		TableName: c.table, BillingMode: types.BillingModeProvisioned, ProvisionedThroughput: units(5),
	})
	wantMessage(t, err, "One or more parameter values were invalid: ProvisionedThroughput must be specified for index: byGroup")
	provision := &dynamodb.UpdateTableInput{
		TableName: c.table, BillingMode: types.BillingModeProvisioned, ProvisionedThroughput: units(5),
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Update: &types.UpdateGlobalSecondaryIndexAction{
			IndexName: aws.String("byGroup"), ProvisionedThroughput: units(7),
		}}},
	}
	out, err := c.UpdateTable(ctx, provision)
	if table := must(t, out, err).TableDescription; table.TableStatus != types.TableStatusUpdating {
		t.Errorf("status is %s", table.TableStatus)
	}
	_, err = c.UpdateTable(ctx, provision)
	wantCode(t, err, "ResourceInUseException")
	wantMessage(t, c.createIndex(), "Attempt to change a resource which is still in use: Can't create or delete indexes while table IOPS "+
		"are being updated. Table: tab")
	c.clock.pass(time.Minute)
	described, err := c.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: c.table})
	table := must(t, described, err).Table
	if table.BillingModeSummary.BillingMode != types.BillingModeProvisioned || *table.ProvisionedThroughput.ReadCapacityUnits != 5 ||
		*table.GlobalSecondaryIndexes[0].ProvisionedThroughput.WriteCapacityUnits != 7 {
		t.Errorf("table is %+v", table)
	}
	_, err = c.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: c.table, ProvisionedThroughput: units(5)})
	wantMessage(t, err, "The provisioned throughput for the table will not change. The requested value equals the current value. Current "+
		"ReadCapacityUnits provisioned for the table: 5. Requested ReadCapacityUnits: 5. Current WriteCapacityUnits provisioned for the "+
		"table: 5. Requested WriteCapacityUnits: 5. Refer to the Amazon DynamoDB Developer Guide for current limits and how to request "+
		"higher limits.")
}

func TestDeletionProtectionCanBeSetAndRemoved(t *testing.T) {
	c := newChanging(t, 0)
	for _, protect := range []bool{true, false} {
		if _, err := c.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: c.table, DeletionProtectionEnabled: &protect}); err != nil {
			t.Fatal(err)
		}
		_, err := c.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: c.table})
		if (err != nil) != protect {
			t.Errorf("protected %v: %v", protect, err)
		}
	}
}

func TestAnIndexOfATableHasLimits(t *testing.T) {
	c := newChanging(t, 0)
	create := func(name, attribute string, projection *types.Projection) error {
		_, err := c.UpdateTable(ctx, &dynamodb.UpdateTableInput{
			TableName:            c.table,
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: &attribute, AttributeType: "S"}},
			GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: &types.CreateGlobalSecondaryIndexAction{
				IndexName: &name, KeySchema: []types.KeySchemaElement{{AttributeName: &attribute, KeyType: "HASH"}}, Projection: projection,
			}}},
		})
		return err
	}
	include := func(prefix string, count int) *types.Projection {
		p := &types.Projection{ProjectionType: types.ProjectionTypeInclude}
		for i := range count {
			p.NonKeyAttributes = append(p.NonKeyAttributes, prefix+strconv.Itoa(i))
		}
		return p
	}
	wantCode(t, create("wide", "gk", include("x", 21)), "ValidationException")
	for i := range 4 {
		if err := create(fmt.Sprintf("wide%d", i), "gk", include("x", 20)); err != nil {
			t.Fatal(err)
		}
	}
	wantCode(t, create("wide4", "gk", include("x", 20)), "ValidationException") // with "proj" they were 101
	for i := 5; i < 20; i++ {
		if err := create(fmt.Sprintf("more%d", i), "gk", &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}); err != nil {
			t.Fatal(err)
		}
	}
	err := create("more20", "gk", &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly})
	wantCode(t, err, "LimitExceededException")
	wantMessage(t, err, "Subscriber limit exceeded: Number of global secondary indexes exceeds per-table limit of 20")
}

func TestUpdateTableRefusesWhatDoesNotFit(t *testing.T) {
	const invalid = "One or more parameter values were invalid: "
	const alone = " must be the only operation in the request"
	const index = `"KeySchema":[{"AttributeName":"x","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}`
	const x = `"AttributeDefinitions":[{"AttributeName":"x","AttributeType":"S"}],`
	db := rawDB(t)
	for _, c := range []struct{ request, want string }{
		{`"AttributeDefinitions":[]`, "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, " +
			"GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, " +
			"MultiRegionConsistency, DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required"},
		{`"GlobalSecondaryIndexUpdates":[],"DeletionProtectionEnabled":true`, invalid + "List of GlobalSecondaryIndexUpdates is empty"},
		{`"DeletionProtectionEnabled":true,"BillingMode":"PAY_PER_REQUEST"`, invalid + "DeletionProtection modification" + alone},
		{`"TableClass":"STANDARD","BillingMode":"PAY_PER_REQUEST"`, invalid + "TableClass modification" + alone},
		{`"StreamSpecification":{"StreamEnabled":false},"BillingMode":"PROVISIONED"`, invalid + "You cannot modify stream status while " +
			"updating table IOPS"},
		{`"GlobalSecondaryIndexUpdates":[{}]`, invalid + "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, " +
			"GlobalSecondaryIndexUpdate.Delete must not be null"},
		{`"GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"gix"},"Update":{"IndexName":"gix"}}]`, invalid + "Only one global secondary " +
			"index action is allowed per GlobalSecondaryIndexUpdate object"},
		{`"GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"gix"}},{"Update":{"IndexName":"gix"}}]`, invalid + "Only one global " +
			"secondary index update per index is allowed simultaneously. Index: gix"},
		{`"GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"gix"}},{"Delete":{"IndexName":"giy"}}]`, "Subscriber limit exceeded: Only " +
			"1 online index can be created or deleted simultaneously per table"},
		{`"GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"none"}}]`, "Requested resource not found: Index none for table tab"},
		{x + `"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"gix",` + index + `}}]`, "Attempting to create an index which already " +
			"exists"},
		{`"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"xix",` + index + `}}]`, invalid + "AttributeDefinitions is not specified " +
			"for index: xix"},
		{`"AttributeDefinitions":[],"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"xix",` + index + `}}]`, invalid + "Some index " +
			"key attributes are not defined in AttributeDefinitions. Keys: [x], AttributeDefinitions: [gk, gs, pk, sk]"},
		{`"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"N"}],"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"xix",
			"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}]`, invalid + "Attributes cannot be " +
			"redefined. Please check that your attribute has the same type as previously defined. Existing schema: " +
			"Schema:[SchemaElement: key{pk:S:HASH}] New schema: Schema:[SchemaElement: key{pk:N:HASH}]"},
		{x + `"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"xix","ProvisionedThroughput":{"ReadCapacityUnits":1,
			"WriteCapacityUnits":1},` + index + `}}]`, invalid + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for " +
			"index: xix when BillingMode is PAY_PER_REQUEST"},
		{`"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}`, invalid + "Neither ReadCapacityUnits nor " +
			"WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"},
		{`"BillingMode":"PROVISIONED"`, invalid + "ProvisionedThroughput must be specified when BillingMode is PROVISIONED"},
		{`"BillingMode":"FREE"`, "1 validation error detected: Value 'FREE' at 'billingMode' failed to satisfy constraint: Member must " +
			"satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]"},
		{`"StreamSpecification":{"StreamEnabled":false}`, "Table has no stream to disable: TableName: tab"},
		{`"ReplicaUpdates":[]`, "The parameter ReplicaUpdates is not supported by dynamosim; a database is one Region"},
	} {
		status, answer := post(t, db, "UpdateTable", []byte(`{"TableName":"tab",`+c.request+`}`))
		var got struct{ Message string }
		if err := json.Unmarshal([]byte(answer), &got); err != nil {
			t.Fatal(err)
		}
		if status != 400 || got.Message != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.request, answer, c.want)
		}
	}
}
