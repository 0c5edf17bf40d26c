package app

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/dynafin/dynafin/capacity"
)

// Meter counts the units that DynamoDB reports, and keeps reads below the rate that a person allowed.
type Meter struct {
	now     func() time.Time
	sleep   func(context.Context, time.Duration) error
	maxRead int

	mu            sync.Mutex
	read, written capacity.Units
	// from is when the units that were read so far are used up, at the rate.
	from time.Time
	// wrote says that a request was sent which may have changed something.
	wrote bool
}

// Read returns the read units that have been consumed so far.
func (m *Meter) Read() capacity.Units {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.read
}

// Written returns the write units that have been consumed so far.
func (m *Meter) Written() capacity.Units {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.written
}

// install makes every request of a client report what it consumes, and wait its turn.
func (m *Meter) install(o *dynamodb.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("dynafin.meter", m.handle), middleware.Before)
	})
}

func (m *Meter) handle(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
	out middleware.InitializeOutput, metadata middleware.Metadata, err error) {
	writes := ask(in.Parameters)
	if err := m.wait(ctx, writes); err != nil {
		return out, metadata, err
	}
	out, metadata, err = next.HandleInitialize(ctx, in)
	m.count(writes, consumed(out.Result))
	return out, metadata, err
}

// ask makes a request say what it consumes, and tells whether it writes.
func ask(parameters any) (writes bool) {
	total := func(c *types.ReturnConsumedCapacity) {
		if *c == "" || *c == types.ReturnConsumedCapacityNone {
			*c = types.ReturnConsumedCapacityTotal
		}
	}
	switch in := parameters.(type) {
	case *dynamodb.GetItemInput:
		total(&in.ReturnConsumedCapacity)
	case *dynamodb.QueryInput:
		total(&in.ReturnConsumedCapacity)
	case *dynamodb.ScanInput:
		total(&in.ReturnConsumedCapacity)
	case *dynamodb.BatchGetItemInput:
		total(&in.ReturnConsumedCapacity)
	case *dynamodb.TransactGetItemsInput:
		total(&in.ReturnConsumedCapacity)
	case *dynamodb.PutItemInput:
		total(&in.ReturnConsumedCapacity)
		return true
	case *dynamodb.UpdateItemInput:
		total(&in.ReturnConsumedCapacity)
		return true
	case *dynamodb.DeleteItemInput:
		total(&in.ReturnConsumedCapacity)
		return true
	case *dynamodb.TransactWriteItemsInput:
		total(&in.ReturnConsumedCapacity)
		return true
	case *dynamodb.CreateTableInput, *dynamodb.UpdateTableInput, *dynamodb.UpdateTimeToLiveInput:
		return true
	}
	return false
}

// consumed adds up what a reply reports.
func consumed(result any) (units capacity.Units) {
	var all []types.ConsumedCapacity
	one := func(c *types.ConsumedCapacity) {
		if c != nil {
			all = append(all, *c)
		}
	}
	switch out := result.(type) {
	case *dynamodb.GetItemOutput:
		one(out.ConsumedCapacity)
	case *dynamodb.QueryOutput:
		one(out.ConsumedCapacity)
	case *dynamodb.ScanOutput:
		one(out.ConsumedCapacity)
	case *dynamodb.PutItemOutput:
		one(out.ConsumedCapacity)
	case *dynamodb.UpdateItemOutput:
		one(out.ConsumedCapacity)
	case *dynamodb.DeleteItemOutput:
		one(out.ConsumedCapacity)
	case *dynamodb.BatchGetItemOutput:
		all = out.ConsumedCapacity
	case *dynamodb.TransactGetItemsOutput:
		all = out.ConsumedCapacity
	case *dynamodb.TransactWriteItemsOutput:
		all = out.ConsumedCapacity
	}
	for _, c := range all {
		if c.CapacityUnits != nil {
			units += capacity.FromWire(*c.CapacityUnits)
		}
	}
	return units
}

// burst is how far requests may run ahead of the rate: a second's units may be used at once.
const burst = time.Second

// wait holds a read back until those before it have used no more than the rate allows. Commands that write have a pace of their
// own, see package change.
func (m *Meter) wait(ctx context.Context, writes bool) error {
	m.mu.Lock()
	from, now := m.from, m.now()
	m.wrote = m.wrote || writes
	m.mu.Unlock()
	if ahead := from.Sub(now); !writes && ahead > burst {
		return m.sleep(ctx, ahead-burst)
	}
	return nil
}

// count adds what a request took, and puts the next read off by the time that it takes at the rate.
func (m *Meter) count(writes bool, units capacity.Units) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if writes {
		m.written += units
		return
	}
	m.read += units
	if now := m.now(); m.from.Before(now) {
		m.from = now
	}
	m.from = m.from.Add(time.Duration(units) * time.Second / time.Duration(2*m.maxRead))
}

// String is what a person reads: "38 RCU", "38 RCU, 10 WCU".
func (m *Meter) String() string {
	text := []string{fmt.Sprintf("%s RCU", m.Read())}
	if w := m.Written(); w > 0 {
		text = append(text, fmt.Sprintf("%s WCU", w))
	}
	return strings.Join(text, ", ")
}
