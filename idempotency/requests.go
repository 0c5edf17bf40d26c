package idempotency

import (
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/internal/keys"
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
)

// Config configures [New]. The zero value works.
type Config struct {
	// Table holds the records. Default name: [TableName]. The table needs no index; its TTL attribute is "expiresAt".
	Table txn.Table
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
	// Now is the clock. Default: time.Now.
	Now func() time.Time
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
	if c.Now == nil {
		c.Now = time.Now
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
}

// New returns Requests. A configuration that breaks a rule (see [Config.Validate]) is reported by each call.
func New(config Config) *Requests {
	return &Requests{config: config.WithDefaults(), err: config.Validate()}
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
