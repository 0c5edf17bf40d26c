package reconcile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dynafin/dynafin/money"
)

// matcher decides about the rows of one key at a time. It has no state, so any number of workers may share one.
type matcher struct {
	rules     Rules
	window    Window
	tolerance map[money.Currency]money.Amount
}

func newMatcher(rules Rules, window Window) *matcher {
	m := &matcher{rules: rules, window: window, tolerance: map[money.Currency]money.Amount{}}
	for _, t := range rules.Tolerance {
		m.tolerance[t.Currency()] = t
	}
	return m
}

// group decides about all rows of one key, given in their order. The result depends on nothing else.
func (m *matcher) group(left, right []Row) ([]Outcome, error) {
	g := &group{matcher: m, left: left, right: right}
	g.pairEqual()
	if len(m.tolerance) > 0 {
		g.pairWithin()
	}
	if err := g.total(); err != nil {
		return nil, err
	}
	if err := g.rest(); err != nil {
		return nil, err
	}
	return g.outcomes, nil
}

// group is one key's rows on their way: what is undecided is in left and right, in order.
type group struct {
	*matcher
	left, right []Row
	outcomes    []Outcome
}

// near reports whether the times of two rows allow a match.
func (g *group) near(a, b Row) bool {
	if g.rules.Apart == 0 || a.At.IsZero() || b.At.IsZero() {
		return true
	}
	return a.At.Sub(b.At).Abs() <= g.rules.Apart
}

// pairEqual matches equal rows, as many as can be. A row without a time is near every other one. So the others choose among
// themselves first, what is left of them takes rows without a time, and what is left of these comes together.
func (g *group) pairEqual() {
	if g.rules.Apart == 0 {
		g.pair(Row.compareFacts, g.near)
		return
	}
	dated := func(rows []Row) (with, without []Row) {
		for _, r := range rows {
			if r.At.IsZero() {
				without = append(without, r)
			} else {
				with = append(with, r)
			}
		}
		return with, without
	}
	left, anyLeft := dated(g.left)
	right, anyRight := dated(g.right)
	left, right = g.walk(left, right, Row.compareFacts, g.near)
	left, anyRight = g.walk(left, anyRight, Row.compareFacts, g.near)
	anyLeft, right = g.walk(anyLeft, right, Row.compareFacts, g.near)
	anyLeft, anyRight = g.walk(anyLeft, anyRight, Row.compareFacts, g.near)
	g.left, g.right = slices.Concat(left, anyLeft), slices.Concat(right, anyRight)
	slices.SortFunc(g.left, Row.compare)
	slices.SortFunc(g.right, Row.compare)
}

// pair matches rows that are equal in order and near in time.
func (g *group) pair(order func(a, b Row) int, near func(a, b Row) bool) {
	g.left, g.right = g.walk(g.left, g.right, order, near)
}

// walk goes along both sides and matches rows that are equal in order and near in time. Among equals the earliest that
// still finds a partner takes the earliest that is near it, which matches as many as can be matched. It returns the others.
func (g *group) walk(ls, rs []Row, order func(a, b Row) int, near func(a, b Row) bool) (left, right []Row) {
	i, j := 0, 0
	for i < len(ls) && j < len(rs) {
		l, r := ls[i], rs[j]
		switch c := order(l, r); {
		case c == 0 && near(l, r):
			g.matched(l, r)
			i, j = i+1, j+1
		case c < 0 || c == 0 && l.At.Before(r.At):
			left, i = append(left, l), i+1
		default:
			right, j = append(right, r), j+1
		}
	}
	return append(left, ls[i:]...), append(right, rs[j:]...)
}

func (g *group) matched(l, r Row) {
	drift, _ := difference([]Row{l}, []Row{r})
	g.outcomes = append(g.outcomes, Outcome{Kind: Matched, Key: l.Key, Left: []Row{l}, Right: []Row{r}, Drift: drift})
}

// pairWithin matches rows whose amounts differ within the tolerance: of all that a row on the left may take, the one that
// differs least, then the nearest in time, then the first.
func (g *group) pairWithin() {
	taken := make([]bool, len(g.right))
	var left []Row
	for _, l := range g.left {
		best := -1
		for j, r := range g.right {
			if !taken[j] && g.within(l, r) && (best < 0 || closer(l, r, g.right[best])) {
				best = j
			}
		}
		if best < 0 {
			left = append(left, l)
			continue
		}
		taken[best] = true
		g.matched(l, g.right[best])
	}
	var right []Row
	for j, r := range g.right {
		if !taken[j] {
			right = append(right, r)
		}
	}
	g.left, g.right = left, right
}

func (g *group) within(l, r Row) bool {
	if l.Value != r.Value || !g.near(l, r) {
		return false
	}
	drift, ok := difference([]Row{l}, []Row{r})
	return ok && g.tolerates(drift)
}

func (g *group) tolerates(drift money.Amount) bool {
	if drift.IsZero() {
		return true
	}
	limit, ok := g.tolerance[drift.Currency()]
	return ok && compareAmounts(drift.Abs(), limit) <= 0
}

// closer reports whether a fits l better than b does.
func closer(l, a, b Row) bool {
	da, _ := difference([]Row{l}, []Row{a})
	db, _ := difference([]Row{l}, []Row{b})
	if c := compareAmounts(da.Abs(), db.Abs()); c != 0 {
		return c < 0
	}
	return l.At.Sub(a.At).Abs() < l.At.Sub(b.At).Abs()
}

// total matches one row with all that is left on the other side, if together they are equal.
func (g *group) total() error {
	many := g.rules.OneToMany && len(g.left) == 1 && len(g.right) > 1 || g.rules.ManyToOne && len(g.right) == 1 && len(g.left) > 1
	if !many {
		return nil
	}
	drift, ok, err := g.drift(g.left, g.right)
	if err != nil {
		return err
	}
	if !ok || !g.tolerates(drift) {
		return nil
	}
	first := g.left[0]
	for _, row := range slices.Concat(g.left, g.right) {
		if row.Value != first.Value || row.Amount.Currency() == (money.Currency{}) {
			return nil
		}
	}
	for _, l := range g.left {
		for _, r := range g.right {
			if !g.near(l, r) {
				return nil
			}
		}
	}
	g.outcomes = append(g.outcomes, Outcome{Kind: Matched, Key: first.Key, Left: g.left, Right: g.right, Drift: drift})
	g.left, g.right = nil, nil
	return nil
}

// rest makes outcomes of what no rule matched. Rows of both sides become mismatches, those first that have most in
// common; where one side has a single row and the rules let several add up to it, that is one mismatch of them all.
func (g *group) rest() error {
	single := len(g.left) == 1 && len(g.right) > 0 && g.rules.OneToMany || len(g.right) == 1 && len(g.left) > 0 && g.rules.ManyToOne
	if single {
		left, right := g.left, g.right
		g.left, g.right = nil, nil
		return g.unmatched(left, right)
	}
	for _, order := range []func(a, b Row) int{
		Row.compareFacts, // only the times differ
		func(a, b Row) int {
			return cmp.Or(strings.Compare(a.Value, b.Value), compareCurrencies(a.Amount, b.Amount))
		},
		func(a, b Row) int {
			return cmp.Or(compareCurrencies(a.Amount, b.Amount), compareAmounts(a.Amount, b.Amount))
		},
		func(a, b Row) int { return 0 },
	} {
		byOrder := func(a, b Row) int { return cmp.Or(order(a, b), a.compare(b)) }
		slices.SortFunc(g.left, byOrder)
		slices.SortFunc(g.right, byOrder)
		before := len(g.outcomes)
		g.pair(order, func(Row, Row) bool { return true })
		mismatched := slices.Clone(g.outcomes[before:])
		g.outcomes = g.outcomes[:before]
		for _, o := range mismatched {
			if err := g.unmatched(o.Left, o.Right); err != nil {
				return err
			}
		}
	}
	for _, l := range g.left {
		if err := g.unmatched([]Row{l}, nil); err != nil {
			return err
		}
	}
	for _, r := range g.right {
		if err := g.unmatched(nil, []Row{r}); err != nil {
			return err
		}
	}
	return nil
}

// unmatched makes an outcome of rows that do not match: a break, unless one of them is still inside its window or all
// were judged before.
func (g *group) unmatched(left, right []Row) error {
	o := Outcome{Left: left, Right: right}
	for _, row := range slices.Concat(left, right) {
		o.Key = row.Key
		switch g.window.standing(row) {
		case pending:
			o.Kind = Expected
		case due:
			if o.Kind != Expected {
				o.Kind = Mismatched
			}
		case earlier:
			if o.Kind == "" {
				o.Kind = Earlier
			}
		}
	}
	drift, _, err := g.drift(left, right)
	if err != nil {
		return err
	}
	o.Drift = drift
	switch {
	case o.Kind != Mismatched:
	case right == nil:
		o.Kind = Missing
	case left == nil:
		o.Kind = Unexpected
	default:
		o.Faults = g.faults(left, right, drift)
	}
	g.outcomes = append(g.outcomes, o)
	return nil
}

// faults names in what two sides that do not match differ.
func (g *group) faults(left, right []Row, drift money.Amount) (faults []string) {
	all := slices.Concat(left, right)
	differs := func(differ func(a, b Row) bool) bool {
		return slices.ContainsFunc(all[1:], func(r Row) bool { return differ(all[0], r) })
	}
	currencies := differs(func(a, b Row) bool { return a.Amount.Currency() != b.Amount.Currency() })
	if currencies {
		faults = append(faults, "currency")
	} else if !g.tolerates(drift) {
		faults = append(faults, "amount")
	}
	if differs(func(a, b Row) bool { return a.Value != b.Value }) {
		faults = append(faults, "value")
	}
	if slices.ContainsFunc(left, func(l Row) bool {
		return slices.ContainsFunc(right, func(r Row) bool { return !g.near(l, r) })
	}) {
		faults = append(faults, "time")
	}
	return faults
}

// drift is right minus left; not ok if the amounts are in several currencies. The error is an overflow.
func (g *group) drift(left, right []Row) (money.Amount, bool, error) {
	total := sums{}
	for _, l := range left {
		if err := total.add(l.Amount.Neg()); err != nil {
			return money.Amount{}, false, err
		}
	}
	for _, r := range right {
		if err := total.add(r.Amount); err != nil {
			return money.Amount{}, false, err
		}
	}
	if len(total) > 1 {
		return money.Amount{}, false, nil
	}
	for _, drift := range total {
		return drift, true, nil
	}
	return money.Amount{}, true, nil
}

// difference is the drift of two rows, not ok if they are in two currencies or too far apart to be told.
func difference(left, right []Row) (money.Amount, bool) {
	l, r := left[0].Amount, right[0].Amount
	if l.Currency() != r.Currency() {
		return money.Amount{}, false
	}
	if l.Currency() == (money.Currency{}) {
		return money.Amount{}, true
	}
	drift, err := r.Sub(l)
	return drift, err == nil
}
