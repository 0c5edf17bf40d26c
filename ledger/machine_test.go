package ledger_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/internal/chance"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// After any sequence of posts, reservations, captures, releases, expiries, reversals and closed periods, over a network that
// loses requests and answers and repeats them late, the books are those of a model that has no network: every balance, every
// refusal and its kind, every reservation, and totals that the stored postings prove; and what is posted, sealed or ended never
// changes (L1-L8, E1-E4, E7).
func TestTheBooksAreThoseOfTheModel(t *testing.T) {
	t.Parallel()
	chance.Check(t, func(rt *rapid.T, seen chance.Seen) {
		w := newWorld(t, rt)
		rt.Repeat(map[string]func(*rapid.T){ // what happens often in life has several names
			"pay in":    w.payIn,
			"pay in 2":  w.payIn,
			"post":      w.post,
			"post 2":    w.post,
			"post 3":    w.post,
			"repeat":    w.repeat,
			"refuse":    w.refuse,
			"reserve":   w.reserve,
			"reserve 2": w.reserve,
			"ask again": w.reserveAgain,
			"deny":      w.deny,
			"look":      w.look,
			"look 2":    w.look,
			"capture":   w.capture,
			"capture 2": w.capture,
			"end":       w.end,
			"end 2":     w.end,
			"reverse":   w.reverse,
			"close":     w.close,
			"freeze":    w.freeze,
			"wait":      w.wait,
			"late copy": w.lateCopy,
			"":          w.agree,
		})
		for what, n := range w.seen {
			seen[what] += n
		}
	},
		"post done", "repeat refused", "refuse done", "reserve done", "reserve refused", "ask again done", "ask again refused", "deny done", "deny refused",
		"capture done", "capture refused", "release done",
		"expire done", "expire refused", "reverse done", "reverse refused", "close done", "freeze done", "rolled",
		"insufficient", "frozen", "period closed", "cap", "lost answer", "lost request", "recovered", "late copy without effect")
}

// command is something that is done once: to the store by its parts, and to the model.
type command struct {
	what  string
	part  func() txn.Part
	model func(apply bool) []error
}

// kinds are all refusals that a command may meet.
var kinds = map[string]error{
	"duplicate": ledger.ErrDuplicate, "refused": ledger.ErrRefused, "insufficient": ledger.ErrInsufficient, "frozen": ledger.ErrFrozen,
	"period closed": ledger.ErrPeriodClosed, "cap": ledger.ErrCap, "version": ledger.ErrVersion, "ended": ledger.ErrEnded, "exceeds": ledger.ErrExceeds,
}

// do carries out a command over the bad network and holds its outcome against the model's.
func (w *world) do(rt *rapid.T, c command) {
	want := c.model(false)
	before, first := w.text(), len(w.wire.sent)
	w.wire.trouble(rt)
	attempts := 0
	receipt, err := w.book.Commit(w.ctx, impatient(w.faulty), func() []txn.Part { attempts++; return []txn.Part{c.part()} })
	if attempts > 1 {
		w.seen["rolled"]++
	}
	for _, sent := range w.wire.sent[first:] {
		sent.applied, sent.command = err == nil, c
	}
	if errors.Is(err, txn.ErrAmbiguous) && len(want) > 0 && slices.Contains([]string{"release", "expire", "close", "freeze"}, c.what) {
		// Only a version stands in the way of a second copy, so a refusal does not prove that the first one was lost.
		if now := w.text(); now != before {
			rt.Fatalf("%s is unknown and changed\n%s\nto\n%s", c.what, before, now)
		}
		w.seen[c.what+" unknown"]++
		return
	}
	for what, kind := range kinds {
		predicted := slices.ContainsFunc(want, func(e error) bool { return e == kind })
		if errors.Is(err, kind) != predicted {
			rt.Fatalf("%s: the model says %v, the ledger %v", c.what, want, err)
		}
		if predicted {
			w.seen[what]++
		}
	}
	if (err == nil) != (len(want) == 0) {
		rt.Fatalf("%s: the model says %v, the ledger %v", c.what, want, err)
	}
	if err != nil {
		if now := w.text(); now != before {
			rt.Fatalf("%s was refused and changed\n%s\nto\n%s", c.what, before, now)
		}
		w.seen[c.what+" refused"]++
	} else {
		c.model(true)
		w.seen[c.what+" done"]++
	}
	if receipt.Recovered {
		w.seen["recovered"]++
	}
}

// drawTransaction draws a transaction of two to four lines over few accounts, small amounts and three months.
func (w *world) drawTransaction(rt *rapid.T, id string) ledger.Transaction {
	tx := ledger.Transaction{Tenant: tenant, ID: id, EffectiveAt: w.drawTime(rt)}
	for range rapid.IntRange(1, 2).Draw(rt, "pairs") {
		a := fromCents(rapid.Int64Range(1, 900).Draw(rt, "cents"))
		tx.Postings = append(tx.Postings, ledger.Debit(drawAccount(rt), a), ledger.Credit(drawAccount(rt), a))
	}
	return tx
}

func (w *world) drawTime(rt *rapid.T) time.Time {
	return day.AddDate(0, rapid.SampledFrom([]int{0, 1, -1}).Draw(rt, "months"), 0)
}

func drawAccount(rt *rapid.T) string {
	return rapid.SampledFrom([]string{"bank", "bank", "ann-", "cash+", "line-"}).Draw(rt, "account")
}

func (w *world) newID(kind string) string {
	w.ids++
	return fmt.Sprintf("%s-%d", kind, w.ids)
}

func (w *world) post(rt *rapid.T) { w.send(rt, "post", w.drawTransaction(rt, w.newID("t"))) }

// payIn gives an account something to spend.
func (w *world) payIn(rt *rapid.T) {
	to, a := rapid.SampledFrom([]string{"ann-", "cash+", "line-"}).Draw(rt, "account"), fromCents(rapid.Int64Range(1, 5000).Draw(rt, "cents"))
	tx := ledger.Transaction{Tenant: tenant, ID: w.newID("t"), EffectiveAt: w.drawTime(rt)}
	if w.model.accounts[to].credit {
		tx.Postings = []ledger.Posting{ledger.Debit("bank", a), ledger.Credit(to, a)}
	} else {
		tx.Postings = []ledger.Posting{ledger.Debit(to, a), ledger.Credit("bank", a)}
	}
	w.send(rt, "post", tx)
}

func (w *world) send(rt *rapid.T, what string, tx ledger.Transaction) {
	w.posted = append(w.posted, tx)
	w.do(rt, command{what, func() txn.Part { return w.book.Post(tx) }, func(apply bool) []error { return w.model.post(tx, nil, apply) }})
}

// repeat sends a transaction again that was sent before, whatever became of it.
func (w *world) repeat(rt *rapid.T) {
	w.send(rt, "repeat", pick(rt, w.posted, "transaction"))
}

func (w *world) refuse(rt *rapid.T) {
	tx := pick(rt, w.posted, "transaction")
	w.do(rt, command{"refuse", func() txn.Part { return w.book.Refuse(tx, "for good") }, func(apply bool) []error {
		switch {
		case w.model.transactions[tx.ID] != nil:
			return []error{ledger.ErrDuplicate}
		case w.model.refused[tx.ID]:
			return []error{ledger.ErrRefused}
		case apply:
			w.model.refused[tx.ID] = true
		}
		return nil
	}})
}

func (w *world) reserve(rt *rapid.T) {
	account := drawAccount(rt)
	r := hold(w.newID("r"), account, fromCents(rapid.Int64Range(1, 900).Draw(rt, "cents")).Text())
	if rapid.Bool().Draw(rt, "expires") {
		r.ExpiresAt = w.now.Add(time.Duration(rapid.Int64Range(1, 2).Draw(rt, "minutes")) * time.Minute)
	}
	w.asked = append(w.asked, r)
	w.ask(rt, "reserve", r)
}

func (w *world) ask(rt *rapid.T, what string, r ledger.Reservation) {
	w.do(rt, command{what, func() txn.Part { return w.book.Reserve(r) }, func(apply bool) []error { return w.model.reserve(r, apply) }})
	if w.model.reservations[r.ID] != nil && !slices.Contains(w.ids2, r.ID) {
		w.ids2 = append(w.ids2, r.ID)
	}
}

// reserveAgain asks for a reservation that was asked for before, whatever became of it.
func (w *world) reserveAgain(rt *rapid.T) {
	r := pick(rt, w.asked, "reservation")
	if !r.ExpiresAt.IsZero() && !w.now.Before(r.ExpiresAt) {
		rt.Skip("its time has come")
	}
	w.ask(rt, "ask again", r)
}

// deny refuses for good what was asked for.
func (w *world) deny(rt *rapid.T) {
	r := pick(rt, w.asked, "reservation")
	w.do(rt, command{"deny", func() txn.Part { return w.book.RefuseReservation(r, "for good") }, func(apply bool) []error {
		switch {
		case w.model.reservations[r.ID] != nil:
			return []error{ledger.ErrDuplicate}
		case w.model.refused[r.ID]:
			return []error{ledger.ErrRefused}
		case apply:
			w.model.refused[r.ID] = true
		}
		return nil
	}})
}

// look refreshes what a worker knows of a reservation. The actions below go by what was read then, however old it is.
func (w *world) look(rt *rapid.T) {
	id := pick(rt, w.ids2, "reservation")
	r, err := w.book.Reservation(w.ctx, w.client, tenant, id)
	if err != nil {
		rt.Fatal(err)
	}
	m := w.model.reservations[id]
	if r.State != m.state || cents(r.Left) != m.left || r.Version != m.version || cents(r.Amount)-cents(r.Left) != m.captured {
		rt.Fatalf("%+v is stored, and the model has %+v", r, m)
	}
	w.known[id] = r
}

// drawKnown draws a reservation that was open when it was read.
func (w *world) drawKnown(rt *rapid.T) ledger.Reservation {
	r, ok := w.known[pick(rt, w.ids2, "reservation")]
	if !ok || r.State != ledger.StateOpen {
		rt.Skip("not known as open")
	}
	return r
}

func (w *world) capture(rt *rapid.T) {
	r := w.drawKnown(rt)
	size := cents(r.Left)
	part := rapid.Int64Range(1, max(size, -size)).Draw(rt, "cents")
	if rapid.Bool().Draw(rt, "whole") {
		part = max(size, -size)
	}
	a := fromCents(part)
	tx := ledger.Transaction{Tenant: tenant, ID: w.newID("c"), EffectiveAt: w.drawTime(rt)}
	other := rapid.SampledFrom([]string{"bank", "ann-"}).Draw(rt, "other")
	if other == r.Account {
		rt.Skip("captures go elsewhere")
	}
	if size > 0 {
		tx.Postings = []ledger.Posting{ledger.Debit(r.Account, a), ledger.Credit(other, a)}
	} else {
		tx.Postings = []ledger.Posting{ledger.Debit(other, a), ledger.Credit(r.Account, a)}
	}
	c, sent := ledger.Capture{Transaction: tx, Final: rapid.Bool().Draw(rt, "final")}, w.now // a late copy is judged by the sender's clock
	w.do(rt, command{"capture", func() txn.Part { return w.book.Capture(r, c) }, func(apply bool) []error { return w.model.capture(r, c, sent, apply) }})
}

func (w *world) end(rt *rapid.T) {
	r := w.drawKnown(rt)
	due := r.StateAt(w.now) == ledger.StateExpired
	expire := due == rapid.SampledFrom([]bool{true, true, true, false}).Draw(rt, "as it should be")
	sent := w.now
	what, to, part := "release", ledger.StateReleased, w.book.Release
	if expire {
		what, to, part = "expire", ledger.StateExpired, w.book.Expire
	}
	w.do(rt, command{what, func() txn.Part { return part(r) }, func(apply bool) []error {
		if err := w.model.stale(r, sent, expire); err != nil {
			return []error{err}
		}
		if apply {
			w.model.end(r, to)
		}
		return nil
	}})
}

// reverse takes back a pair of lines, whole or in part.
func (w *world) reverse(rt *rapid.T) {
	var ids []string
	for _, tx := range w.posted {
		if w.model.transactions[tx.ID] != nil {
			ids = append(ids, tx.ID)
		}
	}
	original, err := w.book.Transaction(w.ctx, w.client, tenant, pick(rt, ids, "original"))
	if err != nil {
		rt.Fatal(err)
	}
	pair := 2 * rapid.IntRange(0, len(original.Postings)/2-1).Draw(rt, "pair")
	amount := fromCents(rapid.Int64Range(1, cents(original.Postings[pair].Amount)).Draw(rt, "cents"))
	r := ledger.Reversal{ID: w.newID("v"), EffectiveAt: original.EffectiveAt.Add(time.Minute), Parts: []ledger.ReversedPart{
		{Line: pair, Amount: amount}, {Line: pair + 1, Amount: amount.Neg()},
	}}
	tx := ledger.Transaction{Tenant: tenant, ID: r.ID, EffectiveAt: r.EffectiveAt, Postings: []ledger.Posting{
		ledger.Credit(original.Postings[pair].Account, amount), ledger.Debit(original.Postings[pair+1].Account, amount),
	}}
	w.do(rt, command{"reverse", func() txn.Part { return w.book.Reverse(original, r) }, func(apply bool) []error {
		return w.model.reverse(original.ID, r.Parts, tx, apply)
	}})
}

func (w *world) close(rt *rapid.T) {
	name, through := drawAccount(rt), ledger.MonthOf(day.AddDate(0, rapid.SampledFrom([]int{-2, -2, -1}).Draw(rt, "month"), 0))
	read := w.read(rt, name)
	if through <= w.model.accounts[name].closed {
		rt.Skip("closed already")
	}
	w.do(rt, command{"close", func() txn.Part { return w.book.ClosePeriod(read, through) }, func(apply bool) []error {
		a := w.model.accounts[name]
		switch {
		case through <= a.closed:
			return []error{ledger.ErrDuplicate}
		case apply:
			a.closed, a.version = through, a.version+1
			for month, now := range a.months {
				now.sealed = now.sealed || month <= through
			}
		}
		return nil
	}})
}

func (w *world) freeze(rt *rapid.T) {
	name, frozen, to := drawAccount(rt), true, ledger.StatusFrozen
	for other, a := range w.model.accounts { // one at a time, or nothing would ever happen
		if a.frozen {
			name, frozen, to = other, false, ledger.StatusOpen
		}
	}
	account, err := w.book.Account(w.ctx, w.client, tenant, name)
	if err != nil {
		rt.Fatal(err)
	}
	read := w.read(rt, name)
	w.do(rt, command{"freeze", func() txn.Part { return w.book.SetStatus(account, to, read) }, func(apply bool) []error {
		if apply {
			w.model.accounts[name].frozen = frozen
			w.model.accounts[name].version++
		}
		return nil
	}})
}

func (w *world) wait(rt *rapid.T) {
	w.now = w.now.Add(time.Duration(rapid.Int64Range(30, 120).Draw(rt, "seconds")) * time.Second)
}

// lateCopy delivers an earlier request again, as a network may that held it back. If its command was done, it changes
// nothing (E3). If it was refused, it may be done by now, but then the model must take it, too.
func (w *world) lateCopy(rt *rapid.T) {
	if len(w.wire.sent) == 0 {
		rt.Skip("nothing was sent")
	}
	copied := w.wire.sent[rapid.IntRange(0, len(w.wire.sent)-1).Draw(rt, "request")]
	before := w.text()
	w.wire.again(rt, copied)
	changed := w.text() != before
	switch {
	case !changed:
		w.seen["late copy without effect"]++
	case copied.applied:
		rt.Fatalf("a late copy of %s changed\n%s\nto\n%s", copied.command.what, before, w.text())
	default:
		if refusals := copied.command.model(true); len(refusals) > 0 {
			rt.Fatalf("a late copy of %s was applied, which the model refuses: %v", copied.command.what, refusals)
		}
		w.seen["late copy applied"]++
		copied.applied = true
	}
}

func pick[T any](rt *rapid.T, from []T, what string) T {
	if len(from) == 0 {
		rt.Skip("no " + what)
	}
	return rapid.SampledFrom(from).Draw(rt, what)
}

func cents(a money.Amount) int64 {
	n, err := a.MinorInt64()
	if err != nil {
		panic(err)
	}
	return n
}

func fromCents(n int64) money.Amount {
	a, err := money.FromMinor(n, usd)
	if err != nil {
		panic(err)
	}
	return a
}
