package httpkey

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/txn"
)

// Config configures [New]. Requests, Client and Tenant are required.
type Config struct {
	// Requests keeps the requests. Its lease must be longer than a handler takes.
	Requests *idempotency.Requests
	// Client is the store's.
	Client idempotency.Client
	// Tenant returns whose key it is, from what was authenticated before: keys of two tenants never meet. An error is
	// answered with 403.
	Tenant func(r *http.Request) (string, error)
	// Mode says what the handler's effect is. Default: [idempotency.External].
	Mode idempotency.Mode
	// Methods are those that need a key; others pass through. Default: POST and PATCH.
	Methods []string
	// Optional lets requests without a key through to the handler, without any of this: [Current] is nil for them.
	Optional bool
	// Operation names what is asked for. A key is used for one operation only. Default: method and path.
	Operation func(r *http.Request) string
	// SchemaVersion is that of the content, see [idempotency.Request].
	SchemaVersion int
	// Command is the content that a repeat must have again. Default: query, content type and the body's bytes. To let a client
	// spell its JSON anew: idempotency.JSON(body).
	Command func(r *http.Request, body []byte) *idempotency.Fields
	// RequestBytesMax bounds a request's body. Default: 1 MiB.
	RequestBytesMax int64
	// ResponseBytesMax bounds a response's body. Default: 256 KiB. Beside headers and key it must fit into a record.
	ResponseBytesMax int
	// Headers are stored and replayed. Default: [DefaultHeaders].
	Headers []string
	// Store says whether a response of a status is definite, to be stored and replayed. Default: below 500, but not 401, 403,
	// 408, 425 and 429. A response below 500 that is not stored promises that nothing happened.
	Store func(status int) bool
	// RepairAfter is what Retry-After says while an outcome is not known. Default: 1 min.
	RepairAfter time.Duration
	// ProblemType is the link to the service's own documentation of keys in problems. Default: "about:blank".
	ProblemType string
	// Txn configures commits; its Observer is told of them.
	Txn txn.Config
	// Observer, if set, is told of every request with a key when it ends.
	Observer func(ctx context.Context, o Observation)
}

// DefaultHeaders are the headers that are stored unless configured otherwise.
func DefaultHeaders() []string {
	return []string{"Content-Type", "Content-Encoding", "Content-Language", "Cache-Control", "ETag", "Last-Modified", "Location"}
}

// Observation is what an Observer learns of one request.
type Observation struct {
	// Key is the client's key, "" if there was no valid one.
	Key string
	// Status is the status that was answered; 0 after a panic.
	Status int
	// Replayed says that the response had been stored before.
	Replayed bool
	// Err is why the handler was not run, or its response not stored. Mismatches and requests in progress are expected.
	Err error
}

// Middleware wraps handlers. It is safe for concurrent use.
type Middleware struct{ config Config }

// New returns a Middleware, or everything that is wrong with its configuration.
//
// Errors: [idempotency.ErrInvalid], once for each field.
func New(config Config) (*Middleware, error) {
	var faults []error
	require := func(holds bool, field, reason string) {
		if !holds {
			faults = append(faults, &idempotency.InvalidError{Field: "httpkey.Config." + field, Reason: reason})
		}
	}
	config.Mode = cmp.Or(config.Mode, idempotency.External)
	config.RequestBytesMax, config.ResponseBytesMax = cmp.Or(config.RequestBytesMax, 1<<20), cmp.Or(config.ResponseBytesMax, 256<<10)
	config.RepairAfter, config.ProblemType = cmp.Or(config.RepairAfter, time.Minute), cmp.Or(config.ProblemType, "about:blank")
	if config.Methods == nil {
		config.Methods = []string{http.MethodPost, http.MethodPatch}
	}
	if config.Headers == nil {
		config.Headers = DefaultHeaders()
	}
	if config.Operation == nil {
		config.Operation = func(r *http.Request) string { return r.Method + " " + r.URL.EscapedPath() }
	}
	if config.Command == nil {
		config.Command = bytewise
	}
	if config.Store == nil {
		config.Store = definite
	}
	if config.Observer == nil {
		config.Observer = func(context.Context, Observation) {}
	}
	require(config.Requests != nil, "Requests", "is missing")
	require(config.Client != nil, "Client", "is missing")
	require(config.Tenant != nil, "Tenant", "is missing")
	require(config.Mode == idempotency.External || config.Mode == idempotency.Transactional, "Mode", "is none")
	require(config.RequestBytesMax > 0, "RequestBytesMax", "is not above zero")
	require(config.ResponseBytesMax > 0, "ResponseBytesMax", "is not above zero")
	require(config.RepairAfter > 0, "RepairAfter", "is not above zero")
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return &Middleware{config}, nil
}

func bytewise(r *http.Request, body []byte) *idempotency.Fields {
	return idempotency.NewFields().Bytes("query", []byte(r.URL.RawQuery)).Bytes("type", []byte(r.Header.Get("Content-Type"))).Bytes("body", body)
}

func definite(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return status < http.StatusInternalServerError
}

// Wrap returns the handler that answers repeats itself and lets every first request through to next.
func (m *Middleware) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains(m.config.Methods, r.Method) {
			next.ServeHTTP(w, r)
			return
		}
		key, err := ParseKey(r.Header.Values(Header))
		if errors.Is(err, errMissing) && m.config.Optional {
			next.ServeHTTP(w, r)
			return
		}
		seen := Observation{Key: key}
		defer func() { m.config.Observer(context.WithoutCancel(r.Context()), seen) }()
		response := m.serve(&seen, next, r, key, err)
		seen.Status = response.Status
		if seen.Replayed {
			response.Header.Set(ReplayedHeader, "true")
		}
		response.send(w)
	})
}

// read reads a whole body, and at least one byte more than it may have if it is larger.
func (m *Middleware) read(body io.Reader) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	if limit := m.config.RequestBytesMax; limit < math.MaxInt64 {
		body = io.LimitReader(body, limit+1)
	}
	return io.ReadAll(body)
}

// serve finds the response to a request with a key.
func (m *Middleware) serve(seen *Observation, next http.Handler, r *http.Request, key string, err error) Response {
	seen.Err = err
	switch {
	case errors.Is(err, errMissing):
		return m.problem(http.StatusBadRequest, "Idempotency-Key is missing", "This operation needs the header Idempotency-Key.")
	case err != nil:
		return m.problem(http.StatusBadRequest, "Idempotency-Key is not valid", err.Error())
	}
	var tenant string
	if tenant, seen.Err = m.config.Tenant(r); seen.Err != nil {
		return m.problem(http.StatusForbidden, "The client is not known", "")
	}
	body, err := m.read(r.Body)
	if seen.Err = err; err != nil {
		return m.problem(http.StatusBadRequest, "The body could not be read", "")
	}
	if int64(len(body)) > m.config.RequestBytesMax {
		seen.Err = fmt.Errorf("httpkey: a body of more than %d bytes", m.config.RequestBytesMax)
		return m.problem(http.StatusRequestEntityTooLarge, "The body is too large", fmt.Sprintf("At most %d bytes are taken.", m.config.RequestBytesMax))
	}
	claim, err := m.config.Requests.Begin(r.Context(), m.config.Client, idempotency.Request{
		Tenant: tenant, Key: key, Operation: m.config.Operation(r), SchemaVersion: m.config.SchemaVersion, Command: m.config.Command(r, body),
	}, m.config.Mode)
	if replayed, ok := idempotency.Replayed(err); ok {
		seen.Replayed = true
		return m.responseOf(replayed.Result)
	}
	if seen.Err = err; err != nil {
		return m.refusal(err)
	}
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return m.run(seen, next, r, claim)
}
