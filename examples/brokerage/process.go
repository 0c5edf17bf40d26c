package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"time"

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
	client := between.embedded()
	pace := txn.Config{MaxAttempts: 50, BaseDelay: time.Microsecond, MaxDelay: time.Millisecond} // nobody to be patient with
	if o.endpoint != "" {
		client, pace = between.remote(o.endpoint, o.workers), txn.Config{}
	}
	s := newService(client, pace)
	if err := s.createTables(ctx); err != nil {
		return nil, err
	}
	d := &day{
		source: from, passes: o.passes, workers: o.workers, market: market, accept: s.accept, runID: rand.Text(),
		complain: func(err error) { screen.say("%v", err) },
	}
	done := screen.follow(d)
	stopped := d.run(ctx)
	done()
	r := &report{source: from.name, passes: o.passes, workers: o.workers}
	r.fill(d.now())
	r.TransactionsSent, r.AnswersLost, r.ReadsSent = between.counts()
	if ctx.Err() != nil {
		stopped = fmt.Errorf("interrupted; every order that was begun is finished, and feeding the day again is safe")
	}
	ready, err := s.ready(context.WithoutCancel(ctx))
	if err != nil && stopped == nil {
		stopped = err
	}
	r.OutboxReady = ready
	return r, stopped
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
