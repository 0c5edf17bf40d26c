package outbox_test

import (
	"errors"
	"testing"
	"time"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/observe"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

// turn pauses or resumes the relays, and returns what the transaction cost.
func (s *station) turn(paused bool) txn.Receipt {
	s.Helper()
	read, err := s.events.Switch(s.Context(), s.client)
	if err != nil {
		s.Fatal(err)
	}
	part := s.events.Resume(read, note)
	if paused {
		part = s.events.Pause(read, note)
	}
	receipt, err := txn.Commit(s.Context(), s.client, part)
	if err != nil {
		s.Fatal(err)
	}
	return receipt
}

// Relays that heed the switch claim nothing while it is off, from polls and from the stream, and go on when it is on again. Those that
// do not heed it never read it.
func TestOperatorsPauseTheRelaysThatHeed(t *testing.T) {
	inBubble(t, plain, noLag, func(s *station) {
		heeds, other := s.relay(nil, outbox.RelayConfig{Heed: true}, nil), s.relay(nil, outbox.RelayConfig{}, nil)
		s.orders(5)
		if receipt := s.turn(true); receipt.Base().String() != "2" || receipt.Index() != 0 {
			s.Errorf("a pause costs %s and %s units of the index", receipt.Base(), receipt.Index())
		}
		if round := s.once(heeds); !round.Paused || round.Claimed != 0 || round.Listed != 0 {
			s.Errorf("paused: %+v", round)
		}
		if round, err := heeds.HandleStream(s.Context(), nil); err != nil || !round.Paused {
			s.Errorf("paused: %+v, %v", round, err)
		}
		if n := s.counted("AP16.switch", observe.OK); n != 2 {
			s.Errorf("the switch was read %d times", n)
		}
		if round := s.once(other); round.Paused || round.Completed != 5 {
			s.Errorf("not heeded: %+v", round)
		}
		if n := s.counted("AP16.switch", observe.OK); n != 2 {
			s.Error("a relay that does not heed the switch read it")
		}
		s.turn(false)
		s.create("order-late", 1, 3)
		if round := s.once(heeds); round.Paused || round.Completed == 0 {
			s.Errorf("resumed: %+v", round)
		}
		set, err := s.events.Switch(s.Context(), s.client)
		if err != nil || set.Paused || set.Version != 2 || set.By != note.By || set.Reason != note.Reason || !set.At.Equal(note.At) {
			s.Errorf("%+v, %v", set, err)
		}
	})
}

// Of two operators one turns the switch; the other one learns that it was turned.
func TestTheSwitchIsTurnedFromWhatWasRead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	read, err := b.events.Switch(t.Context(), b.client)
	if err != nil || read != (outbox.Switch{}) {
		t.Fatalf("%+v, %v", read, err)
	}
	b.commit(t, b.events.Pause(read, note))
	golden(t, "switch", b.first(t, "SERVICE#orders#SWITCH"))
	var stale *outbox.StaleError
	if _, err := txn.Commit(t.Context(), b.client, b.events.Pause(read, note)); !errors.As(err, &stale) || stale.Step != "pause" || stale.Version != 1 {
		t.Errorf("paused twice: %v", err)
	}
	if err := b.events.Resume(read, note).Err(); !errors.Is(err, outbox.ErrStale) {
		t.Errorf("resumed though it was not paused: %v", err)
	}
	bad := note
	bad.By = ""
	if err := b.events.Pause(read, bad).Err(); !errors.Is(err, outbox.ErrInvalid) {
		t.Errorf("paused by nobody: %v", err)
	}
}

// A switch that cannot be read stops nothing: the outage of a help for operators is none of publishing.
func TestASwitchThatCannotBeReadStopsNothing(t *testing.T) {
	inBubble(t, plain, noLag, func(s *station) {
		s.orders(2)
		s.turn(true)
		deaf := s.faulty(func(c dynamosim.Call) dynamosim.Fate {
			if c.Operation == "GetItem" {
				return dynamosim.LoseRequest
			}
			return dynamosim.Deliver
		})
		if round := s.once(s.relay(nil, outbox.RelayConfig{Heed: true}, deaf)); round.Paused || round.Claimed == 0 {
			s.Errorf("%+v", round)
		}
	})
}

// An event that an operator holds is not published; it is listed as parked, with his reason, and can be redriven.
func TestAHeldEventIsParkedUntilItIsRedriven(t *testing.T) {
	inBubble(t, ordered, noLag, func(s *station) {
		ids := s.create("order-1", 1, 2)
		receipt, err := txn.Commit(s.Context(), s.client, s.events.Hold(s.get(ids[0]), note))
		if err != nil || receipt.Index().String() != "2" {
			s.Errorf("%s units of the index, %v", receipt.Index(), err)
		}
		if round := s.once(s.relay(nil, outbox.RelayConfig{}, nil)); round.Completed != 0 {
			s.Errorf("%+v", round)
		}
		parked := s.get(ids[0])
		if parked.State != outbox.Parked || parked.Failure != "held: "+note.Reason || !parked.FailedAt.Equal(note.At) {
			s.Errorf("%+v", parked)
		}
		for r, err := range s.events.Parked(s.Context(), s.client) {
			if err != nil || r.Event.ID != ids[0] {
				s.Errorf("%+v, %v", r, err)
			}
		}
		if _, err := txn.Commit(s.Context(), s.client, s.events.Redrive(parked, s.now(), note)); err != nil {
			s.Fatal(err)
		}
		relay := s.relay(nil, outbox.RelayConfig{}, nil)
		for range 2 {
			s.sleep(2 * outboxHold)
			s.once(relay)
		}
		if got := s.states(ids); got[outbox.Completed] != 2 {
			s.Errorf("%v", got)
		}
	})
}

// outboxHold is the default of RelayConfig.Hold.
const outboxHold = time.Minute
