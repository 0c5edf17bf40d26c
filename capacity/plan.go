package capacity

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
)

// MaxShards is the most shards that a plan gives a key; a shard map has no more either.
const MaxShards = 10000

// State says how much a plan knows of a lane.
type State string

const (
	// Feasible: the share of the hottest key is known, and every shard stays within its target.
	Feasible State = "FEASIBLE_PLANNING"
	// OverTarget: the share is known, and the lane's shards are too few.
	OverTarget State = "OVER_TARGET"
	// LoadTestRequired: the share is not measured, so nothing is known of the hottest key. This is not zero.
	LoadTestRequired State = "LOAD_TEST_REQUIRED"
	// Unproven: the route has no key of its own yet.
	Unproven State = "UNPROVEN"
)

// Plan is what an inventory needs.
type Plan struct {
	// Lanes are the inventory's lanes in its order, then the routes without a lane.
	Lanes []PlannedLane
	// ReadUnits and WriteUnits are those of all lanes together, a second.
	ReadUnits, WriteUnits Figure

	mean    Figure
	storage Figure // bytes
}

// Load is what one operation does to one lane.
type Load struct {
	// Pattern and Operation name it.
	Pattern, Operation string
	// Rate is operations a second, Units what one consumes there, Demand their product.
	Rate   Figure
	Units  Units
	Demand Figure
}

// PlannedLane is one lane of a plan, with the shards that it needs if the inventory left them open. A lane of a single operation has its rate and its units; what several operations do to
// one route is added up, and Rate is then in units, one each.
type PlannedLane struct {
	Lane
	// Loads are the operations that use it.
	Loads []Load
	// Rate is operations a second, Units what one consumes, Demand their product.
	Rate   Figure
	Units  Units
	Demand Figure
	// Target is the units a second that one shard may carry.
	Target Figure
	// MaxShare is the largest share of one key that fits: into its shards, or without any into the target. At most 1.
	MaxShare Figure
	State    State

	// What follows is known if the share is; else Known is false and all are zero.
	Known bool
	// KeyDemand is what the hottest key gets, Needed how many shards keep that within the target. Each of Lane.Shards gets Load.
	KeyDemand Figure
	Needed    int
	Load      Figure
	// Headroom is how far the load stays below the target, in percent of the target; it is negative above it.
	Headroom Figure
}

// Plan works out what the inventory needs. The error joins a *FigureError for everything that is wrong with it.
func (i Inventory) Plan() (*Plan, error) {
	r := &reader{routes: map[string]Route{}}
	p := r.plan(i)
	if err := errors.Join(r.errs...); err != nil {
		return nil, err
	}
	return p, nil
}

// LoadTests returns the lanes of which only a load test can say whether they hold: the hottest key is not measured, or has
// no place yet.
func (p *Plan) LoadTests() []PlannedLane {
	var open []PlannedLane
	for _, l := range p.Lanes {
		if !l.Known {
			open = append(open, l)
		}
	}
	return open
}

// Lane returns the lane with an ID.
func (p *Plan) Lane(id string) (PlannedLane, bool) {
	for _, l := range p.Lanes {
		if l.ID == id {
			return l, true
		}
	}
	return PlannedLane{}, false
}

// Units returns what one operation of the inventory consumes on the tables themselves and on indexes, reads and writes
// added up. The error is an ErrInventory if there is no such operation or it is broken.
func (i Inventory) Units(operation Operation) (table, index Units, err error) {
	r := &reader{routes: map[string]Route{}}
	r.readRoutes(i.Routes)
	where := operationName(operation)
	for n, a := range operation.Accesses {
		if units, ok := r.access(fmt.Sprintf("%s, access %d", where, n+1), a); ok && r.routes[a.Route].Index != "" {
			index += units
		} else {
			table += units
		}
	}
	return table, index, errors.Join(r.errs...)
}

func (r *reader) plan(i Inventory) *Plan {
	p := &Plan{}
	r.readRoutes(i.Routes)
	p.storage = r.readStorage(i.Routes)
	part := r.part("Target", i.Target, DefaultTarget)
	p.mean = r.part("Mean", i.Mean, "1")
	loads := r.readOperations(i.Operations)
	taken := map[laneKey]bool{}
	for n, l := range i.Lanes {
		key := laneKey{l.Route, l.Kind}
		where := fmt.Sprintf("lane %d (%s %s)", n+1, l.Route, l.Kind)
		if taken[key] {
			r.fail(where, "is there twice")
		}
		taken[key] = true
		p.Lanes = append(p.Lanes, r.lane(where, l, loads.lanes[key], part))
	}
	for _, key := range loads.order {
		if !taken[key] {
			l := Lane{Route: key.route, Kind: key.kind, Evidence: "nothing is known of its keys"}
			p.Lanes = append(p.Lanes, r.lane("", l, loads.lanes[key], part))
		}
	}
	for _, l := range p.Lanes {
		if l.Kind == Reads {
			p.ReadUnits = p.ReadUnits.plus(l.Demand)
		} else {
			p.WriteUnits = p.WriteUnits.plus(l.Demand)
		}
	}
	return p
}

// lane plans one lane with what operations do to it.
func (r *reader) lane(where string, l Lane, loads []Load, part Figure) PlannedLane {
	if l.ID == "" {
		l.ID = l.Route + " " + string(l.Kind)
	}
	p := PlannedLane{Lane: l, State: LoadTestRequired, Loads: loads}
	p.add()
	route, ok := r.routes[l.Route]
	switch {
	case !ok:
		r.fail(where+": Route", "leads nowhere")
	case l.Kind != Reads && l.Kind != Writes:
		r.fail(where+": Kind", "is neither READ nor WRITE")
	case l.Shards < 0 || l.Shards > MaxShards:
		r.fail(where+": Shards", fmt.Sprintf("is outside 0 to %d", MaxShards))
	}
	p.Target = l.Kind.partition().times(part)
	p.MaxShare = figureOf(1)
	if fits := p.Target.times(figureOf(int64(max(l.Shards, 1)))); p.Demand.Cmp(fits) > 0 {
		p.MaxShare = fits.over(p.Demand)
	}
	if route.Unbound {
		p.State = Unproven
		return p
	}
	if l.Share == "" {
		return p
	}
	share := r.part(where+": Share", l.Share, "")
	if len(r.errs) > 0 {
		return p
	}
	return p.spread(where, share, r)
}

// add adds up the loads.
func (p *PlannedLane) add() {
	for _, l := range p.Loads {
		p.Rate, p.Units, p.Demand = l.Rate, l.Units, p.Demand.plus(l.Demand)
	}
	if len(p.Loads) > 1 {
		p.Rate, p.Units = p.Demand, Whole(1)
	}
}

// Patterns returns the access patterns that use the lane.
func (p PlannedLane) Patterns() []string {
	var patterns []string
	for _, l := range p.Loads {
		if l.Pattern != "" && !slices.Contains(patterns, l.Pattern) {
			patterns = append(patterns, l.Pattern)
		}
	}
	return patterns
}

// spread works out shards and headroom of a lane whose share is known.
func (p PlannedLane) spread(where string, share Figure, r *reader) PlannedLane {
	p.Known = true
	p.KeyDemand = p.Demand.times(share)
	needed := p.KeyDemand.over(p.Target).up()
	if needed.Cmp(big.NewInt(MaxShards)) > 0 {
		r.fail(where, fmt.Sprintf("needs more than %d shards", MaxShards))
		return p
	}
	p.Needed = max(int(needed.Int64()), 1)
	p.Shards = cmp.Or(p.Shards, p.Needed)
	p.Load = p.KeyDemand.over(figureOf(int64(p.Shards)))
	p.Headroom = p.Target.minus(p.Load).over(p.Target).times(figureOf(100))
	p.State = Feasible
	if p.Shards < p.Needed {
		p.State = OverTarget
	}
	return p
}
