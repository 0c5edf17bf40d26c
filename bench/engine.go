package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim"
)

// meter is a simulator behind a socket that counts requests and units, whoever sends them.
type meter struct {
	db     *dynamosim.DB
	url    string
	server *http.Server
	loss   loss
	// scanned are read units of scans, in halves: a scan is charged to no key, so whoever scans adds them.
	scanned int
}

// limitless is heat that throttles nothing: its meter is all that is wanted.
var limitless = dynamosim.Heat{WriteUnits: 1 << 30, ReadUnits: 1 << 30}

func newMeter() (*meter, error) {
	m := &meter{db: dynamosim.Open(dynamosim.Options{Heat: &limitless})}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m.url = "http://" + listener.Addr().String()
	m.loss.next = m.db
	m.server = &http.Server{Handler: &m.loss}
	go m.server.Serve(listener)
	return m, nil
}

func (m *meter) close() { m.server.Close() }

// client is one of the SDK, over the socket.
func (m *meter) client() *dynamodb.Client { return clientOf(m.url) }

func clientOf(url string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{Region: "us-east-1", BaseEndpoint: &url,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "bench", SecretAccessKey: "bench", Source: "bench"}, nil
		})})
}

// bill is what something cost so far: requests that arrived, and units that keys consumed.
type bill struct {
	requests      int
	reads, writes capacity.Units
}

func (m *meter) bill() (b bill) {
	for _, n := range m.db.Stats().Requests {
		b.requests += n
	}
	for _, key := range m.db.Hottest(-1) {
		b.reads, b.writes = b.reads+key.Read.Total, b.writes+key.Write.Total
	}
	return b
}

func (b bill) minus(other bill) bill {
	return bill{b.requests - other.requests, b.reads - other.reads, b.writes - other.writes}
}

// loss loses answers: while it is on, the database executes a write to the balances, and the client's connection breaks
// instead of answering; once for each write, whoever repeats it.
type loss struct {
	next http.Handler
	mu   sync.Mutex
	on   bool
	lost map[string]bool
}

func (l *loss) set(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.on, l.lost = on, map[string]bool{}
}

func (l *loss) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if l.loses(r, body) {
		l.next.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
	l.next.ServeHTTP(w, r)
}

var token = regexp.MustCompile(`"ClientRequestToken":"[^"]*"`)

func (l *loss) loses(r *http.Request, body []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	call := r.Header.Get("Amz-Sdk-Invocation-Id")
	if token := token.Find(body); token != nil { // a transaction keeps it when it is sent again
		call = string(token)
	}
	writes := strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".UpdateItem") || strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".TransactWriteItems")
	if !l.on || !writes || l.lost[call] || !bytes.Contains(body, []byte(`"Accounts"`)) {
		return false
	}
	l.lost[call] = true
	return true
}
