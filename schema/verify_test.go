package schema_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/schema"
)

// account is a real client, but for what the simulator does not have, and for answers that a test bends.
type account struct {
	*dynamodb.Client
	bend    func(*types.TableDescription)
	backups *types.PointInTimeRecoveryDescription // nil asks the simulator, which has no backups
}

func (a account) DescribeTable(ctx context.Context, in *dynamodb.DescribeTableInput, opts ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error) {
	out, err := a.Client.DescribeTable(ctx, in, opts...)
	if err == nil && a.bend != nil {
		a.bend(out.Table)
	}
	return out, err
}

func (a account) DescribeContinuousBackups(ctx context.Context, in *dynamodb.DescribeContinuousBackupsInput, opts ...func(*dynamodb.Options)) (*dynamodb.DescribeContinuousBackupsOutput, error) {
	if a.backups == nil {
		return a.Client.DescribeContinuousBackups(ctx, in, opts...)
	}
	return &dynamodb.DescribeContinuousBackupsOutput{ContinuousBackupsDescription: &types.ContinuousBackupsDescription{PointInTimeRecoveryDescription: a.backups}}, nil
}

func recovery(status types.PointInTimeRecoveryStatus, days int32) *types.PointInTimeRecoveryDescription {
	return &types.PointInTimeRecoveryDescription{PointInTimeRecoveryStatus: status, RecoveryPeriodInDays: aws.Int32(days)}
}

// trades is the table in which mistakes are planted.
func trades() schema.Table {
	return schema.Table{
		Name: "Trades", PK: "PK", SK: "SK", TTL: "expiresAt", Stream: schema.StreamNew, Transactions: true,
		Indexes: []schema.Index{{Name: "GSI1", PK: "accountPk", SK: "accountSk", Project: []string{"price", "quantity"}}},
	}
}

// mistake plants one mistake: in how the table is created, or in what is answered about it.
type mistake struct {
	want   schema.Mistake
	create func(c *schema.Creation)
	bend   func(*types.TableDescription)
	// backups and ask replace what the account has and what is expected of it.
	backups *types.PointInTimeRecoveryDescription
	ask     func(d *schema.Deployment)
	region  string
	says    string // part of the finding
}

func scalar(name string, kind types.ScalarAttributeType) types.AttributeDefinition {
	return types.AttributeDefinition{AttributeName: &name, AttributeType: kind}
}

func mistakes() []mistake {
	index := func(c *schema.Creation) *types.GlobalSecondaryIndex { return &c.CreateTable.GlobalSecondaryIndexes[0] }
	replica := func(region string) func(*types.TableDescription) {
		return func(t *types.TableDescription) {
			t.Replicas = []types.ReplicaDescription{{RegionName: aws.String("eu-west-1")}, {RegionName: &region}}
		}
	}
	return []mistake{
		{want: schema.TableMissing, create: func(c *schema.Creation) { c.CreateTable.TableName = aws.String("Traids"); c.TimeToLive = nil }},
		{want: schema.TableNotActive, bend: func(t *types.TableDescription) { t.TableStatus = types.TableStatusUpdating }, says: "UPDATING"},
		{want: schema.WrongKeys, create: func(c *schema.Creation) {
			c.CreateTable.KeySchema[1].AttributeName = aws.String("Sort")
			rename(c, "SK", "Sort")
		}, says: "Sort RANGE"},
		{want: schema.WrongKeys, create: func(c *schema.Creation) {
			c.CreateTable.KeySchema = c.CreateTable.KeySchema[:1]
			drop(c, "SK")
		}, says: "got PK HASH"},
		{want: schema.WrongKeyType, create: func(c *schema.Creation) { retype(c, "SK", types.ScalarAttributeTypeN) }, says: "SK of type N"},
		{want: schema.IndexMissing, create: func(c *schema.Creation) {
			c.CreateTable.GlobalSecondaryIndexes = nil
			drop(c, "accountPk", "accountSk")
		}},
		{want: schema.IndexNotActive, bend: func(t *types.TableDescription) { t.GlobalSecondaryIndexes[0].IndexStatus = types.IndexStatusCreating }, says: "CREATING"},
		{want: schema.IndexWrongKeys, create: func(c *schema.Creation) {
			index(c).KeySchema[0].AttributeName, index(c).KeySchema[1].AttributeName = aws.String("accountSk"), aws.String("accountPk")
		}},
		{want: schema.IndexWrongKeyType, create: func(c *schema.Creation) { retype(c, "accountSk", types.ScalarAttributeTypeB) }},
		{want: schema.ProjectionMissing, create: func(c *schema.Creation) { index(c).Projection.NonKeyAttributes = []string{"quantity"} }, says: "price"},
		{want: schema.ProjectionMissing, create: func(c *schema.Creation) {
			index(c).Projection = &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}
		}, says: "price, quantity"},
		{want: schema.TTLOff, create: func(c *schema.Creation) { c.TimeToLive = nil }},
		{want: schema.TTLWrongAttribute, create: func(c *schema.Creation) { c.TimeToLive.TimeToLiveSpecification.AttributeName = aws.String("ttl") }, says: "by ttl"},
		{want: schema.TTLUnexpected, ask: func(d *schema.Deployment) { d.Tables[0].TTL = "" }},
		{want: schema.StreamOff, create: func(c *schema.Creation) { c.CreateTable.StreamSpecification = nil }},
		{want: schema.StreamWrongView, create: func(c *schema.Creation) {
			c.CreateTable.StreamSpecification.StreamViewType = types.StreamViewTypeKeysOnly
		}},
		{want: schema.RecoveryOff, backups: recovery(types.PointInTimeRecoveryStatusDisabled, 0)},
		{want: schema.RecoveryShort, backups: recovery(types.PointInTimeRecoveryStatusEnabled, 7), says: "over 7"},
		{want: schema.Unprotected, create: func(c *schema.Creation) { c.CreateTable.DeletionProtectionEnabled = aws.Bool(false) }},
		{want: schema.WrongConsistency, bend: func(t *types.TableDescription) { t.MultiRegionConsistency = types.MultiRegionConsistencyStrong }, says: "has neither"},
		{want: schema.WrongConsistency, ask: func(d *schema.Deployment) {
			d.Consistency, d.Replicas = schema.StrongConsistency, []string{"eu-west-2", "eu-west-3"}
			d.Tables[0].Transactions, d.Tables[0].TTL = false, ""
		}, create: func(c *schema.Creation) { c.TimeToLive = nil }, bend: func(t *types.TableDescription) {
			t.Replicas = []types.ReplicaDescription{{RegionName: aws.String("eu-west-2")}, {RegionName: aws.String("eu-west-3")}}
		}, says: "cannot be changed"},
		{want: schema.WrongRegion, region: "us-east-1", says: "got us-east-1"},
		{want: schema.ReplicaMissing, ask: func(d *schema.Deployment) { d.Replicas = []string{"eu-central-1"} }},
		{want: schema.IndexUnexpected, create: func(c *schema.Creation) {
			second := *index(c)
			second.IndexName = aws.String("GSI9")
			c.CreateTable.GlobalSecondaryIndexes = append(c.CreateTable.GlobalSecondaryIndexes, second)
		}, says: "GSI9"},
		{want: schema.ProjectionTooWide, create: func(c *schema.Creation) {
			index(c).Projection.NonKeyAttributes = []string{"price", "quantity", "notes"}
		}, says: "notes"},
		{want: schema.ProjectionTooWide, create: func(c *schema.Creation) {
			index(c).Projection = &types.Projection{ProjectionType: types.ProjectionTypeAll}
		}, says: "all attributes"},
		{want: schema.LocalIndex, create: func(c *schema.Creation) {
			c.CreateTable.LocalSecondaryIndexes = []types.LocalSecondaryIndex{{IndexName: aws.String("LSI1"),
				KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("PK"), KeyType: types.KeyTypeHash},
					{AttributeName: aws.String("accountSk"), KeyType: types.KeyTypeRange}},
				Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}}}
		}},
		{want: schema.Provisioned, create: func(c *schema.Creation) {
			c.CreateTable.BillingMode = types.BillingModeProvisioned
			units := &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(5), WriteCapacityUnits: aws.Int64(5)}
			c.CreateTable.ProvisionedThroughput, index(c).ProvisionedThroughput = units, units
		}},
		{want: schema.ReplicaUnexpected, bend: replica("ap-southeast-2"), says: "ap-southeast-2"},
		{want: schema.RareAccess, bend: func(t *types.TableDescription) {
			t.TableClassSummary = &types.TableClassSummary{TableClass: types.TableClassStandardInfrequentAccess}
		}},
	}
}

func rename(c *schema.Creation, from, to string) {
	for i, d := range c.CreateTable.AttributeDefinitions {
		if *d.AttributeName == from {
			c.CreateTable.AttributeDefinitions[i].AttributeName = &to
		}
	}
}

func retype(c *schema.Creation, name string, kind types.ScalarAttributeType) {
	drop(c, name)
	c.CreateTable.AttributeDefinitions = append(c.CreateTable.AttributeDefinitions, scalar(name, kind))
}

func drop(c *schema.Creation, names ...string) {
	c.CreateTable.AttributeDefinitions = slices.DeleteFunc(c.CreateTable.AttributeDefinitions, func(d types.AttributeDefinition) bool {
		return slices.Contains(names, *d.AttributeName)
	})
}

// verify creates the table with the mistake and says what is found.
func (m mistake) verify(t *testing.T) []schema.Finding {
	t.Helper()
	d := schema.Deployment{Tables: []schema.Table{trades()}, HomeRegion: "eu-west-1"}
	c := creationsOf(t, d)[0]
	if m.create != nil {
		m.create(&c)
	}
	region := "eu-west-1"
	if m.region != "" {
		region = m.region
	}
	client := dynamosim.New(t, dynamosim.Options{Region: region}).Client()
	if _, err := client.CreateTable(t.Context(), c.CreateTable); err != nil {
		t.Fatal(err)
	}
	if c.TimeToLive != nil {
		if _, err := client.UpdateTimeToLive(t.Context(), c.TimeToLive); err != nil {
			t.Fatal(err)
		}
	}
	a := account{Client: client, bend: m.bend, backups: m.backups}
	if a.backups == nil {
		a.backups = recovery(types.PointInTimeRecoveryStatusEnabled, 35)
	}
	if m.ask != nil {
		m.ask(&d)
	}
	findings, err := d.Verify(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return findings
}

func TestEveryMistakeIsFoundAndNothingElse(t *testing.T) {
	t.Parallel()
	kinds := map[schema.Mistake]bool{}
	for _, m := range mistakes() {
		kinds[m.want] = true
		t.Run(string(m.want), func(t *testing.T) {
			t.Parallel()
			findings := m.verify(t)
			if len(findings) != 1 || findings[0].Mistake != m.want || findings[0].Table != "Trades" || !strings.Contains(findings[0].String(), m.says) {
				t.Errorf("found %v, want one %s that says %q", findings, m.want, m.says)
			}
		})
	}
	if len(kinds) < 25 {
		t.Errorf("%d kinds of mistakes are planted", len(kinds))
	}
	if findings := (mistake{}).verify(t); len(findings) != 0 {
		t.Errorf("found in a table without a mistake: %v", findings)
	}
}

// Errors come before warnings, whatever else is wrong.
func TestFindingsAreInOrder(t *testing.T) {
	t.Parallel()
	findings := mistake{
		create: func(c *schema.Creation) {
			c.CreateTable.GlobalSecondaryIndexes[0].Projection = &types.Projection{ProjectionType: types.ProjectionTypeAll}
			c.TimeToLive = nil
		},
	}.verify(t)
	if len(findings) != 2 || findings[0].String() != "error: Trades: TTL_OFF: want items that expire by expiresAt, got none that expire" ||
		findings[1].String() != "warning: Trades / GSI1: PROJECTION_TOO_WIDE: want an index without, got all attributes" {
		t.Errorf("%v", findings)
	}
}

// What the deployment creates is what it verifies, for every primitive; only backups the simulator cannot show.
func TestWhatIsCreatedIsVerified(t *testing.T) {
	t.Parallel()
	d := newService().deployment()
	client := create(t, d).Client()
	findings, err := d.Verify(t.Context(), client)
	if err != nil || len(findings) != len(creationsOf(t, d)) {
		t.Fatalf("%v, %v", findings, err)
	}
	for _, f := range findings {
		if f.Mistake != schema.RecoveryUnreadable || !f.Mistake.Warning() {
			t.Error(f)
		}
	}
}

func creationsOf(t *testing.T, d schema.Deployment) []schema.Creation {
	t.Helper()
	creations, err := d.Create()
	if err != nil {
		t.Fatal(err)
	}
	return creations
}

func TestWhatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	d := schema.Deployment{Tables: []schema.Table{trades()}}
	client := create(t, d).Client()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Verify(ctx, client); !errors.Is(err, schema.ErrRead) || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "Trades") {
		t.Errorf("a cancelled verification: %v", err)
	}
	if _, err := (schema.Deployment{}).Verify(t.Context(), client); !errors.Is(err, schema.ErrInvalid) {
		t.Errorf("nothing to verify: %v", err)
	}
}
