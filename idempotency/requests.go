package idempotency

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/internal/ambient"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

const (
	// TableName is the default name of the table.
	TableName = "Idempotency"
	// ReplayHorizonDefault is how long repeats are promised to be recognised unless configured otherwise.
	ReplayHorizonDefault = 30 * 24 * time.Hour
	// ReplayHorizonMin keeps a record alive for longer than any Commit that wrote it retries.
	ReplayHorizonMin = time.Hour
	// RetentionDefault is how long records are kept unless configured otherwise.
	RetentionDefault = 90 * 24 * time.Hour
	// KeepForever as [Config.Retention] writes records without an expiry.
	KeepForever time.Duration = -1
	// LeaseDefault is how long an attempt has its request unless configured otherwise.
	LeaseDefault = 30 * time.Second
	// RetryHoldDefault is how long a released request waits for its client unless configured otherwise.
	RetryHoldDefault = 24 * time.Hour
	// LeaseMax bounds a lease: nobody can repeat a command whose process has died before its lease has ended.
	LeaseMax = 24 * time.Hour
)

// The defaults of the repair index (IDX19). Its shards carry about 1,600 external requests a second of one tenant.
const (
	IndexDefault   = "GSI1"
	IndexPKDefault = "repairPk"
	IndexSKDefault = "repairSk"
	shardsDefault  = 4
)

// Config configures [New]. The zero value works.
type Config struct {
	// Table holds the records. Default name: [TableName]. Its TTL attribute is "expiresAt". For [Requests.Once] it needs no
	// index; for [Requests.Begin] it needs the one that [Requests.Index] defines, or what needs repair is not found.
	Table txn.Table
	// Index is the name of the sparse index of requests in need of repair, and IndexPK and IndexSK those of its key
	// attributes. Defaults: [IndexDefault], [IndexPKDefault], [IndexSKDefault].
	Index, IndexPK, IndexSK string
	// Map places requests on the shards of the index. Default: 4 shards for each tenant. Readers look at as many shards as
	// it has: raise the number only once every repair worker has the new one, and never lower it while requests are listed.
	Map shardmap.Map
	// Lease is how long an attempt has its request: longer than the work takes, much longer than clocks differ, and short
	// enough for a client to wait for after a crash. Default: [LeaseDefault]; at most [LeaseMax].
	Lease time.Duration
	// WatchTransactional lists transactional attempts in the index as well, so that a repair worker finds the ones that
	// were abandoned and that nobody repeats. They have no effect either way. Costs 1 index unit at the beginning and 1 at
	// the end of each request. External attempts are always listed.
	WatchTransactional bool
	// ReplayHorizon is how long after its completion a command's repeats are promised to be recognised: at least
	// as long as any client, queue or operator may repeat one, and as auditors may ask. Default:
	// [ReplayHorizonDefault]; at least [ReplayHorizonMin].
	ReplayHorizon time.Duration
	// Retention is how long a record is kept before the table's TTL may remove it; never a decision, a record that is
	// still there counts. At least ReplayHorizon, or [KeepForever]. Default: [RetentionDefault], or ReplayHorizon
	// if that is longer.
	Retention time.Duration
	// RecordBytesMax limits the size of a record in bytes, its keys and the transaction's mark included. Default:
	// DynamoDB's 400 KiB. With 1024 every record stays within one write unit, 2 in a transaction.
	RecordBytesMax int
	// Owner names this process in the records it writes, for operators. Default: none.
	Owner string
	// RetryHold is how long a request of known absence of any effect waits for its client to repeat it, before a repair
	// worker ends it. Default: [RetryHoldDefault].
	RetryHold time.Duration
	// Cache, if set, keeps completed results in memory, see [NewCache].
	Cache *Cache
	// Txn configures the commits of [Requests.Do] and of the repair worker. Its Observer is by default the one below.
	Txn txn.Config
	// Observer, if set, is told of every operation, and by [Requests.Queue] how much waits for repair and for an operator.
	Observer observe.Observer
	// Now is the clock. Default: time.Now.
	Now func() time.Time
	// NewID makes the token of an attempt: unique, up to 36 bytes. Default: 128 random bits.
	NewID func() string
}

// WithDefaults returns the configuration with its empty fields filled in.
func (c Config) WithDefaults() Config {
	c.Table = c.Table.WithDefaults(TableName)
	if c.ReplayHorizon == 0 {
		c.ReplayHorizon = ReplayHorizonDefault
	}
	if c.Retention == 0 {
		c.Retention = max(RetentionDefault, c.ReplayHorizon)
	}
	if c.RecordBytesMax == 0 {
		c.RecordBytesMax = capacity.MaxItemBytes
	}
	c.Index = cmp.Or(c.Index, IndexDefault)
	c.IndexPK = cmp.Or(c.IndexPK, IndexPKDefault)
	c.IndexSK = cmp.Or(c.IndexSK, IndexSKDefault)
	if c.Map == (shardmap.Map{}) {
		c.Map = shardmap.Fixed(shardsDefault)
	}
	c.Lease = cmp.Or(c.Lease, LeaseDefault)
	c.RetryHold = cmp.Or(c.RetryHold, RetryHoldDefault)
	if c.Txn.Observer == nil {
		c.Txn.Observer = c.Observer
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.NewID == nil {
		c.NewID = ambient.ID
	}
	return c
}

// Validate reports every field that breaks its rule, each as an [*InvalidError]; defaults are filled in before.
// [Requests.Once] and [Requests.Lookup] report the same.
func (c Config) Validate() error {
	c = c.WithDefaults()
	var faults []error
	rule := func(holds bool, field, reason string, args ...any) {
		if !holds {
			faults = append(faults, &InvalidError{Field: "Config." + field, Reason: fmt.Sprintf(reason, args...)})
		}
	}
	rule(c.Table.HasSortKey(), "Table", "has no sort key")
	rule(c.Table.PK != c.Table.SK && !slices.Contains(attributes, c.Table.PK) && !slices.Contains(attributes, c.Table.SK),
		"Table", "gives a key attribute a name that the record uses otherwise")
	own := append(slices.Clone(attributes), c.Table.PK, c.Table.SK)
	rule(c.IndexPK != c.IndexSK && !slices.Contains(own, c.IndexPK) && !slices.Contains(own, c.IndexSK),
		"IndexPK", "or IndexSK is a name that the record uses otherwise")
	rule(c.Map.Validate() == nil, "Map", "is not a valid map")
	rule(c.Lease > 0 && c.Lease <= LeaseMax, "Lease", "is %v; it must be above zero and at most %v", c.Lease, LeaseMax)
	rule(c.RetryHold >= time.Second && c.RetryHold <= 366*24*time.Hour, "RetryHold", "is %v; it must be from a second to a year", c.RetryHold)
	rule(c.ReplayHorizon >= ReplayHorizonMin, "ReplayHorizon", "is %v, at least %v is needed", c.ReplayHorizon, ReplayHorizonMin)
	rule(c.Retention == KeepForever || c.Retention >= c.ReplayHorizon,
		"Retention", "is %v, shorter than the replay horizon of %v", c.Retention, c.ReplayHorizon)
	rule(c.RecordBytesMax > 0 && c.RecordBytesMax <= capacity.MaxItemBytes,
		"RecordBytesMax", "is %d, DynamoDB stores at most %d", c.RecordBytesMax, capacity.MaxItemBytes)
	rule(utf8.ValidString(c.Owner), "Owner", "is not valid UTF-8")
	return errors.Join(faults...)
}

// Requests keeps the durable results of a service's commands in one table. It is safe for concurrent use.
type Requests struct {
	config Config
	err    error
	watch  watch.Watch
}

// newID makes a token that can be stored and compared.
func (r *Requests) newID() (string, error) {
	id := r.config.NewID()
	if id == "" || len(id) > 36 || !utf8.ValidString(id) {
		return "", &InvalidError{Field: "Config.NewID", Reason: "must return 1 to 36 bytes of UTF-8"}
	}
	return id, nil
}

// New returns Requests. A configuration that breaks a rule (see [Config.Validate]) is reported by each call.
func New(config Config) *Requests {
	err := config.Validate()
	config = config.WithDefaults()
	return &Requests{config: config, err: err, watch: watch.New("idempotency", "", config.Observer, config.Now)}
}

// expiry returns the TTL value of a record completed now, so that none ends before the horizon;
// zero if records are kept for ever.
func (c Config) expiry(now time.Time) (int64, error) {
	if c.Retention == KeepForever {
		return 0, nil
	}
	seconds, err := keys.Expiry(now.Add(c.Retention))
	if err != nil {
		return 0, &InvalidError{Field: "Config.Now", Reason: "gives an expiry outside the years 2000 to 9999"}
	}
	return seconds, nil
}
