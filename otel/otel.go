package otel

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/observe"
)

// Scope is the name of the instrumentation scope of all metrics and spans.
const Scope = "github.com/dynafin/dynafin/otel"

// The metrics, beside one for each [observe.Gauge]: see [GaugeName].
const (
	MetricDuration   = "db.client.operation.duration"
	MetricOperations = "dynafin.operations"
	MetricAttempts   = "dynafin.attempts"
	MetricThrottles  = "dynafin.throttles"
	MetricConflicts  = "dynafin.conflicts"
	MetricCapacity   = "dynafin.capacity.consumed"
)

// GaugeName returns the name of the metric of a gauge.
func GaugeName(g observe.Gauge) string { return "dynafin.queue." + string(g) }

// Config says where metrics and spans go. The zero value works.
type Config struct {
	// MeterProvider and TracerProvider make the instruments. Defaults: the global ones of OpenTelemetry.
	MeterProvider  metric.MeterProvider
	TracerProvider trace.TracerProvider
}

// Observer is an [observe.Starter]. It is safe for concurrent use.
type Observer struct {
	tracer                                     trace.Tracer
	duration, capacity                         instrument[float64]
	operations, attempts, throttles, conflicts instrument[int64]
	gauges                                     map[observe.Gauge]instrument[float64]
}

var _ observe.Starter = (*Observer)(nil)

// instrument records a value with attributes.
type instrument[N int64 | float64] func(ctx context.Context, value N, of attribute.Set)

// durationBounds are the bounds that the conventions advise, in seconds.
var durationBounds = []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10}

// New returns an Observer. The error joins those of the instruments that could not be made.
func New(config Config) (*Observer, error) {
	if config.MeterProvider == nil {
		config.MeterProvider = otel.GetMeterProvider()
	}
	if config.TracerProvider == nil {
		config.TracerProvider = otel.GetTracerProvider()
	}
	m := meter{Meter: config.MeterProvider.Meter(Scope)}
	o := &Observer{
		tracer:     config.TracerProvider.Tracer(Scope),
		duration:   m.histogram(MetricDuration, "s", "Duration of database client operations."),
		capacity:   m.units(MetricCapacity, "{unit}", "Read and write units, as DynamoDB reported them."),
		operations: m.counter(MetricOperations, "{operation}", "Operations of the library."),
		attempts:   m.counter(MetricAttempts, "{attempt}", "Requests sent, all repeats counted."),
		throttles:  m.counter(MetricThrottles, "{attempt}", "Attempts that DynamoDB throttled."),
		conflicts:  m.counter(MetricConflicts, "{attempt}", "Attempts that met another request on the same items."),
		gauges:     map[observe.Gauge]instrument[float64]{},
	}
	for _, g := range observe.Gauges() {
		unit := "{entry}"
		if g.IsAge() {
			unit = "s"
		}
		o.gauges[g] = m.gauge(GaugeName(g), unit, descriptions[g])
	}
	if m.err != nil {
		return nil, fmt.Errorf("otel: make the instruments: %w", m.err)
	}
	return o, nil
}

var descriptions = map[observe.Gauge]string{
	observe.Backlog:           "Entries that are due and not taken up.",
	observe.OldestAge:         "For how long the oldest entry has been due.",
	observe.Parked:            "Entries that were put aside.",
	observe.Stuck:             "Entries of workers that let their leases end.",
	observe.Gaps:              "Sources that miss a version.",
	observe.RepairsDue:        "Requests that wait for repair.",
	observe.Escalations:       "Entries that wait for an operator.",
	observe.DiscrepanciesOpen: "Discrepancies that are open.",
	observe.IndexLagAge:       "For how long an index was seen to be behind its table.",
}

// Start opens a span.
func (o *Observer) Start(ctx context.Context, op observe.Operation) context.Context {
	ctx, span := o.tracer.Start(ctx, op.Label(), trace.WithSpanKind(trace.SpanKindClient))
	return context.WithValue(ctx, begun{}, span)
}

// begun is the key of the span of the operation under way: what else is in a context is the caller's.
type begun struct{}

// Observe counts, and ends the span that Start opened.
func (o *Observer) Observe(ctx context.Context, e observe.Event) {
	about := operation(e.Operation)
	ended := append(operation(e.Operation), attribute.String("dynafin.outcome", string(e.Outcome)))
	all := slices.Concat(ended, database(e))
	o.operations(ctx, 1, set(ended))
	if e.Requests > 0 {
		o.duration(ctx, e.Duration.Seconds(), set(all))
	}
	for _, figure := range []struct {
		add   instrument[int64]
		value int
	}{{o.attempts, e.Attempts}, {o.throttles, e.Throttles}, {o.conflicts, e.Conflicts}} {
		if figure.value > 0 {
			figure.add(ctx, int64(figure.value), set(about))
		}
	}
	for kind, units := range map[string]capacity.Units{"read": e.ReadUnits, "write": e.WriteUnits} {
		if units > 0 {
			of := []attribute.KeyValue{attribute.String("dynafin.capacity.kind", kind)}
			o.capacity(ctx, units.Float64(), set(about, of, collection(e)))
		}
	}
	if span, ok := ctx.Value(begun{}).(trace.Span); ok {
		end(span, e, all)
	}
}

// end ends a span.
func end(span trace.Span, e observe.Event, about []attribute.KeyValue) {
	if span.IsRecording() {
		span.SetAttributes(about...)
		span.SetAttributes(attribute.StringSlice("aws.dynamodb.table_names", e.Tables), attribute.StringSlice("dynafin.parts", e.Parts),
			attribute.Int("dynafin.attempts", e.Attempts), attribute.Int("dynafin.throttles", e.Throttles),
			attribute.Int("dynafin.conflicts", e.Conflicts), attribute.Float64("dynafin.capacity.read", e.ReadUnits.Float64()),
			attribute.Float64("dynafin.capacity.write", e.WriteUnits.Float64()))
		if e.Err != nil && !e.Outcome.Expected() {
			span.SetStatus(codes.Error, e.Err.Error())
		}
	}
	span.End()
}

// Measure sets a gauge.
func (o *Observer) Measure(ctx context.Context, m observe.Measurement) {
	gauge, ok := o.gauges[m.Gauge]
	if !ok {
		return // of a newer library
	}
	value := float64(m.Value)
	if m.Gauge.IsAge() {
		value = m.Age().Seconds()
	}
	gauge(ctx, value, set(who(m.Package, m.Scope, m.Pattern)))
}

// set copies, because a set sorts what it is made of.
func set(of ...[]attribute.KeyValue) attribute.Set { return attribute.NewSet(slices.Concat(of...)...) }

func operation(op observe.Operation) []attribute.KeyValue {
	return append(who(op.Package, op.Scope, op.Pattern), attribute.String("dynafin.operation", op.Name))
}

func who(pkg, scope, pattern string) []attribute.KeyValue {
	about := []attribute.KeyValue{attribute.String("dynafin.package", pkg), attribute.String("dynafin.pattern", pattern)}
	if scope != "" {
		about = append(about, attribute.String("dynafin.scope", scope))
	}
	return about
}

// database are the attributes of the conventions.
func database(e observe.Event) []attribute.KeyValue {
	about := append(collection(e), attribute.String("db.system.name", "aws.dynamodb"))
	if len(e.Calls) == 1 {
		about = append(about, attribute.String("db.operation.name", e.Calls[0]))
	}
	if !e.Outcome.Expected() {
		about = append(about, attribute.String("error.type", string(e.Outcome)))
	}
	return about
}

func collection(e observe.Event) []attribute.KeyValue {
	if len(e.Tables) != 1 {
		return nil
	}
	return []attribute.KeyValue{attribute.String("db.collection.name", e.Tables[0])}
}

// meter makes instruments and keeps what goes wrong.
type meter struct {
	metric.Meter
	err error
}

func (m *meter) histogram(name, unit, text string) instrument[float64] {
	h, err := m.Float64Histogram(name, metric.WithUnit(unit), metric.WithDescription(text), metric.WithExplicitBucketBoundaries(durationBounds...))
	m.err = errors.Join(m.err, err)
	return func(ctx context.Context, value float64, of attribute.Set) {
		h.Record(ctx, value, metric.WithAttributeSet(of))
	}
}

func (m *meter) units(name, unit, text string) instrument[float64] {
	c, err := m.Float64Counter(name, metric.WithUnit(unit), metric.WithDescription(text))
	m.err = errors.Join(m.err, err)
	return func(ctx context.Context, value float64, of attribute.Set) {
		c.Add(ctx, value, metric.WithAttributeSet(of))
	}
}

func (m *meter) counter(name, unit, text string) instrument[int64] {
	c, err := m.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(text))
	m.err = errors.Join(m.err, err)
	return func(ctx context.Context, value int64, of attribute.Set) {
		c.Add(ctx, value, metric.WithAttributeSet(of))
	}
}

func (m *meter) gauge(name, unit, text string) instrument[float64] {
	g, err := m.Float64Gauge(name, metric.WithUnit(unit), metric.WithDescription(text))
	m.err = errors.Join(m.err, err)
	return func(ctx context.Context, value float64, of attribute.Set) {
		g.Record(ctx, value, metric.WithAttributeSet(of))
	}
}
