package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// Client are the requests that Verify makes. *dynamodb.Client has them.
type Client interface {
	DescribeTable(ctx context.Context, in *dynamodb.DescribeTableInput, opts ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
	DescribeTimeToLive(ctx context.Context, in *dynamodb.DescribeTimeToLiveInput, opts ...func(*dynamodb.Options)) (*dynamodb.DescribeTimeToLiveOutput, error)
	DescribeContinuousBackups(ctx context.Context, in *dynamodb.DescribeContinuousBackupsInput, opts ...func(*dynamodb.Options)) (*dynamodb.DescribeContinuousBackupsOutput, error)
}

// Mistake is what can be wrong with a live table.
type Mistake string

// The mistakes. The first ones break what the primitives promise, or lose data; from IndexUnexpected on they cost money or are
// worth a look.
const (
	TableMissing       Mistake = "TABLE_MISSING"
	TableNotActive     Mistake = "TABLE_NOT_ACTIVE"
	WrongKeys          Mistake = "WRONG_KEYS"
	WrongKeyType       Mistake = "WRONG_KEY_TYPE"
	IndexMissing       Mistake = "INDEX_MISSING"
	IndexNotActive     Mistake = "INDEX_NOT_ACTIVE"
	IndexWrongKeys     Mistake = "INDEX_WRONG_KEYS"
	IndexWrongKeyType  Mistake = "INDEX_WRONG_KEY_TYPE"
	ProjectionMissing  Mistake = "PROJECTION_MISSING"
	TTLOff             Mistake = "TTL_OFF"
	TTLWrongAttribute  Mistake = "TTL_WRONG_ATTRIBUTE"
	TTLUnexpected      Mistake = "TTL_UNEXPECTED"
	StreamOff          Mistake = "STREAM_OFF"
	StreamWrongView    Mistake = "STREAM_WRONG_VIEW"
	RecoveryOff        Mistake = "RECOVERY_OFF"
	RecoveryShort      Mistake = "RECOVERY_SHORT"
	Unprotected        Mistake = "UNPROTECTED"
	WrongConsistency   Mistake = "WRONG_CONSISTENCY"
	WrongRegion        Mistake = "WRONG_REGION"
	ReplicaMissing     Mistake = "REPLICA_MISSING"
	IndexUnexpected    Mistake = "INDEX_UNEXPECTED"
	ProjectionTooWide  Mistake = "PROJECTION_TOO_WIDE"
	LocalIndex         Mistake = "LOCAL_INDEX"
	Provisioned        Mistake = "PROVISIONED"
	ReplicaUnexpected  Mistake = "REPLICA_UNEXPECTED"
	RareAccess         Mistake = "RARE_ACCESS"
	RecoveryUnreadable Mistake = "RECOVERY_UNREADABLE"
)

var warnings = []Mistake{IndexUnexpected, ProjectionTooWide, LocalIndex, Provisioned, ReplicaUnexpected, RareAccess, RecoveryUnreadable}

// Warning says that the primitives work in spite of it.
func (m Mistake) Warning() bool { return slices.Contains(warnings, m) }

// Finding is one mistake in one table.
type Finding struct {
	// Table and Index say where; Index is "" for the table itself.
	Table, Index string
	Mistake      Mistake
	// Want and Got are what should be and what is.
	Want, Got string
}

// String says it in a line.
func (f Finding) String() string {
	where := f.Table
	if f.Index != "" {
		where += " / " + f.Index
	}
	severity := "error"
	if f.Mistake.Warning() {
		severity = "warning"
	}
	return fmt.Sprintf("%s: %s: %s: want %s, got %s", severity, where, f.Mistake, f.Want, f.Got)
}

// Verify reads the live tables and returns everything that differs from the deployment or is unsafe, table by table, errors
// first. It changes nothing. The error is an ErrInvalid if the deployment itself is wrong, and an ErrRead if a table could not be
// read; a table that does not exist is a finding.
//
// Cost: three requests for each table, and no units.
func (d Deployment) Verify(ctx context.Context, client Client) ([]Finding, error) {
	d, err := d.Plan()
	if err != nil {
		return nil, err
	}
	var findings []Finding
	for _, t := range d.Tables {
		live, err := read(ctx, client, t.Name)
		if err != nil {
			return findings, err
		}
		i := inspection{deployment: d, table: t}
		i.inspect(live)
		slices.SortStableFunc(i.findings, func(a, b Finding) int { return rank(a) - rank(b) })
		findings = append(findings, i.findings...)
	}
	return findings, nil
}

func rank(f Finding) int {
	if f.Mistake.Warning() {
		return 1
	}
	return 0
}

// live is a table as it is. Without a description it does not exist; without backups the endpoint has none.
type live struct {
	table   *types.TableDescription
	ttl     *types.TimeToLiveDescription
	backups *types.ContinuousBackupsDescription
}

func read(ctx context.Context, client Client, name string) (l live, err error) {
	failed := func(what string, err error) error {
		return errRead.Wrap(err, "schema: verify: %s of table %s: %v", what, name, err)
	}
	table, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	var missing *types.ResourceNotFoundException
	if errors.As(err, &missing) {
		return live{}, nil
	}
	if err != nil {
		return live{}, failed("description", err)
	}
	ttl, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &name})
	if err != nil {
		return live{}, failed("time to live", err)
	}
	l = live{table: table.Table, ttl: ttl.TimeToLiveDescription}
	backups, err := client.DescribeContinuousBackups(ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: &name})
	var unknown smithy.APIError
	if errors.As(err, &unknown) && unknown.ErrorCode() == "UnknownOperationException" {
		return l, nil
	}
	if err != nil {
		return live{}, failed("backups", err)
	}
	l.backups = backups.ContinuousBackupsDescription
	return l, nil
}

// inspection collects the findings of one table.
type inspection struct {
	deployment Deployment
	table      Table
	findings   []Finding
}

// expect adds a finding unless all is well.
func (i *inspection) expect(ok bool, index string, m Mistake, want, got string) {
	if !ok {
		i.findings = append(i.findings, Finding{Table: i.table.Name, Index: index, Mistake: m, Want: want, Got: got})
	}
}

func (i *inspection) inspect(l live) {
	if l.table == nil {
		i.expect(false, "", TableMissing, "a table", "none")
		return
	}
	t := l.table
	i.expect(t.TableStatus == types.TableStatusActive, "", TableNotActive, "ACTIVE", string(t.TableStatus))
	i.keys("", i.table.PK, i.table.SK, t.KeySchema, t.AttributeDefinitions, WrongKeys, WrongKeyType)
	for _, want := range i.table.Indexes {
		i.index(want, t)
	}
	for _, index := range t.GlobalSecondaryIndexes {
		name := aws.ToString(index.IndexName)
		_, known := i.table.index(name)
		i.expect(known, name, IndexUnexpected, "no such index", "one that every write pays for")
	}
	for _, index := range t.LocalSecondaryIndexes {
		i.expect(false, aws.ToString(index.IndexName), LocalIndex, "no local index", "one, which bounds each partition key to 10 GB")
	}
	i.ttl(l.ttl)
	i.stream(t)
	i.recovery(l.backups)
	i.place(t)
	i.mode(t)
}
