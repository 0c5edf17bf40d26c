package shardmap

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/observe"
)

// Client is the calls that this package makes. *dynamodb.Client satisfies it.
type Client interface {
	GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(ctx context.Context, in *dynamodb.PutItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
}

// DefaultTable is the table of a Config that names none.
const DefaultTable = "ShardMaps"

// Config says where maps are stored. The zero value works.
type Config struct {
	// Table holds the maps; it may be shared with other records. Default: "ShardMaps".
	Table string
	// PK and SK are its key attributes. Defaults: "PK" and "SK".
	PK, SK string
	// Now tells the time. Its clock is one of those that Rules.MaxSkew speaks of. Default: time.Now.
	Now func() time.Time
	// Observer, if set, is told of every Load, Create and later step. They serve no single pattern.
	Observer observe.Observer
}

// Store reads and changes the stored maps of lanes. It is safe for concurrent use.
type Store struct {
	client Client
	config Config
	watch  watch.Watch
}

// NewStore returns a Store.
func NewStore(client Client, config Config) *Store {
	config.Table = cmp.Or(config.Table, DefaultTable)
	config.PK, config.SK = cmp.Or(config.PK, "PK"), cmp.Or(config.SK, "SK")
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Store{client: client, config: config, watch: watch.New("shardmap", "", config.Observer, config.Now)}
}

// Load reads the map of a lane, with a strongly consistent read. Errors: ErrInvalid, ErrStale if the read fails,
// ErrStored.
//
// Cost: 1 read unit for each 4 KiB begun; a version takes about 0.3 to 0.8 KiB.
func (s *Store) Load(ctx context.Context, lane string) (_ Versions, err error) {
	ctx, op := s.watch.Begin(ctx, "load")
	defer op.End(&err)
	if reason := laneFlaw(lane); reason != "" {
		return Versions{}, &InvalidError{Lane: lane, Field: "lane", Reason: reason}
	}
	readAt := s.config.Now()
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.config.Table, Key: s.key(lane), ConsistentRead: aws.Bool(true),
	}, watch.In(ctx)...)
	if err != nil {
		return Versions{}, &StaleError{Lane: lane, Reason: TooOld, Err: err}
	}
	if out.Item == nil {
		return Versions{}, &StoredError{Lane: lane, Reason: "does not exist"}
	}
	return s.versions(lane, out.Item, readAt)
}

func (s *Store) key(lane string) attributes {
	return attributes{s.config.PK: text(partition(lane)), s.config.SK: text(sortKey)}
}

func (s *Store) versions(lane string, item attributes, readAt time.Time) (Versions, error) {
	v, fault := decode(lane, item)
	if fault != "" {
		return Versions{}, &StoredError{Lane: lane, Reason: fault}
	}
	v.ReadAt, v.now = readAt, s.config.Now
	return v, nil
}

// Create stores the first version of a lane's map, which places events of all times. The Version of m does not count; zero
// Rules are the defaults. A repeat succeeds; any other map that is there is an ErrStored. Errors: ErrInvalid, ErrMap,
// ErrStored, ErrWrite.
//
// Cost: 1 write unit.
func (s *Store) Create(ctx context.Context, lane string, m Map, rules Rules, by string) (_ Versions, err error) {
	ctx, op := s.watch.Begin(ctx, string(StepCreate))
	defer op.End(&err)
	c := command{lane: lane, step: StepCreate, by: by, m: m, rules: rules.withDefaults()}
	if err := c.check(); err != nil {
		return Versions{}, err
	}
	first, err := Versions{Lane: lane, Rules: c.rules}.next(c, s.config.Now())
	if err != nil {
		return Versions{}, err
	}
	return s.put(ctx, c, first)
}

// Proposal is a version that shall take over at a time.
type Proposal struct {
	// Shards is its number of shards, and HashVersion its hash. Default of the latter: HashV1.
	Shards, HashVersion int
	// From is the first event time that it places. It must be Rules.Notice ahead, and long enough after that for Admit.
	From time.Time
}

// Propose stores the next version of a lane's map. From then on whoever reads the map knows it, but nobody may place an event
// of its window until [Store.Admit] or [Store.Withdraw] decides; so do one of these well before it begins. A lane has one
// proposal at a time. Errors: ErrInvalid, ErrMap, ErrStep, ErrStored, ErrStale, ErrWrite.
//
// Cost of this and every later step: one Load, and 1 write unit for each KiB begun of the map.
func (s *Store) Propose(ctx context.Context, lane string, p Proposal, by string) (Versions, error) {
	return s.step(ctx, command{lane: lane, step: StepPropose, by: by, from: p.From.UTC(),
		m: Map{HashVersion: cmp.Or(p.HashVersion, HashV1), Shards: p.Shards}})
}

// Admit lets a proposed version place the events of its window, if it has been stored for long enough before that begins:
// the proof is the read that this makes. Errors: as Propose; ErrStep if it is too late.
//
// Cost: as Propose.
func (s *Store) Admit(ctx context.Context, lane string, version int, by string) (Versions, error) {
	return s.step(ctx, command{lane: lane, step: StepAdmit, by: by, version: version})
}

// Withdraw ends a proposal; the version before it keeps placing. Its number is not used again. Errors: as Propose.
//
// Cost: as Propose.
func (s *Store) Withdraw(ctx context.Context, lane string, version int, by string) (Versions, error) {
	return s.step(ctx, command{lane: lane, step: StepWithdraw, by: by, version: version})
}

// Drain says that a version's window has ended: the watermark, a time that all sources have passed, is behind it. What still
// comes are repeats and late events, and they are placed as before. Errors: as Propose.
//
// Cost: as Propose.
func (s *Store) Drain(ctx context.Context, lane string, version int, watermark time.Time, by string) (Versions, error) {
	return s.step(ctx, command{lane: lane, step: StepDrain, by: by, version: version, evidence: Evidence{Watermark: watermark.UTC()}})
}

// Retire ends a version, when the horizon has passed since the end of its window and the evidence shows that nothing is left:
// events of its window are an ErrRetired from now on, and readers do not visit it. Whoever used an older map may do so for
// Rules.MaxAge more; delete the version's records after that. Errors: as Propose.
//
// Cost: as Propose.
func (s *Store) Retire(ctx context.Context, lane string, version int, e Evidence, by string) (Versions, error) {
	e.Watermark = e.Watermark.UTC()
	return s.step(ctx, command{lane: lane, step: StepRetire, by: by, version: version, evidence: e})
}

// step reads the map, judges the step, and writes the map on condition that nobody has changed it meanwhile.
func (s *Store) step(ctx context.Context, c command) (_ Versions, err error) {
	ctx, op := s.watch.Begin(ctx, string(c.step))
	defer op.End(&err)
	if err := c.check(); err != nil {
		return Versions{}, err
	}
	v, err := s.Load(ctx, c.lane)
	if err != nil {
		return Versions{}, err
	}
	if v.done(c) {
		return v, nil
	}
	after, err := v.next(c, s.config.Now())
	if err != nil {
		return Versions{}, err
	}
	return s.put(ctx, c, after)
}

// put stores the map that a step led to. A refusal is looked into, because the SDK may have sent the request twice and lost the
// first answer: then the stored map shows this very step.
func (s *Store) put(ctx context.Context, c command, after Versions) (Versions, error) {
	after.ReadAt, after.now = s.config.Now(), s.config.Now
	item := after.encode()
	maps.Copy(item, s.key(c.lane))
	in := &dynamodb.PutItemInput{
		TableName: &s.config.Table, Item: item,
		ConditionExpression:                 aws.String("attribute_not_exists(#key)"),
		ExpressionAttributeNames:            map[string]string{"#key": s.config.PK},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if c.step != StepCreate {
		in.ConditionExpression = aws.String("#revision = :read")
		in.ExpressionAttributeNames = map[string]string{"#revision": attrRevision}
		in.ExpressionAttributeValues = attributes{":read": number(after.Revision - 1)}
	}
	_, err := s.client.PutItem(ctx, in, watch.In(ctx)...)
	if err == nil {
		return after, nil
	}
	var refused *types.ConditionalCheckFailedException
	if !errors.As(err, &refused) {
		return Versions{}, &WriteError{Lane: c.lane, Step: c.step, Err: err}
	}
	if refused.Item == nil {
		return Versions{}, &WriteError{Lane: c.lane, Step: c.step}
	}
	stored, err := s.versions(c.lane, refused.Item, after.ReadAt)
	switch {
	case err != nil:
		return Versions{}, err
	case stored.done(c):
		return stored, nil
	case c.step == StepCreate:
		return Versions{}, &StoredError{Lane: c.lane, Reason: "is there already, with another map, other rules or by somebody else"}
	}
	return Versions{}, &WriteError{Lane: c.lane, Step: c.step}
}
