package dynamosim

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"runtime"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Gate holds every request in front of a database, simulated or real, until whoever drives it releases it with a [Fate].
// It is the seam at which a test decides who goes first, what gets lost, and who dies where: with one request released at
// a time there is one order of events, and it is the driver's.
//
//	gate := dynamosim.NewGate(db)
//	client := db.Client(func(o *dynamodb.Options) { o.HTTPClient = gate.Worker("a") })
//	go work(client)
//	// once every worker waits (synctest.Wait tells):
//	gate.Release(gate.Pending()[0], dynamosim.LoseAnswer)
//
// A Gate has no goroutine, no clock and no chance of its own. Requests reach the database on the goroutine that calls
// Release. It is safe for concurrent use, but only one driver makes sense.
type Gate struct {
	next aws.HTTPClient

	mu      sync.Mutex
	births  map[string]int // incarnations by worker
	numbers map[string]int // requests by worker
	arrived []*Pending     // not numbered yet
	held    []*Pending
}

// NewGate returns a Gate in front of a database.
func NewGate(next aws.HTTPClient) *Gate {
	return &Gate{next: next, births: map[string]int{}, numbers: map[string]int{}}
}

// Worker is one life of a worker: the aws.HTTPClient of its SDK client.
type Worker struct {
	gate        *Gate
	name        string
	incarnation int
	dead        bool // under gate.mu
}

// Worker returns a new incarnation of the worker of this name, its first or the one after a crash.
func (g *Gate) Worker(name string) *Worker {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.births[name]++
	return &Worker{gate: g, name: name, incarnation: g.births[name]}
}

// Incarnation counts the lives of a worker, from 1.
func (w *Worker) Incarnation() int { return w.incarnation }

// Pending is a request that waits at the gate.
type Pending struct {
	Call
	// Worker and Incarnation say who sent it.
	Worker      string
	Incarnation int
	// Number counts the requests of a worker over all its lives, from 1.
	Number int
	// Late says that nobody waits for the answer any more: the client was told that the connection broke, gave up by
	// itself, or died. The request is still on its way and is applied when it is delivered. It belongs to the driver:
	// Pending, Release and Kill set it.
	Late bool
	// Body is the request as JSON. It must not be changed.
	Body []byte

	request *http.Request
	answer  chan answered
	killed  chan struct{}
	gaveUp  bool // under Gate.mu
}

type answered struct {
	response *http.Response
	err      error
}

// Do implements aws.HTTPClient. It returns when the request is released, or when the context ends; the request then
// stays at the gate as a late one. If the worker is killed, Do ends the calling goroutine with runtime.Goexit: deferred
// calls run, as they would not in a crash, but none of them reaches the database.
//
// In a testing/synctest bubble the context must have been made inside the bubble.
func (w *Worker) Do(req *http.Request) (*http.Response, error) {
	body, err := readBody(req)
	if err != nil {
		return nil, err
	}
	p := &Pending{
		Call: callOf(req), Worker: w.name, Incarnation: w.incarnation, Body: body,
		request: req, answer: make(chan answered, 1), killed: make(chan struct{}),
	}
	if !w.gate.arrive(w, p) {
		runtime.Goexit()
	}
	select {
	case a := <-p.answer:
		return a.response, a.err
	case <-p.killed:
		runtime.Goexit()
		return nil, nil
	case <-req.Context().Done():
		w.gate.giveUp(p)
		return nil, req.Context().Err()
	}
}

func (g *Gate) arrive(w *Worker, p *Pending) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !w.dead {
		g.arrived = append(g.arrived, p)
	}
	return !w.dead
}

func (g *Gate) giveUp(p *Pending) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p.gaveUp = true
}

// Kill ends this life of the worker: the goroutines that wait at the gate end where they are, and any other ends with
// its next request. What waited at the gate stays there as late requests; release them with LoseRequest for a crash
// before sending, with Deliver for a crash after it.
func (w *Worker) Kill() {
	g := w.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	if w.dead {
		return
	}
	w.dead = true
	for _, p := range slices.Concat(g.held, g.arrived) {
		if p.Worker == w.name && p.Incarnation == w.incarnation && !p.Late {
			p.Late = true
			close(p.killed)
		}
	}
}

// Dead says whether this life of the worker was ended by Kill.
func (w *Worker) Dead() bool {
	w.gate.mu.Lock()
	defer w.gate.mu.Unlock()
	return w.dead
}

// Pending returns the requests at the gate, ordered by worker and number. Requests that one worker sent at once, from
// several goroutines, are numbered by what they ask for, because their order of arrival is chance; if they ask for the
// same, it does not matter which is which.
func (g *Gate) Pending() []*Pending {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.arrived) > 1 {
		slices.SortStableFunc(g.arrived, func(a, b *Pending) int {
			order := cmp.Or(cmp.Compare(a.Worker, b.Worker), cmp.Compare(a.Incarnation, b.Incarnation), cmp.Compare(a.Operation, b.Operation))
			if order != 0 {
				return order
			}
			return bytes.Compare(canonical(a.Body), canonical(b.Body))
		})
	}
	for _, p := range g.arrived {
		g.numbers[p.Worker]++
		p.Number = g.numbers[p.Worker]
		p.Sequence = p.Number
	}
	g.held = append(g.held, g.arrived...)
	g.arrived = g.arrived[:0]
	for _, p := range g.held {
		p.Late = p.Late || p.gaveUp
	}
	slices.SortStableFunc(g.held, func(a, b *Pending) int {
		return cmp.Or(cmp.Compare(a.Worker, b.Worker), cmp.Compare(a.Number, b.Number))
	})
	return slices.Clone(g.held)
}

// canonical orders the members of a JSON document: the SDK writes maps in random order.
func canonical(body []byte) []byte {
	var document any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if decoder.Decode(&document) != nil {
		return body
	}
	ordered, err := json.Marshal(document)
	if err != nil {
		return body
	}
	return ordered
}

// hold takes a request in whose fate is decided at once.
func (g *Gate) hold(p *Pending) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = append(g.held, p)
}

// take removes a request from the gate; false means that it is not there (any more).
func (g *Gate) take(p *Pending) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := slices.Index(g.held, p)
	if at < 0 {
		return false
	}
	g.held = slices.Delete(g.held, at, at+1)
	return true
}

// forward gives a body to the database in the name of a request. The client's context does not reach it: a client
// that gives up does not take its request back.
func (g *Gate) forward(p *Pending, body []byte) (*http.Response, []byte, error) {
	request := p.request.Clone(context.WithoutCancel(p.request.Context()))
	request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response, err := g.next.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(text))
	return response, text, nil
}
