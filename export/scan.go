package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/internal/ambient"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/observe"
)

// Defaults and bounds of a ScanConfig.
const (
	// DefaultCheckpoints is the table of a ScanConfig that names none.
	DefaultCheckpoints = "Export"
	// DefaultSegments is how many segments a table is read in.
	DefaultSegments = 4
	// DefaultUnitsPerSecond is how many read units a second are taken.
	DefaultUnitsPerSecond = 100
	// DefaultPageSize is how many items a request reads.
	DefaultPageSize = 500
	// maxSegments is how many segments a key of a checkpoint can name.
	maxSegments = 10_000
)

// ScanClient is what a Scan asks of DynamoDB. *dynamodb.Client satisfies it.
type ScanClient interface {
	// Scan reads the table.
	Scan(ctx context.Context, in *dynamodb.ScanInput, opts ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
	// GetItem reads checkpoints.
	GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	// PutItem writes them.
	PutItem(ctx context.Context, in *dynamodb.PutItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
}

// ScanConfig says what is read, how fast, and where it is written down how far that is. Table is required.
type ScanConfig struct {
	// Table is the table that is read.
	Table string
	// Name names the run: whoever uses the name again goes on where it was. Without a name nothing is written down, and a
	// run that is broken off begins again.
	Name string
	// Checkpoints is the table with what is written down, PK and SK its key attributes. Defaults: DefaultCheckpoints, "PK", "SK".
	Checkpoints, PK, SK string
	// Segments is how many parts of the table are read at the same time; of a run that was started it cannot be
	// changed. Default: DefaultSegments.
	Segments int
	// UnitsPerSecond is how many read units a second are taken, on average, by all segments together. Default:
	// DefaultUnitsPerSecond. A request cannot be cut short, so one of each segment may come before its time.
	UnitsPerSecond int
	// PageSize is how many items a request reads at most, and how many are given again after a crash. Default: DefaultPageSize.
	PageSize int
	// Consistent reads strongly, at twice the price. Without, what was written in the last moments may be missing.
	Consistent bool
	// Progress is told how far it is, by one goroutine at a time. Optional.
	Progress func(ScanProgress)
	// Now is the clock, Sleep waits. Defaults: time.Now and a timer.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
	// NewID names a runner. Default: chance.
	NewID func() string
	// Observer, if set, is told of every ForEach or Records when it ends, as "scan", and of every Run, as "progress".
	Observer observe.Observer
}

// WithDefaults returns the configuration with its empty fields filled in.
func (c ScanConfig) WithDefaults() ScanConfig {
	c.Checkpoints = cmp.Or(c.Checkpoints, DefaultCheckpoints)
	c.PK, c.SK = cmp.Or(c.PK, "PK"), cmp.Or(c.SK, "SK")
	c.Segments = cmp.Or(c.Segments, DefaultSegments)
	c.UnitsPerSecond = cmp.Or(c.UnitsPerSecond, DefaultUnitsPerSecond)
	c.PageSize = cmp.Or(c.PageSize, DefaultPageSize)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Sleep == nil {
		c.Sleep = ambient.Sleep
	}
	if c.NewID == nil {
		c.NewID = ambient.ID
	}
	return c
}

// Validate reports the first field that breaks its rule, as an [InvalidError].
func (c ScanConfig) Validate() error {
	c = c.WithDefaults()
	bad := func(field, reason string) error { return &InvalidError{Field: "ScanConfig." + field, Reason: reason} }
	switch {
	case c.Table == "":
		return bad("Table", "is empty")
	case c.Segments < 1 || c.Segments > maxSegments:
		return bad("Segments", fmt.Sprintf("is %d, outside 1 to %d", c.Segments, maxSegments))
	case c.UnitsPerSecond < 1 || c.UnitsPerSecond > 10_000_000:
		return bad("UnitsPerSecond", fmt.Sprintf("is %d, outside 1 to 10000000", c.UnitsPerSecond))
	case c.PageSize < 1 || c.PageSize > 1_000_000:
		return bad("PageSize", fmt.Sprintf("is %d, outside 1 to 1000000", c.PageSize))
	case c.PK == c.SK:
		return bad("SK", "is the same as PK")
	}
	var component *keys.Error
	if _, err := keys.ScanRun(c.Name); c.Name != "" && errors.As(err, &component) {
		return bad("Name", string(component.Reason))
	}
	return nil
}

// ScanProgress says how far a Scan is.
type ScanProgress struct {
	// Segments is how many there are, Done how many of them were read to their end.
	Segments, Done int
	// Items is how many items were handled, those of earlier runners included.
	Items int64
	// Units are the read units of this runner.
	Units capacity.Units
}

// Scan reads a whole table, offline: for an emergency in which there is no export. It never belongs into what serves a
// request. It takes read units away from whoever does, so it is throttled; and unlike an export it sees no one
// moment: what changes while it reads may be seen before or after.
type Scan struct {
	client ScanClient
	config ScanConfig
	watch  watch.Watch
}

// NewScan returns a Scan. It reads nothing yet.
//
// Errors: [ErrInvalid].
func NewScan(client ScanClient, config ScanConfig) (*Scan, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	config = config.WithDefaults()
	return &Scan{client: client, config: config, watch: watch.New("export", config.Name, config.Observer, config.Now)}, nil
}

// ForEach gives every item of the table, page by page: one goroutine for each segment calls give, at the same time. When give has
// returned nil, and not before, it is written down that the page was handled; so after a crash, or any error, the next run gives
// every page again that was not, and at most one of each segment that was. What give does must bear that. A run that was finished gives nothing.
//
// Two runners of one name do no harm: of two that are in one segment, the first to write a page down goes on, and the other ends with a
// [RunError]. If each stops the other, a third goes on behind both. Errors: ErrScan, ErrCheckpoint, ErrRun, ErrRecord, and what
// give returned.
//
// Cost: the read units of the whole table, 0.5 for each 4 KiB, 1 if Consistent; 1 write unit for each page, 2 read units for the run and
// 1 for each segment.
func (s *Scan) ForEach(ctx context.Context, give func(ctx context.Context, page []Record) error) (err error) {
	ctx, op := s.watch.Begin(ctx, "scan")
	defer op.End(&err)
	run, err := s.begin(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &scanRunner{
		scan: s, owner: s.config.NewID(), give: give, progress: ScanProgress{Segments: run.Segments},
		pace: pace{rate: int64(s.config.UnitsPerSecond), now: s.config.Now, sleep: s.config.Sleep},
	}
	var failed error
	var once sync.Once
	var running sync.WaitGroup
	for number := range run.Segments {
		running.Go(func() {
			if err := r.segment(ctx, number); err != nil {
				once.Do(func() { failed = err; cancel() })
			}
		})
	}
	running.Wait()
	return failed
}

// Records gives every item of the table, as [Scan.ForEach] does, to one loop. A page was handled when the loop asks for what follows
// its last item; the pages of the segments come in no order. No goroutine outlives the loop.
//
// Cost and errors: those of [Scan.ForEach].
func (s *Scan) Records(ctx context.Context) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		type handed struct {
			page    []Record
			handled chan struct{}
		}
		pages := make(chan handed)
		var failed error
		running.Go(func() {
			defer close(pages)
			failed = s.ForEach(ctx, func(ctx context.Context, page []Record) error {
				h := handed{page, make(chan struct{})}
				select {
				case pages <- h:
				case <-ctx.Done():
					return ctx.Err()
				}
				select {
				case <-h.handled:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			})
		})
		for h := range pages {
			for _, r := range h.page {
				if !yield(r, nil) {
					return
				}
			}
			close(h.handled)
		}
		if failed != nil {
			yield(Record{}, failed)
		}
	}
}

// scanRunner is one process's work on a run.
type scanRunner struct {
	scan  *Scan
	owner string
	give  func(context.Context, []Record) error
	pace  pace

	mu       sync.Mutex
	progress ScanProgress
}

// segment reads one segment to its end.
func (r *scanRunner) segment(ctx context.Context, number int) error {
	at, err := r.scan.load(ctx, number)
	if err != nil {
		return err
	}
	r.note(at, 0, at.items)
	expect := capacity.Units(2) // of the next page: what the last one took
	for !at.done {
		out, err := r.page(ctx, number, at.position, expect)
		if err != nil {
			return err
		}
		taken := consumed(out.ConsumedCapacity)
		r.pace.took(taken - expect)
		expect = max(taken, 1)
		page := make([]Record, len(out.Items))
		for i, item := range out.Items {
			page[i] = Record{New: item, At: Position{Source: r.scan.config.Name, File: number, Line: at.items + int64(i) + 1}}
		}
		if len(page) > 0 {
			if err := r.give(watch.Outside(ctx), page); err != nil {
				return err
			}
		}
		to := scanPosition{revision: at.revision + 1, owner: r.owner, items: at.items + int64(len(page)), position: out.LastEvaluatedKey,
			done: len(out.LastEvaluatedKey) == 0}
		if err := r.scan.save(ctx, number, at, to); err != nil {
			return err
		}
		at = to
		r.note(at, taken, int64(len(page)))
	}
	return nil
}

// What becomes of a page that DynamoDB refuses for want of capacity, after the SDK's own attempts.
const (
	throttledTries = 8
	throttledPause = time.Second
)

// page reads one page. When DynamoDB has no capacity it waits, longer each time: whoever serves requests needs it more.
func (r *scanRunner) page(ctx context.Context, number int, behind Item, expect capacity.Units) (*dynamodb.ScanOutput, error) {
	c := r.scan.config
	in := &dynamodb.ScanInput{
		TableName: &c.Table, ConsistentRead: &c.Consistent, ExclusiveStartKey: behind, Limit: aws.Int32(int32(c.PageSize)),
		Segment: aws.Int32(int32(number)), TotalSegments: aws.Int32(int32(r.progress.Segments)),
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
	for try := 0; ; try++ {
		if err := r.pace.wait(ctx, expect); err != nil {
			return nil, err
		}
		out, err := r.scan.client.Scan(ctx, in, watch.In(ctx)...)
		if err == nil {
			return out, nil
		}
		if try+1 == throttledTries || !throttled(err) {
			return nil, &ScanError{Table: c.Table, Segment: number, Err: err}
		}
		if err := c.Sleep(ctx, throttledPause<<try); err != nil {
			return nil, err
		}
	}
}

func throttled(err error) bool {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return false
	}
	switch api.ErrorCode() {
	case "ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingException":
		return true
	}
	return false
}

func consumed(c *types.ConsumedCapacity) capacity.Units {
	if c == nil || c.CapacityUnits == nil {
		return 0
	}
	return capacity.FromWire(*c.CapacityUnits)
}

// note counts what was handled.
func (r *scanRunner) note(at scanPosition, units capacity.Units, items int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress.Items += items
	r.progress.Units += units
	if at.done {
		r.progress.Done++
	}
	if r.scan.config.Progress != nil {
		r.scan.config.Progress(r.progress)
	}
}

// pace spreads read units over time. A request is let go when everything before it is paid for.
type pace struct {
	rate  int64 // units a second
	now   func() time.Time
	sleep func(context.Context, time.Duration) error

	mu   sync.Mutex
	free time.Time // when the next request may go
}

// wait waits until a request of about so many units may go.
func (p *pace) wait(ctx context.Context, units capacity.Units) error {
	p.mu.Lock()
	now := p.now()
	if p.free.Before(now) {
		p.free = now // what was not taken in time is not saved up
	}
	wait := p.free.Sub(now)
	p.free = p.free.Add(p.time(units))
	p.mu.Unlock()
	if wait <= 0 {
		return ctx.Err()
	}
	return p.sleep(ctx, wait)
}

// took corrects what a request was expected to take.
func (p *pace) took(more capacity.Units) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = p.free.Add(p.time(more))
}

// time is how long so many units last; Units are halves.
func (p *pace) time(units capacity.Units) time.Duration {
	return time.Duration(units) * time.Second / time.Duration(2*p.rate)
}
