package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/txn"
)

// process runs the day and reports on it. The report is nil if the day never began.
func process(ctx context.Context, o options, stdin io.Reader, screen *console) (*report, error) {
	market, err := openMarket()
	if err != nil {
		return nil, err
	}
	from, err := openSource(o, stdin)
	if err != nil {
		return nil, err
	}
	between := newWire(o.seed, o.lose)
	hours := newClock(ordersComeIn, o.speed())
	client, pace := connect(between, hours, o)
	if err := createTables(ctx, client, tables()); err != nil {
		return nil, err
	}
	s := newService(client, pace, newBooks(client, pace, market, hours))
	d := &day{
		source: from, passes: o.passes, workers: o.workers, market: market, accept: s.accept, runID: rand.Text(),
		complain: func(err error) { screen.say("%v", err) }, lives: newLives(o.seed, o.crash),
	}
	if o.endpoint == "" {
		s.now = hours.now
	}
	if o.report != "" {
		d.story = newStory(hours)
		between.told, d.lives.told = d.story.mark, d.story.mark
		d.pause = func() { hours.pass(aTurn) }
	}
	r := &report{source: from.name, passes: o.passes, workers: o.workers}
	if o.file == "" {
		screen.say("%d lines of the sample day are broken on purpose:", sampleBroken)
	}
	done := screen.follow(d.progress)
	stopped := d.run(ctx)
	done()
	r.decided(d.snapshot())
	r.TransactionsSent, r.AnswersLost, r.ReadsSent = between.counts()
	if o.lag > 0 {
		stopped = errors.Join(stopped, hours.sleep(context.WithoutCancel(ctx), o.lag))
	}
	r.OutboxReady, err = waitingIn(context.WithoutCancel(ctx), client, s.events, 0)
	f := &firm{service: s, clock: hours, office: newBackOffice(s, pace, d.lives, d.story, o), payments: newPayments(s, pace), pace: pace, accounts: d.customers()}
	if stopped == nil && err == nil {
		err = f.office.portfolio.follow(ctx)
	}
	if stopped == nil && err == nil {
		stopped = f.run(ctx, screen)
	}
	if ctx.Err() != nil {
		stopped = errors.New("interrupted; everything that was begun is finished, and feeding the day again is safe")
	}
	err = errors.Join(stopped, err, r.worked(context.WithoutCancel(ctx), f))
	if m := between.patterns; m != nil {
		r.Patterns, r.Routes, r.UnitsUnexplained = patternsOf(m), routesOf(m), mean(m.Unexplained(), 1)
	}
	if o.report != "" && err == nil {
		data, err := pageOf(o, r, f, between)
		return r, errors.Join(err, writePage(o.report, data))
	}
	return r, err
}

// connect returns a client of the endpoint or of the embedded database, and how to retry there: an embedded database gets
// no relief from a client that waits.
func connect(between *wire, hours *clock, o options) (*dynamodb.Client, txn.Config) {
	if o.endpoint != "" {
		return between.remote(o.endpoint, o.workers), txn.Config{}
	}
	return between.embedded(hours, o.lag), txn.Config{MaxAttempts: 50, BaseDelay: time.Microsecond, MaxDelay: time.Millisecond}
}

// speed is how much faster than ours the firm's clock runs.
func (o options) speed() int {
	switch {
	case o.report != "":
		return 0
	case o.endpoint != "":
		return 1
	default:
		return 20
	}
}

// source is where the lines come from. It can be opened once for every pass.
type source struct {
	name string
	size int64 // in bytes, 0 if not known
	open func() (io.ReadCloser, error)
}

func openSource(o options, stdin io.Reader) (source, error) {
	inMemory := func(name string, text []byte) source {
		return source{name, int64(len(text)), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}
	}
	switch o.file {
	case "":
		return inMemory("the built-in sample day", sampleDay), nil
	case "-":
		if o.passes == 1 {
			return source{"standard input", 0, func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil }}, nil
		}
		text, err := io.ReadAll(stdin) // to be fed again it has to be kept
		return inMemory("standard input", text), err
	default:
		info, err := os.Stat(o.file)
		if err != nil {
			return source{}, err
		}
		return source{o.file, info.Size(), func() (io.ReadCloser, error) { return os.Open(o.file) }}, nil
	}
}
