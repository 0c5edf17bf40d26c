// Package conformance holds the dashboard and the alert rules against what Prometheus gets to see, with Prometheus's own parsers. It
// is a module of its own, so that nobody else downloads them.
package conformance

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/otel"
)

// exported is what Prometheus scrapes of a program: the names of all metrics, each with its labels, and for histograms the names
// of their series.
func exported(t *testing.T) (families map[string]map[string]bool, series map[string]string) {
	t.Helper()
	registry := prometheus.NewRegistry()
	export, err := exporter.New(exporter.WithRegisterer(registry), exporter.WithoutTargetInfo(), exporter.WithoutScopeInfo())
	if err != nil {
		t.Fatal(err)
	}
	watch, err := otel.New(otel.Config{MeterProvider: metric.NewMeterProvider(metric.WithReader(export))})
	if err != nil {
		t.Fatal(err)
	}
	watch.Observe(t.Context(), observe.Event{
		Operation: observe.Operation{Package: "outbox", Scope: "orders", Pattern: "AP16", Name: "claim"}, Outcome: observe.Busy,
		Tables: []string{"Outbox"}, Calls: []string{"UpdateItem"}, Requests: 1, Attempts: 4, Throttles: 3, Conflicts: 1, ReadUnits: 1, WriteUnits: 4,
	})
	for _, gauge := range observe.Gauges() {
		watch.Measure(t.Context(), observe.Measurement{Package: "outbox", Scope: "orders", Pattern: "AP16", Gauge: gauge, Value: 1})
	}
	gathered, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	families, series = map[string]map[string]bool{}, map[string]string{}
	for _, family := range gathered {
		name := family.GetName()
		families[name] = map[string]bool{"le": family.GetType().String() == "HISTOGRAM"}
		series[name] = name
		if families[name]["le"] {
			series[name+"_bucket"], series[name+"_count"], series[name+"_sum"] = name, name, name
		}
		for _, m := range family.GetMetric() {
			for _, label := range m.GetLabel() {
				families[name][label.GetName()] = true
			}
		}
	}
	return families, series
}

// check holds an expression against what is exported, and returns the metrics that it names.
func check(t *testing.T, where, expr string) (used []string) {
	t.Helper()
	families, series := exported(t)
	parsed, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return nil
	}
	all := map[string]bool{}
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		if selector, ok := node.(*parser.VectorSelector); ok {
			name := series[selector.Name]
			if name == "" {
				t.Errorf("%s: nothing exports %q", where, selector.Name)
				return nil
			}
			used = append(used, name)
			maps.Copy(all, families[name])
			for _, m := range selector.LabelMatchers {
				matches(t, where, m, families[name])
			}
		}
		return nil
	})
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		if aggregation, ok := node.(*parser.AggregateExpr); ok {
			for _, label := range aggregation.Grouping {
				if !all[label] {
					t.Errorf("%s: no metric of it has the label %q", where, label)
				}
			}
		}
		return nil
	})
	return used
}

// matches checks the label of a matcher, and where its values are a closed set, that they are of it.
func matches(t *testing.T, where string, m *labels.Matcher, has map[string]bool) {
	t.Helper()
	if m.Name == model.MetricNameLabel {
		return
	}
	if !has[m.Name] {
		t.Errorf("%s: there is no label %q", where, m.Name)
	}
	if m.Name == "dynafin_outcome" {
		for value := range strings.SplitSeq(m.Value, "|") {
			if !slices.Contains(observe.Outcomes(), observe.Outcome(value)) {
				t.Errorf("%s: %q is no outcome", where, value)
			}
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// board is the part of a dashboard that is checked.
type board struct {
	Title, UID    string
	SchemaVersion int
	Panels        []struct {
		ID                       int
		Type, Title, Description string
		GridPos                  struct{ X, Y, W, H int }
		Targets                  []struct{ Expr, LegendFormat string }
	}
}

func TestTheDashboardShowsEveryMetricAndNothingElse(t *testing.T) {
	t.Parallel()
	var b board
	if err := json.Unmarshal(read(t, "../grafana/dashboard.json"), &b); err != nil || b.Title != "dynafin" || b.SchemaVersion == 0 {
		t.Fatal(err, b.Title)
	}
	shown, ids, taken := map[string]bool{}, map[int]bool{}, map[[2]int]string{}
	variables := strings.NewReplacer("$__rate_interval", "5m", "$package", ".*", "$scope", ".*")
	for _, p := range b.Panels {
		if ids[p.ID] || p.Title == "" || p.GridPos.X+p.GridPos.W > 24 || p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("panel %d %q is not a panel of its own", p.ID, p.Title)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" {
					t.Fatalf("panels %q and %q are in one place", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		for _, target := range p.Targets {
			for _, name := range check(t, fmt.Sprintf("panel %q", p.Title), variables.Replace(target.Expr)) {
				shown[name] = true
			}
		}
	}
	families, _ := exported(t)
	for name := range families {
		if !shown[name] {
			t.Errorf("no panel shows %s", name)
		}
	}
}

func TestPrometheusLoadsTheAlerts(t *testing.T) {
	t.Parallel()
	groups, errs := rulefmt.Parse(read(t, "../grafana/alerts.yaml"), false, model.LegacyValidation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	if len(errs) > 0 || len(groups.Groups) != 1 || len(groups.Groups[0].Rules) < 10 {
		t.Fatal(errs)
	}
	page := string(read(t, "../../docs/observability.md"))
	named := map[string]bool{}
	for _, rule := range groups.Groups[0].Rules {
		check(t, rule.Alert, rule.Expr)
		if named[rule.Alert] || rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" {
			t.Errorf("%s has no severity, no summary, or its name twice", rule.Alert)
		}
		named[rule.Alert] = true
		if !strings.Contains(page, "`"+rule.Alert+"`") {
			t.Errorf("docs/observability.md does not say what to do about %s", rule.Alert)
		}
	}
	for _, word := range strings.FieldsFunc(page, func(r rune) bool { return r == '`' || r == ' ' || r == '\n' }) {
		if strings.HasPrefix(word, "Dynafin") && !named[word] {
			t.Errorf("docs/observability.md speaks of an alert %s that there is not", word)
		}
	}
}

func TestThePageNamesEveryMetric(t *testing.T) {
	t.Parallel()
	page := string(read(t, "../../docs/observability.md"))
	names := []string{otel.MetricDuration, otel.MetricOperations, otel.MetricAttempts, otel.MetricThrottles, otel.MetricConflicts, otel.MetricCapacity}
	for _, gauge := range observe.Gauges() {
		names = append(names, otel.GaugeName(gauge))
	}
	for _, name := range names {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/observability.md does not say what %s means", name)
		}
	}
	for _, outcome := range observe.Outcomes() {
		if !strings.Contains(page, "`"+string(outcome)+"`") {
			t.Errorf("docs/observability.md does not say what %s means", outcome)
		}
	}
}
