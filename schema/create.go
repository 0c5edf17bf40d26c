package schema

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Creation holds the requests that create one table as a deployment has it, in their order. CreateTable cannot say all of
// it: the other two are for an active table, and each may be nil. Replicas are for templates.
type Creation struct {
	// CreateTable creates the table with its indexes.
	CreateTable *dynamodb.CreateTableInput
	// TimeToLive turns TTL on.
	TimeToLive *dynamodb.UpdateTimeToLiveInput
	// Backups turns point-in-time recovery on.
	Backups *dynamodb.UpdateContinuousBackupsInput
}

// Create returns the requests for every table.
//
// Errors: [ErrInvalid], once for each fault of the deployment.
func (d Deployment) Create() ([]Creation, error) {
	d, err := d.Plan()
	if err != nil {
		return nil, err
	}
	var all []Creation
	for _, t := range d.Tables {
		all = append(all, d.creation(t))
	}
	return all, nil
}

func (d Deployment) creation(t Table) Creation {
	in := &dynamodb.CreateTableInput{
		TableName:                 aws.String(t.Name),
		BillingMode:               types.BillingModePayPerRequest,
		KeySchema:                 keySchema(t.PK, t.SK),
		DeletionProtectionEnabled: aws.Bool(!d.Disposable),
	}
	for _, name := range t.keyAttributes() {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{
			AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS,
		})
	}
	for _, i := range t.Indexes {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: aws.String(i.Name), KeySchema: keySchema(i.PK, i.SK), Projection: i.projection(),
		})
	}
	if t.Stream != "" {
		in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewType(t.Stream)}
	}
	for _, key := range slices.Sorted(maps.Keys(d.Tags)) {
		in.Tags = append(in.Tags, types.Tag{Key: aws.String(key), Value: aws.String(d.Tags[key])})
	}
	c := Creation{CreateTable: in, Backups: &dynamodb.UpdateContinuousBackupsInput{
		TableName: in.TableName,
		PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: aws.Bool(true), RecoveryPeriodInDays: aws.Int32(int32(d.RecoveryDays)),
		},
	}}
	if t.TTL != "" {
		c.TimeToLive = &dynamodb.UpdateTimeToLiveInput{
			TableName:               in.TableName,
			TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String(t.TTL), Enabled: aws.Bool(true)},
		}
	}
	return c
}

func keySchema(pk, sk string) []types.KeySchemaElement {
	keys := []types.KeySchemaElement{{AttributeName: aws.String(pk), KeyType: types.KeyTypeHash}}
	if sk != "" {
		keys = append(keys, types.KeySchemaElement{AttributeName: aws.String(sk), KeyType: types.KeyTypeRange})
	}
	return keys
}

func (i Index) projection() *types.Projection {
	switch {
	case i.All:
		return &types.Projection{ProjectionType: types.ProjectionTypeAll}
	case len(i.Project) == 0:
		return &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}
	}
	return &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: slices.Sorted(slices.Values(i.Project))}
}

// IndexOf turns the definition of a global index, as the primitives give it for CreateTable, into an Index.
func IndexOf(definition types.GlobalSecondaryIndex) Index {
	i := Index{Name: aws.ToString(definition.IndexName)}
	for _, key := range definition.KeySchema {
		if key.KeyType == types.KeyTypeHash {
			i.PK = aws.ToString(key.AttributeName)
		} else {
			i.SK = aws.ToString(key.AttributeName)
		}
	}
	if p := definition.Projection; p != nil {
		i.All = p.ProjectionType == types.ProjectionTypeAll
		i.Project = slices.Clone(p.NonKeyAttributes)
	}
	return i
}
