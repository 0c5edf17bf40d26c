package cases

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

var (
	errMoved    = errors.New("the order has changed since it was read")
	errRecorded = errors.New("the fill was recorded before")
	errExceeds  = errors.New("the order has less open")
)

// standing reads what an order has open, and its version.
func standing(ctx context.Context, client *dynamodb.Client) (open, version int, err error) {
	order, err := read(ctx, client, "ORDER#1")
	if err != nil {
		return 0, 0, err
	}
	return whole(order["open"]), whole(order["version"]), nil
}

func whole(number any) int {
	if text, ok := number.(interface{ String() string }); ok {
		n, _ := strconv.Atoi(text.String())
		return n
	}
	return 0
}

// trade records a fill with the order's step and the event: all three or none, and only from the version that was read. A
// repeat gets the ID of the event that the first one stored.
func trade(ctx context.Context, client *dynamodb.Client, fill string, quantity int) (eventID string, err error) {
	for {
		open, version, err := standing(ctx, client)
		if err != nil {
			return "", err
		}
		if quantity > open {
			if recorded, err := read(ctx, client, "FILL#"+fill); err != nil || recorded == nil {
				return "", errors.Join(errExceeds, err)
			}
		}
		told := event("1", int64(version+1), "Fill", fill)
		var recorded string
		_, err = txn.Commit(ctx, client,
			txn.Put(store, item("FILL#"+fill, fields{"quantity": quantity, "eventId": told.ID}), txn.IfAbsent(), txn.Explain(func(old txn.Item) error {
				if id, ok := old["eventId"].(*types.AttributeValueMemberS); ok {
					recorded = id.Value
				}
				return errRecorded
			})),
			txn.Update(store, key("ORDER#1"),
				expression.Set(expression.Name("version"), expression.Value(version+1)).Set(expression.Name("open"), expression.Value(open-quantity)),
				txn.If(expression.Name("version").Equal(expression.Value(version))), txn.Explain(func(txn.Item) error { return errMoved })),
			events.Create(told),
		)
		switch {
		case errors.Is(err, errRecorded):
			return recorded, nil
		case errors.Is(err, errMoved):
			continue
		}
		return told.ID, err
	}
}

// Two fills of 60 come at once for an order of 100; then a process dies between its requests.
func TestCS04_AFillItsOrdersStepAndItsEventAreOne(t *testing.T) {
	order := func(s *stage) { s.must(insert(s.ctx, s.client, "ORDER#1", fields{"open": 100, "version": 1})) }

	// naive reads, records the fill, writes what the order has open, and tells.
	naive := func(ctx context.Context, client *dynamodb.Client, fill string, quantity int) error {
		open, version, err := standing(ctx, client)
		if err != nil || quantity > open {
			return errors.Join(errExceeds, err)
		}
		if err := insert(ctx, client, "FILL#"+fill, fields{"quantity": quantity}); err != nil {
			return err
		}
		if err := write(ctx, client, "ORDER#1", fields{"open": open - quantity, "version": version + 1}); err != nil {
			return err
		}
		return insert(ctx, client, "EVENT#"+fill, fields{})
	}
	ours := func(ctx context.Context, client *dynamodb.Client, fill string, quantity int) error {
		_, err := trade(ctx, client, fill, quantity)
		return err
	}
	race := func(s *stage, record func(context.Context, *dynamodb.Client, string, int) error) []error {
		order(s)
		return s.inTurns("abababab",
			func(ctx context.Context, c *dynamodb.Client) error { return record(ctx, c, "f-1", 60) },
			func(ctx context.Context, c *dynamodb.Client) error { return record(ctx, c, "f-2", 60) })
	}
	t.Run("two at once", func(t *testing.T) {
		twice(t,
			func(s *stage) {
				s.must(errors.Join(race(s, naive)...))
				s.wants("filled 120 of 100, and open", []any{s.count("FILL"), s.value("ORDER#1", "open")}, []any{2, "40"})
			},
			func(s *stage) {
				errs := race(s, ours)
				s.wants("the second was refused", []bool{errs[0] == nil, errors.Is(errs[1], errExceeds)}, []bool{true, true})
				s.wants("fills and open", []any{s.count("FILL"), s.value("ORDER#1", "open")}, []any{1, "40"})
			})
	})
	for requests := range 4 {
		agree := func(s *stage) bool {
			moved := s.value("ORDER#1", "open") == "40"
			return moved == (s.count("FILL") == 1) && moved == (s.count("EVENT") == 1)
		}
		t.Run("a crash behind request "+strconv.Itoa(requests), func(t *testing.T) {
			twice(t,
				func(s *stage) {
					order(s)
					_ = naive(s.ctx, s.dying(requests), "f-1", 60)
					s.wants("fill, order and event agree", agree(s), requests < 2)
				},
				func(s *stage) {
					order(s)
					_ = ours(s.ctx, s.dying(requests), "f-1", 60)
					s.wants("fill, order and event agree", agree(s), true)
				})
		})
	}
}

// A process dies between recording a fill and publishing it, and the venue reports the fill again.
func TestCS05_ARepeatResumesThePublicationAndReturnsTheReceipt(t *testing.T) {
	twice(t,
		func(s *stage) {
			published := 0
			report := func(client *dynamodb.Client) error {
				err := insert(s.ctx, client, "FILL#f-1", fields{"quantity": 60})
				var known *types.ConditionalCheckFailedException
				if errors.As(err, &known) {
					return nil // a duplicate: nothing to do
				}
				if err != nil {
					return err
				}
				if _, err := client.GetItem(s.ctx, &dynamodb.GetItemInput{TableName: aws.String(store.Name), Key: key("ROUTE#bus")}); err != nil {
					return err // it dies here, on its way to the bus
				}
				published++
				return nil
			}
			s.wants("the process died", report(s.dying(1)) != nil, true)
			for range 3 {
				s.must(report(s.client))
			}
			s.wants("fills and publications", []int{s.count("FILL"), published}, []int{1, 0})
		},
		func(s *stage) {
			s.must(insert(s.ctx, s.client, "ORDER#1", fields{"open": 100, "version": 1}))
			_, err := trade(s.ctx, s.dying(2), "f-1", 60) // it has committed, and dies on its way to the bus
			s.must(err)
			first, err := trade(s.ctx, s.client, "f-1", 60)
			s.must(err)
			second, err := trade(s.ctx, s.client, "f-1", 60)
			s.must(err)
			s.wants("both repeats get the receipt", []string{first, second}, []string{event("1", 2, "Fill", "").ID, first})

			attempts := 0
			broker := &outbox.Memory{Refuse: func(outbox.Message) (r outbox.Result) {
				if attempts++; attempts == 1 {
					r.Err = errors.New("503 from the bus")
				}
				return r
			}}
			relay := outbox.NewRelay(events, s.client, broker, outbox.RelayConfig{})
			for range 2 {
				_, err := relay.Once(s.ctx)
				s.must(err)
				s.pass(time.Minute)
			}
			s.wants("publications", len(broker.Messages()), 1)
			record, err := events.Get(s.ctx, s.client, first)
			s.must(err)
			s.wants("the evidence of the failure is still there", []any{record.State, record.Failure}, []any{outbox.Completed, "503 from the bus"})
		})
}
