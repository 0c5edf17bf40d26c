package otel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/dbconv"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/observe"
	dynafinotel "github.com/dynafin/dynafin/otel"
	"github.com/dynafin/dynafin/txn"
)

// station is an Observer whose metrics and spans stay in memory.
type station struct {
	*dynafinotel.Observer
	reader *metric.ManualReader
	spans  *tracetest.InMemoryExporter
}

func open(t testing.TB) station {
	t.Helper()
	s := station{reader: metric.NewManualReader(), spans: tracetest.NewInMemoryExporter()}
	var err error
	s.Observer, err = dynafinotel.New(dynafinotel.Config{
		MeterProvider:  metric.NewMeterProvider(metric.WithReader(s.reader)),
		TracerProvider: trace.NewTracerProvider(trace.WithSyncer(s.spans)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// lines returns what was measured, one line for each series: name, unit, attributes, value.
func (s station) lines(t testing.TB) []string {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := s.reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, scope := range all.ScopeMetrics {
		if scope.Scope.Name != dynafinotel.Scope {
			t.Errorf("scope %q", scope.Scope.Name)
		}
		for _, m := range scope.Metrics {
			if m.Description == "" {
				t.Errorf("%s has no description", m.Name)
			}
			line := func(of attribute.Set, value any) {
				lines = append(lines, fmt.Sprintf("%s [%s] %s = %v", m.Name, m.Unit, of.Encoded(attribute.DefaultEncoder()), value))
			}
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					line(p.Attributes, p.Value)
				}
			case metricdata.Sum[float64]:
				for _, p := range data.DataPoints {
					line(p.Attributes, p.Value)
				}
			case metricdata.Gauge[float64]:
				for _, p := range data.DataPoints {
					line(p.Attributes, p.Value)
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					line(p.Attributes, fmt.Sprint(p.Count, " of ", p.Sum, " within ", p.Bounds))
				}
			default:
				t.Errorf("%s is a %T", m.Name, data)
			}
		}
	}
	slices.Sort(lines)
	return lines
}

func mustEqual(t testing.TB, got []string, want string) {
	t.Helper()
	if text := strings.Join(got, "\n"); text != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", text, strings.TrimSpace(want))
	}
}

// claim is an operation that met everything there is to meet.
var claim = observe.Event{
	Operation: observe.Operation{Package: "outbox", Scope: "orders", Pattern: "AP16", Name: "claim"},
	Outcome:   observe.Busy, Err: errors.New("busy"), Duration: 250 * time.Millisecond,
	Tables: []string{"Outbox"}, Calls: []string{"UpdateItem"}, Requests: 1, Attempts: 4, Throttles: 3, Conflicts: 1, ReadUnits: 1, WriteUnits: 4,
}

func TestEveryMetricHasItsNameUnitAndAttributes(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.Observe(t.Context(), claim)
	commit := observe.Event{Operation: observe.Operation{Package: "txn", Pattern: "AP08+AP16", Name: "commit"}, Outcome: observe.OK,
		Duration: time.Millisecond, Tables: []string{"A", "B"}, Calls: []string{"TransactWriteItems", "GetItem"}, Requests: 2, Attempts: 2, WriteUnits: 2}
	s.Observe(t.Context(), commit)
	s.Observe(t.Context(), commit)
	invalid := commit
	invalid.Outcome, invalid.Requests, invalid.Attempts, invalid.WriteUnits, invalid.Tables = observe.Invalid, 0, 0, 0, nil
	s.Observe(t.Context(), invalid)
	mustEqual(t, s.lines(t), `
db.client.operation.duration [s] db.collection.name=Outbox,db.operation.name=UpdateItem,db.system.name=aws.dynamodb,dynafin.operation=claim,dynafin.outcome=busy,dynafin.package=outbox,dynafin.pattern=AP16,dynafin.scope=orders,error.type=busy = 1 of 0.25 within [0.001 0.005 0.01 0.05 0.1 0.5 1 5 10]
db.client.operation.duration [s] db.system.name=aws.dynamodb,dynafin.operation=commit,dynafin.outcome=ok,dynafin.package=txn,dynafin.pattern=AP08+AP16 = 2 of 0.002 within [0.001 0.005 0.01 0.05 0.1 0.5 1 5 10]
dynafin.attempts [{attempt}] dynafin.operation=claim,dynafin.package=outbox,dynafin.pattern=AP16,dynafin.scope=orders = 4
dynafin.attempts [{attempt}] dynafin.operation=commit,dynafin.package=txn,dynafin.pattern=AP08+AP16 = 4
dynafin.capacity.consumed [{unit}] db.collection.name=Outbox,dynafin.capacity.kind=read,dynafin.operation=claim,dynafin.package=outbox,dynafin.pattern=AP16,dynafin.scope=orders = 0.5
dynafin.capacity.consumed [{unit}] db.collection.name=Outbox,dynafin.capacity.kind=write,dynafin.operation=claim,dynafin.package=outbox,dynafin.pattern=AP16,dynafin.scope=orders = 2
dynafin.capacity.consumed [{unit}] dynafin.capacity.kind=write,dynafin.operation=commit,dynafin.package=txn,dynafin.pattern=AP08+AP16 = 2
dynafin.conflicts [{attempt}] dynafin.operation=claim,dynafin.package=outbox,dynafin.pattern=AP16,dynafin.scope=orders = 1
dynafin.operations [{operation}] dynafin.operation=claim,dynafin.outcome=busy,dynafin.package=outbox,dynafin.pattern=AP16,dynafin.scope=orders = 1
dynafin.operations [{operation}] dynafin.operation=commit,dynafin.outcome=invalid,dynafin.package=txn,dynafin.pattern=AP08+AP16 = 1
dynafin.operations [{operation}] dynafin.operation=commit,dynafin.outcome=ok,dynafin.package=txn,dynafin.pattern=AP08+AP16 = 2
dynafin.throttles [{attempt}] dynafin.operation=claim,dynafin.package=outbox,dynafin.pattern=AP16,dynafin.scope=orders = 3
`)
}

func TestEveryGaugeHasAMetric(t *testing.T) {
	t.Parallel()
	s := open(t)
	for i, gauge := range observe.Gauges() {
		m := observe.Measurement{Package: "outbox", Scope: "orders", Pattern: "AP16", Gauge: gauge, Value: int64(i)}
		if gauge.IsAge() {
			m.Value = int64(1500 * time.Millisecond)
		}
		s.Measure(t.Context(), m)
	}
	s.Measure(t.Context(), observe.Measurement{Gauge: "of a newer library"})
	const of = " dynafin.package=outbox,dynafin.pattern=AP16,dynafin.scope=orders = "
	mustEqual(t, s.lines(t), strings.ReplaceAll(`
dynafin.queue.backlog [{entry}]|0
dynafin.queue.discrepancies.open [{entry}]|7
dynafin.queue.escalations [{entry}]|6
dynafin.queue.gaps [{entry}]|4
dynafin.queue.index.lag.age [s]|1.5
dynafin.queue.oldest.age [s]|1.5
dynafin.queue.parked [{entry}]|2
dynafin.queue.repairs.due [{entry}]|5
dynafin.queue.stuck [{entry}]|3
`, "|", of))
}

func TestASpanSaysWhatWasDone(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.Observe(s.Start(t.Context(), claim.Operation), claim)
	expected := claim
	expected.Outcome, expected.Parts, expected.Tables = observe.Rejected, []string{"AP08.once", "AP16.create"}, []string{"A", "B"}
	s.Observe(s.Start(t.Context(), claim.Operation), expected)
	var got []string
	for _, span := range s.spans.GetSpans() {
		of := attribute.NewSet(span.Attributes...)
		got = append(got, fmt.Sprintf("%s %s, %s %q: %s", span.SpanKind, span.Name, span.Status.Code, span.Status.Description,
			of.Encoded(attribute.DefaultEncoder())))
	}
	mustEqual(t, got, `
client AP16.claim, Error "busy": aws.dynamodb.table_names=["Outbox"],db.collection.name=Outbox,db.operation.name=UpdateItem,db.system.name=aws.dynamodb,dynafin.attempts=4,dynafin.capacity.read=0.5,dynafin.capacity.write=2,dynafin.conflicts=1,dynafin.operation=claim,dynafin.outcome=busy,dynafin.package=outbox,dynafin.parts=[],dynafin.pattern=AP16,dynafin.scope=orders,dynafin.throttles=3,error.type=busy
client AP16.claim, Unset "": aws.dynamodb.table_names=["A","B"],db.operation.name=UpdateItem,db.system.name=aws.dynamodb,dynafin.attempts=4,dynafin.capacity.read=0.5,dynafin.capacity.write=2,dynafin.conflicts=1,dynafin.operation=claim,dynafin.outcome=rejected,dynafin.package=outbox,dynafin.parts=["AP08.once","AP16.create"],dynafin.pattern=AP16,dynafin.scope=orders,dynafin.throttles=3
`)
}

// The conventions are a package of OpenTelemetry: what it has a name for is called so.
func TestNamesAreThoseOfTheConventions(t *testing.T) {
	t.Parallel()
	duration := dbconv.ClientOperationDuration{}
	if duration.Name() != dynafinotel.MetricDuration || duration.Unit() != "s" {
		t.Errorf("the duration is %s in %s", duration.Name(), duration.Unit())
	}
	known := map[attribute.Key]bool{semconv.DBSystemNameKey: true, semconv.DBOperationNameKey: true, semconv.DBCollectionNameKey: true,
		semconv.ErrorTypeKey: true, semconv.AWSDynamoDBTableNamesKey: true}
	s := open(t)
	s.Observe(s.Start(t.Context(), claim.Operation), claim)
	found := 0
	for _, a := range s.spans.GetSpans()[0].Attributes {
		switch {
		case known[a.Key]:
			found++
		case !strings.HasPrefix(string(a.Key), "dynafin."):
			t.Errorf("%s is neither one of the conventions nor one of ours", a.Key)
		}
		if a.Key == semconv.DBSystemNameKey && a != semconv.DBSystemNameAWSDynamoDB {
			t.Error(a)
		}
	}
	if found != len(known) {
		t.Errorf("%d of %d", found, len(known))
	}
}

// The spans of a Commit's requests, here of a client that is instrumented, lie below that of the Commit; and a span of the
// caller is not ended.
func TestSpansOfRequestsLieBelowTheirOperation(t *testing.T) {
	t.Parallel()
	s := open(t)
	tracer := trace.NewTracerProvider(trace.WithSyncer(s.spans)).Tracer("caller")
	ctx, caller := tracer.Start(t.Context(), "caller")
	db := dynamosim.Open(dynamosim.Options{})
	if err := db.CreateTable("Orders"); err != nil {
		t.Fatal(err)
	}
	orders := txn.Table{Name: "Orders"}
	_, err := txn.New(db.Client(), txn.Config{Observer: s}).Commit(ctx, txn.Put(orders, orders.Key("A", "B")))
	if err != nil || !caller.IsRecording() {
		t.Fatal(err, "the caller's span has ended:", !caller.IsRecording())
	}
	s.Observe(ctx, claim) // without a Start there is no span to end
	if !caller.IsRecording() {
		t.Fatal("the caller's span was ended")
	}
	caller.End()
	spans := s.spans.GetSpans()
	if len(spans) != 2 || spans[0].Name != "commit" || spans[0].Parent.SpanID() != caller.SpanContext().SpanID() ||
		spans[0].SpanKind != oteltrace.SpanKindClient || spans[0].Status.Code != codes.Unset {
		t.Errorf("spans %+v", spans)
	}
}
