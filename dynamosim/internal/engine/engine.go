package engine

import (
	"maps"
	"time"

	"github.com/tidwall/btree"

	"github.com/dynafin/dynafin/capacity"
)

// TokenPolicy says what the engine does with the request token of a transaction.
type TokenPolicy int

const (
	// HonorTokens remembers a token for ten minutes, as documented.
	HonorTokens TokenPolicy = iota
	// IgnoreTokens executes every request, as if each came after the window.
	IgnoreTokens
	// MismatchOnRepeat refuses every repeat of a token, as if its parameters had changed.
	MismatchOnRepeat
)

// Wording selects between message texts the service has used.
type Wording int

const (
	// WordingAugust2026 begins the validation texts of single writes with a count of errors.
	WordingAugust2026 Wording = iota
	// WordingMay2026 does not.
	WordingMay2026
)

// Config holds what an engine may not find out for itself, and the knobs for behaviour that is not documented.
type Config struct {
	// Region and Account appear in resource names.
	Region, Account string
	// Seed orders partitions, and index entries whose keys are equal.
	Seed uint64
	// Tokens is how request tokens are treated.
	Tokens TokenPolicy
	// CanceledKeepsToken makes a cancelled transaction occupy its token: a repeat gets the same cancellation.
	CanceledKeepsToken bool
	// Wording selects message texts.
	Wording Wording
	// Streams is the behaviour of streams.
	Streams StreamConfig
	// Lag is how far global indexes are behind their tables.
	Lag Lag
	// Staleness bounds the age of what an eventually consistent read of a table sees.
	Staleness time.Duration
	// Heat limits what one partition key value can take; nil is no limit.
	Heat *Heat
	// Service is how long requests take.
	Service Service
	// CollectionLimit bounds the bytes of an item collection. Zero: the service's 10 GB.
	CollectionLimit int
	// UpdateStep is how long each step of a change to a table takes.
	UpdateStep time.Duration
	// SweepWithin makes the engine delete expired items, each at a moment of its own up to this much after its expiry.
	SweepWithin time.Duration
}

// Engine is the state machine. It is not for concurrent use.
type Engine struct {
	config     Config
	tables     btree.Map[string, *table]
	streams    btree.Map[string, *stream] // by ARN; those of deleted tables too
	tokens     tokens
	served     map[string]int
	failed     int
	unreported capacity.Units
	created    int
	backlog    backlog
	past       past
	heat       *heat
	busy       busy
	// working are the tables that create or delete an index.
	working []*table
}

// New returns an engine without tables.
func New(config Config) *Engine {
	return &Engine{
		config:  config,
		served:  map[string]int{},
		tokens:  tokens{known: map[string]tokenRecord{}},
		backlog: newBacklog(config.Lag, config.Seed),
		past:    newPast(config.Staleness, config.Seed),
		heat:    newHeat(config.Heat),
		busy:    busy{items: map[itemID]occupied{}},
	}
}

// Reply is the answer to one request.
type Reply struct {
	// Status is the HTTP status.
	Status int
	// Body is a JSON document.
	Body []byte
	// After is how much later than the request the answer arrives.
	After time.Duration
}

// Stats counts what an engine has done.
type Stats struct {
	// Requests is the number of requests by operation; unknown operations are not among them.
	Requests map[string]int
	// Refused is how many of all requests were answered with an error.
	Refused int
	// Unreported is what failed conditions and cancelled transactions consumed. The service bills it without saying so
	// in any answer; how much it bills is not documented, so this is the careful assumption: what success had cost on the tables.
	Unreported capacity.Units
}

// Stats returns the counters so far.
func (e *Engine) Stats() Stats {
	return Stats{Requests: maps.Clone(e.served), Refused: e.failed, Unreported: e.unreported}
}

// handler serves one operation. It returns the body of a success or what is wrong.
type handler func(e *Engine, now time.Time, body []byte) (*writer, *failure)

var handlers = map[string]handler{
	"CreateTable":        (*Engine).createTable,
	"UpdateTable":        (*Engine).updateTable,
	"UpdateTimeToLive":   (*Engine).updateTimeToLive,
	"DescribeTimeToLive": (*Engine).describeTimeToLive,
	"DescribeTable":      (*Engine).describeTable,
	"DeleteTable":        (*Engine).deleteTable,
	"ListTables":         (*Engine).listTables,
	"DescribeLimits":     (*Engine).describeLimits,
	"PutItem":            (*Engine).putItem,
	"GetItem":            (*Engine).getItem,
	"UpdateItem":         (*Engine).updateItem,
	"DeleteItem":         (*Engine).deleteItem,
	"Query":              (*Engine).query,
	"Scan":               (*Engine).scan,
	"BatchGetItem":       (*Engine).batchGetItem,
	"BatchWriteItem":     (*Engine).batchWriteItem,
	"TransactWriteItems": (*Engine).transactWriteItems,
	"TransactGetItems":   (*Engine).transactGetItems,
	"ListStreams":        (*Engine).listStreams,
	"DescribeStream":     (*Engine).describeStream,
	"GetShardIterator":   (*Engine).getShardIterator,
	"GetRecords":         (*Engine).getRecords,
}

// Handle executes one request at one moment and returns its answer. The same requests at the same moments give the
// same answers.
func (e *Engine) Handle(now time.Time, operation string, body []byte) Reply {
	e.arrive(now)
	reply := e.handle(now, operation, body)
	reply.After = e.config.Service.of(operation)
	if reply.Status != 200 {
		e.failed++
	}
	return reply
}

// arrive lets everything happen whose time has come.
func (e *Engine) arrive(now time.Time) {
	e.settle(now)
	e.backlog.settle(now)
	e.past.forget(now)
}

func (e *Engine) handle(now time.Time, operation string, body []byte) Reply {
	serve, ok := handlers[operation]
	if !ok {
		f := failure{exception: unknownOperation}
		return f.reply()
	}
	e.served[operation]++
	if len(body) > MaxRequestBytes {
		return TooLargeReply()
	}
	w, f := serve(e, now, body)
	if f != nil {
		return f.reply()
	}
	return Reply{Status: 200, Body: w.bytes()}
}

// table finds a table that a data operation names.
func (e *Engine) table(name string) (*table, *failure) {
	t, ok := e.tables.Get(name)
	if !ok {
		return nil, &failure{exception: resourceNotFound, message: msgTableMissing, wholeRequest: true}
	}
	return t, nil
}

// counted begins the validation texts of single writes as the selected wording does.
func (e *Engine) counted(f *failure) *failure {
	if f == nil || e.config.Wording == WordingMay2026 || f.exception != validationException || !countsErrors(f.message) {
		return f
	}
	f.message = "1 validation error detected: " + f.message
	return f
}
