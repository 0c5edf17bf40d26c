package ledger_test

import (
	"time"

	"github.com/dynafin/dynafin/ledger"
)

// model says what the books must be, in cents and without a database: an account is a few numbers, and a rule is an if.
type model struct {
	accounts     map[string]*modelAccount
	transactions map[string]*modelTransaction
	refused      map[string]bool // transactions and reservations
	reservations map[string]*modelReservation
	slots        int64 // of a bucket
	buckets      int   // of a month
}

type modelAccount struct {
	credit, unlimited bool
	minimum           int64
	posted            int64 // debits positive
	held              map[string]int64
	frozen            bool
	closed            ledger.Month
	months            map[ledger.Month]*modelMonth
	version           int64
}

type modelMonth struct {
	bucket   int
	room     int64
	postings int64
	sealed   bool
}

type modelTransaction struct {
	tx       ledger.Transaction
	reversed []int64
}

type modelReservation struct {
	account         string
	left            int64 // with the sign of the posting
	state           ledger.ReservationState
	version         int64
	expires         time.Time
	captured, asked int64
}

// available is what the account may still spend.
func (a *modelAccount) available() int64 {
	own := a.posted
	for _, held := range a.held {
		own += held
	}
	if a.credit {
		own = -own
	}
	return own - a.minimum
}

// effect is what a command does to one account.
type effect struct {
	account  string
	postings int64
	posted   int64
	reserved int64 // what reservations hold more, with the sign of the posting
}

// effects adds up the lines of a transaction.
func effects(tx ledger.Transaction) map[string]*effect {
	all := map[string]*effect{}
	for _, p := range tx.Postings {
		e := all[p.Account]
		if e == nil {
			e = &effect{account: p.Account}
			all[p.Account] = e
		}
		e.postings++
		e.posted += cents(p.Amount)
	}
	return all
}

func (a *modelAccount) month(m ledger.Month, slots int64) *modelMonth {
	if a.months[m] == nil {
		a.months[m] = &modelMonth{room: slots}
	}
	return a.months[m]
}

// refuses says which rule of an account an effect breaks, nil if none.
func (m *model) refuses(e *effect, month ledger.Month) error {
	a := m.accounts[e.account]
	takes := e.posted + e.reserved
	if !a.credit {
		takes = -takes
	}
	switch {
	case a.frozen && (e.postings > 0 || e.reserved != 0):
		return ledger.ErrFrozen
	case e.postings > 0 && month <= a.closed:
		return ledger.ErrPeriodClosed
	case takes > 0 && !a.unlimited && takes > a.available():
		return ledger.ErrInsufficient
	}
	if now := a.months[month]; e.postings > 0 && (e.postings > m.slots || now != nil && now.room < e.postings && now.bucket+1 == m.buckets) {
		return ledger.ErrCap
	}
	return nil
}

// post judges a transaction with further effects on reservations, and applies it if apply is set.
func (m *model) post(tx ledger.Transaction, reserved map[string]int64, apply bool) (refusals []error) {
	switch {
	case m.transactions[tx.ID] != nil:
		return []error{ledger.ErrDuplicate}
	case m.refused[tx.ID]:
		return []error{ledger.ErrRefused}
	}
	all := effects(tx)
	for name, amount := range reserved {
		all[name].reserved = amount
	}
	month := ledger.MonthOf(tx.EffectiveAt)
	for _, e := range all {
		if err := m.refuses(e, month); err != nil {
			refusals = append(refusals, err)
		}
	}
	if len(refusals) > 0 || !apply {
		return refusals
	}
	for _, e := range all {
		a := m.accounts[e.account]
		a.posted += e.posted
		a.version++
		now := a.month(month, m.slots)
		if now.room < e.postings {
			now.bucket, now.room = now.bucket+1, m.slots
		}
		now.room -= e.postings
		now.postings += e.postings
	}
	m.transactions[tx.ID] = &modelTransaction{tx: tx, reversed: make([]int64, len(tx.Postings))}
	return nil
}

// reserve judges a reservation, and applies it.
func (m *model) reserve(r ledger.Reservation, apply bool) []error {
	switch {
	case m.reservations[r.ID] != nil:
		return []error{ledger.ErrDuplicate}
	case m.refused[r.ID]:
		return []error{ledger.ErrRefused}
	}
	amount := cents(r.Amount)
	if err := m.refuses(&effect{account: r.Account, reserved: amount}, ""); err != nil {
		return []error{err}
	}
	if apply {
		a := m.accounts[r.Account]
		a.version++
		a.held[r.ID] = amount
		m.reservations[r.ID] = &modelReservation{account: r.Account, left: amount, asked: amount, state: ledger.StateOpen, version: 1, expires: r.ExpiresAt}
	}
	return nil
}

// stale says why a reservation, as it was read, cannot change at a time.
func (m *model) stale(read ledger.Reservation, now time.Time, expire bool) error {
	r := m.reservations[read.ID]
	due := !r.expires.IsZero() && !now.Before(r.expires)
	switch {
	case r.state != ledger.StateOpen:
		return ledger.ErrEnded
	case r.version != read.Version:
		return ledger.ErrVersion
	case due != expire:
		return ledger.ErrEnded
	}
	return nil
}

// end gives back what is left.
func (m *model) end(read ledger.Reservation, to ledger.ReservationState) {
	r := m.reservations[read.ID]
	r.state, r.version = to, r.version+1
	a := m.accounts[r.account]
	delete(a.held, read.ID)
	a.version++
}

// capture judges and applies a capture.
func (m *model) capture(read ledger.Reservation, c ledger.Capture, now time.Time, apply bool) []error {
	if m.transactions[c.Transaction.ID] != nil {
		return []error{ledger.ErrDuplicate}
	}
	taken := effects(c.Transaction)[read.Account].posted
	ends := c.Final || taken == cents(read.Left)
	back := -taken
	if ends {
		back = -cents(read.Left)
	}
	var refusals []error
	if err := m.stale(read, now, false); err != nil {
		refusals = append(refusals, err)
	}
	refusals = append(refusals, m.post(c.Transaction, map[string]int64{read.Account: back}, false)...)
	if len(refusals) > 0 || !apply {
		return refusals
	}
	m.post(c.Transaction, map[string]int64{read.Account: back}, true)
	r := m.reservations[read.ID]
	r.left, r.captured, r.version = r.left-taken, r.captured+taken, r.version+1
	if ends {
		r.state = ledger.StateCaptured
		delete(m.accounts[r.account].held, read.ID)
	} else {
		m.accounts[r.account].held[read.ID] = r.left
	}
	return nil
}

// reverse judges and applies a reversal by a transaction that takes back amounts of lines.
func (m *model) reverse(original string, parts []ledger.ReversedPart, tx ledger.Transaction, apply bool) []error {
	if m.transactions[tx.ID] != nil {
		return []error{ledger.ErrDuplicate}
	}
	of := m.transactions[original]
	var refusals []error
	for _, p := range parts {
		line, reversed := cents(of.tx.Postings[p.Line].Amount), of.reversed[p.Line]+cents(p.Amount)
		if max(reversed, -reversed) > max(line, -line) {
			refusals = append(refusals, ledger.ErrExceeds)
			break
		}
	}
	refusals = append(refusals, m.post(tx, nil, false)...)
	if len(refusals) > 0 || !apply {
		return refusals
	}
	m.post(tx, nil, true)
	for _, p := range parts {
		of.reversed[p.Line] += cents(p.Amount)
	}
	return nil
}
