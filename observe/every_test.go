package observe_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/txn"
)

var day = time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC)

// desk is a store whose answers are metered on the wire, and an Observer that keeps what it is told.
type desk struct {
	*testing.T
	db     *dynamosim.DB
	client *dynamodb.Client
	now    time.Time

	mu           sync.Mutex
	events       []observe.Event
	measured     map[string]int64
	requests     int
	read, writes capacity.Units

	labels map[string]bool // of all that reported
}

func newDesk(t *testing.T) *desk {
	d := &desk{T: t, now: day, labels: map[string]bool{}, measured: map[string]int64{}}
	d.db = dynamosim.Open(dynamosim.Options{Now: d.clock})
	d.client = d.db.Client(func(o *dynamodb.Options) { o.HTTPClient = d })
	return d
}

func (d *desk) clock() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

func (d *desk) table(name string, indexes ...types.GlobalSecondaryIndex) {
	d.Helper()
	if err := d.db.CreateTable(name, indexes...); err != nil {
		d.Fatal(err)
	}
}

// Do meters a request by what the simulator answers.
func (d *desk) Do(req *http.Request) (*http.Response, error) {
	resp, err := d.db.Do(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	var answer struct{ ConsumedCapacity json.RawMessage }
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	type units struct{ CapacityUnits json.Number }
	all := make([]units, 1)
	if len(answer.ConsumedCapacity) > 0 && json.Unmarshal(answer.ConsumedCapacity, &all[0]) != nil {
		err = json.Unmarshal(answer.ConsumedCapacity, &all)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.requests++
	for _, u := range all {
		if u.CapacityUnits == "" {
			continue
		}
		wire, _ := u.CapacityUnits.Float64()
		switch target := req.Header.Get("X-Amz-Target"); {
		case strings.HasSuffix(target, "PutItem"), strings.HasSuffix(target, "UpdateItem"), strings.HasSuffix(target, "DeleteItem"),
			strings.HasSuffix(target, "TransactWriteItems"):
			d.writes += capacity.FromWire(wire)
		default:
			d.read += capacity.FromWire(wire)
		}
	}
	return resp, err
}

func (d *desk) Observe(_ context.Context, e observe.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events = append(d.events, e)
	d.labels[e.Package+" "+e.Label()] = true
}

func (d *desk) Measure(_ context.Context, m observe.Measurement) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.measured[m.Package+" "+string(m.Gauge)] = m.Value
}

// sums runs something and holds the sum of what was told against the meter.
func (d *desk) sums(do func()) []observe.Event {
	d.Helper()
	d.events, d.requests, d.read, d.writes = nil, 0, 0, 0
	do()
	var sum observe.Event
	for _, e := range d.events {
		sum.Requests, sum.Attempts = sum.Requests+e.Requests, sum.Attempts+e.Attempts
		sum.ReadUnits, sum.WriteUnits = sum.ReadUnits+e.ReadUnits, sum.WriteUnits+e.WriteUnits
		if e.Requests > 0 && (len(e.Tables) == 0 || len(e.Calls) == 0) {
			d.Errorf("%s says neither tables nor calls", e.Label())
		}
	}
	if sum.Requests < d.requests || sum.Attempts != d.requests || sum.ReadUnits != d.read || sum.WriteUnits != d.writes {
		d.Errorf("told: %d requests, %d attempts, %s read, %s written; metered: %d, %s, %s", sum.Requests, sum.Attempts, sum.ReadUnits,
			sum.WriteUnits, d.requests, d.read, d.writes)
	}
	return d.events
}

// once runs an operation that must report once, by this label and with this outcome.
func (d *desk) once(label string, outcome observe.Outcome, do func() error) {
	d.Helper()
	var err error
	events := d.sums(func() { err = do() })
	if len(events) != 1 {
		d.Fatalf("%s reported %d times: %v (error: %v)", label, len(events), events, err)
	}
	e := events[0]
	if e.Requests != d.requests {
		d.Errorf("%s: told of %d requests of %d", label, e.Requests, d.requests)
	}
	if e.Label() != label || e.Outcome != outcome || e.Err != err {
		d.Errorf("%s: reported as %s %s with %v; wanted %s, and returned %v", label, e.Label(), e.Outcome, e.Err, outcome, err)
	}
}

// drained ranges over all and returns the last error.
func drained[V any](all iter.Seq2[V, error]) error {
	var last error
	for _, err := range all {
		if err != nil {
			last = err
		}
	}
	return last
}

func (d *desk) commit(parts ...txn.Part) {
	d.Helper()
	if _, err := txn.Commit(d.Context(), d.client, parts...); err != nil {
		d.Fatal(err)
	}
}

// saw holds what a test made report, without asking for it one by one.
func (d *desk) saw(pkg string, labels ...string) {
	d.Helper()
	for _, label := range labels {
		if !d.labels[pkg+" "+label] {
			d.Errorf("nothing here made package %s tell of %s", pkg, label)
		}
	}
}

func get(table, pk string) *dynamodb.GetItemInput {
	return &dynamodb.GetItemInput{TableName: aws.String(table), Key: txn.Item{"PK": &types.AttributeValueMemberS{Value: pk},
		"SK": &types.AttributeValueMemberS{Value: "META"}}}
}
