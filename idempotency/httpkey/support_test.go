package httpkey_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/idempotency/httpkey"
	"github.com/dynafin/dynafin/txn"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// service is a handler behind the middleware, on a socket, and the store behind both.
type service struct {
	*testing.T
	server   *httptest.Server
	client   *dynamodb.Client
	requests *idempotency.Requests
	orders   txn.Table
	runs     atomic.Int64
	clock    atomic.Pointer[time.Time]
	down     atomic.Bool // the store does not answer
	seen     chan httpkey.Observation
}

func newService(t *testing.T, config httpkey.Config, handler http.HandlerFunc) *service {
	t.Helper()
	s := &service{T: t, orders: txn.Table{Name: "Orders"}.WithDefaults("Orders"), seen: make(chan httpkey.Observation, 100)}
	s.advance(0)
	s.requests = idempotency.New(idempotency.Config{Now: func() time.Time { return *s.clock.Load() }})
	db := dynamosim.New(t)
	for _, err := range []error{db.CreateTable(idempotency.TableName, s.requests.Index()), db.CreateTable("Orders")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s.client = db.Client(func(o *dynamodb.Options) {
		o.RetryMaxAttempts = 1
		o.HTTPClient = dynamosim.Faulty(db, func(dynamosim.Call) dynamosim.Fate {
			if s.down.Load() {
				return dynamosim.LoseRequest
			}
			return dynamosim.Deliver
		})
	})
	config.Requests, config.Client = s.requests, s.client
	config.Txn = txn.Config{MaxAttempts: 2, Jitter: func(time.Duration) time.Duration { return 0 }}
	config.Observer = func(_ context.Context, o httpkey.Observation) { s.seen <- o }
	if config.Tenant == nil {
		config.Tenant = func(r *http.Request) (string, error) { return "acme", nil }
	}
	keys, err := httpkey.New(config)
	if err != nil {
		t.Fatal(err)
	}
	s.server = httptest.NewServer(keys.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.runs.Add(1)
		handler(w, r)
	})))
	t.Cleanup(s.server.Close)
	return s
}

func (s *service) advance(d time.Duration) {
	next := noon
	if at := s.clock.Load(); at != nil {
		next = at.Add(d)
	}
	s.clock.Store(&next)
}

// answer is a whole response.
type answer struct {
	status int
	header http.Header
	body   string
}

// call is a request to be sent; the zero fields are those of a payment.
type call struct {
	method, path, body string
	stream             io.Reader
	keys               []string
	header             map[string]string
}

func (s *service) request(ctx context.Context, c call) *http.Request {
	s.Helper()
	if c.method == "" {
		c.method = http.MethodPost
	}
	if c.path == "" {
		c.path = "/payments"
	}
	if c.stream == nil {
		c.stream = strings.NewReader(c.body)
	}
	r, err := http.NewRequestWithContext(ctx, c.method, s.server.URL+c.path, c.stream)
	if err != nil {
		s.Fatal(err)
	}
	for _, key := range c.keys {
		r.Header.Add(httpkey.Header, key)
	}
	for name, value := range c.header {
		r.Header.Set(name, value)
	}
	return r
}

func (s *service) try(ctx context.Context, c call) (answer, error) {
	s.Helper()
	response, err := s.server.Client().Do(s.request(ctx, c))
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, string(body)}, err
}

func (s *service) send(c call) answer {
	s.Helper()
	got, err := s.try(s.Context(), c)
	if err != nil {
		s.Fatal(err)
	}
	return got
}

// pay is the usual request, under a key.
func pay(key string) call {
	return call{keys: []string{key}, body: `{"amount":"10.00 USD"}`, header: map[string]string{"Content-Type": "application/json"}}
}

// record reads the record of a key.
func (s *service) record(key string) idempotency.Record {
	s.Helper()
	rec, err := s.requests.Get(context.Background(), s.client, "acme", key)
	if err != nil {
		s.Fatal(err)
	}
	return rec
}

// repair runs a round of a repair worker, long after.
func (s *service) repair(finding idempotency.Finding) {
	s.Helper()
	s.advance(time.Hour)
	worker := idempotency.NewRepairWorker(s.requests, s.client, idempotency.ProberFunc(func(context.Context, idempotency.Record) (idempotency.Finding, error) {
		return finding, nil
	}), idempotency.RepairConfig{Tenants: idempotency.Tenants("acme")})
	if _, err := worker.Once(context.Background()); err != nil {
		s.Fatal(err)
	}
}

func (s *service) wantRuns(what string, n int64) {
	s.Helper()
	if got := s.runs.Load(); got != n {
		s.Errorf("%s: the handler ran %d times, want %d", what, got, n)
	}
}

// wantProblem checks a response of the middleware's own.
func (s *service) wantProblem(what string, got answer, status int, title string) {
	s.Helper()
	if got.status != status || got.header.Get("Content-Type") != "application/problem+json" || !strings.Contains(got.body, `"title":"`+title) {
		s.Errorf("%s: %d %s %s; want a problem %d %q", what, got.status, got.header.Get("Content-Type"), got.body, status, title)
	}
}
