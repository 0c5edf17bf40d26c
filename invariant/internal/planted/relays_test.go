package planted

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/invariant"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/shardmap"
)

// The mistakes of a relay are made in the library's own, as those of a ledger: one thing is taken out of its requests, or
// they are sent in another order. The twin is the relay as it is.

func relays() []bug {
	slow := invariant.Config{SkewMax: 5 * time.Second, SettleSteps: 4000}
	lag, late, plain := slow, slow, slow
	lag.IndexLag = 30 * time.Second
	late.Fates, late.Crashes = []dynamosim.Fate{dynamosim.LateCommit}, 3
	return []bug{
		{name: "relay: completes without owning", label: "E3, O7", within: 400, twins: 20, config: plain,
			lesson: "who stood still past the lease completes what another relay has", story: relaying(completesAnyway, false)},
		{name: "relay: claims without a condition", label: "O3, E3", within: 100, twins: 20, config: lag,
			lesson: "the index is behind, and a completed event is in flight again", story: relaying(claimsAnyway, false)},
		{name: "relay: retry is placed anew", label: "O8", within: 100, twins: 20, config: plain,
			lesson: "the map has grown, and the retry goes to a shard that not every relay reads yet", story: relaying(movesRetries, false)},
		{name: "relay: journal dropped before its claims end", label: "O1", within: 100, twins: 20, config: plain,
			lesson: "the relay dies, and nothing leads to what it had claimed", story: relaying(dropsEarly, false)},
		{name: "relay: claims, then the journal", label: "O1", within: 200, twins: 20, config: plain,
			lesson: "a crash between the two, and no index and no journal shows the event", story: relaying(journalsLate, false)},
		{name: "relay: journal of a dead relay dropped without a fence", label: "O1, E3", within: 1000, twins: 20, config: late,
			lesson: "its claim was on its way, and arrives when nobody looks any more", story: relaying(fencesNothing, false)},
		{name: "relay: recovers without asking whose claim it is", label: "O7, E3", within: 1000, twins: 20, config: plain,
			lesson: "the event was claimed again meanwhile, and is taken from its owner", story: relaying(recoversAnyway, false)},
		{name: "relay: parked and not listed", label: "O5", within: 100, twins: 20, config: plain,
			lesson: "after the last attempt nobody hears of the event", story: relaying(parksUnseen, false)},
		{name: "relay: publishes past a parked event", label: "O6", within: 100, twins: 20, config: plain,
			lesson: "version 2 is out, version 1 waits for an operator", story: relaying(passesParked, true)},
	}
}

const relayLease = 20 * time.Second

// dispatch is one history of two relays and a broker that refuses, is slow, and loses answers.
type dispatch struct {
	w       *invariant.World
	events  *outbox.Outbox
	ids     []string
	ordered bool

	mu   sync.Mutex
	seen map[string]outbox.Record
}

// station is the client of one relay, with what is wrong with it.
type station struct {
	*dynamodb.Client
	mistake  func(ctx context.Context, c *station, in *dynamodb.UpdateItemInput, step string) (out *dynamodb.UpdateItemOutput, err error)
	journals func(ctx context.Context, c *station, in *dynamodb.PutItemInput) (*dynamodb.PutItemOutput, error)
	look     func(out *dynamodb.GetItemOutput)
	journal  *dynamodb.PutItemInput // the last one
}

func (c *station) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	if c.mistake != nil {
		return c.mistake(ctx, c, in, stepOf(in))
	}
	return c.Client.UpdateItem(ctx, in, opts...)
}

func (c *station) PutItem(ctx context.Context, in *dynamodb.PutItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	c.journal = in
	if c.journals != nil {
		return c.journals(ctx, c, in)
	}
	return c.Client.PutItem(ctx, in, opts...)
}

func (c *station) GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	out, err := c.Client.GetItem(ctx, in, opts...)
	if err == nil && c.look != nil {
		c.look(out)
	}
	return out, err
}

var assigned = regexp.MustCompile(`(#n\d+) = (:v\d+)`)

// sets returns what an update sets.
func sets(in *dynamodb.UpdateItemInput) map[string]string {
	all := map[string]string{}
	for _, pair := range assigned.FindAllStringSubmatch(*in.UpdateExpression, -1) {
		all[in.ExpressionAttributeNames[pair[1]]] = s(in.ExpressionAttributeValues[pair[2]])
	}
	return all
}

// stepOf names the step of an update.
func stepOf(in *dynamodb.UpdateItemInput) string {
	set := sets(in)
	fromReady := strings.Contains(*in.ConditionExpression, " = :v0") && s(in.ExpressionAttributeValues[":v0"]) == "READY"
	switch {
	case set["state"] == "IN_FLIGHT":
		return "claim"
	case set["state"] == "COMPLETED":
		return "complete"
	case set["state"] == "PARKED":
		return "park"
	case set["state"] == "READY" && strings.HasPrefix(set["failure"], "the lease of relay"):
		return "recover"
	case set["state"] == "READY":
		return "retry"
	case fromReady && len(set) == 1:
		return "fence"
	}
	return "other"
}

// unconditional asks for nothing but a record that has a state.
func unconditional(in *dynamodb.UpdateItemInput) *dynamodb.UpdateItemInput {
	return edited(in, *in.UpdateExpression, "attribute_exists(#n0)")
}

// edited is an update with other expressions.
func edited(in *dynamodb.UpdateItemInput, update, condition string) *dynamodb.UpdateItemInput {
	copied := *in
	u := types.Update{UpdateExpression: &update, ConditionExpression: &condition,
		ExpressionAttributeNames: maps.Clone(in.ExpressionAttributeNames), ExpressionAttributeValues: maps.Clone(in.ExpressionAttributeValues)}
	prune(&u)
	copied.UpdateExpression, copied.ConditionExpression = &update, &condition
	copied.ExpressionAttributeNames, copied.ExpressionAttributeValues = u.ExpressionAttributeNames, u.ExpressionAttributeValues
	return &copied
}

// atStep makes the mistake at one step; a change to nil sends nothing.
func atStep(step string, change func(in *dynamodb.UpdateItemInput) *dynamodb.UpdateItemInput) func(*station) {
	return func(c *station) {
		c.mistake = func(ctx context.Context, c *station, in *dynamodb.UpdateItemInput, is string) (*dynamodb.UpdateItemOutput, error) {
			if is == step {
				if in = change(in); in == nil {
					return &dynamodb.UpdateItemOutput{}, nil
				}
			}
			return c.Client.UpdateItem(ctx, in)
		}
	}
}

var (
	completesAnyway = atStep("complete", unconditional)
	claimsAnyway    = atStep("claim", unconditional)
	recoversAnyway  = atStep("recover", unconditional)
	fencesNothing   = atStep("fence", func(*dynamodb.UpdateItemInput) *dynamodb.UpdateItemInput { return nil })
	movesRetries    = atStep("retry", func(in *dynamodb.UpdateItemInput) *dynamodb.UpdateItemInput {
		moved := edited(in, *in.UpdateExpression, *in.ConditionExpression)
		for name, value := range moved.ExpressionAttributeValues {
			if at, ok := strings.CutSuffix(s(value), "#READY#0000"); ok {
				moved.ExpressionAttributeValues[name] = text(at + "#READY#0001")
			}
		}
		return moved
	})
	parksUnseen = atStep("park", func(in *dynamodb.UpdateItemInput) *dynamodb.UpdateItemInput {
		update := *in.UpdateExpression
		for _, pair := range assigned.FindAllStringSubmatch(update, -1) {
			if strings.HasPrefix(in.ExpressionAttributeNames[pair[1]], "ready") {
				update = strings.Replace(update, pair[0]+", ", "", 1)
			}
		}
		return edited(in, update, *in.ConditionExpression)
	})
)

func dropsEarly(c *station) {
	c.mistake = func(ctx context.Context, c *station, in *dynamodb.UpdateItemInput, step string) (*dynamodb.UpdateItemOutput, error) {
		out, err := c.Client.UpdateItem(ctx, in)
		if step == "claim" && err == nil {
			_, err = c.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: c.journal.TableName,
				Key: map[string]types.AttributeValue{"PK": c.journal.Item["PK"], "SK": c.journal.Item["SK"]}})
		}
		return out, err
	}
}

func journalsLate(c *station) {
	c.journals = func(context.Context, *station, *dynamodb.PutItemInput) (*dynamodb.PutItemOutput, error) {
		return &dynamodb.PutItemOutput{}, nil
	}
	c.mistake = func(ctx context.Context, c *station, in *dynamodb.UpdateItemInput, step string) (*dynamodb.UpdateItemOutput, error) {
		out, err := c.Client.UpdateItem(ctx, in)
		if step == "claim" && err == nil {
			_, err = c.Client.PutItem(ctx, c.journal)
		}
		return out, err
	}
}

func passesParked(c *station) {
	c.look = func(out *dynamodb.GetItemOutput) {
		if s(out.Item["state"]) == "PARKED" {
			out.Item = merge(out.Item, "state", text("PASSED"))
		}
	}
}

// relaying tells the story of two relays that publish the two versions of an order.
func relaying(mistake func(*station), ordered bool) func(w *invariant.World, broken bool) {
	return func(w *invariant.World, broken bool) {
		d := &dispatch{w: w, ordered: ordered, seen: map[string]outbox.Record{},
			events: outbox.New(outbox.Config{Service: shop, Map: shardmap.Fixed(1), Ordered: ordered})}
		w.Table(outbox.DefaultTable, d.events.Index())
		for version := range int64(2) {
			e := outbox.Event{Tenant: shop, AggregateType: "Order", AggregateID: "order", AggregateVersion: version + 1, Type: "Changed",
				SchemaVersion: 1, OccurredAt: newYear}
			e.ID = e.OrderedID()
			settle(w, fmt.Sprint("mark", version), d.events.Create(e))
			d.ids = append(d.ids, e.ID)
		}
		w.Always("steps of an event follow one another", d.hold)
		for i := range 2 {
			d.relay(i, broken, mistake)
		}
		w.Run()
		w.Settle()
		w.Check("every event ends completed or listed as parked", d.ended())
	}
}

func (d *dispatch) relay(i int, broken bool, mistake func(*station)) {
	off := time.Duration(i+1) * 17 * time.Microsecond
	d.w.Worker(fmt.Sprint("relay", i), func(ctx context.Context, p *invariant.Process) error {
		c := &station{Client: p.Client()}
		if broken {
			mistake(c)
		}
		life := ctx
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		config := outbox.RelayConfig{
			Owner: p.Name(), Batch: 1, Batches: 1, Concurrency: 1, Lease: relayLease + off, Recover: 5*time.Second + off, Renewals: 1,
			PollMin: 2*time.Second + off, PollMax: 8*time.Second + off, MaxAttempts: 3, RetryMax: 10 * time.Second, Hold: 5 * time.Second,
			Now: p.Now, NewID: p.NewID, Jitter: p.Jitter,
			Sleep: func(ctx context.Context, wait time.Duration) error {
				if d.done() {
					cancel()
				}
				return p.Sleep(ctx, wait)
			},
		}
		return outbox.NewRelay(d.events, c, &broker{d, p, life}, config).Run(ctx)
	})
}

type broker struct {
	d    *dispatch
	p    *invariant.Process
	life context.Context
}

// Publish acknowledges with the name of the process that asked.
func (b *broker) Publish(ctx context.Context, batch []outbox.Message) []outbox.Result {
	results := make([]outbox.Result, len(batch))
	switch b.p.Jitter(5) {
	case 1:
		_ = b.p.Sleep(b.life, 3*relayLease)
	case 2:
		results[0].Err = errors.New("the broker refused it")
		return results
	case 3:
		results[0].Err = errors.New("the broker took it, the answer is lost")
	}
	if e := batch[0].Event; b.d.ordered && e.AggregateVersion > 1 {
		before, err := b.d.events.Get(context.Background(), b.d.w.Client(), b.d.ids[0])
		if err != nil || !before.State.Final() {
			b.p.Fatalf("version 2 is published, version 1 is %s, %v", before.State, err)
		}
	}
	if results[0].Err == nil {
		token := b.p.NewID()
		results[0].Ack = token[:strings.LastIndexByte(token, '.')]
	}
	return results
}

func (d *dispatch) records() []outbox.Record {
	var all []outbox.Record
	for _, id := range d.ids {
		r, err := d.events.Get(context.Background(), d.w.Client(), id)
		if err != nil {
			d.w.Fatalf("event %s: %v", id, err)
		}
		all = append(all, r)
	}
	return all
}

// done: an aggregate that stops at a parked event has ended, too.
func (d *dispatch) done() bool {
	all := d.records()
	if d.ordered && all[0].State == outbox.Parked {
		return all[1].State != outbox.InFlight
	}
	return !slices.ContainsFunc(all, func(r outbox.Record) bool { return !r.State.Final() && r.State != outbox.Parked })
}

// hold compares each event with what it was.
func (d *dispatch) hold() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.records() {
		id := r.Event.ID
		was, known := d.seen[id]
		d.seen[id] = r
		switch {
		case known && (r.Version < was.Version || was.State.Final() && r.State != was.State):
			return fmt.Errorf("event %s went from %s at version %d to %s at version %d", id, was.State, was.Version, r.State, r.Version)
		case known && was.State == outbox.InFlight && r.State == outbox.Ready && r.Version > was.Version+1:
			return fmt.Errorf("event %s of claim %s was taken away from claim %s", id, r.Claim, was.Claim)
		case r.State == outbox.Completed && !strings.HasPrefix(r.Claim, r.Ack+"."):
			return fmt.Errorf("event %s of claim %s is completed by %s", id, r.Claim, r.Ack)
		case r.State == outbox.InFlight && !d.leadsTo(r):
			return fmt.Errorf("event %s is IN_FLIGHT, and no journal leads to it when its lease ends", id)
		}
	}
	return nil
}

func (d *dispatch) leadsTo(r outbox.Record) bool {
	for stuck := range d.events.Stuck(context.Background(), d.w.Client(), r.LeaseUntil) {
		if stuck.Event.ID == r.Event.ID {
			return true
		}
	}
	return false
}

func (d *dispatch) ended() error {
	d.w.Advance(time.Minute) // the index catches up
	listed := map[string]bool{}
	for r, err := range d.events.Parked(d.w.Context(), d.w.Client()) {
		if err != nil {
			return err
		}
		listed[r.Event.ID] = true
	}
	for _, r := range d.records() {
		behind := d.ordered && r.Event.AggregateVersion > 1 && listed[d.ids[0]]
		if r.State != outbox.Completed && !listed[r.Event.ID] && !behind {
			return fmt.Errorf("event %s is %s and not listed", r.Event.ID, r.State)
		}
	}
	return nil
}
