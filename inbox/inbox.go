package inbox

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// Defaults and bounds of a Config.
const (
	// DefaultTable is the table of a Config that names none.
	DefaultTable = "Inbox"
	// DefaultHorizon is how long repeats are recognised unless configured otherwise.
	DefaultHorizon = 30 * 24 * time.Hour
	// MinHorizon keeps a receipt for longer than any Commit that wrote it retries.
	MinHorizon = time.Hour
	// DefaultRetention is how long receipts are kept unless configured otherwise.
	DefaultRetention = 90 * 24 * time.Hour
	// KeepForever as [Config.Retention] writes receipts without an expiry.
	KeepForever time.Duration = -1
	// MaxMaps is how many versions of the shard map may be live at once.
	MaxMaps = 4
)

// Config says whose inbox it is and where it lives. Consumer is required; everything else has a default.
type Config struct {
	// Consumer names who takes effect once for each event: a service, or one of several independent handlers in it.
	// Required. It is part of every key, so consumers may share a table.
	Consumer string
	// Table holds the receipts, and may hold the protected state too. Default: "Inbox" with the key attributes "PK" and
	// "SK". It needs no index; its TTL attribute is "expiresAt".
	Table txn.Table
	// Maps are the versions of the shard map under which receipts may stand. New receipts are placed by the first, or by
	// [Event.MapVersion], and the transaction also checks the event's key under each of the others. Default:
	// [shardmap.Default13] alone. To reshard, first add the new version behind the old in every process; only then may
	// any process place by it. Take the old one out after the horizon. A stored map does all of this: see [Inbox.Under].
	Maps []shardmap.Map
	// Horizon is how long after its processing an event's repeats are promised to be recognised: at least as long as any
	// queue, archive or operator may deliver it again. Default: [DefaultHorizon]; at least [MinHorizon].
	Horizon time.Duration
	// Retention is how long a receipt is kept before the table's TTL may remove it; never a decision, a receipt that is
	// still there counts. At least Horizon, or [KeepForever]. Default: [DefaultRetention], or Horizon if that is longer.
	Retention time.Duration
	// Now is the clock. Default: time.Now.
	Now func() time.Time
	// Observer, if set, is told of every Process and Lookup.
	Observer observe.Observer
}

// WithDefaults returns the configuration with its empty fields filled in.
func (c Config) WithDefaults() Config {
	c.Table = c.Table.WithDefaults(DefaultTable)
	c.Maps = slices.Clone(c.Maps)
	if len(c.Maps) == 0 {
		c.Maps = []shardmap.Map{shardmap.Default13()}
	}
	if c.Horizon == 0 {
		c.Horizon = DefaultHorizon
	}
	if c.Retention == 0 {
		c.Retention = max(DefaultRetention, c.Horizon)
	}
	if c.Now == nil {
		c.Now = time.Now
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
	if _, err := keys.InboxPartition(c.Consumer, 0, 0); err != nil {
		var part *keys.Error
		reason := err.Error()
		if errors.As(err, &part) {
			reason = string(part.Reason)
		}
		rule(false, "Consumer", "%s", reason)
	}
	rule(c.Table.HasSortKey(), "Table", "has no sort key")
	rule(c.Table.PK != c.Table.SK && !slices.Contains(attributes, c.Table.PK) && !slices.Contains(attributes, c.Table.SK),
		"Table", "gives a key attribute a name that the receipt uses otherwise")
	rule(len(c.Maps) <= MaxMaps, "Maps", "has %d versions, more than %d", len(c.Maps), MaxMaps)
	seen := map[int]bool{}
	for _, m := range c.Maps {
		if err := m.Validate(); err != nil {
			faults = append(faults, &InvalidError{Field: "Config.Maps", Reason: "has a map that is not valid", Err: err})
		}
		rule(!seen[m.Version], "Maps", "has two maps of version %d", m.Version)
		seen[m.Version] = true
	}
	rule(c.Horizon >= MinHorizon, "Horizon", "is %v, at least %v is needed", c.Horizon, MinHorizon)
	rule(c.Retention == KeepForever || c.Retention >= c.Horizon, "Retention", "is %v, shorter than the horizon of %v", c.Retention, c.Horizon)
	return errors.Join(faults...)
}

// Inbox keeps the receipts of one consumer. It is safe for concurrent use.
type Inbox struct {
	config Config
	err    error
	watch  watch.Watch
}

// New returns an Inbox. A configuration that breaks a rule (see [Config.Validate]) is reported by each call.
func New(config Config) *Inbox {
	err := config.Validate()
	config = config.WithDefaults()
	return &Inbox{config: config, err: err, watch: watch.New("inbox", config.Consumer, config.Observer, config.Now)}
}

// Under returns this inbox with the shard map of a lane as it was just read, in place of [Config.Maps]: receipts may stand
// under every version that is live. Take a new one for every batch, and let the event's own time choose:
//
//	versions, err := loader.Versions(ctx)
//	placed, err := versions.Place(occurredAt, eventID)
//	outcome, err := received.Under(versions).Process(ctx, committer, inbox.Event{ID: eventID, MapVersion: placed.MapVersion}, nil)
//
// A map that is too old to be used is reported by each call, as shardmap.ErrStale, and nothing is written.
func (in *Inbox) Under(v shardmap.Versions) *Inbox {
	live, err := v.Live()
	under := &Inbox{config: in.config, err: errors.Join(in.err, err), watch: in.watch}
	if under.err == nil {
		under.config.Maps = live
		under.err = under.config.Validate()
	}
	return under
}

// expiry returns the TTL value of a receipt, so that none ends before the horizon; zero if
// receipts are kept for ever.
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
