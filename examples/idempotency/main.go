// Command idempotency shows the pattern: an HTTP service whose clients send an Idempotency-Key and repeat whatever got no
// answer. Orders are one DynamoDB transaction; payments are made by a provider, and the service dies in the middle of one.
// Client, service and repair worker run here, on a socket and the embedded engine, and print what happens.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/idempotency/httpkey"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "idempotency:", err)
		os.Exit(1)
	}
}

// run is the program.
func run(ctx context.Context, out io.Writer) error {
	s, err := open(dynamosim.Open(dynamosim.Options{}))
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: s.routes(), ReadHeaderTimeout: time.Second}
	go server.Serve(listener) // ends with Close
	defer server.Close()
	// Go's own client repeats a request that has the header by itself when a connection breaks, because the header says that
	// it may. Here every repeat is to be seen.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	d := &day{service: s, out: out, client: client, url: "http://" + listener.Addr().String()}
	return d.tell(ctx)
}

// day is what the clients and the operators of the service do.
type day struct {
	*service
	out    io.Writer
	client *http.Client
	url    string
}

func (d *day) tell(ctx context.Context) error {
	fmt.Fprintf(d.out, "%-45s%-8s%s\n", "STEP", "STATUS", "RESPONSE")
	const order, payment = `{"symbol":"ACME","quantity":"10"}`, `{"amount":"99.90 USD"}`
	steps := []struct {
		what, path, key, body string
		before                func(context.Context) error
	}{
		{"an order without a key", "/orders", "", order, nil},
		{"an order", "/orders", "key-1", order, nil},
		{"again: no answer came", "/orders", `"key-1"`, order, nil},
		{"another order under the same key", "/orders", "key-1", strings.Replace(order, "10", "11", 1), nil},
		{"a payment; the service dies behind it", "/payments", "key-2", payment, d.provide(diesAfterwards)},
		{"again", "/payments", "key-2", payment, d.provide(works)},
		{"again, when a worker has asked the provider", "/payments", "key-2", payment, d.repair},
		{"a payment; the provider is closed", "/payments", "key-3", payment, d.provide(closed)},
		{"again, when it is open", "/payments", "key-3", payment, d.provide(works)},
		{"a payment; the provider says nothing more", "/payments", "key-4", payment, d.provide(silent)},
		{"again, a day later", "/payments", "key-4", payment, d.escalate},
		{"again, when an operator has called them", "/payments", "key-4", payment, d.settle},
	}
	for _, step := range steps {
		if step.before != nil {
			if err := step.before(ctx); err != nil {
				return fmt.Errorf("%s: %w", step.what, err)
			}
		}
		status, response, err := d.post(ctx, step.path, step.key, step.body)
		if err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
		fmt.Fprintf(d.out, "%-45s%-8s%s\n", step.what, status, response)
	}
	fmt.Fprintf(d.out, "\nThe provider was paid %d times for 3 payments.\n", d.provider.paid())
	return d.audit(ctx)
}

// post sends a request and returns its status, and what the client has learned in a few words.
func (d *day) post(ctx context.Context, path, key, body string) (status, learned string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url+path, strings.NewReader(body))
	if err != nil {
		return "", "", err
	}
	r.Header.Set("Authorization", "Bearer acme")
	if key != "" {
		r.Header.Set(httpkey.Header, key)
	}
	response, err := d.client.Do(r)
	if err != nil && ctx.Err() == nil {
		return "-", "none: the connection broke", nil
	}
	if err != nil {
		return "", "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	learned = titleOf(response, string(text))
	if response.Header.Get(httpkey.ReplayedHeader) != "" {
		learned += " (replayed)"
	}
	if wait := response.Header.Get("Retry-After"); wait != "" {
		learned += ", retry after " + wait + " s"
	}
	return fmt.Sprint(response.StatusCode), learned, err
}

// titleOf is the title of a problem, or the body of any other response.
func titleOf(response *http.Response, body string) string {
	if response.Header.Get("Content-Type") != "application/problem+json" {
		return strings.TrimSpace(body)
	}
	_, rest, _ := strings.Cut(body, `"title":"`)
	title, _, _ := strings.Cut(rest, `"`)
	return title
}

// repair is a round of the worker that runs beside the service, after the lease of the payment has ended.
func (d *day) repair(ctx context.Context) error {
	d.clock.pass(2 * time.Minute)
	_, err := d.worker().Once(ctx)
	return err
}

// escalate lets the worker ask in vain as often as it does.
func (d *day) escalate(ctx context.Context) error {
	for range 3 {
		d.clock.pass(8 * time.Hour)
		if _, err := d.worker().Once(ctx); err != nil {
			return err
		}
	}
	return nil
}

// settle is an operator's decision on everything that was escalated.
func (d *day) settle(ctx context.Context) error {
	for record, err := range d.requests.Escalated(ctx, d.store, tenant) {
		if err != nil {
			return err
		}
		note := idempotency.Audit{By: "ann", Reason: "the provider's books have it", At: d.clock.now()}
		if err := d.commit(ctx, d.requests.Settle(record, receipt(record.Evidence["payment"]), note)); err != nil {
			return err
		}
	}
	return nil
}

// audit prints the notes that operators left.
func (d *day) audit(ctx context.Context) error {
	notes, err := d.requests.Audits(ctx, d.store, tenant, "key-4")
	for _, note := range notes {
		fmt.Fprintf(d.out, "key-4: %s by %s: %s. It was escalated because %s.\n", note.Step, note.By, note.Reason, note.Escalated)
	}
	return err
}
