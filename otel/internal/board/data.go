package main

import "strings"

// panel is one panel of the dashboard, a series for each query.
type panel struct {
	title, text string
	unit        string // of Grafana
	width       int    // of 24
	stat        bool   // one number, red above zero
	queries     []query
}

// query is an expression and how its series are called.
type query struct{ expr, legend string }

// row is a group of panels under a heading.
type row struct {
	title  string
	panels []panel
}

// chosen are the labels by which the variables of the dashboard filter.
const chosen = `dynafin_package=~"$package",dynafin_scope=~"$scope"`

// of puts the filter of the dashboard into an expression: %s stands for it.
func of(expr string) string { return strings.ReplaceAll(expr, "%s", chosen) }

var rows = []row{
	{"Is anything wrong?", []panel{
		{title: "Parked", text: "Put aside; an operator decides.", stat: true, width: 4, queries: []query{{`sum(dynafin_queue_parked{%s})`, "parked"}}},
		{title: "Stuck", text: "Of workers that died. Another worker should find them.", stat: true, width: 4, queries: []query{{`sum(dynafin_queue_stuck{%s})`, "stuck"}}},
		{title: "Gaps", text: "Sources that miss a version.", stat: true, width: 4, queries: []query{{`sum(dynafin_queue_gaps{%s})`, "gaps"}}},
		{title: "Escalations", text: "Requests and breaks that wait for an operator.", stat: true, width: 4, queries: []query{{`sum(dynafin_queue_escalations{%s})`, "escalations"}}},
		{title: "Repairs due", text: "Requests whose outcome is not known yet.", stat: true, width: 4, queries: []query{{`sum(dynafin_queue_repairs_due{%s})`, "repairs due"}}},
		{title: "Discrepancies open", text: "Breaks that nobody has resolved.", stat: true, width: 4, queries: []query{{`sum(dynafin_queue_discrepancies_open{%s})`, "open"}}},
	}},
	{"What happens", []panel{
		{title: "Operations by access pattern", unit: "ops", width: 12, queries: []query{
			{`sum by (dynafin_pattern) (rate(dynafin_operations_total{%s}[$__rate_interval]))`, "{{dynafin_pattern}}"}}},
		{title: "Outcomes that are not expected", text: "Busy, ambiguous, abandoned, invalid, failed.", unit: "ops", width: 12, queries: []query{
			{`sum by (dynafin_pattern, dynafin_operation, dynafin_outcome) (rate(dynafin_operations_total{%s,dynafin_outcome=~"busy|ambiguous|abandoned|invalid|failed"}[$__rate_interval]))`,
				"{{dynafin_pattern}}.{{dynafin_operation}} {{dynafin_outcome}}"}}},
		{title: "Rejected, replayed, stale", text: "Expected, yet a change of their share says something about callers and workers.", unit: "ops", width: 12, queries: []query{
			{`sum by (dynafin_pattern, dynafin_outcome) (rate(dynafin_operations_total{%s,dynafin_outcome=~"rejected|replayed|stale"}[$__rate_interval]))`,
				"{{dynafin_pattern}} {{dynafin_outcome}}"}}},
		{title: "Duration, p50 and p99", text: "Whole operations, waits between attempts included.", unit: "s", width: 12, queries: []query{
			{`histogram_quantile(0.5, sum by (le, dynafin_pattern) (rate(db_client_operation_duration_seconds_bucket{%s}[$__rate_interval])))`, "p50 {{dynafin_pattern}}"},
			{`histogram_quantile(0.99, sum by (le, dynafin_pattern) (rate(db_client_operation_duration_seconds_bucket{%s}[$__rate_interval])))`, "p99 {{dynafin_pattern}}"}}},
	}},
	{"What it costs, and what it meets", []panel{
		{title: "Write units", unit: "short", width: 12, queries: []query{
			{`sum by (dynafin_pattern) (rate(dynafin_capacity_consumed_total{%s,dynafin_capacity_kind="write"}[$__rate_interval]))`, "{{dynafin_pattern}}"}}},
		{title: "Read units", unit: "short", width: 12, queries: []query{
			{`sum by (dynafin_pattern) (rate(dynafin_capacity_consumed_total{%s,dynafin_capacity_kind="read"}[$__rate_interval]))`, "{{dynafin_pattern}}"}}},
		{title: "Throttled share of attempts", text: "Of each access pattern; above 5 % for long, the lane needs shards or capacity.", unit: "percentunit", width: 12, queries: []query{
			{`sum by (dynafin_pattern) (rate(dynafin_throttles_total{%s}[$__rate_interval])) / sum by (dynafin_pattern) (rate(dynafin_attempts_total{%s}[$__rate_interval]))`,
				"{{dynafin_pattern}}"}}},
		{title: "Conflicts", text: "Attempts that met another request on the same items: a hot item shows here first.", unit: "ops", width: 12, queries: []query{
			{`sum by (dynafin_pattern, dynafin_operation) (rate(dynafin_conflicts_total{%s}[$__rate_interval]))`, "{{dynafin_pattern}}.{{dynafin_operation}}"}}},
	}},
	{"Queues", []panel{
		{title: "Age of the oldest entry", unit: "s", width: 12, queries: []query{
			{`max by (dynafin_package, dynafin_scope) (dynafin_queue_oldest_age_seconds{%s})`, "{{dynafin_package}} {{dynafin_scope}}"}}},
		{title: "Backlog", text: "Due and not taken up. A relay tells at least how many: it reads no more than it takes.", unit: "short", width: 12, queries: []query{
			{`max by (dynafin_package, dynafin_scope) (dynafin_queue_backlog{%s})`, "{{dynafin_package}} {{dynafin_scope}}"}}},
		{title: "Index lag", text: "For how long an index still showed what a relay had changed.", unit: "s", width: 12, queries: []query{
			{`max by (dynafin_package, dynafin_scope) (dynafin_queue_index_lag_age_seconds{%s})`, "{{dynafin_package}} {{dynafin_scope}}"}}},
		{title: "Events parked, given up and recovered", unit: "ops", width: 12, queries: []query{
			{`sum by (dynafin_operation) (rate(dynafin_operations_total{%s,dynafin_package="outbox",dynafin_operation=~"park|giveup|recover|retry",dynafin_outcome="ok"}[$__rate_interval]))`,
				"{{dynafin_operation}}"}}},
	}},
}

// alert is a rule, and what a person learns of it.
type alert struct {
	name, expr, wait, severity string
	summary                    string
}

var alerts = []alert{
	{"DynafinThrottled", `sum by (dynafin_package, dynafin_scope, dynafin_pattern) (rate(dynafin_throttles_total[5m])) / sum by (dynafin_package, dynafin_scope, dynafin_pattern) (rate(dynafin_attempts_total[5m])) > 0.05`,
		"10m", "warning", "more than 5 % of the attempts of {{ $labels.dynafin_pattern }} are throttled"},
	{"DynafinContention", `sum by (dynafin_package, dynafin_pattern, dynafin_operation) (rate(dynafin_operations_total{dynafin_outcome="busy"}[5m])) / sum by (dynafin_package, dynafin_pattern, dynafin_operation) (rate(dynafin_operations_total[5m])) > 0.01`,
		"10m", "warning", "more than 1 % of {{ $labels.dynafin_pattern }}.{{ $labels.dynafin_operation }} give up on busy items"},
	{"DynafinAmbiguous", `sum by (dynafin_package, dynafin_pattern, dynafin_operation) (rate(dynafin_operations_total{dynafin_outcome="ambiguous"}[5m])) / sum by (dynafin_package, dynafin_pattern, dynafin_operation) (rate(dynafin_operations_total[5m])) > 0.01`,
		"10m", "warning", "more than 1 % of {{ $labels.dynafin_pattern }}.{{ $labels.dynafin_operation }} end without a known outcome"},
	{"DynafinFailing", `sum by (dynafin_package, dynafin_pattern, dynafin_operation) (increase(dynafin_operations_total{dynafin_outcome=~"failed|invalid"}[5m])) > 0`,
		"10m", "warning", "{{ $labels.dynafin_package }} {{ $labels.dynafin_pattern }}.{{ $labels.dynafin_operation }} fails again and again"},
	{"DynafinSlow", `histogram_quantile(0.99, sum by (le, dynafin_package, dynafin_pattern) (rate(db_client_operation_duration_seconds_bucket{dynafin_operation!~"scan|run|verify"}[10m]))) > 1`,
		"15m", "warning", "one in a hundred of {{ $labels.dynafin_pattern }} takes more than a second"},
	{"DynafinBacklogOld", `max by (dynafin_package, dynafin_scope) (dynafin_queue_oldest_age_seconds{dynafin_package="outbox"}) > 300`,
		"5m", "critical", "events of {{ $labels.dynafin_scope }} have waited for more than 5 minutes"},
	{"DynafinParked", `max by (dynafin_package, dynafin_scope) (dynafin_queue_parked{dynafin_package="outbox"}) > 0`,
		"5m", "warning", "{{ $value }} events of {{ $labels.dynafin_scope }} are parked"},
	{"DynafinStuck", `min by (dynafin_package, dynafin_scope) (min_over_time(dynafin_queue_stuck[10m])) > 0`,
		"5m", "critical", "events of {{ $labels.dynafin_scope }} belong to a relay that died, and no other one takes them up"},
	{"DynafinGap", `max by (dynafin_package, dynafin_scope) (dynafin_queue_gaps) > 0`,
		"15m", "critical", "{{ $value }} sources of {{ $labels.dynafin_scope }} miss a version"},
	{"DynafinRepairsWait", `max by (dynafin_package) (dynafin_queue_repairs_due) > 0`,
		"30m", "warning", "{{ $value }} requests have waited for repair for half an hour"},
	{"DynafinEscalated", `max by (dynafin_package) (dynafin_queue_escalations) > 0`,
		"5m", "critical", "{{ $value }} entries of {{ $labels.dynafin_package }} wait for an operator"},
	{"DynafinBreaksOverdue", `max by (dynafin_package) (dynafin_queue_discrepancies_open) > 0 and on (dynafin_package) max by (dynafin_package) (dynafin_queue_oldest_age_seconds{dynafin_package="reconcile"}) > 0`,
		"15m", "warning", "discrepancies are past their due time; {{ $value }} are open"},
	{"DynafinUnproved", `sum by (dynafin_package) (increase(dynafin_operations_total{dynafin_operation=~"verify|verifytransaction|prove",dynafin_outcome="rejected"}[1h])) > 0`,
		"0m", "critical", "what {{ $labels.dynafin_package }} has stored does not prove itself"},
	{"DynafinIndexLag", `max by (dynafin_package, dynafin_scope) (dynafin_queue_index_lag_age_seconds) > 60`,
		"5m", "warning", "an index of {{ $labels.dynafin_scope }} is more than a minute behind"},
	{"DynafinSilent", `absent(dynafin_operations_total)`,
		"15m", "critical", "no process has told anything for a quarter of an hour"},
}
