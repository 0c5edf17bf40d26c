package outbox_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/outbox"
)

// A relay dies after each of its requests, the claim included: another one finds every event within a lease after the
// dead one's lease has ended, and publishes it (O1).
func TestEveryEventOfARelayThatDiesIsFound(t *testing.T) {
	for died := 1; ; died++ {
		over := false
		inBubble(t, outbox.Config{}, noLag, func(s *station) {
			ids := s.orders(4)
			var requests atomic.Int64
			dying := s.db.Client(func(o *dynamodb.Options) {
				o.Retryer = aws.NopRetryer{}
				o.HTTPClient = dynamosim.Faulty(s.db, func(dynamosim.Call) dynamosim.Fate {
					switch n := requests.Add(1); {
					case n < int64(died):
						return dynamosim.Deliver
					case n == int64(died):
						return dynamosim.LoseAnswer
					}
					return dynamosim.LoseRequest
				})
			})
			s.relay(nil, outbox.RelayConfig{Lease: 30 * time.Second}, dying).Once(s.Context())
			over = requests.Load() < int64(died)
			ctx, stop := context.WithCancel(s.Context())
			done := make(chan error)
			go func() { done <- s.relay(nil, outbox.RelayConfig{Lease: 30 * time.Second}, nil).Run(ctx) }()
			s.sleep(60 * time.Second)
			if counts := s.states(ids); counts[outbox.Completed] != 4 {
				s.Errorf("died after request %d: %v", died, counts)
			}
			for id, copies := range s.published() {
				if copies > 2 {
					s.Errorf("died after request %d: %s was published %d times", died, id, copies)
				}
			}
			if s.journals() != 0 {
				s.Errorf("died after request %d: %d journals are left", died, s.journals())
			}
			stop()
			<-done
		})
		if over {
			if died < 25 {
				t.Errorf("a round has %d requests only", died)
			}
			return
		}
	}
}

// A relay stands still past its lease, before every request in turn; another one takes over. No step of the late one
// succeeds once the other has acted, and nothing is lost.
func TestNoStepOfALateRelaySucceeds(t *testing.T) {
	for stands := 1; ; stands++ {
		over := false
		inBubble(t, outbox.Config{}, noLag, func(s *station) {
			ids := s.orders(1)
			pausing := &pausingClient{RelayClient: s.client, at: int64(stands)}
			other := s.relay(nil, outbox.RelayConfig{}, nil)
			pausing.meanwhile = func() {
				s.sleep(31 * time.Second)
				s.once(other)
				s.sleep(5 * time.Second)
				s.once(other)
			}
			s.relay(nil, outbox.RelayConfig{Concurrency: 1}, pausing).Once(s.Context())
			over = pausing.calls.Load() < int64(stands)
			r := s.get(ids[0])
			if r.State != outbox.Completed || len(pausing.wroteLate) > 0 || s.journals() != 0 {
				s.Errorf("still before request %d: %s, its late writes %v, %d journals", stands, r.State, pausing.wroteLate, s.journals())
			}
			if n := s.published()[ids[0]]; n < 1 || n > 2 {
				s.Errorf("still before request %d: published %d times", stands, n)
			}
		})
		if over {
			if stands < 16 {
				t.Errorf("a round has %d requests only", stands)
			}
			return
		}
	}
}

// pausingClient stands still once, before its n-th request.
type pausingClient struct {
	outbox.RelayClient
	at        int64
	calls     atomic.Int64
	late      bool
	meanwhile func()
	wroteLate []string
}

func (c *pausingClient) pause() {
	if c.calls.Add(1) == c.at {
		c.meanwhile()
		c.late = true
	}
}

func (c *pausingClient) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	c.pause()
	out, err := c.RelayClient.UpdateItem(ctx, in, opts...)
	if c.late && err == nil {
		c.wroteLate = append(c.wroteLate, fmt.Sprint(*in.UpdateExpression))
	}
	return out, err
}

func (c *pausingClient) PutItem(ctx context.Context, in *dynamodb.PutItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	c.pause()
	return c.RelayClient.PutItem(ctx, in, opts...)
}

func (c *pausingClient) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	c.pause()
	return c.RelayClient.DeleteItem(ctx, in, opts...)
}

func (c *pausingClient) Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	c.pause()
	return c.RelayClient.Query(ctx, in, opts...)
}

// A claim that was on its way when its relay died lands after the journal is gone: it fails, and the event stays listed.
func TestAClaimThatLandsLateHidesNothing(t *testing.T) {
	inBubble(t, plain, noLag, func(s *station) {
		ids := s.orders(1)
		seen := s.get(ids[0])
		if err := s.events.Journal(s.Context(), s.client, "claim-1", s.now().Add(30*time.Second), ids[0]); err != nil {
			s.Fatal(err)
		}
		broken := publisherFunc(func(context.Context, []outbox.Message) []outbox.Result { return nil })
		s.sleep(30 * time.Second) // at its end the lease has ended
		s.once(s.relay(broken, outbox.RelayConfig{}, nil))
		if s.counted("AP16.fence", observe.OK) != 1 || s.journals() != 0 {
			s.Errorf("%v, %d journals", s.seen, s.journals())
		}
		err := s.events.Take(s.Context(), s.client, "claim", seen, "claim-1", s.now())
		if err == nil || s.get(ids[0]).State != outbox.Ready {
			s.Errorf("the late claim: %v", err)
		}
	})
}

// Poison that kills its relay is parked in the end, by whoever finds its last lease ended.
func TestPoisonThatKillsRelaysIsParked(t *testing.T) {
	inBubble(t, plain, noLag, func(s *station) {
		ids := s.orders(1)
		for attempt := range 4 {
			if err := s.events.Take(s.Context(), s.client, "claim", s.get(ids[0]), fmt.Sprint("claim-", attempt), s.now()); err != nil {
				s.Fatal(err)
			}
			j := fmt.Sprint("claim-", attempt)
			if err := s.events.Journal(s.Context(), s.client, j, s.now().Add(time.Minute), ids[0]); err != nil {
				s.Fatal(err)
			}
			for stuck, err := range s.events.Stuck(s.Context(), s.client, s.now()) {
				s.Errorf("stuck before its lease ends: %v, %v", stuck, err)
			}
			s.sleep(time.Minute)
			listed := 0
			for stuck, err := range s.events.Stuck(s.Context(), s.client, s.now()) {
				if listed++; err != nil || stuck.Event.ID != ids[0] {
					s.Errorf("stuck: %v, %v", stuck, err)
				}
			}
			if listed != 1 {
				s.Errorf("%d are stuck after attempt %d", listed, attempt)
			}
			nobody := s.relay(nil, outbox.RelayConfig{MaxAttempts: 4, RetryMin: time.Hour, RetryMax: time.Hour}, nil)
			if round := s.once(nobody); round.Recovered != 1 {
				s.Errorf("%+v", round)
			}
		}
		r := s.get(ids[0])
		if r.State != outbox.Parked || r.Attempt != 4 || !strings.Contains(r.Failure, `lease of relay "relay" ended`) {
			s.Errorf("%+v", r)
		}
	})
}

// What the index lists although it has changed costs one refused claim at most, and harms nothing (O3).
func TestStaleIndexEntriesAreHarmless(t *testing.T) {
	inBubble(t, plain, dynamosim.Options{IndexLag: dynamosim.IndexLag{Stepped: true}}, func(s *station) {
		ids := s.orders(20)
		s.db.PropagateIndexes(-1)
		first, second := s.relay(nil, outbox.RelayConfig{}, nil), s.relay(nil, outbox.RelayConfig{}, nil)
		if round := s.once(first); round.Completed != 20 {
			s.Errorf("%+v", round)
		}
		for range 5 {
			if round := s.once(first); round.Listed != 0 {
				s.Errorf("the first relay knows what it did: %+v", round)
			}
			s.once(second)
		}
		if lost := s.counted("AP16.claim", observe.Stale); lost != 20 {
			s.Errorf("the second relay found %d entries stale, want each once", lost)
		}
		if len(s.bus.Messages()) != 20 || s.states(ids)[outbox.Completed] != 20 || s.journals() != 0 {
			s.Errorf("%d messages, %d journals", len(s.bus.Messages()), s.journals())
		}
	})
}
