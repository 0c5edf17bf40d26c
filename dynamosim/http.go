package dynamosim

import (
	"bytes"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/dynafin/dynafin/dynamosim/internal/engine"
)

const (
	contentType   = "application/x-amz-json-1.0"
	targetPrefix  = "DynamoDB_20120810."
	streamsPrefix = "DynamoDBStreams_20120810."

	// checksumHeader is spelt as net/http spells it. SDKs hold every answer against it; that of Go takes a missing one for
	// zero, and logs a warning for each answer.
	checksumHeader = "X-Amz-Crc32"
)

// Do answers a request of the AWS SDK; it makes DB an aws.HTTPClient. A context that is done before the request is
// executed is its error. If it ends while the answer is still on its way, see [ServiceTime], it is the error too, and
// what was written stays written.
func (db *DB) Do(req *http.Request) (*http.Response, error) {
	body, err := readBody(req)
	if err != nil {
		return nil, err
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	reply, err := db.handle(req.Context(), operationOf(req), body)
	if err != nil {
		return nil, err
	}
	return response(req, reply), nil
}

// ServeHTTP answers a request over a socket; it makes DB an http.Handler, for any SDK in any language.
func (db *DB) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := readBody(req)
	if err != nil {
		http.Error(w, "cannot read the request body", http.StatusBadRequest)
		return
	}
	reply, err := db.handle(req.Context(), operationOf(req), body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set(checksumHeader, checksum(reply.Body))
	w.Header().Set("Content-Length", strconv.Itoa(len(reply.Body)))
	w.WriteHeader(reply.Status)
	// A client that has gone away misses its answer; what was written stays written.
	_, _ = w.Write(reply.Body)
}

// operationOf takes the operation from the target, which names the protocol too; "" is none.
func operationOf(req *http.Request) string {
	target := req.Header.Get("X-Amz-Target")
	operation, streams := strings.CutPrefix(target, streamsPrefix)
	if !streams {
		operation, _ = strings.CutPrefix(target, targetPrefix)
	}
	if operation == target || engine.IsStreamOperation(operation) != streams {
		return ""
	}
	return operation
}

// readBody reads a request, up to one byte more than the engine accepts.
func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	defer req.Body.Close()
	const limit = engine.MaxRequestBytes + 1
	if req.ContentLength <= 0 || req.ContentLength > limit {
		return io.ReadAll(io.LimitReader(req.Body, limit))
	}
	body := make([]byte, req.ContentLength)
	n, err := io.ReadFull(req.Body, body)
	if err == io.ErrUnexpectedEOF {
		err = nil
	}
	return body[:n], err
}

// checksum is that of an answer's body, as DynamoDB sends it.
func checksum(body []byte) string { return strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10) }

func response(req *http.Request, reply engine.Reply) *http.Response {
	return &http.Response{
		StatusCode:    reply.Status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        http.Header{"Content-Type": {contentType}, checksumHeader: {checksum(reply.Body)}},
		ContentLength: int64(len(reply.Body)),
		Body:          io.NopCloser(bytes.NewReader(reply.Body)),
		Request:       req,
	}
}
