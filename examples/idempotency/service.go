package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/idempotency/httpkey"
	"github.com/dynafin/dynafin/txn"
)

const tenant = "acme"

var orders = txn.Table{Name: "Orders"}

// service accepts orders and takes payments.
type service struct {
	store    *dynamodb.Client
	requests *idempotency.Requests
	provider *provider
	clock    *clock
}

// clock is the time of this program. In production it is the system's.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time { return c.pass(0) }

func (c *clock) pass(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
	return c.at
}

func open(db *dynamosim.DB) (*service, error) {
	s := &service{store: db.Client(), provider: &provider{charged: map[string]bool{}}, clock: &clock{at: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}}
	s.requests = idempotency.New(idempotency.Config{Now: s.clock.now})
	return s, errors.Join(db.CreateTable(idempotency.TableName, s.requests.Index()), db.CreateTable(orders.Name))
}

// routes wraps each handler by what its effect is.
func (s *service) routes() http.Handler {
	routes := http.NewServeMux()
	for path, route := range map[string]struct {
		mode    idempotency.Mode
		handler http.HandlerFunc
	}{
		"POST /orders":   {idempotency.Transactional, s.acceptOrder},
		"POST /payments": {idempotency.External, s.takePayment},
	} {
		keys, err := httpkey.New(httpkey.Config{Requests: s.requests, Client: s.store, Mode: route.mode, Tenant: authenticated,
			Command: func(_ *http.Request, body []byte) *idempotency.Fields { return idempotency.JSON(body) }})
		if err != nil {
			panic(err) // a fault of this program
		}
		routes.Handle(path, keys.Wrap(route.handler))
	}
	return routes
}

// authenticated says whose key it is. In production: from a token that was checked.
func authenticated(r *http.Request) (string, error) {
	if client, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return client, nil
	}
	return "", errors.New("nobody")
}

// acceptOrder has its whole effect in one transaction, and its response is stored in it.
func (s *service) acceptOrder(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "unreadable", http.StatusBadRequest)
		return
	}
	x := httpkey.Current(r.Context())
	id := "order-of-" + x.Claim().Record().Key
	item := orders.Key(txn.JoinKey("TEN", tenant, "ORDER", id), "META")
	item["command"] = &types.AttributeValueMemberS{Value: string(body)}
	accepted := httpkey.Response{Status: http.StatusCreated, Header: http.Header{"Location": {"/orders/" + id}}, Body: []byte(id + " accepted")}
	if err := x.Commit(r.Context(), accepted, txn.Put(orders, item, txn.IfAbsent())); err != nil {
		http.Error(w, "not accepted", http.StatusServiceUnavailable)
	}
}

// takePayment asks the provider, which no transaction covers. What it knows beforehand it leaves for repair.
func (s *service) takePayment(w http.ResponseWriter, r *http.Request) {
	x := httpkey.Current(r.Context())
	payment := fmt.Sprintf("payment-of-%s-%d", x.Claim().Record().Key, x.Claim().Attempt())
	x.Uncertain(idempotency.Evidence{Details: map[string]string{"payment": payment}})
	switch err := s.provider.charge(payment); {
	case errors.Is(err, errClosed):
		x.NoEffect()
		http.Error(w, "the provider is closed", http.StatusServiceUnavailable)
	case err != nil:
		http.Error(w, "the provider does not answer", http.StatusGatewayTimeout)
	default:
		w.WriteHeader(http.StatusCreated)
		w.Write(receipt(payment).Body)
	}
}

// receipt is the result of a payment, whoever finds out that it was made.
func receipt(payment string) idempotency.Result {
	return idempotency.Result{Code: "201", Body: []byte(payment + " paid")}
}

// worker runs beside the service in production, for ever.
func (s *service) worker() *idempotency.RepairWorker {
	return idempotency.NewRepairWorker(s.requests, s.store, idempotency.ProberFunc(s.probe), idempotency.RepairConfig{
		Tenants: idempotency.Tenants(tenant), ProbesMax: 3})
}

// probe asks the provider what became of a payment.
func (s *service) probe(_ context.Context, r idempotency.Record) (idempotency.Finding, error) {
	payment := r.Evidence["payment"]
	charged, err := s.provider.lookup(payment)
	switch {
	case err != nil:
		return idempotency.Finding{}, err
	case charged:
		return idempotency.Found(receipt(payment)), nil
	default: // lookup voids what it does not find, so it cannot come later
		return idempotency.AbsentForGood(), nil
	}
}

func (s *service) commit(ctx context.Context, part txn.Part) error {
	_, err := txn.Commit(ctx, s.store, part)
	return err
}

// The moods of a provider.
type mood string

const (
	works          mood = "works"
	closed         mood = "closed"
	silent         mood = "silent"          // takes the payment, and says nothing from then on
	diesAfterwards mood = "dies afterwards" // it is the service that dies, when the provider has charged
)

var errClosed, errSilent = errors.New("closed"), errors.New("the provider is silent")

// provider is somebody else's system.
type provider struct {
	mu      sync.Mutex
	mood    mood
	charged map[string]bool
}

// provide puts the provider into a mood.
func (s *service) provide(m mood) func(context.Context) error {
	return func(context.Context) error {
		s.provider.mu.Lock()
		defer s.provider.mu.Unlock()
		s.provider.mood = m
		return nil
	}
}

func (p *provider) charge(payment string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mood == closed {
		return errClosed
	}
	if _, known := p.charged[payment]; known {
		return errors.New("voided, or charged before")
	}
	p.charged[payment] = true
	switch p.mood {
	case diesAfterwards:
		panic(http.ErrAbortHandler)
	case silent:
		return errSilent
	}
	return nil
}

// lookup says whether a payment was made. One that was not is voided.
func (p *provider) lookup(payment string) (charged bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mood == silent {
		return false, errSilent
	}
	if !p.charged[payment] {
		p.charged[payment] = false
	}
	return p.charged[payment], nil
}

func (p *provider) paid() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, charged := range p.charged {
		if charged {
			n++
		}
	}
	return n
}
