package httpkey_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/idempotency/httpkey"
)

func created(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Location", "/payments/1")
	w.Header().Set("X-Trace", "not replayed")
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, `{"paid":%q}`, body)
}

func TestARepeatGetsTheFirstResponseByteForByte(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"created":        created,
		"nothing at all": func(http.ResponseWriter, *http.Request) {},
		"no content":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"bytes":          func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("\x00\xff\r\n\x1f\x8b")) },
		"a refusal":      func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no funds", http.StatusPaymentRequired) },
		"not found":      http.NotFound,
		"a redirect":     func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusSeeOther) },
		"in pieces": func(w http.ResponseWriter, _ *http.Request) {
			for i := range 1000 {
				fmt.Fprintln(w, "line", i)
				_ = http.NewResponseController(w).Flush() // not supported: what is sent before it is stored cannot be replayed
			}
		},
		"with hints": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusAccepted)
			w.WriteHeader(http.StatusTeapot) // too late
			w.Header().Set("ETag", "too late")
		},
		"several values": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Add("Cache-Control", "no-store")
			w.Header().Add("Cache-Control", "private")
		},
	} {
		s := newService(t, httpkey.Config{}, handler)
		s.server.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		first := s.send(pay("key-1"))
		for _, spelling := range []string{"key-1", `"key-1"`} {
			again := s.send(pay(spelling))
			if again.status != first.status || again.body != first.body || first.header.Get(httpkey.ReplayedHeader) != "" || again.header.Get(httpkey.ReplayedHeader) != "true" {
				t.Errorf("%s: first %+v, then %+v", name, first, again)
			}
			for _, header := range append(httpkey.DefaultHeaders(), "Content-Length") {
				if fmt.Sprint(first.header.Values(header)) != fmt.Sprint(again.header.Values(header)) {
					t.Errorf("%s: %s was %q and is %q", name, header, first.header.Values(header), again.header.Values(header))
				}
			}
		}
		s.wantRuns(name, 1)
	}
}

func TestARequestWithoutAValidKeyIsRefused(t *testing.T) {
	t.Parallel()
	s := newService(t, httpkey.Config{}, created)
	s.wantProblem("no key", s.send(call{}), 400, "Idempotency-Key is missing")
	for _, keys := range [][]string{{""}, {`""`}, {"a", "b"}, {"a, b"}, {`"a";p=1`}, {":YQ==:"}, {strings.Repeat("k", 256)}} {
		s.wantProblem(fmt.Sprint(keys), s.send(call{keys: keys}), 400, "Idempotency-Key is not valid")
	}
	s.wantRuns("no valid key", 0)
	if got := s.send(call{method: http.MethodGet}); got.status != 201 {
		t.Errorf("a GET does not pass through: %+v", got)
	}
	optional := newService(t, httpkey.Config{Optional: true, Methods: []string{http.MethodPut}}, created)
	for range 2 {
		optional.send(call{method: http.MethodPut})
		optional.send(call{method: http.MethodPost})
	}
	optional.wantProblem("a broken key", optional.send(call{method: http.MethodPut, keys: []string{"a b"}}), 400, "Idempotency-Key is not valid")
	optional.wantRuns("optional", 4)
}

func TestAKeyIsForOneRequestOfOneTenant(t *testing.T) {
	t.Parallel()
	config := httpkey.Config{Tenant: func(r *http.Request) (string, error) {
		if tenant := r.Header.Get("X-Tenant"); tenant != "" {
			return tenant, nil
		}
		return "", errors.New("nobody")
	}}
	s := newService(t, config, created)
	as := func(tenant string, change func(*call)) call {
		c := pay("key-1")
		c.header["X-Tenant"] = tenant
		if change != nil {
			change(&c)
		}
		return c
	}
	s.send(as("acme", nil))
	for what, change := range map[string]func(*call){
		"body":   func(c *call) { c.body = strings.Replace(c.body, "10.00", "10.01", 1) },
		"path":   func(c *call) { c.path = "/refunds" },
		"query":  func(c *call) { c.path = "/payments?dry=true" },
		"method": func(c *call) { c.method = http.MethodPatch },
		"type":   func(c *call) { c.header["Content-Type"] = "text/plain" },
	} {
		got := s.send(as("acme", change))
		s.wantProblem("other "+what, got, 422, "Idempotency-Key is already used")
		if strings.Contains(got.body, "paid") {
			t.Errorf("the other's response is given away: %s", got.body)
		}
	}
	s.wantRuns("mismatches", 1)
	if got := s.send(as("other", func(c *call) { c.body = "{}" })); got.status != 201 {
		t.Errorf("another tenant: %+v", got)
	}
	s.wantProblem("nobody", s.send(as("", nil)), 403, "The client is not known")
}

func TestAConcurrentRepeatIsToldToWait(t *testing.T) {
	t.Parallel()
	running, goOn := make(chan bool), make(chan bool)
	s := newService(t, httpkey.Config{}, func(w http.ResponseWriter, r *http.Request) {
		running <- true
		<-goOn
		created(w, r)
	})
	first := make(chan answer)
	go func() { first <- s.send(pay("key-1")) }()
	<-running
	s.advance(10*time.Second + 1)
	got := s.send(pay("key-1"))
	s.wantProblem("repeat", got, 409, "A request is outstanding for this Idempotency-Key")
	if got.header.Get("Retry-After") != "20" {
		t.Errorf("Retry-After: %s", got.header.Get("Retry-After"))
	}
	close(goOn)
	if a, b := <-first, s.send(pay("key-1")); a.body != b.body || b.header.Get(httpkey.ReplayedHeader) != "true" {
		t.Errorf("%+v, %+v", a, b)
	}
	s.wantRuns("both", 1)
}

// Nothing is stored as completed that the handler did not say: see the documentation of the package.
func TestWhatIsNotKnownIsNotStored(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                string
		handler             http.HandlerFunc
		status              int
		external, withinTxn idempotency.State
	}{
		{"an internal error", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, 500, idempotency.RepairRequired, idempotency.Released},
		{"a bad gateway", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) }, 502, idempotency.RepairRequired, idempotency.Released},
		{"too many requests", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) }, 429, idempotency.Released, idempotency.Released},
		{"unauthorized", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, 401, idempotency.Released, idempotency.Released},
		{"an error without effect", func(w http.ResponseWriter, r *http.Request) {
			httpkey.Current(r.Context()).NoEffect()
			w.WriteHeader(503)
		}, 503, idempotency.Released, idempotency.Released},
		{"a panic", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(201)
			panic(http.ErrAbortHandler)
		}, 0, idempotency.RepairRequired, idempotency.Released},
		{"a response too large", func(w http.ResponseWriter, _ *http.Request) {
			w.Write(make([]byte, 512))
			w.Write(make([]byte, 513))
		}, 500, idempotency.RepairRequired, idempotency.Released},
	} {
		for mode, want := range map[idempotency.Mode]idempotency.State{idempotency.External: c.external, idempotency.Transactional: c.withinTxn} {
			s := newService(t, httpkey.Config{Mode: mode, ResponseBytesMax: 1024}, c.handler)
			got, err := s.try(t.Context(), pay("key-1"))
			if got.status != c.status || (err != nil) != (c.status == 0) {
				t.Errorf("%s, %s: %+v, %v", c.name, mode, got, err)
			}
			o := <-s.seen
			if rec := s.record("key-1"); rec.State != want || rec.Reason == "" || o.Status != c.status || o.Err == nil {
				t.Errorf("%s, %s: %s because %q, observed %+v", c.name, mode, rec.State, rec.Reason, o)
			}
			again, _ := s.try(t.Context(), pay("key-1"))
			if want == idempotency.Released {
				s.wantRuns(c.name, 2)
				continue
			}
			s.wantProblem(c.name, again, 409, "The outcome of an earlier request")
			if again.header.Get("Retry-After") != "60" {
				t.Errorf("Retry-After: %s", again.header.Get("Retry-After"))
			}
			s.wantRuns(c.name, 1)
		}
	}
}

// Crash and retry: what the handler left as evidence leads to the response that the client gets in the end.
func TestACrashIsRepairedAndItsResponseReplayed(t *testing.T) {
	t.Parallel()
	s := newService(t, httpkey.Config{}, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	if _, err := s.try(t.Context(), pay("key-1")); err == nil {
		t.Error("a crash looks like a response")
	}
	s.repair(idempotency.Found(idempotency.Result{Code: "201", Body: []byte("paid"), Effect: map[string]string{"header:Location": "/payments/1", "paymentId": "1"}}))
	got := s.send(pay("key-1"))
	if got.status != 201 || got.body != "paid" || got.header.Get("Location") != "/payments/1" || got.header.Get(httpkey.ReplayedHeader) != "true" {
		t.Errorf("%+v", got)
	}
	s.wantRuns("crash and repeat", 1)
}

func TestEvidenceReachesTheRecord(t *testing.T) {
	t.Parallel()
	s := newService(t, httpkey.Config{}, func(w http.ResponseWriter, r *http.Request) {
		x := httpkey.Current(r.Context())
		x.Uncertain(idempotency.Evidence{Details: map[string]string{"paymentId": fmt.Sprint("pay-", x.Claim().Attempt())}})
		w.WriteHeader(http.StatusGatewayTimeout)
	})
	s.send(pay("key-1"))
	if rec := s.record("key-1"); rec.Evidence["paymentId"] != "pay-1" || !strings.Contains(rec.Reason, "504") {
		t.Errorf("%+v", rec)
	}
	if httpkey.Current(t.Context()) != nil {
		t.Error("an exchange outside of a handler")
	}
}

func TestAnEndedRequestThatIsNoResponseIsAProblem(t *testing.T) {
	t.Parallel()
	s := newService(t, httpkey.Config{}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) })
	s.send(pay("key-1"))
	s.repair(idempotency.AbsentForGood())
	s.advance(48 * time.Hour)
	s.repair(idempotency.AbsentForGood())
	s.wantProblem("abandoned", s.send(pay("key-1")), 409, "The request has ended without effect")
	s.send(pay("key-2"))
	s.repair(idempotency.Found(idempotency.Result{Code: "SETTLED", Body: []byte("by hand")}))
	if got := s.send(pay("key-2")); got.status != 200 || got.body != "by hand" {
		t.Errorf("%+v", got)
	}
}

func TestBodiesAreReadWholeAndBounded(t *testing.T) {
	t.Parallel()
	s := newService(t, httpkey.Config{RequestBytesMax: 1000}, created)
	streamed := func(n int) call {
		c := pay(fmt.Sprint("key-", n))
		c.stream = io.MultiReader(strings.NewReader(strings.Repeat("a", n/2)), strings.NewReader(strings.Repeat("a", n-n/2))) // of no known length
		return c
	}
	for _, n := range []int{0, 1, 1000} {
		first, again := s.send(streamed(n)), s.send(streamed(n))
		if first.status != 201 || first.body != fmt.Sprintf(`{"paid":%q}`, strings.Repeat("a", n)) || again.body != first.body {
			t.Errorf("%d bytes: %+v, %+v", n, first, again)
		}
	}
	s.wantProblem("too large", s.send(streamed(1001)), 413, "The body is too large")
	s.wantRuns("bodies", 3)
	if _, err := s.requests.Get(t.Context(), s.client, "acme", "key-1001"); !errors.Is(err, idempotency.ErrNotFound) {
		t.Errorf("something was claimed: %v", err)
	}
}

// A limit as high as a number can be, and a request that was made by hand without a body.
func TestBodiesWithoutALimitAndRequestsWithoutABody(t *testing.T) {
	t.Parallel()
	s := newService(t, httpkey.Config{RequestBytesMax: math.MaxInt64}, created)
	if got := s.send(pay("key-1")); got.status != 201 || got.body != fmt.Sprintf(`{"paid":%q}`, pay("").body) {
		t.Errorf("%+v", got)
	}
	other := pay("key-1")
	other.body = "another"
	s.wantProblem("another body", s.send(other), 422, "Idempotency-Key is already used")

	r := s.request(t.Context(), pay("key-2"))
	r.Body = nil
	got := httptest.NewRecorder()
	s.server.Config.Handler.ServeHTTP(got, r)
	if got.Code != 201 || got.Body.String() != `{"paid":""}` {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}

// A client that goes away does not keep the response from being stored; a handler that then says nothing has said nothing.
func TestAClientThatHasGoneFindsItsResponseLater(t *testing.T) {
	t.Parallel()
	for name, gone := range map[string]func(w http.ResponseWriter, r *http.Request){
		"goes on": created, "gives up": func(http.ResponseWriter, *http.Request) {},
	} {
		running := make(chan bool, 1)
		s := newService(t, httpkey.Config{}, func(w http.ResponseWriter, r *http.Request) {
			running <- true
			<-r.Context().Done()
			gone(w, r)
		})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-running
			cancel()
		}()
		if _, err := s.try(ctx, pay("key-1")); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		<-s.seen // the handler has ended
		got := s.send(pay("key-1"))
		if name == "goes on" && (got.status != 201 || got.header.Get(httpkey.ReplayedHeader) != "true") {
			t.Errorf("%s: %+v", name, got)
		}
		if name == "gives up" {
			s.wantProblem(name, got, 409, "The outcome of an earlier request")
		}
		s.wantRuns(name, 1)
	}
}

func TestAStoreThatDoesNotAnswerIsA503(t *testing.T) {
	t.Parallel()
	s := newService(t, httpkey.Config{}, created)
	s.down.Store(true)
	got := s.send(pay("key-1"))
	s.wantProblem("down", got, 503, "The request could not be stored")
	if got.header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After: %s", got.header.Get("Retry-After"))
	}
	s.wantRuns("down", 0)
	s.down.Store(false)
	if got := s.send(pay("key-1")); got.status != 201 {
		t.Errorf("%+v", got)
	}
}

// A response that could not be stored is not sent: the client might be told otherwise the next time.
func TestAResponseThatCouldNotBeStoredIsNotSent(t *testing.T) {
	t.Parallel()
	var s *service
	s = newService(t, httpkey.Config{}, func(w http.ResponseWriter, r *http.Request) {
		s.down.Store(true)
		created(w, r)
	})
	s.wantProblem("the store went down", s.send(pay("key-1")), 503, "The request could not be stored")
	s.down.Store(false)
	s.wantProblem("until its lease ends", s.send(pay("key-1")), 409, "A request is outstanding")
	s.advance(time.Hour)
	s.wantProblem("then", s.send(pay("key-1")), 409, "The outcome of an earlier request")
	s.wantRuns("both", 1)
}
