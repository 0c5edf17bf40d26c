package shardmap_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/shardmap"
)

// noRetry is a client that gives up at once, so that a test does not wait.
func noRetry(store *stores.Store, choose func(dynamosim.Call) dynamosim.Fate) *dynamodb.Client {
	o := store.Faulty(choose).Options()
	o.Retryer = aws.NopRetryer{}
	return dynamodb.New(o)
}

// The times stand at T-1, T and T+1 of what the rules say.
func TestTheLoaderFailsClosed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.create(t)
	reads, broken := 0, false
	loader := shardmap.NewStore(noRetry(b.store, func(dynamosim.Call) dynamosim.Fate {
		if reads++; broken {
			return dynamosim.LoseRequest
		}
		return dynamosim.Deliver
	}), b.config).Loader(lane)

	for _, c := range []struct {
		after  time.Duration
		broken bool
		reads  int
		stale  bool
	}{
		{0, true, 1, true},                               // nothing at hand
		{0, false, 2, false},                             // read
		{rules.MaxAge/2 - 1, false, 2, false},            // young
		{rules.MaxAge / 2, true, 3, false},               // could not be read again, and is still good
		{rules.MaxAge, true, 4, false},                   // for the last time
		{rules.MaxAge + 1, true, 5, true},                // too old
		{rules.MaxAge + 2, false, 6, false},              // back
		{rules.MaxAge + 2 - 1, false, 7, false},          // the clock went back a little: read again
		{-rules.MaxSkew, true, 8, true},                  // the clock went back further than it may
		{rules.MaxAge + rules.MaxAge/2, false, 8, false}, // and is right again: what is at hand is young
	} {
		b.now, broken = day.Add(c.after), c.broken
		v, err := loader.Versions(t.Context())
		var stale *shardmap.StaleError
		if c.stale != errors.As(err, &stale) || c.stale != errors.Is(err, shardmap.ErrStale) || reads != c.reads {
			t.Errorf("after %v: %d reads, %v; want %d", c.after, reads, err, c.reads)
		}
		if c.stale && (stale.Reason != shardmap.TooOld || !errors.Is(err, dynamosim.ErrLost)) {
			t.Errorf("after %v: %v, want the reason and the cause", c.after, err)
		}
		if !c.stale {
			if _, err := v.Place(b.now, "evt-1"); err != nil {
				t.Errorf("after %v: place: %v", c.after, err)
			}
		}
	}
}

// A map that somebody holds on to is refused by itself when it is too old.
func TestAMapIsUsedForMaxAge(t *testing.T) {
	t.Parallel()
	b := setup(t)
	v := b.create(t)
	p, err := v.Place(day, "evt-1")
	if err != nil {
		t.Fatal(err)
	}
	for after, fresh := range map[time.Duration]bool{rules.MaxAge: true, rules.MaxAge + 1: false, -rules.MaxSkew: true, -rules.MaxSkew - 1: false} {
		b.now = day.Add(after)
		_, placing := v.Place(day, "evt-1")
		_, living := v.Live()
		_, others := v.Others(p, "evt-1")
		for _, err := range []error{placing, living, others} {
			if fresh != (err == nil) || !fresh && !errors.Is(err, shardmap.ErrStale) {
				t.Errorf("after %v: %v", after, err)
			}
		}
	}
}

// An event of a time that a version may still be proposed for is not placed.
func TestAnEventAheadOfTheClockIsNotPlaced(t *testing.T) {
	t.Parallel()
	b := setup(t)
	v := b.create(t)
	limit := day.Add(rules.MaxAge + rules.MaxSkew)
	if _, err := v.Place(limit.Add(-1), "evt-1"); err != nil {
		t.Errorf("just before: %v", err)
	}
	var stale *shardmap.StaleError
	if _, err := v.Place(limit, "evt-1"); !errors.As(err, &stale) || stale.Reason != shardmap.Ahead || !stale.At.Equal(limit) {
		t.Errorf("at the limit: %v, want a StaleError for Ahead", err)
	}
}

func TestAnEventOfAPendingWindowIsNotPlaced(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.create(t)
	from := b.now.Add(rules.Notice())
	v, err := b.maps.Propose(t.Context(), lane, shardmap.Proposal{Shards: 17, From: from}, "ann")
	must(t, v, err)
	b.now = from
	v, err = b.maps.Load(t.Context(), lane)
	must(t, v, err)
	if p, err := v.Place(from.Add(-1), "evt-1"); err != nil || p.MapVersion != 1 {
		t.Errorf("before its window: %+v, %v", p, err)
	}
	var stale *shardmap.StaleError
	if _, err := v.Place(from, "evt-1"); !errors.As(err, &stale) || stale.Reason != shardmap.Undecided {
		t.Errorf("in its window: %v, want a StaleError for Undecided", err)
	}
}

// While two versions are live, the other one's place of a key is what a receipt must check.
func TestOthersAreThePlacesUnderEveryOtherLiveVersion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if others, err := b.create(t).Others(shardmap.Placement{MapVersion: 1}, "evt-1"); err != nil || len(others) != 0 {
		t.Errorf("with one version: %+v, %v", others, err)
	}
	from := b.reshard(t)
	b.now = from.Add(rules.MaxSkew)
	v, err := b.maps.Load(t.Context(), lane)
	must(t, v, err)
	old, err1 := v.Place(from.Add(-1), "evt-1")
	young, err2 := v.Place(from, "evt-1")
	if err1 != nil || err2 != nil || old != (shardmap.Placement{MapVersion: 1, HashVersion: 1, Shard: 3}) || young.MapVersion != 2 {
		t.Fatalf("%+v %v, %+v %v", old, err1, young, err2)
	}
	for p, want := range map[shardmap.Placement]shardmap.Placement{old: young, young: old} {
		if others, err := v.Others(p, "evt-1"); err != nil || len(others) != 1 || others[0] != want {
			t.Errorf("others of %+v: %+v, %v; want %+v", p, others, err, want)
		}
	}
	v, err = b.maps.Drain(t.Context(), lane, 1, from, "ann")
	must(t, v, err)
	b.now = from.Add(rules.MaxSkew + rules.Horizon)
	v, err = b.maps.Retire(t.Context(), lane, 1, evidence(from), "ann")
	must(t, v, err)
	var retired *shardmap.RetiredError
	if _, err := v.Place(from.Add(-1), "evt-1"); !errors.As(err, &retired) || !errors.Is(err, shardmap.ErrRetired) || retired.Version != 1 {
		t.Errorf("an event of a retired version: %v", err)
	}
	if others, err := v.Others(young, "evt-1"); err != nil || len(others) != 0 {
		t.Errorf("after retirement: %+v, %v", others, err)
	}
}

func TestAFixedMapIsASourceThatNeverAges(t *testing.T) {
	t.Parallel()
	var source shardmap.Source = shardmap.Default13()
	v, err := source.Versions(t.Context())
	must(t, v, err)
	for _, at := range []time.Time{{}, day, day.AddDate(1000, 0, 0)} {
		if p, err := v.Place(at, "evt-1"); err != nil || p.Shard != 3 {
			t.Errorf("%v: %+v, %v", at, p, err)
		}
	}
	if live, err := v.Live(); err != nil || len(live) != 1 || live[0] != shardmap.Default13() {
		t.Errorf("live: %+v, %v", live, err)
	}
	if _, err := shardmap.Fixed(0).Versions(t.Context()); !errors.Is(err, shardmap.ErrMap) {
		t.Errorf("an invalid map: %v", err)
	}
	if _, err := (shardmap.Versions{}).Place(day, "evt-1"); !errors.Is(err, shardmap.ErrStale) {
		t.Errorf("no map: %v", err)
	}
}

func TestAMissingMapPlacesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.maps.Loader(lane).Versions(t.Context())
	var missing *shardmap.StoredError
	if !errors.As(err, &missing) || !errors.Is(err, shardmap.ErrStored) || missing.Lane != lane {
		t.Errorf("%v, want a StoredError", err)
	}
}

// While one caller reads, the others use what is at hand, or wait no longer than their context.
func TestOneCallerReadsForAll(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.create(t)
	arrived, leave := make(chan struct{}), make(chan struct{})
	loader := shardmap.NewStore(b.store.Faulty(func(dynamosim.Call) dynamosim.Fate {
		arrived <- struct{}{}
		<-leave
		return dynamosim.Deliver
	}), b.config).Loader(lane)
	result := make(chan error)
	read := func() {
		_, err := loader.Versions(context.Background())
		result <- err
	}
	go read()
	<-arrived
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := loader.Versions(ctx); !errors.Is(err, shardmap.ErrStale) || !errors.Is(err, context.Canceled) {
		t.Errorf("with nothing at hand: %v", err)
	}
	leave <- struct{}{}
	if err := <-result; err != nil {
		t.Fatal(err)
	}
	b.now = b.now.Add(rules.MaxAge / 2)
	go read()
	<-arrived
	if _, err := loader.Versions(t.Context()); err != nil {
		t.Errorf("with a map at hand: %v", err)
	}
	leave <- struct{}{}
	if err := <-result; err != nil {
		t.Fatal(err)
	}
}
