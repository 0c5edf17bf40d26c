package projection

import (
	"context"
	"errors"
	"iter"
	"math/big"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/txn"
)

// Build is how far the build of a namespace is, as it is stored.
type Build struct {
	// Namespace is the one that is built.
	Namespace int
	// State is how far it is.
	State BuildState
	// Position is what the source said of the last event that is known to be applied, to go on behind it. It is empty
	// before the first, and after the last.
	Position string
	// Read is how many events of the source were read, repeats after a crash included.
	Read int64
	// Totals are what was proved, zero before.
	Totals Totals
	// StartedAt is when it was started, UpdatedAt when it last changed; By is who did that.
	StartedAt, UpdatedAt time.Time
	By                   string

	revision int64
}

// Totals are what the checkpoints of a namespace add up to.
type Totals struct {
	// Sources is how many sources there are.
	Sources int64
	// Events is how many events were applied to them, Skipped how many versions were passed over.
	Events, Skipped int64
	// Control is the sum of the events' control figures; nil counts as zero.
	Control *big.Int
}

func (t Totals) control() *big.Int {
	if t.Control == nil {
		return new(big.Int)
	}
	return t.Control
}

// Entry is an event of a full source.
type Entry struct {
	// Event is the event.
	Event Event
	// Position is where the source can go on behind it, in the source's own words; at most 1,024 bytes.
	Position string
}

// ProgressEvery is after how many events of a full source a build stores where it is.
const ProgressEvery = 500

const maxPositionBytes = 1024

// Start starts the build of this namespace, or returns the one that was started before. From then on deliver every live
// event to this namespace too, beside the one that is read. Errors: ErrInvalid, ErrWrite, ErrRead, ErrCorrupt.
//
// Cost: 1 write unit, or 1 read unit more if it was started before.
func (ns *Namespace) Start(ctx context.Context, by string) (_ Build, err error) {
	ctx, op := ns.watch.Begin(ctx, "AP13.start")
	defer op.End(&err)
	key, err := ns.buildKey(by)
	if err != nil {
		return Build{}, err
	}
	now, err := ns.p.now()
	if err != nil {
		return Build{}, err
	}
	item := ns.p.config.Table.Key(key.PK, key.SK)
	item[attrFormat], item[attrRevision], item[attrState] = number(recordFormat), number(1), text(string(Building))
	item[attrStartedAt], item[attrUpdatedAt], item[attrBy] = text(now), text(now), text(by)
	item[attrRead] = number(0)
	_, err = ns.p.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &ns.p.config.Table.Name, Item: item,
		ConditionExpression: aws.String("attribute_not_exists(#pk)"), ExpressionAttributeNames: map[string]string{"#pk": ns.p.config.Table.PK},
	}, watch.In(ctx)...)
	var there *types.ConditionalCheckFailedException
	if err != nil && !errors.As(err, &there) {
		return Build{}, errWrite.Wrap(err, "projection: start the build of %q namespace %d: %v", ns.p.config.Name, ns.number, err)
	}
	return ns.Build(ctx)
}

func (ns *Namespace) buildKey(by string) (keys.Key, error) {
	if ns.err != nil {
		return keys.Key{}, ns.err
	}
	if by == "" || !utf8.ValidString(by) || len(by) > maxForceBytes {
		return keys.Key{}, &InvalidError{Field: "by", Reason: "is empty, too long or not valid UTF-8"}
	}
	return keys.Build(ns.p.config.Name, ns.number)
}

// Build reads how far the build of this namespace is, with a strong read. Without one the error is a [StateError]. Errors: also
// ErrInvalid, ErrRead, ErrCorrupt.
//
// Cost: 1 read unit.
func (ns *Namespace) Build(ctx context.Context) (_ Build, err error) {
	ctx, op := ns.watch.Begin(ctx, "AP13.build")
	defer op.End(&err)
	key, err := ns.buildKey("-")
	if err != nil {
		return Build{}, err
	}
	item, err := ns.p.get(ctx, key)
	if err != nil {
		return Build{}, err
	}
	if item == nil {
		return Build{}, ns.state("it was not started")
	}
	d := &decoder{key: key, item: item}
	d.format()
	b := Build{
		Namespace: ns.number, State: BuildState(d.text(attrState)), Read: d.number(attrRead), By: d.text(attrBy),
		StartedAt: d.time(attrStartedAt), UpdatedAt: d.time(attrUpdatedAt), revision: d.number(attrRevision),
	}
	if d.has(attrPosition) {
		b.Position = d.text(attrPosition)
	}
	if b.State == Proved {
		b.Totals = Totals{Sources: d.number(attrSources), Events: d.number(attrEvents), Skipped: d.count(attrSkipped), Control: d.total(attrControl)}
	}
	return b, d.err
}

func (ns *Namespace) state(reason string) error {
	return &StateError{Name: ns.p.config.Name, Namespace: ns.number, Reason: reason}
}

// Load applies the events of a full source to this namespace: of an archive, of a table export, of the owner's own records.
// build is what Start or Build returned; begin the source behind its Position. Where it is is stored after every
// [ProgressEvery] events, so whoever goes on after a crash repeats at most those, and repeats are harmless. Two runners at
// once do no harm either, but one of them ends with a [StateError]. The source may bring sources in any order, but the
// versions of each without holes: an event ahead of a hole is parked, and an [OverflowError] ends the run.
//
// progress is told what was stored; it may be nil. Load returns after the source has ended, with the build in state Loaded.
// Errors: those of Apply and of the source, ErrState, ErrWrite.
//
// Cost: that of Apply for each event, and 1 write unit for each ProgressEvery.
func (ns *Namespace) Load(ctx context.Context, build Build, source iter.Seq2[Entry, error], progress func(Build)) (Build, error) {
	if ns.err != nil {
		return build, ns.err
	}
	if build.State != Building || build.Namespace != ns.number {
		return build, ns.state("its build is " + string(build.State) + ", not " + string(Building))
	}
	note := func(to BuildState, position string, read int64) (err error) {
		c := newChange()
		c.set(attrState, text(string(to)))
		c.set(attrRead, number(build.Read+read))
		if position == "" {
			c.remove(attrPosition)
		} else {
			c.set(attrPosition, text(position))
		}
		if err = ns.save(ctx, build, c); err != nil {
			return err
		}
		build, err = ns.Build(ctx)
		if err == nil && progress != nil {
			progress(build)
		}
		return err
	}
	read, position := int64(0), build.Position
	for entry, err := range source {
		if err != nil {
			return build, err
		}
		if len(entry.Position) > maxPositionBytes || !utf8.ValidString(entry.Position) {
			return build, &InvalidError{Source: entry.Event.Source, Version: entry.Event.Version, Field: "Position", Reason: "is too long or not valid UTF-8"}
		}
		if _, err := ns.Apply(ctx, entry.Event); err != nil {
			return build, err
		}
		read++
		position = entry.Position
		if read == ProgressEvery {
			if err := note(Building, position, read); err != nil {
				return build, err
			}
			read = 0
		}
	}
	return build, note(Loaded, "", read)
}

// save changes the record of a build that is as it was read.
func (ns *Namespace) save(ctx context.Context, build Build, c *change) (err error) {
	ctx, op := ns.watch.Begin(ctx, "AP13.save")
	defer op.End(&err)
	key, err := ns.buildKey("-")
	if err != nil {
		return err
	}
	now, err := ns.p.now()
	if err != nil {
		return err
	}
	c.set(attrUpdatedAt, text(now))
	c.set(attrRevision, number(build.revision+1))
	c.values[":was"], c.values[":v"] = number(build.revision), number(recordFormat)
	w := c.write(ns.p.config.Table, key)
	w.Condition = c.name(attrRevision) + " = :was AND " + c.name(attrFormat) + " = :v"
	_, err = ns.p.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &w.Table.Name, Key: w.Key, UpdateExpression: &w.Update, ConditionExpression: &w.Condition,
		ExpressionAttributeNames: c.names, ExpressionAttributeValues: c.values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}, watch.In(ctx)...)
	var failed *types.ConditionalCheckFailedException
	switch {
	case errors.As(err, &failed) && written(failed.Item, c.values):
		return nil // by this very call, whose first answer was lost
	case errors.As(err, &failed):
		return ns.state("somebody else changed its build since it was read")
	case err != nil:
		return errWrite.Wrap(err, "projection: save the build of %q namespace %d: %v", ns.p.config.Name, ns.number, err)
	}
	return nil
}

// written says whether an item has everything that a change set.
func written(item txn.Item, values map[string]types.AttributeValue) bool {
	for name, value := range values {
		if name == ":was" {
			continue
		}
		if !same(item[name[1:]], value) {
			return false
		}
	}
	return true
}

func same(a, b types.AttributeValue) bool {
	switch a := a.(type) {
	case *types.AttributeValueMemberS:
		s, ok := b.(*types.AttributeValueMemberS)
		return ok && s.Value == a.Value
	case *types.AttributeValueMemberN:
		n, ok := b.(*types.AttributeValueMemberN)
		return ok && n.Value == a.Value
	}
	return false
}
