package httpkey

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dynafin/dynafin/idempotency"
)

// ReplayedHeader marks a response that was stored before. It is a convention of several providers, no standard.
const ReplayedHeader = "Idempotent-Replayed"

// Response is a whole response.
type Response struct {
	// Status is the status code, 200 to 599.
	Status int
	// Header holds the headers. Those that Config.Headers names are stored and replayed.
	Header http.Header
	// Body is the body.
	Body []byte
}

// headerPrefix begins the names under which a result keeps headers, beside what a service keeps there.
const headerPrefix = "header:"

// result is how a response is stored: the status as code, the body as it is, the headers as references. A definite refusal
// is a rejection.
func (r Response) result(headers []string) idempotency.Result {
	result := idempotency.Result{Code: strconv.Itoa(r.Status), Body: slices.Clone(r.Body)}
	if r.Status >= http.StatusBadRequest {
		result.Kind = idempotency.Rejected
	}
	for _, name := range headers {
		if values := r.Header.Values(name); len(values) > 0 {
			if result.Effect == nil {
				result.Effect = map[string]string{}
			}
			result.Effect[headerPrefix+name] = strings.ToValidUTF8(strings.Join(values, "\n"), "?")
		}
	}
	return result
}

// responseOf reads a stored result. One that was not made from a response, such as an operator's or that of an abandoned
// request, is told in a problem.
func (m *Middleware) responseOf(result idempotency.Result) Response {
	status, err := strconv.Atoi(result.Code)
	if err != nil || status < 200 || status > 599 {
		if result.Kind == idempotency.Rejected {
			return m.problem(http.StatusConflict, "The request has ended without effect", "Its result is "+strconv.Quote(result.Code)+". Use a new key for a new request.")
		}
		status = http.StatusOK
	}
	r := Response{Status: status, Header: http.Header{}, Body: result.Body}
	for name, values := range result.Effect {
		if name, ok := strings.CutPrefix(name, headerPrefix); ok {
			r.Header[http.CanonicalHeaderKey(name)] = strings.Split(values, "\n")
		}
	}
	return r
}

// send writes a response.
func (r Response) send(w http.ResponseWriter) {
	maps.Copy(w.Header(), r.Header)
	w.WriteHeader(r.Status)
	_, _ = w.Write(r.Body) // a client that has gone repeats
}

// problem is a response of the middleware's own.
func (m *Middleware) problem(status int, title, detail string) Response {
	body, err := json.Marshal(struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail,omitempty"`
	}{m.config.ProblemType, title, status, detail})
	if err != nil {
		body = nil // not of strings and a number
	}
	return Response{Status: status, Header: http.Header{"Content-Type": {"application/problem+json"}, "Cache-Control": {"no-store"}}, Body: append(body, '\n')}
}

// later asks for a repeat after a while, in whole seconds.
func (r Response) later(wait time.Duration) Response {
	r.Header.Set("Retry-After", strconv.FormatInt(int64(max(1, (wait+time.Second-1)/time.Second)), 10))
	return r
}

// refusal is the response to a request that is not run, by why.
func (m *Middleware) refusal(err error) Response {
	var running *idempotency.InProgressError
	switch {
	case errors.As(err, &running):
		return m.problem(http.StatusConflict, "A request is outstanding for this Idempotency-Key", "Repeat it with the same key later.").later(running.RetryAfter)
	case errors.Is(err, idempotency.ErrMismatch):
		return m.problem(http.StatusUnprocessableEntity, "Idempotency-Key is already used", "It belongs to another request. Use a new key for this one.")
	case errors.Is(err, idempotency.ErrRepairRequired), errors.Is(err, idempotency.ErrLeaseLost):
		return m.problem(http.StatusConflict, "The outcome of an earlier request with this Idempotency-Key is not known yet",
			"It is being found out. Repeat it with the same key later.").later(m.config.RepairAfter)
	case errors.Is(err, idempotency.ErrInvalid), errors.Is(err, idempotency.ErrCommand):
		return m.problem(http.StatusBadRequest, "The request cannot be identified", "Its key or its content is not valid.")
	default:
		return m.problem(http.StatusServiceUnavailable, "The request could not be stored", "Repeat it with the same key.").later(time.Second)
	}
}
