package invariant

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/dynafin/dynafin/ledger"
)

// Check checks everything that Books promise at any moment: all methods below.
func (b *Books) Check() error {
	return errors.Join(b.Conservation(), b.NeverBelowMinimum(), b.HoldsAgree(), b.StatementEqualsAuthority(), b.PostingsEqualHeaders(),
		b.CapturesWithinHolds(), b.ReversalsWithinOriginals(), errors.Join(b.faults...))
}

// Posted returns the identifiers of the transactions that are posted, of all tenants, sorted. Each is there once for every
// header: see [OneEffect].
func (b *Books) Posted() []string {
	var all []string
	for of, h := range b.headers {
		if h.posted {
			all = append(all, of.id)
		}
	}
	slices.Sort(all)
	return all
}

// inOrder ranges over a map in the order of what its keys print as, so that a failing history always says the same.
func inOrder[K comparable, V any](m map[K]V) []K {
	return slices.SortedFunc(maps.Keys(m), func(a, b K) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
}

// Conservation checks that the balances of every asset of a tenant add up to zero, and its postings as well.
func (b *Books) Conservation() error {
	balances, postings := map[authorityKey]*big.Int{}, map[authorityKey]*big.Int{}
	asset := func(k authorityKey) authorityKey {
		return authorityKey{tenant: k.tenant, class: k.class, asset: k.asset}
	}
	for key, a := range b.authorities {
		balances[asset(key)] = plus(balances[asset(key)], a.posted)
	}
	for _, p := range b.postings {
		postings[asset(p.authorityKey)] = plus(postings[asset(p.authorityKey)], p.amount)
	}
	var faults []error
	for _, key := range inOrder(balances) {
		if n := balances[key]; n.Sign() != 0 {
			faults = append(faults, fmt.Errorf("the balances of %s add up to %s", key.asset, n))
		}
	}
	for _, key := range inOrder(postings) {
		if n := postings[key]; n.Sign() != 0 {
			faults = append(faults, fmt.Errorf("the postings of %s add up to %s", key.asset, n))
		}
	}
	return errors.Join(faults...)
}

// NeverBelowMinimum checks that available is what is posted, less what is reserved, less the minimum, and that it is not
// below zero. An account that has not reached a minimum above zero yet has nothing available and is let off, as long as it
// reserves nothing.
func (b *Books) NeverBelowMinimum() error {
	var faults []error
	for _, key := range inOrder(b.authorities) {
		a := b.authorities[key]
		available := a.own(plus(a.posted, a.reserved))
		if a.minimum != nil {
			available = new(big.Int).Sub(available, a.minimum)
		}
		stored := a.own(a.available)
		if available.Cmp(stored) != 0 {
			faults = append(faults, fmt.Errorf("%s has %s available, and its postings and reservations leave %s", key, stored, available))
		}
		rising := a.minimum != nil && a.minimum.Sign() > 0 && a.reserved.Sign() == 0
		if a.minimum != nil && stored.Sign() < 0 && !rising {
			faults = append(faults, fmt.Errorf("%s has %s available", key, stored))
		}
	}
	return errors.Join(faults...)
}

// HoldsAgree checks that every balance reserves exactly what its open reservations hold.
func (b *Books) HoldsAgree() error {
	held, open := map[authorityKey]*big.Int{}, map[authorityKey]int64{}
	for _, h := range b.reservations {
		if h.state == ledger.StateOpen {
			held[h.authorityKey] = plus(held[h.authorityKey], h.left)
			open[h.authorityKey]++
		}
	}
	var faults []error
	for _, key := range inOrder(b.authorities) {
		a := b.authorities[key]
		if a.reserved.Cmp(plus(held[key])) != 0 || a.open != open[key] {
			faults = append(faults, fmt.Errorf("%s reserves %s in %d reservations, %d of which hold %s",
				key, a.reserved, a.open, open[key], plus(held[key])))
		}
		delete(open, key)
	}
	for _, key := range inOrder(open) {
		faults = append(faults, fmt.Errorf("%s has a reservation and no balance", key))
	}
	return errors.Join(faults...)
}

// StatementEqualsAuthority checks that the postings of every balance give its control totals, month by month, and those of
// its seals: count, sum and digest.
func (b *Books) StatementEqualsAuthority() error {
	recomputed := map[authorityKey]map[string]totals{}
	for key := range b.authorities {
		recomputed[key] = map[string]totals{}
	}
	var faults []error
	for _, p := range b.postings {
		months, ok := recomputed[p.authorityKey]
		if !ok {
			faults = append(faults, fmt.Errorf("%s has a posting of %s and no balance", p.authorityKey, p.transaction))
			continue
		}
		months[p.month] = months[p.month].add(totals{1, p.amount, p.digest})
	}
	for _, key := range inOrder(b.authorities) {
		faults = append(faults, b.compareMonths(key, recomputed[key])...)
	}
	return errors.Join(faults...)
}

// compareMonths holds one authority against what its postings add up to.
func (b *Books) compareMonths(key authorityKey, months map[string]totals) (faults []error) {
	a := b.authorities[key]
	var all, closed totals
	differ := func(what string, stored, found totals) {
		if !stored.equal(found) {
			faults = append(faults, fmt.Errorf("%s, %s: stored are %s, found %s", key, what, stored, found))
		}
	}
	for _, month := range slices.Sorted(maps.Keys(months)) {
		all = all.add(months[month])
		if month > a.closed {
			differ("month "+month, a.months[month], months[month])
			continue
		}
		closed = closed.add(months[month])
		differ("seal "+month, b.seals[sealKey{key, month}], months[month])
	}
	differ("closed months", a.base, closed)
	for _, month := range slices.Sorted(maps.Keys(a.months)) {
		if _, found := months[month]; !found || month <= a.closed {
			faults = append(faults, fmt.Errorf("%s counts the month %s, which has no postings or is closed", key, month))
		}
	}
	if plus(all.sum).Cmp(a.posted) != 0 {
		faults = append(faults, fmt.Errorf("%s has %s posted, and postings of %s", key, a.posted, plus(all.sum)))
	}
	return faults
}

// PostingsEqualHeaders checks that every line of a posted transaction is stored once as a posting, in the month of its
// effective time, and that there are no other postings.
func (b *Books) PostingsEqualHeaders() error {
	type lineKey struct {
		transactionKey
		line int
	}
	var faults []error
	stored := map[lineKey]posting{}
	for _, p := range b.postings {
		key := lineKey{transactionKey{p.tenant, p.transaction}, p.line}
		if _, twice := stored[key]; twice {
			faults = append(faults, fmt.Errorf("line %d of %s is posted twice", p.line, p.transaction))
		}
		stored[key] = p
	}
	for _, of := range inOrder(b.headers) {
		h := b.headers[of]
		for _, line := range h.lines {
			key := lineKey{of, line.line}
			p, ok := stored[key]
			if !h.posted || !ok || p.authorityKey != line.authorityKey || p.amount.Cmp(line.amount) != 0 || !strings.HasPrefix(h.effective, p.month[:4]+"-"+p.month[4:]) {
				faults = append(faults, fmt.Errorf("line %d of %s is %s to %s, and posted are %s to %s in %s", line.line, of.id,
					line.amount, line.authorityKey, plus(p.amount), p.authorityKey, p.month))
			}
			delete(stored, key)
		}
	}
	for _, key := range inOrder(stored) {
		faults = append(faults, fmt.Errorf("line %d of %s is posted and in no header", key.line, key.id))
	}
	return errors.Join(faults...)
}

// CapturesWithinHolds checks that what the captures of a reservation post adds up to what is gone from it, that each is
// named by it, and that it ended the way it says.
func (b *Books) CapturesWithinHolds() error {
	taken, by := map[transactionKey]*big.Int{}, map[transactionKey][]string{}
	var faults []error
	for _, of := range inOrder(b.headers) {
		h := b.headers[of]
		if h.captures == "" {
			continue
		}
		key := transactionKey{of.tenant, h.captures}
		r := b.reservations[key]
		if r == nil {
			faults = append(faults, fmt.Errorf("%s captures %s, which is not there", of.id, h.captures))
			continue
		}
		by[key] = append(by[key], of.id)
		for _, line := range h.lines {
			if line.authorityKey == r.authorityKey {
				taken[key] = plus(taken[key], line.amount)
			}
		}
	}
	for _, key := range inOrder(b.reservations) {
		r := b.reservations[key]
		if plus(r.left, taken[key]).Cmp(r.amount) != 0 || r.left.Sign() == -r.amount.Sign() {
			faults = append(faults, fmt.Errorf("reservation %s of %s: %s captured, %s left", key.id, r.amount, plus(taken[key]), r.left))
		}
		if err := SameSet(r.capturedBy, by[key]); err != nil {
			faults = append(faults, fmt.Errorf("reservation %s, captures: %w", key.id, err))
		}
		if r.state == ledger.StateOpen && r.left.Sign() == 0 || r.state == ledger.StateExpired && r.endedAt.Before(r.expires) {
			faults = append(faults, fmt.Errorf("reservation %s is %s with %s left, expires %s, ended %s", key.id, r.state, r.left, r.expires, r.endedAt))
		}
	}
	return errors.Join(faults...)
}

// ReversalsWithinOriginals checks that the reversals of every line add up to what its links say, and to at most the line,
// and that none counts before its original.
func (b *Books) ReversalsWithinOriginals() error {
	back := map[transactionKey]map[authorityKey]*big.Int{}
	by := map[transactionKey][]string{}
	var faults []error
	for _, of := range inOrder(b.headers) {
		h := b.headers[of]
		if h.reverses == "" {
			continue
		}
		key := transactionKey{of.tenant, h.reverses}
		original := b.headers[key]
		if original == nil || !original.posted || h.effective < original.effective {
			faults = append(faults, fmt.Errorf("%s reverses %s, which is not posted, or not yet", of.id, h.reverses))
			continue
		}
		by[key] = append(by[key], of.id)
		for _, line := range h.lines {
			if back[key] == nil {
				back[key] = map[authorityKey]*big.Int{}
			}
			back[key][line.authorityKey] = plus(back[key][line.authorityKey], line.amount)
		}
	}
	for _, key := range inOrder(b.links) {
		if original := b.headers[key]; original != nil {
			faults = append(faults, b.linksAgree(key, original, back[key])...)
		}
		if err := SameSet(setOf(b.links[key], "reversedBy"), by[key]); err != nil {
			faults = append(faults, fmt.Errorf("reversals of %s: %w", key.id, err))
		}
		delete(by, key)
	}
	for _, key := range inOrder(by) {
		faults = append(faults, fmt.Errorf("%s is reversed by %q and has no links", key.id, by[key]))
	}
	return errors.Join(faults...)
}

// linksAgree holds the links of a transaction against its lines and against what was posted back.
func (b *Books) linksAgree(of transactionKey, original *header, back map[authorityKey]*big.Int) (faults []error) {
	reversed := map[authorityKey]*big.Int{}
	for _, line := range original.lines {
		n := numberOf(b.links[of], fmt.Sprintf("r%d", line.line))
		reversed[line.authorityKey] = plus(reversed[line.authorityKey], n)
		rest := new(big.Int).Sub(line.amount, n)
		if rest.Sign() == -line.amount.Sign() || n.Sign() == -line.amount.Sign() {
			faults = append(faults, fmt.Errorf("line %d of %s is %s, and %s of it is reversed", line.line, of.id, line.amount, n))
		}
	}
	for _, key := range inOrder(reversed) {
		if plus(back[key], reversed[key]).Sign() != 0 {
			faults = append(faults, fmt.Errorf("the links of %s say that %s of %s is reversed, posted back is %s", of.id, reversed[key], key, plus(back[key])))
		}
	}
	return faults
}
