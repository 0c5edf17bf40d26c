package httpkey

import (
	"errors"
	"net/http"
)

var errResponseTooLarge = errors.New("httpkey: the response is larger than can be stored")

// recorder keeps a response in memory. It is no Flusher and no Hijacker: what is sent before it is stored cannot be
// replayed.
type recorder struct {
	bytesMax int
	header   http.Header // the handler's
	response Response    // with the headers of the moment when they were written, as net/http has it
	wrote    bool
	tooLarge bool
}

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if r.wrote || status < http.StatusOK {
		return
	}
	r.wrote, r.response = true, Response{Status: status, Header: r.header.Clone()}
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	if r.tooLarge = r.tooLarge || len(r.response.Body)+len(p) > r.bytesMax; r.tooLarge {
		return 0, errResponseTooLarge
	}
	r.response.Body = append(r.response.Body, p...)
	return len(p), nil
}
