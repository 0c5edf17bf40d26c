package stores

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
)

// An endpoint has no options for request tokens, so the client stands in for them. Here it does so in front of a simulator
// without options, and has to answer as one with them.
func TestTokensAreTreatedAlikeInProcessAndInFrontOfAnEndpoint(t *testing.T) {
	for _, o := range []Options{
		{}, {CanceledKeepsToken: true}, {Tokens: dynamosim.IgnoreTokens}, {Tokens: dynamosim.IgnoreTokens, CanceledKeepsToken: true},
		{Tokens: dynamosim.MismatchOnRepeat}, {Tokens: dynamosim.MismatchOnRepeat, CanceledKeepsToken: true},
	} {
		inside := dynamosim.New(t, dynamosim.Options{TokenPolicy: o.Tokens, CanceledKeepsToken: o.CanceledKeepsToken}).Client()
		want := repeats(t, inside)
		got := repeats(t, dynamosim.New(t).Client(o.treatTokens))
		if got != want {
			t.Errorf("%+v: in front of an endpoint %s, in process %s", o, got, want)
		}
	}
}

// repeats sends a transaction and its repeat, then one that is cancelled and its repeat when it would succeed.
func repeats(t *testing.T, client *dynamodb.Client) string {
	table := aws.String("Tokens")
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: table, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var outcomes []string
	send := func(token, condition string) {
		_, err := client.TransactWriteItems(context.Background(), &dynamodb.TransactWriteItemsInput{
			ClientRequestToken: &token,
			TransactItems: []types.TransactWriteItem{{Update: &types.Update{
				TableName: table, Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}},
				UpdateExpression: aws.String("ADD n :one"), ConditionExpression: &condition,
				ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
			}}},
		})
		var mismatch *types.IdempotentParameterMismatchException
		var canceled *types.TransactionCanceledException
		switch {
		case err == nil:
			outcomes = append(outcomes, "ok")
		case errors.As(err, &mismatch):
			outcomes = append(outcomes, "mismatch")
		case errors.As(err, &canceled):
			outcomes = append(outcomes, "canceled")
		default:
			t.Fatal(err)
		}
	}
	send("needs an item", "attribute_exists(pk)")
	send("creates it", "attribute_not_exists(pk)")
	send("creates it", "attribute_not_exists(pk)")
	send("needs an item", "attribute_exists(pk)")
	return strings.Join(outcomes, " ")
}

func TestEveryKnownDifferenceIsOnThePageAboutEndpoints(t *testing.T) {
	page, err := os.ReadFile("../../docs/endpoints.md")
	if err != nil {
		t.Fatal(err)
	}
	for engine, differences := range engines {
		for _, d := range differences {
			if !strings.Contains(string(page), "`"+string(d)+"`") {
				t.Errorf("docs/endpoints.md does not list %s of %s", d, engine)
			}
		}
	}
}
