package capacity

import "fmt"

// reader reads an inventory and keeps everything that is wrong with it.
type reader struct {
	routes map[string]Route
	errs   []error
}

func (r *reader) fail(where, reason string) {
	r.errs = append(r.errs, &FigureError{Where: where, Reason: reason})
}

// figure reads a figure that must not be zero.
func (r *reader) figure(where, text string) Figure {
	f, wrong := parseFigure(text)
	if wrong == "" && f.Rat().Sign() == 0 {
		wrong = "is zero"
	}
	if wrong != "" {
		r.fail(where, wrong)
		return figureOf(1) // so that reading can go on
	}
	return f
}

// part reads a figure of at most 1; without text it is the standard.
func (r *reader) part(where, text, standard string) Figure {
	if text == "" {
		text = standard
	}
	f := r.figure(where, text)
	if f.Cmp(figureOf(1)) > 0 {
		r.fail(where, "is above 1")
	}
	return f
}

func (r *reader) size(where, text string) Figure {
	bytes, wrong := parseSize(text)
	if wrong != "" {
		r.fail(where, wrong)
	}
	return bytes
}

func (r *reader) readRoutes(routes []Route) {
	for n, route := range routes {
		where := fmt.Sprintf("route %d (%s)", n+1, route.ID)
		if route.ID == "" {
			r.fail(where, "has no ID")
		}
		if _, ok := r.routes[route.ID]; ok {
			r.fail(where, "is there twice")
		}
		r.routes[route.ID] = route
	}
}

// StorageOverheadBytes is what DynamoDB bills for each stored item and index entry besides its size.
const StorageOverheadBytes = 100

// readStorage returns the bytes that are billed as storage.
func (r *reader) readStorage(routes []Route) (bytes Figure) {
	for n, route := range routes {
		if route.StoredItems == "" && route.StoredSize == "" {
			continue
		}
		where := fmt.Sprintf("route %d (%s)", n+1, route.ID)
		items := r.figure(where+": StoredItems", route.StoredItems)
		size := r.size(where+": StoredSize", route.StoredSize)
		bytes = bytes.plus(items.times(size.plus(figureOf(StorageOverheadBytes))))
	}
	return bytes
}

type laneKey struct {
	route string
	kind  Kind
}

// loads are what operations do to each lane, lanes in the order in which operations come to them.
type loads struct {
	order []laneKey
	lanes map[laneKey][]Load
}

func (r *reader) readOperations(operations []Operation) loads {
	all := loads{lanes: map[laneKey][]Load{}}
	for _, o := range operations {
		where := operationName(o)
		rate := r.figure(where+": Rate", o.Rate)
		for n, a := range o.Accesses {
			units, ok := r.access(fmt.Sprintf("%s, access %d", where, n+1), a)
			if !ok {
				continue
			}
			key := laneKey{a.Route, a.Do.Kind()}
			if _, known := all.lanes[key]; !known {
				all.order = append(all.order, key)
			}
			all.lanes[key] = addLoad(all.lanes[key], Load{Pattern: o.Pattern, Operation: o.Name, Rate: rate, Units: units})
		}
	}
	return all
}

// addLoad adds what an access of an operation does to a lane to what the operation's accesses before did.
func addLoad(to []Load, l Load) []Load {
	if last := len(to) - 1; last >= 0 && to[last].Pattern == l.Pattern && to[last].Operation == l.Operation {
		l.Units += to[last].Units
		to = to[:last]
	}
	l.Demand = l.Rate.times(l.Units.figure())
	return append(to, l)
}

// access returns the units of one access.
func (r *reader) access(where string, a Access) (Units, bool) {
	route, ok := r.routes[a.Route]
	if !ok {
		r.fail(where, fmt.Sprintf("uses route %q, which leads nowhere", a.Route))
		return 0, false
	}
	if flaw := a.flaw(route.Index != ""); flaw != "" {
		r.fail(where, flaw)
		return 0, false
	}
	before := len(r.errs)
	size := r.size(where+": Size", a.Size)
	return a.units(route.Index != "", size), len(r.errs) == before
}

func operationName(o Operation) string {
	if o.Pattern == "" {
		return "operation " + o.Name
	}
	return "operation " + o.Pattern + "." + o.Name
}
