package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/internal/chance"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/outbox"
)

// A handler of the stream is told to stop in the middle of a batch, or runs into its deadline: it returns in time, and
// nothing is claimed any more.
func TestShutdownOfAStreamHandlerDrains(t *testing.T) {
	hangs := publisherFunc(func(ctx context.Context, _ []outbox.Message) []outbox.Result {
		<-ctx.Done()
		return nil
	})
	for name, end := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"cancelled": func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(2*time.Second, cancel)
			return ctx, cancel
		},
		"deadline": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 12*time.Second)
		},
	} {
		inBubble(t, plain, noLag, func(s *station) {
			tp := s.record(types.StreamViewTypeNewImage)
			ids := s.orders(60)
			relay := s.relay(hangs, outbox.RelayConfig{Batch: 10, Batches: 2, Drain: 10 * time.Second}, nil)
			ctx, cancel := end(s.Context())
			defer cancel()
			round, err := relay.HandleStream(ctx, tp.next())
			if took := time.Since(s.began); err != nil || took > 12*time.Second || took < 7*time.Second {
				s.Errorf("%s: %v after %v", name, err, took)
			}
			if !round.More || round.Claimed != 20 || round.Retried != 20 || s.states(ids)[outbox.Ready] != 60 || s.journals() != 0 {
				s.Errorf("%s: %+v, %v, %d journals", name, round, s.states(ids), s.journals())
			}
			synctest.Wait()
			s.once(s.relay(nil, outbox.RelayConfig{}, nil))
			if s.states(ids)[outbox.Completed] != 60 || len(s.bus.Messages()) != 60 {
				s.Errorf("%s: the poll: %v, %d messages", name, s.states(ids), len(s.bus.Messages()))
			}
		})
	}
}

// A Drain that leaves no time to work is told, not waited for in vain.
func TestAStreamHandlerWithoutTimeSaysSo(t *testing.T) {
	inBubble(t, plain, noLag, func(s *station) {
		tp := s.record(types.StreamViewTypeNewImage)
		s.orders(1)
		relay := s.relay(nil, outbox.RelayConfig{Drain: 10 * time.Second}, nil)
		ctx, cancel := context.WithTimeout(s.Context(), 10*time.Second)
		defer cancel()
		var invalid *outbox.InvalidError
		if round, err := relay.HandleStream(ctx, tp.next()); !errors.As(err, &invalid) || invalid.Field != "RelayConfig.Drain" || round.Listed != 0 {
			s.Errorf("%+v, %v", round, err)
		}
		cancel()
		if round, err := relay.HandleStream(ctx, tp.records); err != nil || !round.More || round.Claimed != 0 {
			s.Errorf("a context that has ended: %+v, %v", round, err)
		}
	})
}

// A handler dies after each of its requests: every event is found within a lease, and published at most twice.
func TestEveryEventOfAStreamHandlerThatDiesIsFound(t *testing.T) {
	for died := 1; ; died++ {
		over := false
		inBubble(t, plain, noLag, func(s *station) {
			tp := s.record(types.StreamViewTypeNewImage)
			ids := s.orders(4)
			var requests atomic.Int64
			dying := s.faulty(func(dynamosim.Call) dynamosim.Fate {
				switch n := requests.Add(1); {
				case n < int64(died):
					return dynamosim.Deliver
				case n == int64(died):
					return dynamosim.LoseAnswer
				}
				return dynamosim.LoseRequest
			})
			s.handle(s.relay(nil, outbox.RelayConfig{}, dying), tp.next())
			over = requests.Load() < int64(died)
			poller := s.relay(nil, outbox.RelayConfig{Grace: time.Second}, nil)
			for range 3 {
				s.handle(s.relay(nil, outbox.RelayConfig{}, nil), tp.records) // the batch comes again, to another process
				s.sleep(31 * time.Second)
				s.once(poller)
			}
			if counts := s.states(ids); counts[outbox.Completed] != 4 || s.journals() != 0 {
				s.Errorf("died after request %d: %v, %d journals", died, counts, s.journals())
			}
			for id, copies := range s.published() {
				if copies > 2 || copies > int(s.get(id).Attempt) {
					s.Errorf("died after request %d: %s was published %d times", died, id, copies)
				}
			}
		})
		if over {
			if died < 11 {
				t.Errorf("a batch of four has %d requests only", died)
			}
			return
		}
	}
}

// faulty is a client without the SDK's own retries on a network that chooses.
func (s *station) faulty(choose func(dynamosim.Call) dynamosim.Fate) *dynamodb.Client {
	return s.db.Client(func(o *dynamodb.Options) {
		o.Retryer, o.HTTPClient = aws.NopRetryer{}, dynamosim.Faulty(s.db, choose)
	})
}

// Stream handlers and pollers work on one outbox, in bad weather: records come repeated, late, in any order or never;
// requests and answers are lost, processes die, the broker takes messages and its answer is lost. Every event is published
// at least once, at most once for each claim of it, and exactly once in good weather.
func TestStreamAndPollTogetherPublishOnceForEachClaim(t *testing.T) {
	t.Parallel()
	chance.Check(t, func(rt *rapid.T, seen chance.Seen) {
		rapid.SyncTest(rt, func(rt *rapid.T) {
			h := newWeather(rt, seen)
			for range rapid.IntRange(1, 10).Draw(rt, "steps") {
				h.step(rt)
			}
			h.settle(rt)
		})
	}, "published twice", "died", "lost claim", "no fault", "ordered", "broker's answer lost", "record repeated", "record withheld")
}

// weather is one history.
type weather struct {
	*tape
	seen   chance.Seen
	ids    []string
	orders int
	faults bool
	fates  []dynamosim.Fate // of the next requests
	dies   bool             // after these
	loses  int              // the broker loses the answer of every loses-th message
	sent   int
	warm   []*outbox.Relay // processes that go on
}

func newWeather(rt *rapid.T, seen chance.Seen) *weather {
	config := outbox.Config{Ordered: rapid.Bool().Draw(rt, "ordered")}
	if config.Ordered {
		seen["ordered"]++
	}
	lag := dynamosim.IndexLag{Max: time.Duration(rapid.IntRange(0, 3).Draw(rt, "lag")) * time.Second}
	h := &weather{seen: seen, faults: rapid.Bool().Draw(rt, "faults")}
	h.tape = newStation(rt, config, dynamosim.Options{IndexLag: lag}).record(types.StreamViewTypeNewImage)
	for range 2 {
		h.warm = append(h.warm, h.process())
	}
	return h
}

// process starts another relay, with everything that it has learned from nobody.
func (h *weather) process() *outbox.Relay {
	broker := publisherFunc(func(ctx context.Context, batch []outbox.Message) []outbox.Result {
		results := h.bus.Publish(ctx, batch)
		for i := range results {
			if h.sent++; h.loses > 0 && h.sent%h.loses == 0 {
				results[i] = outbox.Result{Err: errors.New("no answer")}
				h.seen["broker's answer lost"]++
			}
		}
		return results
	})
	client := h.faulty(func(dynamosim.Call) dynamosim.Fate {
		if len(h.fates) > 0 {
			fate := h.fates[0]
			h.fates = h.fates[1:]
			return fate
		}
		if h.dies {
			return dynamosim.LoseRequest
		}
		return dynamosim.Deliver
	})
	// One request and one batch at a time, so that a seed is one history.
	config := outbox.RelayConfig{Concurrency: 1, Batch: 3, Batches: 1, MaxAttempts: 1000, RetryMax: 10 * time.Second}
	return h.relay(broker, config, client)
}

func (h *weather) step(rt *rapid.T) {
	h.fates, h.dies, h.loses = nil, false, 0
	if h.faults {
		h.fates = rapid.SliceOfN(rapid.SampledFrom(anyFate), 0, 12).Draw(rt, "fates")
		h.dies = rapid.IntRange(0, 3).Draw(rt, "dies") == 0
		h.loses = rapid.IntRange(0, 3).Draw(rt, "broker loses")
	}
	relay := append(slices.Clone(h.warm), h.process())[rapid.IntRange(0, len(h.warm)).Draw(rt, "process")]
	switch rapid.SampledFrom([]string{"create", "stream", "stream", "poll", "wait"}).Draw(rt, "step") {
	case "create":
		version := 1
		for range rapid.IntRange(1, 4).Draw(rt, "versions") {
			h.ids = append(h.ids, h.create(fmt.Sprint("order-", h.orders), version, version)...)
			version++
		}
		h.orders++
	case "stream":
		h.next()
		if _, err := relay.HandleStream(rt.Context(), h.draw(rt)); err != nil {
			rt.Fatalf("stream: %v", err)
		}
	case "poll":
		_, _ = relay.Once(rt.Context()) // its reads may fail
	case "wait":
		h.sleep(time.Duration(rapid.IntRange(1, 40).Draw(rt, "seconds")) * time.Second)
	}
	if h.dies && len(h.fates) == 0 {
		h.seen["died"]++
	}
}

// draw returns some of the records: any of them, in any order, and some of them twice.
func (h *weather) draw(rt *rapid.T) []streams.Record {
	if len(h.records) == 0 {
		return nil
	}
	picks := rapid.SliceOfN(rapid.IntRange(0, len(h.records)-1), 0, 2*len(h.records)).Draw(rt, "records")
	var drawn []streams.Record
	times := map[int]int{}
	for _, i := range picks {
		drawn = append(drawn, h.records[i])
		if times[i]++; times[i] == 2 {
			h.seen["record repeated"]++
		}
	}
	if len(times) < len(h.records) {
		h.seen["record withheld"]++
	}
	return drawn
}

// settle lets the weather clear, and holds what was published against the records.
func (h *weather) settle(rt *rapid.T) {
	h.fates, h.dies, h.loses = nil, false, 0
	poller := h.process()
	for range 200 {
		h.sleep(10 * time.Second)
		h.once(poller)
		if h.states(h.ids)[outbox.Completed] == len(h.ids) && h.journals() == 0 {
			break
		}
	}
	published := h.published()
	for _, id := range h.ids {
		r := h.get(id)
		copies := published[id]
		switch {
		case r.State != outbox.Completed || copies < 1:
			rt.Fatalf("%s is %s after %d attempts, published %d times", id, r.State, r.Attempt, copies)
		case int64(copies) > r.Attempt:
			rt.Fatalf("%s was published %d times by %d claims", id, copies, r.Attempt)
		case !h.faults && (copies != 1 || r.Attempt != 1):
			rt.Fatalf("%s was published %d times by %d claims, in good weather", id, copies, r.Attempt)
		case copies > 1:
			h.seen["published twice"]++
		}
	}
	if h.journals() != 0 {
		rt.Fatalf("%d journals are left", h.journals())
	}
	if h.counted("AP16.claim", observe.Stale) > 0 {
		h.seen["lost claim"]++
	}
	if !h.faults && len(h.ids) > 0 {
		h.seen["no fault"]++
	}
}
