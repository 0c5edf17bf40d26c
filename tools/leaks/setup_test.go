// Package leaks_test asks the runtime whether the packages that start goroutines end them. It stands in this module so that
// the library does not need goleak.
package leaks_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"go.uber.org/goleak"

	"github.com/dynafin/dynafin/dynamosim"
)

var day = time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC)

// noLeak fails the test if a goroutine that it started is left when it ends.
func noLeak(t *testing.T) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
}

// endpoint is a database whose requests of one kind, from some time on, never get an answer: they end with their context.
type endpoint struct {
	*dynamosim.DB
	hold string // the operation; empty holds nothing
	once sync.Once
	held chan struct{} // closed when the first one is held
}

func newEndpoint() *endpoint {
	return &endpoint{DB: dynamosim.Open(dynamosim.Options{}), held: make(chan struct{})}
}

func (e *endpoint) Do(req *http.Request) (*http.Response, error) {
	if e.hold == "" || !strings.HasSuffix(req.Header.Get("X-Amz-Target"), "."+e.hold) {
		return e.DB.Do(req)
	}
	e.once.Do(func() { close(e.held) })
	<-req.Context().Done()
	return nil, req.Context().Err()
}

func (e *endpoint) client() *dynamodb.Client {
	return e.Client(func(o *dynamodb.Options) { o.HTTPClient, o.Retryer = e, aws.NopRetryer{} })
}

// endsWhile runs do, ends its context when something is reached, and waits for it.
func endsWhile(t *testing.T, reached <-chan struct{}, do func(context.Context)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do(ctx)
	}()
	<-reached
	cancel()
	<-done
}
