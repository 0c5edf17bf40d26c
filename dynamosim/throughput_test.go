package dynamosim_test

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
)

// BenchmarkThroughputOverHTTP sends one mix of operations to the simulator behind a socket and to the engine at
// DYNAMODB_ENDPOINT, in turns, each through one client of the SDK. It reports the operations a second of both, and how many
// times as many the simulator serves. Without an endpoint the other engine is a second simulator.
func BenchmarkThroughputOverHTTP(b *testing.B) {
	for _, workers := range []int{1, 8} {
		b.Run(fmt.Sprint("workers=", workers), func(b *testing.B) {
			ours, theirs := newTestTable(b, serve(b, dynamosim.Options{})), anotherEngine(b)
			var spent [2]time.Duration
			round := 0
			for b.Loop() {
				for i, engine := range []backend{ours, theirs} {
					started := b.Elapsed()
					engine.mix(b, workers, round)
					spent[i] += b.Elapsed() - started
				}
				round++
			}
			operations := float64(round * workers * mixSize)
			b.ReportMetric(operations/spent[0].Seconds(), "ours/s")
			b.ReportMetric(operations/spent[1].Seconds(), "theirs/s")
			b.ReportMetric(spent[1].Seconds()/spent[0].Seconds(), "times")
		})
	}
}

// mixSize is the number of operations of one mix.
const mixSize = 10

// mix sends the mix from each of several workers at once: what an order costs that is accepted, changed and looked up.
func (b backend) mix(t testing.TB, workers, round int) {
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			pk := fmt.Sprintf("%d-%d", worker, round)
			if err := b.send(pk); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

func (b backend) send(pk string) error {
	body, absent := s(strings.Repeat("x", 800)), aws.String("attribute_not_exists(pk)")
	put := func(sk string) types.TransactWriteItem {
		action := b.putAction(with(key(pk, sk), "body", body, "gk", s(pk), "gs", n(strconv.Itoa(len(sk)))))
		action.Put.ConditionExpression = absent
		return action
	}
	operations := []func() error{
		func() error { return b.transact(put("order"), put("request"), put("name"), put("event")) },
	}
	for _, sk := range []string{"order", "request", "event"} {
		operations = append(operations, func() error {
			_, err := b.GetItem(ctx, &dynamodb.GetItemInput{TableName: b.table, Key: key(pk, sk), ConsistentRead: aws.Bool(true)})
			return err
		})
	}
	for _, sk := range []string{"fill-1", "fill-2"} {
		operations = append(operations, func() error {
			_, err := b.PutItem(ctx, &dynamodb.PutItemInput{TableName: b.table, Item: with(key(pk, sk), "body", body), ConditionExpression: absent})
			return err
		})
	}
	for range 2 {
		operations = append(operations, func() error {
			_, err := b.UpdateItem(ctx, &dynamodb.UpdateItemInput{
				TableName: b.table, Key: key(pk, "order"), UpdateExpression: aws.String("ADD filled :q"),
				ConditionExpression: aws.String("attribute_exists(pk)"), ExpressionAttributeValues: attrs{":q": n("100")},
			})
			return err
		})
	}
	for _, by := range []struct {
		index *string
		name  string
	}{{nil, "pk"}, {aws.String("byGroup"), "gk"}} {
		operations = append(operations, func() error {
			_, err := b.Query(ctx, &dynamodb.QueryInput{
				TableName: b.table, IndexName: by.index, KeyConditionExpression: aws.String(by.name + " = :p"), ExpressionAttributeValues: attrs{":p": s(pk)},
			})
			return err
		})
	}
	for _, operation := range operations {
		if err := operation(); err != nil {
			return err
		}
	}
	return nil
}
