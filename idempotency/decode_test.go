package idempotency_test

import (
	"errors"
	"testing"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/internal/stores"
)

func TestAnItemOfTheTableIsReadAsTheRequestThatItIs(t *testing.T) {
	t.Parallel()
	s := newStore(t, stores.Options{})
	keeper, request := s.keeper(idempotency.Config{}), order("1")
	if _, err := s.commit(t.Context(), 1, keeper.Once(request, accepted("ord-1"))); err != nil {
		t.Fatal(err)
	}
	item := s.record(t, request)
	r, ok, err := keeper.Decode(item)
	if !ok || err != nil || r.Tenant != request.Tenant || r.Key != request.Key || r.State != idempotency.Completed || r.Result.Code != accepted("ord-1").Code {
		t.Errorf("%+v, %v, %v", r, ok, err)
	}
	if _, ok, err := keeper.Decode(s.orders.Key("ORDER#1", "META")); ok || err != nil {
		t.Errorf("an item that is none: %v, %v", ok, err)
	}
	for attribute, want := range map[string]error{"v": idempotency.ErrVersion, "state": idempotency.ErrRecord} {
		damaged := altered(item, nil)
		damaged[attribute] = number("99")
		if r, ok, err := keeper.Decode(damaged); !ok || !errors.Is(err, want) || r.Key != request.Key {
			t.Errorf("%s: %+v, %v, %v", attribute, r, ok, err)
		}
	}
}
