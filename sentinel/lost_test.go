package sentinel_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/sentinel"
	"github.com/dynafin/dynafin/txn"
)

// losing is a client that loses the answer to its first call. Then, before the second, it does what happens meanwhile.
func (b *bench) losing(meanwhile func()) *dynamodb.Client {
	return b.store.Faulty(func(call dynamosim.Call) dynamosim.Fate {
		if call.Sequence == 1 {
			return dynamosim.LoseAnswer
		}
		if call.Sequence == 2 && meanwhile != nil {
			meanwhile()
		}
		return dynamosim.Deliver
	})
}

// A release or a move needs no other part to recognise its own work (E1), whatever request tokens do (E2).
func TestALostAnswerIsNoConflict(t *testing.T) {
	t.Parallel()
	for _, tokens := range anyTokenPolicy {
		for what, part := range map[string]func(*bench, sentinel.Held) txn.Part{
			"release":   func(b *bench, h sentinel.Held) txn.Part { return b.names.Release(h) },
			"move":      func(b *bench, h sentinel.Held) txn.Part { return b.names.Move(h, claim("C-2", "order-1")) },
			"hand over": func(b *bench, h sentinel.Held) txn.Part { return b.names.Move(h, claim("C-1", "order-2")) },
		} {
			b := setup(t, stores.Options{Tokens: tokens})
			b.commit(t, b.names.Reserve(claim("C-1", "order-1")))
			receipt, err := impatient(b.losing(nil)).Commit(t.Context(), part(b, b.lookup(t, "C-1")))
			if err != nil || !receipt.Recovered {
				t.Errorf("%s with token policy %v: %+v, %v", what, tokens, receipt, err)
			}
		}
	}
}

// The name that was released is taken by somebody else before the second try: the record does not tell any more whether the
// release was applied, so it must not be called refused.
func TestALostReleaseUnderALaterReservationIsUnknown(t *testing.T) {
	t.Parallel()
	b := setup(t, stores.Options{Tokens: dynamosim.IgnoreTokens})
	b.commit(t, b.names.Reserve(claim("C-1", "order-1")))
	client := b.losing(func() { b.commit(t, b.names.Reserve(claim("C-1", "order-2"))) })
	_, err := impatient(client).Commit(t.Context(), b.names.Release(b.lookup(t, "C-1")))
	if !errors.Is(err, txn.ErrAmbiguous) || errors.Is(err, sentinel.ErrNotOwned) {
		t.Errorf("%v, want ErrAmbiguous", err)
	}
	if held := b.lookup(t, "C-1"); held.Owner != "order-2" {
		t.Errorf("look up: %+v, want the later reservation", held)
	}
}

// A Reserve alone has no fence, so it is not sent twice; the caller's repeat learns that the name is its own.
func TestALoneReserveWithoutAnswerIsSettledByItsRepeat(t *testing.T) {
	t.Parallel()
	b := setup(t, stores.Options{Tokens: dynamosim.IgnoreTokens})
	_, err := impatient(b.losing(nil)).Commit(t.Context(), b.names.Reserve(claim("C-1", "order-1")))
	if !errors.Is(err, txn.ErrAmbiguous) {
		t.Fatalf("%v, want ErrAmbiguous", err)
	}
	_, err = impatient(b.client).Commit(t.Context(), b.names.Reserve(claim("C-1", "order-1")))
	var taken *sentinel.TakenError
	if !errors.As(err, &taken) || !taken.SameCommand || taken.Owner != "order-1" {
		t.Errorf("%v, want a TakenError of the same command", err)
	}
}
