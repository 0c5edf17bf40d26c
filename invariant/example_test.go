package invariant_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/invariant"
	"github.com/dynafin/dynafin/txn"
)

// A handler that looks first and writes afterwards. It passes every test in which one client comes after the other.
func claimSeat(ctx context.Context, p *invariant.Process, client string) ([]byte, error) {
	seats := txn.Table{Name: "Seats"}
	seat := seats.Key("SEAT#12A", "SEAT")
	found, err := p.Client().GetItem(ctx, &dynamodb.GetItemInput{TableName: &seats.Name, Key: seat, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, err
	}
	if found.Item != nil {
		return []byte("taken by " + found.Item["client"].(*types.AttributeValueMemberS).Value), nil
	}
	seat["client"] = &types.AttributeValueMemberS{Value: client}
	if _, err := p.Client().PutItem(ctx, &dynamodb.PutItemInput{TableName: &seats.Name, Item: seat}); err != nil {
		return nil, err
	}
	return []byte("taken by " + client), nil
}

// A service tests its handler: two clients want one seat, and whatever happens, everybody must be told the same.
func Example() {
	story := func(w *invariant.World) {
		w.Table("Seats")
		for _, client := range []string{"ann", "bob"} {
			w.Command(client, func(ctx context.Context, p *invariant.Process) ([]byte, error) { return claimSeat(ctx, p, client) })
		}
		w.Run()
		w.Settle()
		w.Check("each client is told one thing", invariant.SameAnswers(w.Answers()))
	}

	var t testing.T // stands in for the test's own; a test calls invariant.Check(t, config, story)
	failing, _ := invariant.Find(&t, invariant.Config{}, 1, 1000, story)
	smallest := failing.Shrink(&t)
	fmt.Println(smallest.Failure)
	fmt.Println()
	fmt.Print(smallest.Schedule)
	// Output:
	// each client is told one thing: command ann: ann/again was told "taken by bob", ann/1 before "taken by ann"
	//
	// time  worker       request                  fate       result
	// 0s    bob/1.1      GetItem SEAT#12A/SEAT    delivered  ok
	// 0s    ann/1.1      GetItem SEAT#12A/SEAT    delivered  ok
	// 0s    ann/1.1      PutItem SEAT#12A/SEAT    delivered  ok
	// 0s    ann/1.1      - answers: taken by ann
	// 0s    bob/1.1      PutItem SEAT#12A/SEAT    delivered  ok
	// 0s    bob/1.1      - answers: taken by bob
	// 0s    ann/again.1  GetItem SEAT#12A/SEAT    delivered  ok
	// 0s    ann/again.1  - answers: taken by bob
	// 0s    bob/again.1  GetItem SEAT#12A/SEAT    delivered  ok
	// 0s    bob/again.1  - answers: taken by bob
}
