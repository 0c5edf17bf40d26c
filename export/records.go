package export

import (
	"context"
	"iter"
	"sync"
)

// batch is what one worker hands over at once.
type batch struct {
	records []Record
	err     error
}

const (
	batchRecords = 128
	batchBytes   = 256 << 10
	batchesAhead = 2 // of each file
)

// Records gives the records behind a position: file by file as the manifest lists them, and line by line. The order is the same
// for every run and every number of workers, so a position that was stored is where a later run goes on. Files are read
// ahead, Workers at a time, as far as a few batches of each; the last pair has the error, if there is one.
//
// Unless the export is Trusted, everything is verified before the first record is given. No goroutine outlives the loop.
// Errors: those of [Export.Verify], and ErrInvalid for a position of another export.
//
// Cost: it reads files and no table, so no units; twice each, unless Trusted.
func (e *Export) Records(ctx context.Context, behind Position) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if _, err := e.Position(behind.String()); err != nil {
			yield(Record{}, err)
			return
		}
		if err := e.verifyFirst(ctx); err != nil {
			yield(Record{}, err)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		for batches := range e.readAhead(ctx, &running, behind) {
			for b := range batches {
				for _, r := range b.records {
					if !yield(r, nil) {
						return
					}
				}
				if b.err != nil {
					yield(Record{}, b.err)
					return
				}
			}
		}
		if err := ctx.Err(); err != nil {
			yield(Record{}, err)
		}
	}
}

// readAhead returns for each file a channel of its batches, Workers of them at a time.
func (e *Export) readAhead(ctx context.Context, running *sync.WaitGroup, behind Position) <-chan chan batch {
	progress := e.progress(Reading)
	queue := make(chan chan batch, e.config.Workers-1)
	running.Go(func() {
		defer close(queue)
		for index := behind.File; index < len(e.files); index++ {
			batches := make(chan batch, batchesAhead)
			select {
			case queue <- batches:
			case <-ctx.Done():
				return
			}
			skip := int64(0)
			if index == behind.File {
				skip = behind.Line
			}
			running.Go(func() { e.sendFile(ctx, index, skip, progress, batches) })
		}
	})
	return queue
}

// sendFile reads one file into batches.
func (e *Export) sendFile(ctx context.Context, index int, skip int64, progress func(int, int64, int64), batches chan<- batch) {
	defer close(batches)
	var b batch
	size := 0
	send := func() error {
		select {
		case batches <- b:
			b, size = batch{}, 0
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	err := e.readFile(ctx, index, fileRead{skip: skip, progress: progress, emit: func(r Record, bytes int) error {
		if b.records == nil {
			b.records = make([]Record, 0, batchRecords)
		}
		b.records = append(b.records, r)
		if size += bytes; len(b.records) == batchRecords || size >= batchBytes {
			return send()
		}
		return nil
	}})
	if b.err = err; len(b.records) > 0 || err != nil {
		_ = send() // if nobody waits for it, the loop has ended
	}
}

// ForEach gives every record, and is the fastest way: up to Workers goroutines call give at the same time, one for each file.
// Records of one file come in the order of its lines, files in no order. The first error of give ends it and is returned.
//
// Unless the export is Trusted, everything is verified before the first record is given. Errors: those of
// [Export.Verify], and what give returned.
//
// Cost: it reads files and no table, so no units; twice each, unless Trusted.
func (e *Export) ForEach(ctx context.Context, give func(ctx context.Context, r Record) error) error {
	if err := e.verifyFirst(ctx); err != nil {
		return err
	}
	progress := e.progress(Reading)
	return e.eachFile(func(index int, stopped func() bool) error {
		return e.readFile(ctx, index, fileRead{progress: progress, emit: func(r Record, _ int) error {
			if stopped() {
				return errStopped
			}
			return give(ctx, r)
		}})
	})
}
