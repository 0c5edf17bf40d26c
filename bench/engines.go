package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// EngineFigure is how fast an engine answers, over a socket, to one client of the Go SDK: operations a second. 0 is not
// measured; dynalite has no transactions.
type EngineFigure struct {
	Name                 string
	Workers              int
	Plain, Transactional int
}

// engine is something that speaks DynamoDB's protocol.
type engine struct {
	name   string
	client *dynamodb.Client
	// transactions says whether it has any.
	transactions bool
	stop         func()
}

// openEngines starts those that are installed.
func openEngines(ctx context.Context) (all []engine, err error) {
	m, err := newMeter()
	if err != nil {
		return nil, err
	}
	all = append(all, engine{"dynamosim", m.client(), true, m.close})
	if url, stop, err := dynoxide(ctx); err == nil {
		all = append(all, engine{"dynoxide", clientOf(url), true, stop})
	}
	if hasNode(ctx) {
		url, stop, err := dynalite(ctx)
		if err != nil {
			return all, err
		}
		all = append(all, engine{"dynalite", clientOf(url), false, stop})
	}
	return all, nil
}

// measureEngines takes them in turns, so that a busy moment of the machine hits all, and the fastest turn of each counts.
func measureEngines(ctx context.Context, turns, rounds int) (figures []EngineFigure, err error) {
	engines, err := openEngines(ctx)
	for _, e := range engines {
		defer e.stop()
	}
	if err != nil {
		return nil, err
	}
	for _, e := range engines {
		if _, err := e.client.CreateTable(ctx, keyed("Mix")); err != nil {
			return nil, fmt.Errorf("%s: %w", e.name, err)
		}
	}
	for _, workers := range []int{1, 8} {
		best := make([]EngineFigure, len(engines))
		for turn := range turns {
			for i, e := range engines {
				best[i].Name, best[i].Workers = e.name, workers
				plain, err := e.rate(ctx, fmt.Sprint("p", workers, turn), workers, rounds, e.plain)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", e.name, err)
				}
				best[i].Plain = max(best[i].Plain, plain)
				if !e.transactions {
					continue
				}
				transactional, err := e.rate(ctx, fmt.Sprint("t", workers, turn), workers, rounds, e.transact)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", e.name, err)
				}
				best[i].Transactional = max(best[i].Transactional, transactional)
			}
		}
		figures = append(figures, best...)
	}
	return figures, nil
}

// rate is the operations a second of a mix, which says how many it did.
func (e engine) rate(ctx context.Context, prefix string, workers, rounds int, mix func(ctx context.Context, pk string) (int, error)) (int, error) {
	var group sync.WaitGroup
	failures, counts := make([]error, workers), make([]int, workers)
	started := time.Now()
	for worker := range workers {
		group.Go(func() {
			for round := range rounds {
				n, err := mix(ctx, fmt.Sprintf("%s-%d-%d", prefix, worker, round))
				if counts[worker] += n; err != nil {
					failures[worker] = err
					return
				}
			}
		})
	}
	group.Wait()
	total := 0
	for _, n := range counts {
		total += n
	}
	return int(float64(total) / time.Since(started).Seconds()), errors.Join(failures...)
}

var body = strings.Repeat("x", 800)

func item(pk, sk string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"PK": text(pk), "SK": text(sk), "body": text(body)}
}

// plain is a put on condition, two updates, two strong reads and a query.
func (e engine) plain(ctx context.Context, pk string) (int, error) {
	mix, key := aws.String("Mix"), map[string]types.AttributeValue{"PK": text(pk), "SK": text("order")}
	_, err := e.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: mix, Item: item(pk, "order"), ConditionExpression: aws.String("attribute_not_exists(PK)")})
	for range 2 {
		if err == nil {
			_, err = e.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: mix, Key: key, UpdateExpression: aws.String("ADD filled :one"),
				ConditionExpression: aws.String("attribute_exists(PK)"), ExpressionAttributeValues: addOne()})
		}
	}
	for range 2 {
		if err == nil {
			_, err = e.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: mix, Key: key, ConsistentRead: aws.Bool(true)})
		}
	}
	if err == nil {
		_, err = e.client.Query(ctx, &dynamodb.QueryInput{TableName: mix, KeyConditionExpression: aws.String("PK = :pk"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":pk": text(pk)}})
	}
	return 6, err
}

// transact is one transaction of four puts on condition.
func (e engine) transact(ctx context.Context, pk string) (int, error) {
	in := &dynamodb.TransactWriteItemsInput{}
	for _, sk := range []string{"order", "request", "name", "event"} {
		in.TransactItems = append(in.TransactItems, types.TransactWriteItem{Put: &types.Put{TableName: aws.String("Mix"), Item: item(pk, sk),
			ConditionExpression: aws.String("attribute_not_exists(PK)")}})
	}
	_, err := e.client.TransactWriteItems(ctx, in)
	return 1, err
}
