package cases

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/projection"
	"github.com/dynafin/dynafin/txn"
)

// change is an event of an order: by how much a position changes, and what it is afterwards.
type change struct {
	version   int64
	by, after int
}

// add is the naive step of a view: an update of its own, which adds.
func add(ctx context.Context, client *dynamodb.Client, by int) error {
	_, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String(store.Name), Key: key("VIEW#1"), UpdateExpression: aws.String("ADD quantity :by"),
		ExpressionAttributeValues: txn.Item{":by": &types.AttributeValueMemberN{Value: strconv.Itoa(by)}},
	})
	return err
}

// portfolio is our view: the receipt of the event, the checkpoint of the order, and the position, in one transaction.
func portfolio(client *dynamodb.Client) *projection.Projection {
	return projection.New(client, projection.Config{
		Name: "portfolio", Table: store,
		View: func(_ context.Context, namespace int, e projection.Event) ([]txn.Part, error) {
			by, err := strconv.Atoi(string(e.Payload))
			received := inbox.New(inbox.Config{Consumer: fmt.Sprintf("portfolio@%d", namespace), Table: store})
			return []txn.Part{
				received.Receive(inbox.Event{ID: e.ID, Source: e.Source, SourceVersion: e.Version, Payload: e.Payload}, nil),
				txn.Update(store, key(fmt.Sprintf("VIEW#%d", namespace)), expression.Add(expression.Name("quantity"), expression.Value(by))),
			}, err
		},
	})
}

func (c change) event() projection.Event {
	return projection.Event{
		Source: "order-1", Version: c.version, ID: fmt.Sprintf("e-%d", c.version), OccurredAt: opening, Payload: []byte(strconv.Itoa(c.by)),
	}
}

// An order's two events come twice, the old one last; a process dies between its requests; an ID comes with other content.
func TestCS06_APositionTakesEveryEventOnceAndNoneThatIsOld(t *testing.T) {
	bought, sold := change{version: 1, by: 100, after: 100}, change{version: 2, by: -40, after: 60}
	deliveries := []change{bought, bought, sold, bought}
	const truth = "60"

	twice(t,
		func(s *stage) {
			for _, d := range deliveries {
				s.must(add(s.ctx, s.client, d.by))
				s.must(write(s.ctx, s.client, "LAST#1", fields{"quantity": d.after}))
			}
			s.wants("a view that adds", s.value("VIEW#1", "quantity"), "260")
			s.wants("a view that takes what came last", s.value("LAST#1", "quantity"), "100")
		},
		func(s *stage) {
			view := portfolio(s.client).Namespace(1)
			for _, d := range deliveries {
				_, err := view.Apply(s.ctx, d.event())
				s.must(err)
			}
			s.wants("the position", s.value("VIEW#1", "quantity"), truth)

			forged := change{version: 3, by: 1000}.event()
			forged.ID = bought.event().ID
			_, err := view.Apply(s.ctx, forged)
			s.wants("another event under a known ID is reported", errors.Is(err, inbox.ErrMismatch), true)
			s.wants("the position", s.value("VIEW#1", "quantity"), truth)
		})

	for requests := range 3 {
		t.Run("a crash behind request "+strconv.Itoa(requests), func(t *testing.T) {
			twice(t,
				func(s *stage) {
					apply := func(client *dynamodb.Client) error { // the view, then the note that it was done
						if done, err := read(s.ctx, client, "DONE#e-1"); err != nil || done != nil {
							return err
						}
						return errors.Join(add(s.ctx, client, bought.by), write(s.ctx, client, "DONE#e-1", fields{}))
					}
					_ = apply(s.dying(requests))
					s.must(apply(s.client))
					s.wants("applied twice", s.value("VIEW#1", "quantity") == "200", requests == 2)
				},
				func(s *stage) {
					_, _ = portfolio(s.dying(requests)).Namespace(1).Apply(s.ctx, bought.event())
					_, err := portfolio(s.client).Namespace(1).Apply(s.ctx, bought.event())
					s.must(err)
					s.wants("the position", s.value("VIEW#1", "quantity"), "100")
				})
		})
	}
}

// Version 2 of an order comes behind version 3, or never.
func TestCS07_AMissingVersionIsVisibleAndNothingPassesIt(t *testing.T) {
	one, two, three := change{version: 1, by: 10}, change{version: 2, by: 20}, change{version: 3, by: 30}
	twice(t,
		func(s *stage) {
			for _, d := range []change{one, three, two} { // whatever is newer is applied, whatever is older is an old repeat
				checkpoint, err := read(s.ctx, s.client, "CHECKPOINT#1")
				s.must(err)
				if d.version <= int64(whole(checkpoint["version"])) {
					continue
				}
				s.must(add(s.ctx, s.client, d.by))
				s.must(write(s.ctx, s.client, "CHECKPOINT#1", fields{"version": d.version}))
			}
			s.wants("20 of 60 are gone, and the view is up to date", []string{s.value("VIEW#1", "quantity"), s.value("CHECKPOINT#1", "version")}, []string{"40", "3"})
		},
		func(s *stage) {
			of := portfolio(s.client)
			view := of.Namespace(1)
			gaps := func() (found []string) {
				for gap, err := range view.Gaps(s.ctx) {
					s.must(err)
					found = append(found, fmt.Sprintf("%s misses %d, %d wait", gap.Source, gap.Missing, gap.Parked))
				}
				return found
			}
			for _, d := range []change{one, three} {
				_, err := view.Apply(s.ctx, d.event())
				s.must(err)
			}
			s.wants("the view stands at version 1", s.value("VIEW#1", "quantity"), "10")
			s.wants("gaps", gaps(), []string{"order-1 misses 2, 1 wait"})

			// Should version 2 never come, a new view is built from the full source.
			rebuilt := of.Namespace(2)
			build, err := rebuilt.Start(s.ctx, "ann")
			s.must(err)
			sorted := projection.Sorted{Events: func(context.Context) iter.Seq2[projection.Event, error] {
				return list(three.event(), one.event(), two.event())
			}}
			_, err = rebuilt.Load(s.ctx, build, sorted.Entries(s.ctx, ""), nil)
			s.must(err)
			s.wants("the rebuilt view", s.value("VIEW#2", "quantity"), "60")

			// It comes.
			_, err = view.Apply(s.ctx, two.event())
			s.must(err)
			s.wants("the view", s.value("VIEW#1", "quantity"), "60")
			s.wants("gaps", gaps(), []string(nil))
		})
}
