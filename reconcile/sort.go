package reconcile

import (
	"container/heap"
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"sync"
)

// Approximate memory of a row besides its text: the struct and what the allocator adds.
const rowOverhead = 160

// sorter brings any number of rows into order in bounded memory: it sorts what fits, writes it away, and merges.
type sorter struct {
	options Options
	spill   *spill // nil while everything fits in memory
	added   int    // rows, those that came twice included
	memory  []entry
	bytes   int
	limit   int // bytes of one run
	runs    []run

	workers sync.WaitGroup
	slots   chan struct{}
	mu      sync.Mutex
	err     error
}

func newSorter(options Options) *sorter {
	// One run fills while each worker sorts one; sorting and encoding need as much again.
	return &sorter{options: options, limit: max(options.Memory/(2*(options.Workers+1)), 64<<10), slots: make(chan struct{}, options.Workers)}
}

func (s *sorter) add(e entry) error {
	s.added++
	s.memory = append(s.memory, e)
	s.bytes += len(e.Key) + len(e.ID) + len(e.Value) + rowOverhead
	if s.bytes < s.limit {
		return nil
	}
	return s.flush()
}

// flush hands a full run to a worker.
func (s *sorter) flush() error {
	if s.spill == nil {
		var err error
		if s.spill, err = newSpill(s.options.Dir); err != nil {
			return err
		}
	}
	rows := s.memory
	s.memory, s.bytes = make([]entry, 0, len(rows)), 0
	s.mu.Lock()
	place := len(s.runs)
	s.runs = append(s.runs, run{}) // the workers write to it, too
	s.mu.Unlock()
	s.slots <- struct{}{}
	s.workers.Go(func() {
		defer func() { <-s.slots }()
		slices.SortFunc(rows, compare)
		written, err := s.spill.write(rows)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.runs[place], s.err = written, errors.Join(s.err, err)
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// finish sorts what is left. Afterwards all may be called any number of times.
func (s *sorter) finish() error {
	if s.spill == nil {
		slices.SortFunc(s.memory, compare)
		return nil
	}
	if len(s.memory) > 0 {
		if err := s.flush(); err != nil {
			s.workers.Wait()
			return err
		}
	}
	s.memory = nil
	s.workers.Wait()
	return s.err
}

func (s *sorter) close() error {
	s.workers.Wait()
	if s.spill == nil {
		return nil
	}
	return s.spill.close()
}

// all returns every row once, in order.
func (s *sorter) all(ctx context.Context) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		var last entry
		count := 0
		for e, err := range s.merged() {
			if count++; count%4096 == 0 && err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(entry{}, err)
				return
			}
			if count > 1 && compare(last, e) == 0 {
				continue // the source gave it again
			}
			if last = e; !yield(e, nil) {
				return
			}
		}
		if count != s.added { // no row may be lost on the way, whatever happened to the file
			yield(entry{}, torn(io.ErrUnexpectedEOF))
		}
	}
}

func (s *sorter) merged() iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		if s.spill == nil {
			for _, e := range s.memory {
				if !yield(e, nil) {
					return
				}
			}
			return
		}
		heads := make(front, 0, len(s.runs))
		buffer := min(max(s.options.Memory/(2*len(s.runs)), 4<<10), 256<<10)
		for _, r := range s.runs {
			h := &head{from: s.spill.open(r, buffer)}
			if err := h.advance(); err != nil {
				yield(entry{}, err)
				return
			}
			heads = append(heads, h)
		}
		heap.Init(&heads)
		for len(heads) > 0 {
			h := heads[0]
			if !yield(h.row, nil) {
				return
			}
			switch err := h.advance(); {
			case errors.Is(err, io.EOF):
				heap.Pop(&heads)
			case err != nil:
				yield(entry{}, err)
				return
			default:
				heap.Fix(&heads, 0)
			}
		}
	}
}

// head is the next row of a run.
type head struct {
	row  entry
	from *runReader
}

func (h *head) advance() (err error) {
	h.row, err = h.from.next()
	return err
}

// front is a heap of the runs' next rows.
type front []*head

func (f front) Len() int           { return len(f) }
func (f front) Less(i, j int) bool { return compare(f[i].row, f[j].row) < 0 }
func (f front) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }
func (f *front) Push(h any)        { *f = append(*f, h.(*head)) }
func (f *front) Pop() any {
	last := len(*f) - 1
	h := (*f)[last]
	*f = (*f)[:last]
	return h
}
