package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

// tape is everything that the table's stream has shown so far.
type tape struct {
	*station
	feed    *dynamosim.Feed
	records []streams.Record
}

// record turns on the stream of the table.
func (s *station) record(view types.StreamViewType) *tape {
	s.Helper()
	out, err := s.client.UpdateTable(s.Context(), &dynamodb.UpdateTableInput{
		TableName:           aws.String("Orders"),
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: view},
	})
	if err != nil {
		s.Fatal(err)
	}
	return &tape{station: s, feed: dynamosim.NewFeed(s.db.StreamsClient(), *out.TableDescription.LatestStreamArn)}
}

// next returns the records since the last call.
func (tp *tape) next() []streams.Record {
	tp.Helper()
	from := len(tp.records)
	for range 3 { // a shard that was closed is followed by its child
		if _, err := tp.feed.Poll(tp.Context(), func(_ context.Context, batch []streams.Record) error {
			tp.records = append(tp.records, batch...)
			return nil
		}); err != nil {
			tp.Fatal(err)
		}
	}
	return slices.Clone(tp.records[from:])
}

func (s *station) handle(r *outbox.Relay, records []streams.Record) outbox.Round {
	s.Helper()
	round, err := r.HandleStream(s.Context(), records)
	if err != nil {
		s.Fatal(err)
	}
	return round
}

func TestWhatTheStreamShowsIsPublishedWithoutAPoll(t *testing.T) {
	for _, view := range []types.StreamViewType{types.StreamViewTypeNewImage, types.StreamViewTypeNewAndOldImages} {
		inBubble(t, plain, noLag, func(s *station) {
			tp := s.record(view)
			ids := s.orders(60)
			others := txn.Table{Name: "Orders"}.WithDefaults("Orders")
			if _, err := txn.Commit(s.Context(), s.client, txn.Put(others, others.Key("TEN#acme#ORDER#1", "META"))); err != nil {
				s.Fatal(err)
			}
			meter := newRelayMeter(s.client)
			round := s.handle(s.relay(nil, outbox.RelayConfig{}, meter), tp.next())
			if round.Listed != 60 || round.Completed != 60 || round.Lost != 0 || round.More || meter.reads() != (requests{}) {
				s.Errorf("%s: %+v, %+v", view, round, meter.reads())
			}
			if counts := s.states(ids); counts[outbox.Completed] != 60 || len(s.bus.Messages()) != 60 || s.journals() != 0 {
				s.Errorf("%s: %v, %d messages, %d journals", view, counts, len(s.bus.Messages()), s.journals())
			}
			if round := s.once(s.relay(nil, outbox.RelayConfig{}, nil)); round.Listed != 0 {
				s.Errorf("%s: left to the poll: %+v", view, round)
			}
		})
	}
}

// However a stream repeats itself, an event is published by the one that wins its claim, and a Relay that has seen more than
// the record shows does not even try.
func TestRepeatedOldAndDisorderedRecordsPublishNothingTwice(t *testing.T) {
	inBubble(t, plain, noLag, func(s *station) {
		tp := s.record(types.StreamViewTypeNewAndOldImages)
		ids := s.orders(5)
		created := tp.next()
		first := s.relay(nil, outbox.RelayConfig{}, nil)
		if round := s.handle(first, slices.Concat(created, created, created)); round.Listed != 5 || round.Completed != 5 {
			s.Errorf("repeated within a batch: %+v", round)
		}
		meter := newRelayMeter(s.client)
		for range 3 {
			if round := s.handle(first, created); round != (outbox.Round{}) {
				s.Errorf("repeated to the same relay: %+v", round)
			}
		}
		all := slices.Concat(created, tp.next())
		slices.Reverse(all)
		if round := s.handle(s.relay(nil, outbox.RelayConfig{}, meter), all); round != (outbox.Round{}) || meter.writes() != 0 {
			s.Errorf("all images, the newest first: %+v, %d writes", round, meter.writes())
		}
		cold := s.relay(nil, outbox.RelayConfig{}, nil)
		if round := s.handle(cold, created); round.Listed != 5 || round.Lost != 5 || round.Claimed != 0 {
			s.Errorf("old records to a relay that knows nothing: %+v", round)
		}
		if round := s.handle(cold, created); round != (outbox.Round{}) {
			s.Errorf("and again, now that it knows: %+v", round)
		}
		for _, id := range ids {
			if n := s.published()[id]; n != 1 {
				s.Errorf("%s was published %d times", id, n)
			}
		}
		if s.journals() != 0 {
			s.Errorf("%d journals are left", s.journals())
		}
	})
}

// Only first attempts that are due: what has failed waits for its time, whatever a late record says of it.
func TestAStreamLeavesToThePollWhatIsNotDueOrWasTried(t *testing.T) {
	inBubble(t, plain, noLag, func(s *station) {
		tp := s.record(types.StreamViewTypeNewImage)
		ids := s.orders(2)
		later := accepted("order-later")
		later.OccurredAt, later.Due = s.began, s.began.Add(time.Hour)
		foreign := outbox.New(outbox.Config{Service: "payments", Table: txn.Table{Name: "Orders"}})
		other := accepted("order-foreign")
		other.OccurredAt = s.began
		if _, err := txn.Commit(s.Context(), s.client, s.events.Create(later), foreign.Create(other)); err != nil {
			s.Fatal(err)
		}
		s.bus.Refuse = func(m outbox.Message) outbox.Result {
			if m.Event.ID == ids[0] && m.Attempt == 1 {
				return outbox.Result{Err: errors.New("busy")}
			}
			return outbox.Result{Err: errors.New("too large"), Final: true}
		}
		relay := s.relay(nil, outbox.RelayConfig{}, nil)
		if round := s.handle(relay, tp.next()); round.Listed != 2 || round.Retried != 1 || round.Parked != 1 {
			s.Errorf("%+v", round)
		}
		s.sleep(time.Minute)
		if round := s.handle(relay, tp.next()); round != (outbox.Round{}) {
			s.Errorf("a retry was taken from the stream: %+v", round)
		}
		s.bus.Refuse = nil
		if round := s.once(relay); round.Completed != 1 {
			s.Errorf("and not by the poll: %+v", round)
		}
		note := outbox.Audit{By: "ops@acme", Reason: "smaller now", At: s.now()}
		if _, err := txn.Commit(s.Context(), s.client, s.events.Redrive(s.get(ids[1]), s.now(), note)); err != nil {
			s.Fatal(err)
		}
		if round := s.handle(relay, tp.next()); round.Completed != 1 || s.get(ids[1]).State != outbox.Completed {
			s.Errorf("a redriven event counts as not tried: %+v", round)
		}
	})
}

// An event that is brought forward has two records that show it READY: the newer one counts, wherever it stands. That a record
// was cleaned up is no news.
func TestTheNewestRecordOfAnEventCounts(t *testing.T) {
	inBubble(t, plain, noLag, func(s *station) {
		tp := s.record(types.StreamViewTypeNewAndOldImages)
		e := accepted("order-1")
		e.OccurredAt, e.Due = s.began, s.began.Add(time.Hour)
		if _, err := txn.Commit(s.Context(), s.client, s.events.Create(e)); err != nil {
			s.Fatal(err)
		}
		if err := s.events.Reschedule(s.Context(), s.client, s.get(e.ID), s.began); err != nil {
			s.Fatal(err)
		}
		records := tp.next()
		slices.Reverse(records)
		if round := s.handle(s.relay(nil, outbox.RelayConfig{}, nil), records); len(records) != 2 || round.Completed != 1 {
			s.Errorf("%d records: %+v", len(records), round)
		}
		table := txn.Table{Name: "Orders"}.WithDefaults("Orders")
		if _, err := s.client.DeleteItem(s.Context(), &dynamodb.DeleteItemInput{
			TableName: &table.Name, Key: table.Key("OUTBOX#"+e.ID, "EVENT"),
		}); err != nil {
			s.Fatal(err)
		}
		if round := s.handle(s.relay(nil, outbox.RelayConfig{}, nil), tp.next()); round != (outbox.Round{}) {
			s.Errorf("%+v", round)
		}
	})
}

func TestRecordsThatCannotBeUsedHoldUpNoOther(t *testing.T) {
	inBubble(t, plain, noLag, func(s *station) {
		tp := s.record(types.StreamViewTypeNewImage)
		s.orders(5)
		records := tp.next()
		records[0].Dynamodb.NewImage["version"] = &streams.AttributeValueMemberS{Value: "one"}
		delete(records[1].Dynamodb.NewImage, "v")
		records[2].Dynamodb.NewImage["readySk"] = records[3].Dynamodb.NewImage["readySk"]
		records[3].Dynamodb.NewImage["eventType"] = nil
		records = append(records, streams.Record{}, streams.Record{Dynamodb: &streams.StreamRecord{}})
		relay := s.relay(nil, outbox.RelayConfig{}, nil)
		round, err := relay.HandleStream(s.Context(), records)
		if !errors.Is(err, outbox.ErrCorrupt) || errors.Is(err, outbox.ErrInvalid) || round.Completed != 1 {
			s.Errorf("%+v, %v", round, err)
		}
		if joined, ok := err.(interface{ Unwrap() []error }); !ok || len(joined.Unwrap()) != 4 {
			s.Errorf("want four faults: %v", err)
		}
		if s.counted("AP16.stream", observe.Failed) != 1 {
			s.Errorf("the observer was told %v", s.seen)
		}
		if round := s.once(relay); round.Completed != 4 {
			s.Errorf("the poll: %+v", round)
		}
	})
	inBubble(t, plain, noLag, func(s *station) {
		tp := s.record(types.StreamViewTypeKeysOnly)
		s.orders(1)
		round, err := s.relay(nil, outbox.RelayConfig{}, nil).HandleStream(s.Context(), tp.next())
		var invalid *outbox.InvalidError
		if !errors.As(err, &invalid) || invalid.Field != "StreamViewType" || round != (outbox.Round{}) {
			s.Errorf("a stream of keys: %+v, %v", round, err)
		}
	})
}

// In an ordered outbox the stream may show version 2 first: it waits, for its turn in the same batch or for the poll.
func TestAStreamKeepsTheOrderOfAnAggregate(t *testing.T) {
	inBubble(t, ordered, noLag, func(s *station) {
		tp := s.record(types.StreamViewTypeNewImage)
		ids := s.create("order-1", 1, 6)
		records := tp.next()
		slices.Reverse(records)
		relay := s.relay(nil, outbox.RelayConfig{}, nil)
		if round := s.handle(relay, records[:2]); round.Waiting != 1 || round.Claimed != 0 {
			s.Errorf("versions 5 and 6 without those before: %+v", round)
		}
		if round := s.handle(relay, records[2:]); round.Completed != 4 {
			s.Errorf("versions 1 to 4: %+v", round)
		}
		if round := s.once(relay); round.Completed != 2 || s.states(ids)[outbox.Completed] != 6 {
			s.Errorf("the poll: %+v", round)
		}
		for i, m := range s.bus.Messages() {
			if m.Event.AggregateVersion != int64(i+1) {
				s.Errorf("message %d is version %d", i, m.Event.AggregateVersion)
			}
		}
	})
}

// With a grace a poll leaves new events to the stream, and takes what the stream has not brought.
func TestAPollWithAGraceIsTheSafetyNet(t *testing.T) {
	inBubble(t, plain, noLag, func(s *station) {
		tp := s.record(types.StreamViewTypeNewImage)
		s.orders(10)
		poller := s.relay(nil, outbox.RelayConfig{Grace: 5 * time.Second}, nil)
		if round := s.once(poller); round.Listed != 0 {
			s.Errorf("at once: %+v", round)
		}
		s.handle(s.relay(nil, outbox.RelayConfig{}, nil), tp.next()[:7])
		s.sleep(5 * time.Second)
		if round := s.once(poller); round.Listed != 3 || round.Completed != 3 {
			s.Errorf("after the grace: %+v", round)
		}
		if lost := s.counted("AP16.claim", observe.Stale); lost != 0 || len(s.bus.Messages()) != 10 {
			s.Errorf("%d claims met, %d messages", lost, len(s.bus.Messages()))
		}
	})
}

// A poll without a grace and two handlers of the same records go for the same events at the same time: one of them
// publishes each.
func TestStreamAndPollAtOncePublishOnce(t *testing.T) {
	inBubble(t, plain, noLag, func(s *station) {
		tp := s.record(types.StreamViewTypeNewImage)
		ids := s.orders(100)
		records := tp.next()
		ctx, stop := context.WithCancel(s.Context())
		done := make(chan error, 3)
		go func() { done <- s.relay(nil, outbox.RelayConfig{}, s.slow()).Run(ctx) }()
		for range 2 {
			go func() {
				_, err := s.relay(nil, outbox.RelayConfig{}, s.slow()).HandleStream(s.Context(), records)
				done <- err
			}()
		}
		s.sleep(5 * time.Second)
		stop()
		for range 3 {
			if err := <-done; err != nil {
				s.Error(err)
			}
		}
		for _, id := range ids {
			if r := s.get(id); s.published()[id] != 1 || r.State != outbox.Completed || r.Attempt != 1 {
				s.Errorf("%s is %s after %d attempts, published %d times", id, r.State, r.Attempt, s.published()[id])
			}
		}
		if s.counted("AP16.claim", observe.Stale) == 0 || s.journals() != 0 {
			s.Errorf("they did not meet: %v, %d journals", s.seen, s.journals())
		}
	})
}

// From the stream a publication costs what it costs from a poll, without the reads: 5 units at the chapter's size, and 2 for
// each journal. A record that comes too late costs the refused claim, and the journal that announced it.
func TestAStreamCostsWhatAPollDoesWithoutTheReads(t *testing.T) {
	for _, n := range []int{1, 25} {
		inBubble(t, plain, noLag, func(s *station) {
			tp := s.record(types.StreamViewTypeNewImage)
			for i := range n {
				s.sized(fmt.Sprintf("order-%04d", i), 1638)
			}
			records := tp.next()
			for delivery, want := range [][3]float64{{4 * float64(n), float64(n), 2}, {0, 0, 2}} {
				meter := newRelayMeter(s.client)
				s.handle(s.relay(nil, outbox.RelayConfig{}, meter), records)
				base, index := meter.units("UpdateItem")
				put, _ := meter.units("PutItem")
				drop, _ := meter.units("DeleteItem")
				if got := [3]float64{base, index, put + drop}; got != want || meter.reads() != (requests{}) {
					s.Errorf("%d events, delivery %d: %v units, %+v, want %v", n, delivery+1, got, meter.reads(), want)
				}
			}
		})
	}
}
