package ledger_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dynafin/dynafin/ledger"
)

// hold reserves dollars of an account of the names that bench.open gives: the sign is that of the posting to come.
func hold(id, account, amount string) ledger.Reservation {
	a := dollars(amount)
	if account[len(account)-1] != '-' {
		a = a.Neg()
	}
	return ledger.Reservation{Tenant: tenant, ID: id, Account: account, Amount: a}
}

func TestAReservationIsCapturedInParts(t *testing.T) {
	t.Parallel()
	for _, account := range []string{"ann-", "cash+"} {
		b := setup(t, ledger.Config{})
		b.open(t, "bank", account)
		in, out := transfer("in-1", "bank", account, "100.00"), func(id, amount string) ledger.Transaction { return transfer(id, account, "bank", amount) }
		if account == "cash+" {
			in, out = transfer("in-1", account, "bank", "100.00"), func(id, amount string) ledger.Transaction { return transfer(id, "bank", account, amount) }
		}
		b.commit(t, b.book.Post(in))
		b.commit(t, b.book.Reserve(hold("r-1", account, "80.00")))
		b.has(t, account, "100.00", "80.00", "20.00")
		b.untouched(t, "what is reserved is spent", ledger.ErrInsufficient, b.book.Post(out("t-1", "20.01")))
		b.untouched(t, "what is reserved is reserved", ledger.ErrInsufficient, b.book.Reserve(hold("r-2", account, "20.01")))

		open := b.reservation(t, "r-1")
		b.commit(t, b.book.Capture(open, ledger.Capture{Transaction: out("c-1", "50.00")}))
		b.has(t, account, "50.00", "30.00", "20.00")
		b.untouched(t, "a capture of what was read before", ledger.ErrVersion, b.book.Capture(open, ledger.Capture{Transaction: out("c-2", "30.00")}))
		b.untouched(t, "a capture of more", ledger.ErrExceeds, b.book.Capture(b.reservation(t, "r-1"), ledger.Capture{Transaction: out("c-2", "30.01")}))
		b.commit(t, b.book.Capture(b.reservation(t, "r-1"), ledger.Capture{Transaction: out("c-2", "30.00")}))
		b.has(t, account, "20.00", "0.00", "20.00")
		end := b.reservation(t, "r-1")
		if end.State != ledger.StateCaptured || !end.Left.IsZero() || !slices.Equal(end.CapturedBy, []string{"c-1", "c-2"}) || !end.EndedAt.Equal(day) {
			t.Errorf("%s: %+v", account, end)
		}
		if entry := b.entry(t, "c-2"); entry.Captures != "r-1" {
			t.Errorf("the capture does not name its reservation: %+v", entry)
		}
		if n := b.balance(t, account).Reservations; n != 0 {
			t.Errorf("%d reservations are open", n)
		}
	}
}

func TestALastCaptureGivesBackTheRest(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-")
	b.commit(t, b.book.Post(transfer("in-1", "bank", "ann-", "100.00")))
	b.commit(t, b.book.Reserve(hold("r-1", "ann-", "80.00")))
	b.commit(t, b.book.Capture(b.reservation(t, "r-1"), ledger.Capture{Transaction: transfer("c-1", "ann-", "bank", "10.00"), Final: true}))
	b.has(t, "ann-", "90.00", "0.00", "90.00")
	if end := b.reservation(t, "r-1"); end.State != ledger.StateCaptured || end.Left != dollars("70.00") {
		t.Errorf("%+v", end)
	}
}

// Every event in every state: a reservation ends once (L4).
func TestAReservationEndsOnce(t *testing.T) {
	t.Parallel()
	expiry := day.Add(time.Hour)
	ends := map[string]struct {
		by    func(b *bench, r ledger.Reservation, id string) error
		state ledger.ReservationState
		at    time.Time
	}{
		"capture": {func(b *bench, r ledger.Reservation, id string) error {
			part := b.book.Capture(r, ledger.Capture{Transaction: transfer("c-"+id, "ann-", "bank", "5.00")})
			_, err := impatient(b.client).Commit(t.Context(), part)
			return err
		}, ledger.StateCaptured, day},
		"release": {func(b *bench, r ledger.Reservation, _ string) error {
			_, err := impatient(b.client).Commit(t.Context(), b.book.Release(r))
			return err
		}, ledger.StateReleased, day},
		"expire": {func(b *bench, r ledger.Reservation, _ string) error {
			_, err := impatient(b.client).Commit(t.Context(), b.book.Expire(r))
			return err
		}, ledger.StateExpired, expiry},
	}
	for first, end := range ends {
		b := setup(t, ledger.Config{})
		b.open(t, "bank", "ann-")
		b.commit(t, b.book.Post(transfer("in-1", "bank", "ann-", "5.00")))
		r := hold("r-1", "ann-", "5.00")
		r.ExpiresAt = expiry
		b.commit(t, b.book.Reserve(r))
		read := b.reservation(t, "r-1")
		b.now = end.at
		if err := end.by(b, read, "1"); err != nil {
			t.Fatalf("%s: %v", first, err)
		}
		before := b.dump(t)
		for second, again := range ends {
			for _, known := range []ledger.Reservation{read, b.reservation(t, "r-1")} {
				err := again.by(b, known, "2")
				var ended *ledger.EndedError
				if !errors.As(err, &ended) || ended.State != end.state {
					t.Errorf("%s after %s: %v", second, first, err)
				}
			}
		}
		if after := b.dump(t); len(after) != len(before) {
			t.Errorf("something after %s left a record", first)
		}
		if r := b.reservation(t, "r-1"); r.State != end.state {
			t.Errorf("after %s it is %s", first, r.State)
		}
	}
}

// Expiry is by the stored time and the given clock, to the nanosecond (E5).
func TestExpiryToTheNanosecond(t *testing.T) {
	t.Parallel()
	expiry := day.Add(time.Hour)
	for _, c := range []struct {
		after   time.Duration
		expired bool
	}{{-1, false}, {0, true}, {1, true}} {
		b := setup(t, ledger.Config{})
		b.open(t, "bank", "ann-")
		b.commit(t, b.book.Post(transfer("in-1", "bank", "ann-", "15.00")))
		for _, id := range []string{"r-1", "r-2", "r-3"} {
			r := hold(id, "ann-", "5.00")
			r.ExpiresAt = expiry
			b.commit(t, b.book.Reserve(r))
		}
		b.now = expiry.Add(c.after)
		read := b.reservation(t, "r-1")
		if expired := read.StateAt(b.now) == ledger.StateExpired; expired != c.expired {
			t.Errorf("%v after its expiry it reads as %s", c.after, read.StateAt(b.now))
		}
		_, errCapture := b.try(t, b.book.Capture(read, ledger.Capture{Transaction: transfer("c-1", "ann-", "bank", "5.00")}))
		_, errRelease := b.try(t, b.book.Release(b.reservation(t, "r-2")))
		_, errExpire := b.try(t, b.book.Expire(b.reservation(t, "r-3")))
		if (errCapture == nil) == c.expired || (errRelease == nil) == c.expired || (errExpire == nil) != c.expired {
			t.Errorf("%v after its expiry: capture %v, release %v, expire %v", c.after, errCapture, errRelease, errExpire)
		}
		for _, err := range []error{errCapture, errRelease, errExpire} {
			if err != nil && !errors.Is(err, ledger.ErrEnded) {
				t.Errorf("%v after its expiry: %v", c.after, err)
			}
		}
	}
}

func TestReservationsThatAreDueAreListedAndSwept(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-")
	b.commit(t, b.book.Post(transfer("in-1", "bank", "ann-", "30.00")))
	for i := range 10 {
		r := hold(fmt.Sprintf("r-%d", i), "ann-", "2.00")
		if i > 0 { // one never expires
			r.ExpiresAt = day.Add(time.Duration(i) * time.Minute)
		}
		b.commit(t, b.book.Reserve(r))
	}
	b.now = day.Add(5 * time.Minute)
	var swept []string
	for shard := range b.book.Shards() {
		for r, err := range b.book.Due(t.Context(), b.client, tenant, shard, b.now) {
			if err != nil {
				t.Fatal(err)
			}
			b.commit(t, b.book.Expire(r))
			swept = append(swept, r.ID)
		}
	}
	slices.Sort(swept)
	if want := []string{"r-1", "r-2", "r-3", "r-4", "r-5"}; !slices.Equal(swept, want) {
		t.Errorf("swept %v, want %v", swept, want)
	}
	b.has(t, "ann-", "30.00", "10.00", "20.00")
	for shard := range b.book.Shards() {
		for r, err := range b.book.Due(t.Context(), b.client, tenant, shard, b.now) {
			t.Errorf("still listed: %+v, %v", r, err)
		}
	}
}

func TestAReservationTakesFromTheAccount(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-", "cash+")
	wrong := hold("r-1", "ann-", "1.00")
	wrong.Amount = wrong.Amount.Neg()
	err := b.untouched(t, "the wrong sign", ledger.ErrSide, b.book.Reserve(wrong))
	var side *ledger.SideError
	if !errors.As(err, &side) || side.Side != ledger.CreditSide {
		t.Errorf("%+v", side)
	}
	b.commit(t, b.book.Reserve(hold("r-1", "bank", "1.00"))) // no minimum: the house may
	b.has(t, "bank", "0.00", "1.00", "-1.00")
	if err := b.untouched(t, "the same again", ledger.ErrDuplicate, b.book.Reserve(hold("r-1", "bank", "1.00"))); !ledger.Repeated(err) {
		t.Errorf("%v", err)
	}
	if err := b.untouched(t, "another of that name", ledger.ErrDuplicate, b.book.Reserve(hold("r-1", "bank", "2.00"))); ledger.Repeated(err) {
		t.Errorf("%v", err)
	}
	gone := hold("r-2", "bank", "1.00")
	gone.ExpiresAt = day
	b.untouched(t, "an expiry that has come", ledger.ErrInvalid, b.book.Reserve(gone))
}

// What is captured at the same time adds up to at most what was reserved, and each loser is told that it must read again.
func TestConcurrentCapturesAddUp(t *testing.T) {
	t.Parallel()
	b := setup(t, ledger.Config{})
	b.open(t, "bank", "ann-")
	b.commit(t, b.book.Post(transfer("in-1", "bank", "ann-", "10.00")))
	b.commit(t, b.book.Reserve(hold("r-1", "ann-", "5.00")))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				r, err := b.book.Reservation(t.Context(), b.client, tenant, "r-1")
				if err != nil || r.State != ledger.StateOpen {
					return
				}
				part := b.book.Capture(r, ledger.Capture{Transaction: transfer(fmt.Sprintf("c-%d", i), "ann-", "bank", "1.00")})
				_, err = impatient(b.client).Commit(t.Context(), part)
				if !errors.Is(err, ledger.ErrVersion) {
					return
				}
			}
		}()
	}
	wg.Wait()
	b.has(t, "ann-", "5.00", "0.00", "5.00")
	if r := b.reservation(t, "r-1"); r.State != ledger.StateCaptured || len(r.CapturedBy) != 5 {
		t.Errorf("%+v", r)
	}
}
