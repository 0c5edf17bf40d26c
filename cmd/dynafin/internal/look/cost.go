package look

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/capacity/reference"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
)

type operationItem struct {
	Pattern     string `json:"pattern"`
	Name        string `json:"name"`
	Rate        string `json:"rate"`
	ReadUnits   string `json:"read_units"`
	WriteUnits  string `json:"write_units"`
	IndexUnits  string `json:"index_write_units"`
	ReadsPer1k  string `json:"read_units_per_1000"`
	WritesPer1k string `json:"write_units_per_1000"`
}

type laneItem struct {
	Lane     string `json:"lane"`
	Route    string `json:"route"`
	Kind     string `json:"kind"`
	Demand   string `json:"demand_units_per_second"`
	Share    string `json:"hottest_key_share,omitempty"`
	Shards   int    `json:"shards,omitempty"`
	Needed   int    `json:"shards_needed,omitempty"`
	Headroom string `json:"headroom_percent,omitempty"`
	State    string `json:"state"`
	Evidence string `json:"evidence,omitempty"`
}

const costHelp = `Says what each operation of a workload costs in read and write units, alone and a thousand times, by the rules that the library itself is
planned and tested with. WORKLOAD is an inventory in JSON (the fields of capacity.Inventory: routes, operations, lanes), or "reference", the
planned load of the example brokerage. With --lanes it says instead which key ranges carry the load: shards needed, headroom, and what
still needs a load test. With prices it adds up a month.`

// Cost is the command that prices a workload.
func Cost(a *app.App) *cobra.Command {
	lanes := false
	var prices capacity.Prices
	cmd := &cobra.Command{
		Use: "cost WORKLOAD", Short: "says what a workload costs in units, and what its lanes need", Long: costHelp,
		Example: "  dynafin cost reference\n  dynafin cost service.json --lanes\n  dynafin cost service.json --currency USD --million-writes 0.625 --million-reads 0.125 --gib-month 0.25",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			inventory, err := workload(args[0])
			if err != nil {
				return app.Usage("%v", err)
			}
			plan, err := inventory.Plan()
			if err != nil {
				return app.Usage("%s: %v", args[0], err)
			}
			var foot []string
			if prices != (capacity.Prices{}) {
				cost, err := plan.Cost(prices)
				if err != nil {
					return app.Usage("prices: %v", err)
				}
				foot = append(foot, "", cost.String())
			}
			if lanes {
				return printLanes(a, plan, foot)
			}
			return printOperations(a, args[0], inventory, foot)
		},
	}
	cmd.Flags().BoolVar(&lanes, "lanes", false, "list lanes in place of operations")
	cmd.Flags().StringVar(&prices.Currency, "currency", "", "currency of the prices")
	cmd.Flags().StringVar(&prices.MillionReads, "million-reads", "", "`PRICE` of a million read units")
	cmd.Flags().StringVar(&prices.MillionWrites, "million-writes", "", "`PRICE` of a million write units")
	cmd.Flags().StringVar(&prices.GiBMonth, "gib-month", "", "`PRICE` of 1 GiB for a month")
	return cmd
}

func workload(name string) (capacity.Inventory, error) {
	if name == "reference" {
		return reference.Inventory(), nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return capacity.Inventory{}, err
	}
	var inventory capacity.Inventory
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&inventory); err != nil {
		return inventory, fmt.Errorf("%s: %w", name, err)
	}
	return inventory, nil
}

// unitsOf prices the reads, or the writes, of one operation.
func unitsOf(inventory capacity.Inventory, o capacity.Operation, kind capacity.Kind) (table, index capacity.Units, err error) {
	part := o
	part.Accesses = nil
	for _, access := range o.Accesses {
		if access.Do.Kind() == kind {
			part.Accesses = append(part.Accesses, access)
		}
	}
	if len(part.Accesses) == 0 {
		return 0, 0, nil
	}
	return inventory.Units(part)
}

func printOperations(a *app.App, name string, inventory capacity.Inventory, foot []string) error {
	l := app.List[operationItem]{Schema: "cost/v1", Foot: foot, Next: "dynafin cost " + quoted(name) + " --lanes"}
	for _, o := range inventory.Operations {
		readTable, readIndex, err := unitsOf(inventory, o, capacity.Reads)
		if err != nil {
			return err
		}
		writeTable, writeIndex, err := unitsOf(inventory, o, capacity.Writes)
		if err != nil {
			return err
		}
		reads, writes := readTable+readIndex, writeTable+writeIndex
		l.Items = append(l.Items, operationItem{
			Pattern: o.Pattern, Name: o.Name, Rate: o.Rate, ReadUnits: reads.String(), WriteUnits: writes.String(), IndexUnits: writeIndex.String(),
			ReadsPer1k: (1000 * reads).String(), WritesPer1k: (1000 * writes).String(),
		})
	}
	l.Columns = []app.Column[operationItem]{
		{Name: "pattern", Value: func(o operationItem) string { return o.Pattern }},
		{Name: "name", Value: func(o operationItem) string { return o.Name }},
		{Name: "rate", Kind: app.Number, Title: "rate/s", Value: func(o operationItem) string { return o.Rate }},
		{Name: "read_units", Title: "RCU", Kind: app.Number, Value: func(o operationItem) string { return o.ReadUnits }},
		{Name: "write_units", Title: "WCU", Kind: app.Number, Value: func(o operationItem) string { return o.WriteUnits }},
		{Name: "index_write_units", Title: "of indexes", Kind: app.Number, Value: func(o operationItem) string { return o.IndexUnits }},
		{Name: "read_units_per_1000", Title: "RCU per 1,000", Kind: app.Number, Value: func(o operationItem) string { return o.ReadsPer1k }},
		{Name: "write_units_per_1000", Title: "WCU per 1,000", Kind: app.Number, Value: func(o operationItem) string { return o.WritesPer1k }},
	}
	return app.Print(a, l)
}

func printLanes(a *app.App, plan *capacity.Plan, foot []string) error {
	l := app.List[laneItem]{Schema: "cost.lanes/v1"}
	l.Foot = append([]string{fmt.Sprintf("at the peak: %s read units and %s write units a second", plan.ReadUnits, plan.WriteUnits)}, foot...)
	for _, lane := range plan.Lanes {
		item := laneItem{Lane: lane.ID, Route: lane.Route, Kind: string(lane.Kind), Demand: lane.Demand.String(), Share: lane.Share, State: string(lane.State), Evidence: lane.Evidence}
		if lane.Known {
			item.Shards, item.Needed, item.Headroom = lane.Shards, lane.Needed, lane.Headroom.Fixed(2)
		}
		l.Items = append(l.Items, item)
	}
	if n := len(plan.LoadTests()); n > 0 {
		l.Foot = append(l.Foot, fmt.Sprintf("%s of %d need a load test before they can be trusted", plural(n, "lane", "lanes"), len(plan.Lanes)))
	}
	l.Columns = []app.Column[laneItem]{
		{Name: "lane", Value: func(i laneItem) string { return i.Lane }},
		{Name: "route", Value: func(i laneItem) string { return i.Route }},
		{Name: "kind", Value: func(i laneItem) string { return i.Kind }},
		{Name: "demand_units_per_second", Title: "demand/s", Kind: app.Number, Value: func(i laneItem) string { return i.Demand }},
		{Name: "hottest_key_share", Title: "share", Kind: app.Number, Value: func(i laneItem) string { return i.Share }},
		{Name: "shards", Kind: app.Number, Value: func(i laneItem) string { return nonZero(i.Shards) }},
		{Name: "shards_needed", Title: "needed", Kind: app.Number, Value: func(i laneItem) string { return nonZero(i.Needed) }},
		{Name: "headroom_percent", Title: "headroom %", Kind: app.Number, Value: func(i laneItem) string { return i.Headroom }},
		{Name: "state", Value: func(i laneItem) string { return i.State }},
		{Name: "evidence", Data: true, Value: func(i laneItem) string { return i.Evidence }},
	}
	return app.Print(a, l)
}

func nonZero(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
