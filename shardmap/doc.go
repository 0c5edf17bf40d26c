// Package shardmap places keys on a fixed number of shards, the same key on the same shard for ever: on every
// machine, in every process, on every retry, also while the number of shards changes. A busy lane of DynamoDB is spread
// this way over several partition keys, because one partition key takes at most 1,000 write units and 3,000 read units a
// second.
//
//	p, err := shardmap.Default13().Place("evt-1")
//	// store p.MapVersion, p.HashVersion and p.Shard with the record
//
// # Placement
//
// Hash version 1 takes the first 8 bytes of the SHA-256 of the key's UTF-8 bytes as an unsigned big-endian integer,
// modulo the number of shards. The key is used as it is: nothing is trimmed, folded or normalised, so the caller passes
// the canonical identifier. An empty key, or one that is not valid UTF-8, is an error.
//
// A [Map] never changes once records are placed by it: another number of shards is another version of the map. A
// record therefore carries the versions that placed it, and a retry takes them from there.
//
// # Changing the number of shards
//
// A lane that must be able to grow has a stored map of versions. Each version has a window of event time, and an event
// belongs to the version whose window holds the event's own time, which never changes. So no retry ever changes version:
//
//	maps := shardmap.NewStore(client, shardmap.Config{})
//	loader := maps.Loader("inbox/portfolio")            // one for the process
//
//	v, err := loader.Versions(ctx)                      // for every event; ErrStale if the map is not known
//	p, err := v.Place(event.OccurredAt, event.ID)       // where it belongs
//	others, err := v.Others(p, event.ID)                // where its transaction must check that it is not
//	live, err := v.Live()                               // what readers fan out over
//
// A version goes through these states. Every step is a write on condition of the revision that was read:
//
//	           propose      ┌──────────┐   withdraw    ┌───────────┐
//	no record ────────────► │ PROPOSED │ ────────────► │ WITHDRAWN │
//	    │                   └──────────┘               └───────────┘
//	    │ create                 │ admit: it was seen to be stored, Notice before its window
//	    │ (version 1)            ▼
//	    │                   ┌───────────┐  drain: a later version is admitted, the window has ended,
//	    └─────────────────► │ ADMITTING │  all sources have passed the watermark
//	                        └───────────┘ ────────┐
//	                                              ▼
//	       ┌─────────┐                       ┌──────────┐
//	       │ RETIRED │ ◄──────────────────── │ DRAINING │
//	       └─────────┘  retire: nothing      └──────────┘
//	                    remains, the control totals agree, the horizon has passed
//
// From a proposal on, every map that is read knows it. Until it is admitted or withdrawn nobody places an event of its
// window. [Rules.Notice] is twice the age that a map may have and three times the skew of clocks; after that nobody can
// still use a map that does not know the version, neither to place an event of its window nor to look for records. That is why
// Admit insists on it, and why a proposal whose write arrived late can only be withdrawn.
//
// A map vouches for event times up to MaxAge + MaxSkew after it was read, and may be used for MaxAge. Outside of that, Place
// says ErrStale instead of guessing: a lane whose map cannot be read stops within MaxAge.
//
// # Record
//
// One item holds the whole map of a lane: partition key SHARDMAP#lane, sort key MAP. A lane's name has letters, digits
// and - _ . / : only, so it needs no escape.
//
//	v          N  format of the record, 1
//	revision   N  rises with every step
//	maxAgeMs, maxSkewMs, horizonMs  N  rules of the lane, milliseconds
//	versions   L  of all versions, in order:
//	  version, hashVersion, shards  N
//	  state    S  PROPOSED, ADMITTING, DRAINING, RETIRED, WITHDRAWN
//	  from     S  first event time of its window, UTC; absent for version 1
//	  history  L  of the steps that it took, in order:
//	    step, at, by  S  what, when (UTC), by whom
//	    token  S  digest of the command, by which a repeat is recognised
//	    watermark  S  of DRAIN and RETIRE
//	    count, digest  N, S  of RETIRE: the control totals
//
// # Cost
//
//	Load                     1 read unit for each 4 KiB begun, strongly consistent; up to about six versions fit one unit
//	Loader                   one Load for each half of MaxAge, in every process
//	Create                   1 write unit
//	every other step         one Load, and 1 write unit for each KiB begun of the map; a repeat writes nothing
//	Place, At, Others, Live  nothing
//
// # How many shards
//
// [ShardsFor] computes the number from the planned load, in exact arithmetic:
//
//	ceil(rate * units per operation * share of the hottest key / target per shard)
//
// # What it does not do
//
// It moves no records: those of an old version stay where they are until it is retired. It counts nothing itself: the evidence is
// the caller's, and is stored with the step. An event that comes with a second time, after the horizon of its first, is a new
// one; and a transaction that reaches DynamoDB later than MaxSkew after its map was too old may miss such a copy, but
// never changes the version of an event. Shards balance keys, not load: one key that is hotter than a shard's target needs another
// key design.
package shardmap
