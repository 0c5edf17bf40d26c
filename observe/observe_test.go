package observe_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/dynafin/dynafin/observe"
)

// event is one of every outcome.
func event(outcome observe.Outcome) observe.Event {
	e := observe.Event{
		Operation: observe.Operation{Package: "txn", Pattern: "AP08+AP16", Name: "commit"},
		Outcome:   outcome, Duration: 12 * time.Millisecond, Parts: []string{"AP08.once", "AP16.create"},
		Requests: 1, Attempts: 2, Conflicts: 1, WriteUnits: 15, ReadUnits: 1,
	}
	if !outcome.Expected() {
		e.Err = errors.New("why")
	}
	return e
}

// lines returns what is logged at a level and above, without the time.
func lines(least slog.Level, tell func(observe.Observer)) []string {
	var b strings.Builder
	tell(observe.Slog(slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: least, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))))
	return strings.FieldsFunc(b.String(), func(r rune) bool { return r == '\n' })
}

func TestTheLogIsQuietAboutWhatIsExpected(t *testing.T) {
	t.Parallel()
	logged := lines(slog.LevelInfo, func(o observe.Observer) {
		for _, outcome := range observe.Outcomes() {
			o.Observe(t.Context(), event(outcome))
		}
		for _, gauge := range observe.Gauges() {
			o.Measure(t.Context(), observe.Measurement{Package: "outbox", Gauge: gauge})
			o.Measure(t.Context(), observe.Measurement{Package: "outbox", Gauge: gauge, Value: 3})
		}
	})
	var got []string
	for _, line := range logged {
		level, rest, _ := strings.Cut(line, " ")
		for _, field := range strings.Fields(rest) {
			if name, value, _ := strings.Cut(field, "="); name == "outcome" || name == "gauge" {
				got = append(got, strings.TrimPrefix(level, "level=")+" "+value)
			}
		}
	}
	const want = "WARN abandoned, WARN busy, WARN ambiguous, WARN invalid, ERROR failed, WARN parked, WARN stuck, WARN gaps, WARN escalations"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("logged %s\nwant   %s", text, want)
	}
}

func TestALineSaysWhatIsKnown(t *testing.T) {
	t.Parallel()
	got := lines(slog.LevelDebug, func(o observe.Observer) {
		o.Observe(t.Context(), event(observe.Busy))
		o.Measure(t.Context(), observe.Measurement{Package: "outbox", Scope: "orders", Pattern: "AP16", Gauge: observe.OldestAge,
			Value: int64(90 * time.Second)})
	})
	want := []string{
		`level=WARN msg="dynafin: operation" package=txn pattern=AP08+AP16 operation=commit outcome=busy duration=12ms ` +
			`parts="[AP08.once AP16.create]" attempts=2 conflicts=1 read_units=0.5 write_units=7.5 error=why`,
		`level=DEBUG msg="dynafin: measurement" package=outbox scope=orders pattern=AP16 gauge=oldest.age value=1m30s`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// starter writes its name into the context and tells what it meets there.
type starter struct {
	name string
	told *[]string
}

type key struct{}

func (s starter) Start(ctx context.Context, op observe.Operation) context.Context {
	before, _ := ctx.Value(key{}).(string)
	return context.WithValue(ctx, key{}, before+s.name)
}

func (s starter) Observe(ctx context.Context, e observe.Event) {
	*s.told = append(*s.told, fmt.Sprint(s.name, " ", e.Label(), " in ", ctx.Value(key{})))
}

func (s starter) Measure(_ context.Context, m observe.Measurement) {
	*s.told = append(*s.told, fmt.Sprint(s.name, " ", m.Gauge))
}

func TestMultiTellsAllInOrderAndChainsTheirContexts(t *testing.T) {
	t.Parallel()
	var told []string
	all := observe.Multi(starter{"a", &told}, observe.Func(func(_ context.Context, e observe.Event) {
		told = append(told, "func "+e.Label())
	}), starter{"b", &told})
	e := event(observe.OK)
	ctx := all.(observe.Starter).Start(t.Context(), e.Operation)
	all.Observe(ctx, e)
	all.Measure(ctx, observe.Measurement{Gauge: observe.Gaps})
	const want = "[a AP08+AP16.commit in ab func AP08+AP16.commit b AP08+AP16.commit in ab a gaps b gaps]"
	if fmt.Sprint(told) != want {
		t.Errorf("told %v, want %s", told, want)
	}
}

func TestALabelWithoutAPatternIsTheName(t *testing.T) {
	t.Parallel()
	if got := (observe.Operation{Package: "txn", Name: "commit"}).Label(); got != "commit" {
		t.Error(got)
	}
}
