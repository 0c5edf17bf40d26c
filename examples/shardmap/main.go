// Command shardmap shows the pattern: an inbox grows from 13 shards to 17 while it is in use. The map goes through its life,
// each step with its evidence, and an event stays where its own time has put it, so that a repeat finds it. It runs on the
// embedded engine and prints what happens.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/inbox"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "shardmap:", err)
		os.Exit(1)
	}
}

// lane names what is sharded: the receipts of one consumer.
const lane = "inbox/portfolio"

// noon is when the new map takes over.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// service is a consumer whose inbox grows.
type service struct {
	out       io.Writer
	now       time.Time
	maps      *shardmap.Store
	loader    *shardmap.Loader
	committer *txn.Committer
	received  *inbox.Inbox
}

// run is the program.
func run(ctx context.Context, out io.Writer) error {
	db := dynamosim.Open(dynamosim.Options{})
	if err := errors.Join(db.CreateTable(shardmap.DefaultTable), db.CreateTable(inbox.DefaultTable)); err != nil {
		return err
	}
	client := db.Client() // in production: the *dynamodb.Client that you have
	s := &service{out: out, now: noon.Add(-time.Hour), committer: txn.New(client, txn.Config{}), received: inbox.New(inbox.Config{Consumer: "portfolio"})}
	s.maps = shardmap.NewStore(client, shardmap.Config{Now: func() time.Time { return s.now }})
	s.loader = s.maps.Loader(lane) // one for the process

	for _, load := range []shardmap.Load{
		{Rate: "5000", UnitsPerOperation: "2", MaxKeyShare: "1", Target: "800"},
		{Rate: "6500", UnitsPerOperation: "2", MaxKeyShare: "1", Target: "800"},
	} {
		shards, err := shardmap.ShardsFor(load)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s events a second, %s write units each, %s a shard: %d shards\n", load.Rate, load.UnitsPerOperation, load.Target, shards)
	}
	fmt.Fprintln(out)
	for _, chapter := range []func(context.Context) error{s.grow, s.finish} {
		if err := chapter(ctx); err != nil {
			return err
		}
	}
	return nil
}

// grow takes the new map into use while events arrive.
func (s *service) grow(ctx context.Context) error {
	rules := shardmap.Rules{MaxAge: time.Minute, MaxSkew: 5 * time.Second, Horizon: 7 * 24 * time.Hour}
	if err := s.step(s.maps.Create(ctx, lane, shardmap.Default13(), rules, "ann")); err != nil {
		return err
	}
	if err := s.deliver(ctx, "evt-1", s.now); err != nil {
		return err
	}
	// In good time before noon: until every process must know the new map, nobody may use it.
	if err := s.step(s.maps.Propose(ctx, lane, shardmap.Proposal{Shards: 17, From: noon}, "ann")); err != nil {
		return err
	}
	if err := s.step(s.maps.Admit(ctx, lane, 2, "ann")); err != nil {
		return err
	}
	s.now = noon.Add(time.Minute)
	for _, event := range []struct {
		id string
		at time.Time
	}{
		{"evt-2", s.now},                      // of the new window
		{"evt-3", noon.Add(-time.Second)},     // of the old window, late
		{"evt-1", noon.Add(-time.Hour)},       // a repeat: its time has not changed
		{"evt-1", noon.Add(30 * time.Second)}, // a repeat whose sender stamped it anew, so that it belongs elsewhere
	} {
		if err := s.deliver(ctx, event.id, event.at); err != nil {
			return err
		}
	}
	return nil
}

// finish ends the old map: first new events, then late ones, each with evidence.
func (s *service) finish(ctx context.Context) error {
	s.now = noon.Add(time.Hour)
	if err := s.step(s.maps.Drain(ctx, lane, 1, noon.Add(30*time.Minute), "ann")); err != nil {
		return err
	}
	counted := shardmap.Totals{Count: 2, Digest: "evt-1,evt-3"}
	evidence := shardmap.Evidence{Watermark: noon.Add(30 * time.Minute), Expected: counted, Actual: counted}
	if err := s.step(s.maps.Retire(ctx, lane, 1, evidence, "ann")); err != nil {
		return err
	}
	s.now = noon.Add(8 * 24 * time.Hour)
	if err := s.step(s.maps.Retire(ctx, lane, 1, evidence, "ann")); err != nil {
		return err
	}
	return s.deliver(ctx, "evt-9", noon.Add(-time.Minute))
}

// deliver gives an event its effect: placed by its own time, and checked under every other map under which it may stand.
func (s *service) deliver(ctx context.Context, id string, at time.Time) error {
	versions, err := s.loader.Versions(ctx)
	if err != nil {
		return err
	}
	placed, err := versions.Place(at, id)
	var retired *shardmap.RetiredError
	if errors.As(err, &retired) {
		s.say("event", "%s of %s: refused, version %d is retired", id, at.Format(time.TimeOnly), retired.Version)
		return nil
	}
	if err != nil {
		return err
	}
	outcome, err := s.received.Under(versions).Process(ctx, s.committer, inbox.Event{ID: id, MapVersion: placed.MapVersion}, nil)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("effect, %s write units", outcome.Commit.Total())
	if outcome.Duplicate {
		what = "had its effect before"
	}
	s.say("event", "%s of %s: version %d, shard %2d: %s", id, at.Format(time.TimeOnly), placed.MapVersion, placed.Shard, what)
	return nil
}

// step prints the map after a step, or why the step is refused.
func (s *service) step(versions shardmap.Versions, err error) error {
	var refused *shardmap.StepError
	if errors.As(err, &refused) {
		s.say("refused", "%s of version %d: %s", refused.Step, refused.Version, refused.Reason)
		return nil
	}
	var states []string
	for _, v := range versions.All() {
		states = append(states, fmt.Sprintf("version %d of %d shards %s", v.Version, v.Shards, v.State))
	}
	s.say("map", "%s", strings.Join(states, ", "))
	return err
}

func (s *service) say(what, format string, args ...any) {
	fmt.Fprintf(s.out, "%s  %-8s %s\n", s.now.Format("_2 Jan 15:04"), what, fmt.Sprintf(format, args...))
}
