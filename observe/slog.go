package observe

import (
	"context"
	"log/slog"
)

// Slog returns an Observer that logs to a logger; nil is slog.Default. It is quiet by default: what is expected (see
// [Outcome.Expected]) has level Debug, [Failed] has Error, and the rest Warn. A measurement has level Debug, and Warn if
// it needs a person: events that are parked or stuck, gaps, escalations.
func Slog(logger *slog.Logger) Observer { return slogger{logger} }

type slogger struct{ logger *slog.Logger }

func (s slogger) log() *slog.Logger {
	if s.logger == nil {
		return slog.Default()
	}
	return s.logger
}

func (s slogger) Observe(ctx context.Context, e Event) {
	level := slog.LevelWarn
	switch {
	case e.Outcome.Expected():
		level = slog.LevelDebug
	case e.Outcome == Failed:
		level = slog.LevelError
	}
	if !s.log().Enabled(ctx, level) {
		return
	}
	about := []slog.Attr{slog.String("package", e.Package), slog.String("pattern", e.Pattern), slog.String("operation", e.Name),
		slog.String("outcome", string(e.Outcome)), slog.Duration("duration", e.Duration)}
	if e.Scope != "" {
		about = append(about, slog.String("scope", e.Scope))
	}
	if len(e.Parts) > 0 {
		about = append(about, slog.Any("parts", e.Parts))
	}
	for _, figure := range []struct {
		name  string
		value int
	}{{"attempts", e.Attempts}, {"throttles", e.Throttles}, {"conflicts", e.Conflicts}} {
		if figure.value > 0 {
			about = append(about, slog.Int(figure.name, figure.value))
		}
	}
	if e.ReadUnits > 0 {
		about = append(about, slog.String("read_units", e.ReadUnits.String()))
	}
	if e.WriteUnits > 0 {
		about = append(about, slog.String("write_units", e.WriteUnits.String()))
	}
	if e.Err != nil {
		about = append(about, slog.String("error", e.Err.Error()))
	}
	s.log().LogAttrs(ctx, level, "dynafin: operation", about...)
}

func (s slogger) Measure(ctx context.Context, m Measurement) {
	level := slog.LevelDebug
	switch m.Gauge {
	case Parked, Stuck, Gaps, Escalations:
		if m.Value > 0 {
			level = slog.LevelWarn
		}
	}
	if !s.log().Enabled(ctx, level) {
		return
	}
	value := slog.Int64("value", m.Value)
	if m.Gauge.IsAge() {
		value = slog.Duration("value", m.Age())
	}
	s.log().LogAttrs(ctx, level, "dynafin: measurement", slog.String("package", m.Package), slog.String("scope", m.Scope),
		slog.String("pattern", m.Pattern), slog.String("gauge", string(m.Gauge)), value)
}
