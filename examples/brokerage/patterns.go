package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/examples/brokerage/internal/usage"
)

// patternUse is what an access pattern came to, beside what the plan says of one operation of it.
type patternUse struct {
	ID   string `json:"id"`
	What string `json:"what"`
	// Operations counts items written or checked and reads, Reads of them are reads, Requests those that they were in; a request that
	// serves several patterns counts for each.
	Operations int `json:"operations"`
	Reads      int `json:"reads"`
	Requests   int `json:"requests"`
	// ReadUnits and WriteUnits are all units; WriteUnits has the index entries.
	ReadUnits  json.Number `json:"read_units"`
	WriteUnits json.Number `json:"write_units"`
	// PerRead is the mean of a read, PerWrite that of an item that is written, without index entries, or that of what a request
	// does to the index if the pattern has no items of its own. PlanRead and PlanWrite are the
	// plan's figures for these, empty where it has none.
	PerRead   json.Number `json:"per_read"`
	PerWrite  json.Number `json:"per_write"`
	PlanRead  string      `json:"plan_read"`
	PlanWrite string      `json:"plan_write"`
	ReadNote  string      `json:"read_note,omitempty"`
	WriteNote string      `json:"write_note,omitempty"`

	read, write capacity.Units
}

// routeUse says how often a route was taken.
type routeUse struct {
	ID         string `json:"id"`
	Operations int    `json:"operations"`
	Used       bool   `json:"used"`
}

// planned is what the plan of the case says: what the pattern is, and the units of one read and of one item written, or of one index
// entry where the pattern has no items of its own. Items are written in transactions, for twice the units, where nothing else is said.
var planned = []struct{ id, what, read, readNote, write, writeNote string }{
	{"AP01", "an order", "1", "", "4", "1.2 KiB"},
	{"AP02", "an account's orders", "6", "the plan's page has 100 entries of 0.45 KiB", "1", indexOnly},
	{"AP03", "an account's open orders", "0.5", "", "", indexOnly + ", 2 if it moves"},
	{"AP04", "an order's trades", "5", "the plan reads 20 trades of 0.9 KiB", "2", ""},
	{"AP05", "an account's trades", "6.5", "the plan's page has 100 entries of 0.5 KiB", "1", indexOnly},
	{"AP06", "a symbol's trades", "5", "the plan's page has 100 entries of 0.4 KiB", "1", indexOnly},
	{"AP07", "a portfolio", "0.5", "", "1", "in the transaction that moves its checkpoint, so twice as much"},
	{"AP08", "a request", "1", "", "2", "begun with a plain write of 1"},
	{"AP09", "an event's receipt", "1", "", "2", "and the note that one of them protects"},
	{"AP10", "a ledger transaction", "", "", "2", "each posting, and a header; one of many lines is larger than 1 KiB"},
	{"AP11", "a statement, a proof", "1", "a page has more than 4 KiB", "", ""},
	{"AP12", "a balance, a reservation", "1", "all balances of an account are one query", "2", ""},
	{"AP13", "a checkpoint", "1", "gaps and checkpoints are listed shard by shard", "1", "in the transaction that changes the view, so twice as much"},
	{"AP14", "a reconciliation", "1", "", "1", "its state changes in a transaction"},
	{"AP15", "a break", "0.5", "listed, then read strongly", "1", "closed in a transaction"},
	{"AP16", "an event", "0.5", "polls of the shards, and strong reads of claim journals", "2", "4 to create it, 2 to claim and to complete it, 1 for journals and small ones"},
	{"AP17", "a client order ID", "1", "", "2", ""},
	{"AP18", "a repair", "0.5", "", "1", "notes of operators; entries of the queue are beside them"},
}

const indexOnly = "an index entry, which the writes of another pattern bring along"

// patternsOf are all patterns of the case with what they used.
func patternsOf(m *usage.Meter) (list []patternUse) {
	if m == nil { // an endpoint's units are not divided
		return nil
	}
	used := m.Patterns()
	for _, p := range planned {
		one := patternUse{ID: p.id, What: p.what, PlanRead: p.read, PlanWrite: p.write, ReadNote: p.readNote, WriteNote: p.writeNote}
		if at := slices.IndexFunc(used, func(u usage.Pattern) bool { return u.ID == p.id }); at >= 0 {
			u := used[at]
			one.Operations, one.Reads, one.Requests, one.read, one.write = u.Operations, u.Reads, u.Requests, u.Read, u.Write
			one.PerRead, one.PerWrite = mean(u.Read, u.Reads), mean(u.Base, u.Operations-u.Reads)
			if u.Operations == u.Reads { // no items, only entries
				one.PerWrite = mean(u.Write, u.Requests-u.Reads)
			}
		}
		one.ReadUnits, one.WriteUnits = mean(one.read, 1), mean(one.write, 1)
		list = append(list, one)
	}
	return list
}

func routesOf(m *usage.Meter) (list []routeUse) {
	if m == nil {
		return nil
	}
	for _, r := range m.Routes() {
		if strings.HasPrefix(r.ID, "IDX") {
			list = append(list, routeUse{r.ID, r.Operations, r.Operations > 0})
		}
	}
	return list
}

// patternTable is the last part of the table.
func (r *report) patternTable(b *strings.Builder) {
	if len(r.Patterns) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%-4s  %-26s %10s %9s %9s %9s   %s\n", "", "ACCESS PATTERN", "OPERATIONS", "REQUESTS", "READ", "WRITE", "UNITS OF ONE, AND THE PLAN'S")
	beside := func(measured json.Number, plan, what string) string {
		if measured == "0" || measured == "" {
			return ""
		}
		text := fmt.Sprintf("%s a %s", measured, what)
		if plan != "" {
			text += " (" + plan + ")"
		}
		return text
	}
	for _, p := range r.Patterns {
		var each []string
		for _, text := range []string{beside(p.PerRead, p.PlanRead, "read"), beside(p.PerWrite, p.PlanWrite, "write")} {
			if text != "" {
				each = append(each, text)
			}
		}
		fmt.Fprintf(b, "%-4s  %-26s %10s %9s %9s %9s   %s\n", p.ID, p.What, grouped(p.Operations), grouped(p.Requests), p.ReadUnits, p.WriteUnits, strings.Join(each, ", "))
	}
	used := 0
	for _, route := range r.Routes {
		if route.Used {
			used++
		}
	}
	fmt.Fprintf(b, "\nroutes %d of the %d were taken\n", used, len(r.Routes))
}
