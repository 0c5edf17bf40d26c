package httpkey_test

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/idempotency/httpkey"
	"github.com/dynafin/dynafin/txn"
)

var accepted = httpkey.Response{Status: http.StatusCreated, Header: http.Header{"Location": {"/orders/1"}}, Body: []byte("order-1")}

// The handler's effect and the response that tells of it are one transaction: a conflict is the handler's to answer, and
// its answer is stored too.
func TestTheResponseIsCommittedWithTheEffect(t *testing.T) {
	t.Parallel()
	var s *service
	s = newService(t, httpkey.Config{Mode: idempotency.Transactional}, func(w http.ResponseWriter, r *http.Request) {
		order := txn.Put(s.orders, s.orders.Key("ORDER#1", "META"), txn.IfAbsent())
		if err := httpkey.Current(r.Context()).Commit(r.Context(), accepted, order); err != nil {
			http.Error(w, "taken", http.StatusConflict)
			return
		}
		io.WriteString(w, "this is not what the client gets")
	})
	for i := range 3 {
		got := s.send(pay("key-1"))
		if got.status != 201 || got.body != "order-1" || got.header.Get("Location") != "/orders/1" || (got.header.Get(httpkey.ReplayedHeader) != "") != (i > 0) {
			t.Errorf("%d: %+v", i, got)
		}
	}
	for range 2 {
		if got := s.send(pay("key-2")); got.status != 409 || got.body != "taken\n" {
			t.Errorf("the second order: %+v", got)
		}
	}
	s.wantRuns("two orders", 2)
}

// A handler that stood still while another one took over commits nothing, and its client gets the other's response.
func TestALateHandlerCommitsNothingAndAnswersLikeTheWinner(t *testing.T) {
	t.Parallel()
	standing, goOn := make(chan bool), make(chan bool)
	var s *service
	s = newService(t, httpkey.Config{Mode: idempotency.Transactional}, func(w http.ResponseWriter, r *http.Request) {
		x := httpkey.Current(r.Context())
		response, id := accepted, "ORDER#1"
		if x.Claim().Attempt() == 1 {
			standing <- true
			<-goOn
			response.Body, id = []byte("order-2"), "ORDER#2"
		}
		err := x.Commit(r.Context(), response, txn.Put(s.orders, s.orders.Key(id, "META"), txn.IfAbsent()))
		if late := x.Claim().Attempt() == 1; late != errors.Is(err, idempotency.ErrLeaseLost) {
			t.Errorf("attempt %d: %v", x.Claim().Attempt(), err)
		}
	})
	late := make(chan answer)
	go func() { late <- s.send(pay("key-1")) }()
	<-standing
	s.advance(time.Minute)
	winner := s.send(pay("key-1"))
	close(goOn)
	if got := <-late; winner.body != "order-1" || got.body != winner.body || got.header.Get(httpkey.ReplayedHeader) != "true" {
		t.Errorf("%+v, %+v", winner, got)
	}
}

func TestAnInvalidResponseIsNotCommitted(t *testing.T) {
	t.Parallel()
	s := newService(t, httpkey.Config{Mode: idempotency.Transactional}, func(w http.ResponseWriter, r *http.Request) {
		if err := httpkey.Current(r.Context()).Commit(r.Context(), httpkey.Response{}); !errors.Is(err, idempotency.ErrInvalid) {
			t.Error(err)
		}
		w.WriteHeader(http.StatusTeapot)
	})
	if got := s.send(pay("key-1")); got.status != http.StatusTeapot {
		t.Errorf("%+v", got)
	}
}

func TestNewSaysEverythingThatIsWrong(t *testing.T) {
	t.Parallel()
	_, err := httpkey.New(httpkey.Config{Mode: 9, RequestBytesMax: -1, ResponseBytesMax: -1, RepairAfter: -1})
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != 7 || !errors.Is(err, idempotency.ErrInvalid) {
		t.Error(err)
	}
}

// While keys are optional, a handler meets requests without one: its Commit is refused, and it can commit by itself.
func TestWithoutAKeyThereIsNoExchange(t *testing.T) {
	t.Parallel()
	s := newService(t, httpkey.Config{Mode: idempotency.Transactional, Optional: true}, func(w http.ResponseWriter, r *http.Request) {
		x := httpkey.Current(r.Context())
		x.NoEffect()
		x.Uncertain(idempotency.Evidence{Reason: "nobody asks"})
		if err := x.Commit(r.Context(), accepted); x != nil || x.Claim() != nil || !errors.Is(err, idempotency.ErrInvalid) {
			t.Errorf("exchange %v, commit: %v", x, err)
		}
	})
	without := pay("")
	without.keys = nil
	if got := s.send(without); got.status != 200 {
		t.Errorf("a request without a key: %+v", got)
	}
}
