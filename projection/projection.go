package projection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/fanout"
	"github.com/dynafin/dynafin/internal/ambient"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// Defaults and bounds of a Config.
const (
	// DefaultTable is the table of a Config that names none.
	DefaultTable = "Projection"
	// DefaultParkedMax is how many events of one source may be parked unless configured otherwise.
	DefaultParkedMax = 100
	// DefaultPoll is how long WaitCaughtUp waits between two looks.
	DefaultPoll = 100 * time.Millisecond
	// MaxNamespace is the highest namespace.
	MaxNamespace = 9999
	// MaxVersion is the highest version of a source.
	MaxVersion = keys.MaxPosition
)

// Client is what a projection asks of DynamoDB. *dynamodb.Client satisfies it.
type Client interface {
	txn.Client
	fanout.Client
	// GetItem reads checkpoints, builds and the alias.
	GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	// PutItem starts a build.
	PutItem(ctx context.Context, in *dynamodb.PutItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	// UpdateItem moves a checkpoint alone, and notes the progress of a build.
	UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
}

// View returns what an event changes in one namespace of the view, as parts of the transaction that moves the checkpoint:
// the view's items, under keys that name the namespace, and an inbox receipt if there is one. It is called again for the
// same event after a failure, and later for an event that was parked, so it must follow from its arguments alone. No parts
// mean that the event changes nothing here.
type View func(ctx context.Context, namespace int, e Event) ([]txn.Part, error)

// Config says which projection it is and where its checkpoints live. Name is required; everything else has a default.
type Config struct {
	// Name names the projection, for example "portfolio". Required. It is part of every key.
	Name string
	// Table holds checkpoints, gaps and parked events; the view may be in it too. Default: "Projection" with the key
	// attributes "PK" and "SK". It needs no index and has no TTL.
	Table txn.Table
	// Map places sources on shards. Default: 7 shards, which carry 5,000 checkpoints a second.
	Map shardmap.Map
	// Maps, if set, places them instead: the stored shard map of a lane, for example a [shardmap.Loader]. A source has one
	// checkpoint, so it cannot go from one version to another; a namespace is of the version whose window holds the time
	// when its build was started, and namespace 1 is of the first. To reshard, admit another version of the map and then
	// build a new namespace. Without a map that may be used now every call fails, as shardmap.ErrStale.
	Maps shardmap.Source
	// View makes the parts of an event. Default: none; the checkpoint moves alone, for a view that is kept elsewhere.
	View View
	// First is the first version of every source. Default: 1.
	First int64
	// ParkedMax is how many events of one source may be parked. Default: [DefaultParkedMax].
	ParkedMax int
	// Txn configures the transactions. Its Observer is by default the one below.
	Txn txn.Config
	// Observer, if set, is told of every operation; Load, Run of a Runbook and WaitCaughtUp report as what they are made of.
	// Gaps measures how many there are, how many events are parked behind them, and for how long the first has waited.
	Observer observe.Observer
	// Now is the clock; nothing is decided by it. Default: time.Now.
	Now func() time.Time
	// Sleep waits between two looks of WaitCaughtUp, Poll long. Defaults: a timer and [DefaultPoll].
	Sleep func(ctx context.Context, d time.Duration) error
	Poll  time.Duration
}

// WithDefaults returns the configuration with its empty fields filled in.
func (c Config) WithDefaults() Config {
	c.Table = c.Table.WithDefaults(DefaultTable)
	if c.Map == (shardmap.Map{}) {
		c.Map = shardmap.Fixed(7)
	}
	c.First = cmp.Or(c.First, 1)
	c.ParkedMax = cmp.Or(c.ParkedMax, DefaultParkedMax)
	c.Poll = cmp.Or(c.Poll, DefaultPoll)
	if c.Txn.Observer == nil {
		c.Txn.Observer = c.Observer
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Sleep == nil {
		c.Sleep = ambient.Sleep
	}
	return c
}

// Validate reports every field that breaks its rule, each as an [InvalidError]; defaults are filled in before. Every call
// reports the same.
func (c Config) Validate() error {
	c = c.WithDefaults()
	var faults []error
	rule := func(holds bool, field, reason string, args ...any) {
		if !holds {
			faults = append(faults, &InvalidError{Field: "Config." + field, Reason: fmt.Sprintf(reason, args...)})
		}
	}
	if _, err := keys.Alias(c.Name); err != nil {
		rule(false, "Name", "%s", keyReason(err))
	}
	rule(len(c.Name) <= maxNameBytes, "Name", "has %d bytes, more than %d", len(c.Name), maxNameBytes)
	rule(c.Table.HasSortKey(), "Table", "has no sort key")
	rule(c.Table.PK != c.Table.SK && !slices.Contains(attributes, c.Table.PK) && !slices.Contains(attributes, c.Table.SK),
		"Table", "gives a key attribute a name that records use otherwise")
	if err := c.Map.Validate(); err != nil {
		rule(false, "Map", "is not valid: %v", err)
	}
	rule(c.First >= 1 && c.First <= MaxVersion, "First", "is %d, outside 1 to %d", c.First, MaxVersion)
	rule(c.ParkedMax >= 1 && c.ParkedMax <= maxParked, "ParkedMax", "is %d, outside 1 to %d", c.ParkedMax, maxParked)
	rule(c.Poll > 0, "Poll", "is negative")
	return errors.Join(faults...)
}

const (
	maxNameBytes = 128
	maxParked    = 1_000_000
)

// Projection keeps the checkpoints of one projection, of all its namespaces. It is safe for concurrent use.
type Projection struct {
	client    Client
	config    Config
	committer *txn.Committer
	reader    *fanout.Reader
	began     sync.Map // when the builds of namespaces were started, by number
	watch     watch.Watch
	err       error
}

// New returns a Projection. A configuration that breaks a rule (see [Config.Validate]) is reported by each call.
func New(client Client, config Config) *Projection {
	p := &Projection{client: client, config: config.WithDefaults(), err: config.Validate()}
	p.watch = watch.New("projection", p.config.Name, p.config.Observer, p.config.Now)
	p.committer = txn.New(client, p.config.Txn)
	p.reader = fanout.New(client, fanout.Config{})
	return p
}

// Namespace is one build of a projection: its own checkpoints, and through [View] its own view. Namespace 1 is where every
// projection begins; a rebuild makes another one beside it.
type Namespace struct {
	p      *Projection
	number int
	watch  watch.Watch
	err    error
}

// Namespace returns a namespace, from 1 to [MaxNamespace]. It need not exist before, unless Config.Maps is set: then the build of
// any but the first must have been started.
func (p *Projection) Namespace(number int) *Namespace {
	ns := &Namespace{p: p, number: number, err: p.err}
	ns.watch = watch.New("projection", ns.keyed(), p.config.Observer, p.config.Now)
	if ns.err == nil && (number < 1 || number > MaxNamespace) {
		ns.err = &InvalidError{Field: "namespace", Reason: "is " + strconv.Itoa(number) + ", outside 1 to " + strconv.Itoa(MaxNamespace)}
	}
	return ns
}

// Number returns the number of the namespace.
func (ns *Namespace) Number() int { return ns.number }

// keyed is the projection's name in the keys of a namespace. The last @ ends the name, so no other name gives the same.
func (ns *Namespace) keyed() string { return ns.p.config.Name + "@" + strconv.Itoa(ns.number) }
