package dynamosim

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// CreateTable creates a table as dynafin's packages use it: text key attributes "PK" and "SK", and the given global
// indexes, whose key attributes are text too. It spares tests and small programs a CreateTable request; for any other
// table make that request with [DB.Client].
func (db *DB) CreateTable(name string, indexes ...types.GlobalSecondaryIndex) error {
	keys := []types.KeySchemaElement{
		{AttributeName: aws.String("PK"), KeyType: types.KeyTypeHash},
		{AttributeName: aws.String("SK"), KeyType: types.KeyTypeRange},
	}
	all := keys
	for _, index := range indexes {
		all = append(all, index.KeySchema...)
	}
	defined := make(map[string]bool, len(all))
	definitions := make([]types.AttributeDefinition, 0, len(all))
	for _, key := range all {
		if attribute := aws.ToString(key.AttributeName); !defined[attribute] {
			defined[attribute] = true
			definitions = append(definitions, types.AttributeDefinition{
				AttributeName: key.AttributeName, AttributeType: types.ScalarAttributeTypeS,
			})
		}
	}
	_, err := db.Client().CreateTable(context.Background(), &dynamodb.CreateTableInput{
		TableName:              aws.String(name),
		BillingMode:            types.BillingModePayPerRequest,
		KeySchema:              keys,
		AttributeDefinitions:   definitions,
		GlobalSecondaryIndexes: indexes,
	})
	return err
}
