package invariant_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/invariant"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// A reshard in the middle: while relays publish in bad weather, an operator takes the stored map from one number of shards to
// another, and consumers with inboxes apply what the broker took. Every event is placed by its own time, once, is published at
// least once or listed as parked, and has its effect exactly once.

const laneName = "orders"

// laneRules allow for two clocks that are off by badStreet.SkewMax to either side. A new version is known 50 seconds before
// its window.
var laneRules = shardmap.Rules{MaxAge: 10 * time.Second, MaxSkew: 10 * time.Second, Horizon: time.Hour}

// lane is the stored map of a street. A nil lane is a map that never changes.
type lane struct {
	to     int // shards
	places map[string]shardmap.Placement
}

// maps is the loader of one life of a process.
func (l *lane) maps(p *invariant.Process) shardmap.Source {
	if l == nil {
		return nil
	}
	return shardmap.NewStore(p.Client(), shardmap.Config{Now: p.Now}).Loader(laneName)
}

// look reads the map for the story itself.
func (l *lane) look(w *invariant.World) shardmap.Source {
	if l == nil {
		return nil
	}
	return shardmap.NewStore(w.Client(), shardmap.Config{Now: w.Now}).Loader(laneName)
}

// under returns the outbox under the map as a process knows it.
func (l *lane) under(ctx context.Context, events *outbox.Outbox, maps shardmap.Source) (*outbox.Outbox, error) {
	if l == nil {
		return events, nil
	}
	v, err := maps.Versions(ctx)
	return events.Under(v), err
}

// pause lets the next command come, and fixes when its fact became true.
func (l *lane) pause(ctx context.Context, p *invariant.Process, occurred map[int]time.Time, n int) error {
	if _, came := occurred[n]; came {
		return nil
	}
	if l == nil {
		occurred[n] = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
		return nil
	}
	if err := p.Sleep(ctx, p.Jitter(time.Minute)); err != nil {
		return err
	}
	occurred[n] = p.Now()
	return nil
}

// placed holds for every event after every write: its time alone has placed it, it never moves, and the index lists it there.
func (l *lane) placed(s *street, r outbox.Record) error {
	id := r.Event.ID
	if l == nil || r.Version == s.version[id] {
		return nil
	}
	if _, known := l.places[id]; !known {
		v, err := l.look(s.w).Versions(s.w.Context())
		if err != nil {
			return err
		}
		key := id
		if s.ordered {
			key = txn.JoinKey(r.Event.Tenant, r.Event.AggregateType, r.Event.AggregateID)
		}
		if l.places[id], err = v.Place(r.Event.OccurredAt, key); err != nil {
			return err
		}
	}
	if r.Placement != l.places[id] {
		return fmt.Errorf("event %s of %v is at %+v, its time puts it at %+v", id, r.Event.OccurredAt, r.Placement, l.places[id])
	}
	table := txn.Table{}.WithDefaults(outbox.DefaultTable)
	out, err := s.w.Client().GetItem(s.w.Context(), &dynamodb.GetItemInput{TableName: &table.Name, Key: table.Key("OUTBOX#"+id, "EVENT"), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return err
	}
	listed, ok := out.Item[outbox.DefaultIndexPK].(*types.AttributeValueMemberS)
	if ok && !strings.HasSuffix(listed.Value, fmt.Sprintf("#%04d", r.Placement.Shard)) {
		return fmt.Errorf("event %s of shard %d is listed under %s", id, r.Placement.Shard, listed.Value)
	}
	return nil
}

// reshard takes the steps of an operator, and begins again with another proposal if one was too late.
func (s *street) reshard() {
	s.w.Worker("resharder", func(ctx context.Context, p *invariant.Process) error {
		maps := shardmap.NewStore(p.Client(), shardmap.Config{Now: p.Now})
		for {
			v, err := maps.Load(ctx, laneName)
			if err != nil {
				return err
			}
			all := v.All()
			last := all[len(all)-1]
			switch {
			case all[0].State == shardmap.Draining:
				return nil
			case last.State == shardmap.Proposed:
				if _, err = maps.Admit(ctx, laneName, last.Version, "ann"); errors.Is(err, shardmap.ErrStep) {
					_, err = maps.Withdraw(ctx, laneName, last.Version, "ann")
				}
			case last.Version == 1 || last.State == shardmap.Withdrawn:
				from := p.Now().Add(laneRules.Notice() + 5*time.Second)
				_, err = maps.Propose(ctx, laneName, shardmap.Proposal{Shards: s.lane.to, From: from}, "ann")
			case p.Now().After(last.From.Add(2 * laneRules.MaxSkew)):
				_, err = maps.Drain(ctx, laneName, 1, p.Now().Add(-laneRules.MaxSkew), "ann")
			default:
				err = p.Sleep(ctx, 10*time.Second)
			}
			if err != nil {
				return err
			}
		}
	})
}

// consume applies what the broker took, in its order and again after a crash, to counters that must all stand at one.
func (s *street) consume(name string) {
	next := 0 // the transport's cursor
	s.w.Worker(name, func(ctx context.Context, p *invariant.Process) error {
		maps, commits := s.lane.maps(p), txn.New(p.Client(), p.Txn())
		received := inbox.New(inbox.Config{Consumer: "portfolio", Now: p.Now})
		for {
			finished := s.published()
			s.mu.Lock()
			waiting := s.taken[next:]
			s.mu.Unlock()
			if len(waiting) == 0 && finished {
				return nil
			}
			if len(waiting) == 0 {
				if err := p.Sleep(ctx, 3*time.Second); err != nil {
					return err
				}
				continue
			}
			v, err := maps.Versions(ctx)
			if err != nil {
				return err
			}
			e := waiting[0]
			place, err := v.Place(e.OccurredAt, e.ID)
			if err != nil {
				return err
			}
			_, err = received.Under(v).Process(ctx, commits, inbox.Event{ID: e.ID, Payload: e.Payload, MapVersion: place.MapVersion}, nil,
				txn.Update(counters, counterKey(e.ID), expression.Add(expression.Name("n"), expression.Value(1))))
			if err != nil {
				return err
			}
			next++
		}
	})
}

// applied holds at the end: what was published has had its effect, once.
func (s *street) applied() error {
	published := map[string]bool{}
	for _, e := range s.taken {
		published[e.ID] = true
	}
	for _, e := range s.created {
		out, err := s.w.Client().GetItem(s.w.Context(), &dynamodb.GetItemInput{TableName: &counters.Name, Key: counterKey(e.ID), ConsistentRead: aws.Bool(true)})
		if err != nil {
			return err
		}
		n, ok := out.Item["n"].(*types.AttributeValueMemberN)
		if ok != published[e.ID] || ok && n.Value != "1" {
			return fmt.Errorf("event %s was published: %v; its effect is %v", e.ID, published[e.ID], out.Item)
		}
	}
	return nil
}

// lanes are numbers of shards before and after. Few shards make histories with many relays' steps short.
var lanes = [][2]int{{1, 2}, {2, 3}, {3, 1}, {2, 3}, {1, 3}, {2, 1}, {13, 17}}

func publishWhileResharding(w *invariant.World) {
	shards := lanes[w.Choose("lane", len(lanes))]
	s := newStreet(w, w.Choose("ordered", 2) == 1, shardmap.Default13())
	s.lane = &lane{to: shards[1], places: map[string]shardmap.Placement{}}
	for _, table := range []string{shardmap.DefaultTable, inbox.DefaultTable, counters.Name} {
		w.Table(table)
	}
	_, err := shardmap.NewStore(w.Client(), shardmap.Config{Now: w.Now}).Create(w.Context(), laneName, shardmap.Fixed(shards[0]), laneRules, "ann")
	w.Check("create the map", err)
	w.Always("every event is found by its key, and no lease moves backward", s.found)
	s.reshard()
	for i := range 2 {
		s.produce(fmt.Sprint("order-", i), 1+w.Choose("more versions", 3))
		s.relay(i)
	}
	for i := range 1 + w.Choose("more consumers", 2) {
		s.consume(fmt.Sprint("consumer-", i))
	}
	s.operate()
	w.Run()
	w.Settle()
	w.Check("every event ends completed, passed or listed as parked", s.ended())
	w.Check("every completed event was published, an aggregate's in their order", s.told())
	w.Check("every published event is applied exactly once", s.applied())
	s.noteReshard()
}

// noteReshard says what the history has seen.
func (s *street) noteReshard() {
	v, err := s.lane.look(s.w).Versions(s.w.Context())
	s.w.Check("read the map", err)
	all := v.All()
	took := all[len(all)-1].From
	old, fresh, after := false, false, false
	for _, r := range s.records() {
		first := r.Placement.MapVersion == 1
		old, fresh, after = old || first, fresh || !first, after || first && r.CompletedAt.After(took)
	}
	s.w.Sometimes("placed by the old version", old)
	s.w.Sometimes("placed by the new version", fresh)
	s.w.Sometimes("an event of the old version is published when the new one has taken over", after)
	for _, step := range []string{"no map", "recover", "retry", "published twice", "a late step is refused"} {
		s.w.Sometimes(step, s.steps[step])
	}
}

func TestAReshardInTheMiddleLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	config := badStreet // and fates that only transactions meet are for the stories that have many
	config.Fates = slices.DeleteFunc(dynamosim.Fates(), func(f dynamosim.Fate) bool {
		return f == dynamosim.InProgress || f == dynamosim.TokenMismatch || f == dynamosim.MixedReasons
	})
	invariant.Check(t, config, publishWhileResharding)
}
