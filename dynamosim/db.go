package dynamosim

import (
	"context"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim/internal/engine"
)

// endpoint is an address that no resolver knows: should a request ever miss the database, it goes nowhere.
const endpoint = "http://dynamosim.invalid"

// DB is one DynamoDB account in one Region, in memory. It is safe for concurrent use and needs no closing.
type DB struct {
	now    func() time.Time
	sleep  func(context.Context, time.Duration) error
	region string

	// mu is held while the engine works on one request, never while anything waits.
	mu     sync.Mutex
	engine *engine.Engine
	closed bool
}

// TB is the part of testing.TB that New needs.
type TB interface {
	// Helper marks New as a helper of the test.
	Helper()
	// Cleanup takes what is to be done when the test ends.
	Cleanup(func())
}

// Open returns an empty database.
func Open(opts Options) *DB {
	opts = opts.withDefaults()
	return &DB{now: opts.Now, sleep: opts.Sleep, region: opts.Region, engine: engine.New(opts.engine())}
}

// New returns an empty database for one test. When the test ends, the database ends: a worker that the test forgot to
// stop gets ErrClosed instead of quietly working on. At most one Options counts.
func New(t TB, opts ...Options) *DB {
	t.Helper()
	var o Options
	if len(opts) > 0 {
		o = opts[0]
	}
	db := Open(o)
	t.Cleanup(db.close)
	return db
}

func (db *DB) close() {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.closed = true
}

// Client returns the AWS SDK's own client, connected to this database without a socket. Its options may be changed, for
// example to put [Faulty] in front of the database or to set a Retryer. Clients are cheap and any number of them may
// share a database.
func (db *DB) Client(optFns ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       db.region,
		BaseEndpoint: aws.String(endpoint),
		Credentials:  aws.CredentialsProviderFunc(credentials),
		HTTPClient:   db,
	}, optFns...)
}

// credentials are fixed. The database does not look at signatures.
func credentials(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "dynamosim", SecretAccessKey: "dynamosim", Source: "dynamosim"}, nil
}

// Stats counts what a database has done.
type Stats struct {
	// Requests is the number of requests by operation, as they arrived: a retry by the SDK counts again.
	Requests map[string]int
	// Refused is how many of all requests were answered with an error.
	Refused int
	// UnreportedWrites are the write units of failed conditions and cancelled transactions. DynamoDB bills them but
	// reports them in no answer, and does not document how many; counted here is the table's share of what success would
	// have cost, as far as the stored items and the items to put tell.
	UnreportedWrites capacity.Units
}

// Stats returns the counters so far.
func (db *DB) Stats() Stats {
	db.mu.Lock()
	defer db.mu.Unlock()
	s := db.engine.Stats()
	return Stats{Requests: s.Requests, Refused: s.Refused, UnreportedWrites: s.Unreported}
}

// handle executes one request and waits until its answer is due. If the context ends first, what was done is done.
func (db *DB) handle(ctx context.Context, operation string, body []byte) (engine.Reply, error) {
	reply, err := db.execute(operation, body)
	if err == nil && reply.After > 0 {
		err = db.sleep(ctx, reply.After)
	}
	return reply, err
}

func (db *DB) execute(operation string, body []byte) (engine.Reply, error) {
	now := db.now()
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return engine.Reply{}, ErrClosed
	}
	return db.engine.Handle(now, operation, body), nil
}
