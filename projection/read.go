package projection

import (
	"context"
	"fmt"
	"iter"
	"math/big"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/fanout"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/txn"
)

func parkedPrefix(source string) string { return keys.ParkedPrefix(source) }

// get reads an item with a strong read, nil if there is none.
func (p *Projection) get(ctx context.Context, key keys.Key) (txn.Item, error) {
	out, err := p.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &p.config.Table.Name, Key: p.config.Table.Key(key.PK, key.SK), ConsistentRead: aws.Bool(true),
	}, watch.In(ctx)...)
	if err != nil {
		return nil, errRead.Wrap(err, "projection: read %q / %q: %v", key.PK, key.SK, err)
	}
	if len(out.Item) == 0 {
		return nil, nil
	}
	return out.Item, nil
}

func (ns *Namespace) checkpoint(ctx context.Context, p place) (checkpoint, error) {
	item, err := ns.p.get(ctx, p.key)
	if err != nil {
		return checkpoint{}, err
	}
	return ns.decodeCheckpoint(p.key, item)
}

// Checkpoint is where a source stands in a namespace.
type Checkpoint struct {
	// Source is the source's name.
	Source string
	// Version is the highest version that was applied or skipped; all before it were, too.
	Version int64
	// Events is how many events were applied, Skipped how many versions ForceAdvance passed over.
	Events, Skipped int64
	// Control is the sum of the events' control figures.
	Control *big.Int
	// Parked is how many events wait behind a gap.
	Parked int64
	// OccurredAt is when the fact of the last applied event became true, UpdatedAt when the checkpoint last changed; zero if
	// never.
	OccurredAt, UpdatedAt time.Time
}

func (cp checkpoint) of(source string) Checkpoint {
	return Checkpoint{Source: source, Version: cp.version, Events: cp.events, Skipped: cp.skipped, Control: cp.control,
		Parked: cp.parked, OccurredAt: cp.occurredAt, UpdatedAt: cp.updatedAt}
}

// Checkpoint reads where a source stands, with a strong read. A source of which nothing came stands before Config.First.
// Errors: ErrInvalid, ErrRead, ErrCorrupt.
//
// Cost: 1 read unit.
func (ns *Namespace) Checkpoint(ctx context.Context, source string) (_ Checkpoint, err error) {
	ctx, op := ns.watch.Begin(ctx, "AP13.checkpoint")
	defer op.End(&err)
	p, err := ns.place(ctx, source)
	if err != nil {
		return Checkpoint{}, err
	}
	cp, err := ns.checkpoint(ctx, p)
	if err != nil {
		return Checkpoint{}, err
	}
	return cp.of(source), nil
}

// Gap is what keeps events of a source from being applied.
type Gap struct {
	// Source is the source's name.
	Source string
	// Missing is the first version that did not come.
	Missing int64
	// Parked is how many events wait, Highest the highest version of them.
	Parked, Highest int64
	// Since is from when on events of the source have waited without interruption, in UTC.
	Since time.Time
}

// Gaps lists the gaps of all sources, in the order of their names, by one keyed query for each shard (AP13, IDX12). A gap
// whose Missing is parked itself only waits to be drained, by [Namespace.Sweep] at the latest.
//
// Cost: eventually consistent, 0.5 read units for each shard and each 4 KiB begun of gaps in it; sources without a gap
// cost nothing. Errors: ErrInvalid, ErrCorrupt, and those of package fanout.
func (ns *Namespace) Gaps(ctx context.Context) iter.Seq2[Gap, error] {
	return watch.Each(ctx, &ns.watch, "AP13.gaps", observe.Gaps, func(ctx context.Context, yield func(Gap, error) bool) {
		var parked int64
		var oldest time.Duration
		now := ns.p.config.Now()
		for gap, err := range ns.gaps(ctx, false) {
			if !yield(gap, err) || err != nil {
				return
			}
			parked, oldest = parked+gap.Parked, max(oldest, now.Sub(gap.Since))
		}
		ns.watch.Measure(ctx, "AP13", observe.Parked, parked)
		ns.watch.Measure(ctx, "AP13", observe.OldestAge, int64(oldest))
	})
}

func (ns *Namespace) gaps(ctx context.Context, strong bool) iter.Seq2[Gap, error] {
	return list(ctx, ns, "AP13.gaps", keys.GapPrefix, strong, func(key keys.Key, item txn.Item) (Gap, error) {
		_, _, _, source, err := keys.ParseGap(key)
		if err != nil {
			return Gap{}, &RecordError{PK: key.PK, SK: key.SK}
		}
		d := &decoder{key: key, item: item}
		d.format()
		g := Gap{Source: source, Missing: d.number(attrMissing), Parked: d.number(attrParked), Highest: d.number(attrHighest), Since: d.time(attrSince)}
		return g, d.err
	})
}

// Checkpoints lists where all sources stand, in the order of their names, by one keyed query for each shard.
//
// Cost: eventually consistent, 0.5 read units for each shard and each 4 KiB begun of checkpoints in it. Errors: ErrInvalid,
// ErrCorrupt, and those of package fanout.
func (ns *Namespace) Checkpoints(ctx context.Context) iter.Seq2[Checkpoint, error] {
	return ns.checkpoints(ctx, false)
}

func (ns *Namespace) checkpoints(ctx context.Context, strong bool) iter.Seq2[Checkpoint, error] {
	return list(ctx, ns, "AP13.checkpoints", keys.CheckpointPrefix, strong, func(key keys.Key, item txn.Item) (Checkpoint, error) {
		_, _, _, source, err := keys.ParseCheckpoint(key)
		if err != nil {
			return Checkpoint{}, &RecordError{PK: key.PK, SK: key.SK}
		}
		cp, err := ns.decodeCheckpoint(key, item)
		return cp.of(source), err
	})
}

// ParkedEvents lists the events of a source that wait behind a gap, in the order of their versions.
//
// Cost: 1 read unit for each 4 KiB begun of them, strongly consistent. Errors: ErrInvalid, ErrCorrupt, and those of package
// fanout.
func (ns *Namespace) ParkedEvents(ctx context.Context, source string) iter.Seq2[Event, error] {
	return watch.Each(ctx, &ns.watch, "AP13.parked", "", func(ctx context.Context, yield func(Event, error) bool) {
		p, err := ns.place(ctx, source)
		if err != nil {
			yield(Event{}, err)
			return
		}
		q := ns.query(parkedPrefix(source), true)
		q.Branches = []fanout.Branch{{Name: "source", Partition: fanout.Text(p.key.PK)}}
		listed(ctx, ns, q, decodeParked)(yield)
	})
}

// query reads a range of sort keys.
func (ns *Namespace) query(prefix string, strong bool) fanout.Query {
	table := ns.p.config.Table
	return fanout.Query{Name: "AP13." + prefix, Tenant: ns.keyed(), Table: table.Name, PK: table.PK, SK: table.SK,
		Range: fanout.Range{Prefix: fanout.Text(prefix)}, Strong: strong}
}

// list reads a range of sort keys of every shard.
func list[T any](ctx context.Context, ns *Namespace, label, prefix string, strong bool, decode func(keys.Key, txn.Item) (T, error)) iter.Seq2[T, error] {
	return watch.Each(ctx, &ns.watch, label, "", func(ctx context.Context, yield func(T, error) bool) {
		var none T
		m, err := ns.shards(ctx)
		if err != nil {
			yield(none, err)
			return
		}
		q := ns.query(prefix, strong)
		for shard := range m.Shards {
			partition, err := keys.CheckpointPartition(ns.keyed(), m.Version, shard)
			if err != nil {
				yield(none, &InvalidError{Field: "Config.Name", Reason: keyReason(err)})
				return
			}
			q.Branches = append(q.Branches, fanout.Branch{Name: fmt.Sprint("shard ", shard), Partition: fanout.Text(partition)})
		}
		listed(ctx, ns, q, decode)(yield)
	})
}

func listed[T any](ctx context.Context, ns *Namespace, q fanout.Query, decode func(keys.Key, txn.Item) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		for item, err := range ns.p.reader.All(ctx, q) {
			if err != nil {
				yield(none, err)
				return
			}
			one, err := decode(ns.p.keyIn(item.Attributes), item.Attributes)
			if !yield(one, err) || err != nil {
				return
			}
		}
	}
}

// Lag is how far a source is behind its head.
type Lag struct {
	// Source is the source's name.
	Source string
	// Version is where the source stands, Behind how many versions its head is ahead of that: zero if it has caught up.
	Version, Behind int64
	// Parked is how many of those have come and wait behind a gap.
	Parked int64
	// Age is how old the last applied fact is, by the projection's clock; zero if nothing was applied.
	Age time.Duration
}

// Lag compares a source with its head, the version that its owner says it has. Errors: those of Checkpoint.
//
// Cost: 1 read unit.
func (ns *Namespace) Lag(ctx context.Context, source string, head int64) (Lag, error) {
	cp, err := ns.Checkpoint(ctx, source)
	if err != nil {
		return Lag{}, err
	}
	lag := Lag{Source: source, Version: cp.Version, Behind: max(0, head-cp.Version), Parked: cp.Parked}
	if !cp.OccurredAt.IsZero() {
		lag.Age = max(0, ns.p.config.Now().Sub(cp.OccurredAt))
	}
	return lag, nil
}

// WaitCaughtUp returns when every source has reached its head, looking again after each Config.Poll. It is for tests, and for
// a program that must see its own write in the view. Errors: those of Checkpoint, and the context's.
//
// Cost: 1 read unit for each source and look, until the source has caught up.
func (ns *Namespace) WaitCaughtUp(ctx context.Context, heads map[string]int64) error {
	for source, head := range heads {
		for {
			lag, err := ns.Lag(ctx, source, head)
			if err != nil {
				return err
			}
			if lag.Behind == 0 {
				break
			}
			if err := ns.p.config.Sleep(ctx, ns.p.config.Poll); err != nil {
				return fmt.Errorf("projection: wait for %s: %w", business(source, head), err)
			}
		}
	}
	return nil
}
