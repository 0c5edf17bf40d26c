package reconcile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/dynafin/dynafin/money"
)

// spill keeps sorted runs of rows in one temporary file, which is gone when the process is.
type spill struct {
	mu         sync.Mutex
	file       *os.File
	size       int64
	currencies []money.Currency
	index      map[money.Currency]uint64
}

// run is a sorted stretch of the file.
type run struct{ offset, size int64 }

func newSpill(dir string) (*spill, error) {
	file, err := os.CreateTemp(dir, "reconcile-*")
	if err != nil {
		return nil, err
	}
	// Where an open file cannot be removed, close does it.
	_ = os.Remove(file.Name())
	return &spill{file: file, index: map[money.Currency]uint64{}}, nil
}

func (s *spill) close() error {
	err := s.file.Close()
	if gone := os.Remove(s.file.Name()); gone != nil && !errors.Is(gone, os.ErrNotExist) {
		return errors.Join(err, gone)
	}
	return err
}

// write appends a run.
func (s *spill) write(rows []entry) (run, error) {
	encoded := make([]byte, 0, 128*len(rows))
	for _, r := range rows {
		encoded = s.append(encoded, r)
	}
	s.mu.Lock()
	at := s.size
	s.size += int64(len(encoded))
	s.mu.Unlock()
	_, err := s.file.WriteAt(encoded, at)
	return run{offset: at, size: int64(len(encoded))}, err
}

// The forms of an amount in a run.
const (
	amountNone byte = iota
	amountShort
	amountLong
)

func (s *spill) append(to []byte, r entry) []byte {
	to = append(to, byte(r.side))
	for _, text := range [...]string{r.Key, r.ID, r.Value} {
		to = binary.AppendUvarint(to, uint64(len(text)))
	}
	to = append(append(append(to, r.Key...), r.ID...), r.Value...)
	switch units, err := r.Amount.MinorInt64(); {
	case r.Amount.Currency() == (money.Currency{}):
		to = append(to, amountNone)
	case err == nil:
		to = binary.AppendUvarint(append(to, amountShort), s.number(r.Amount.Currency()))
		to = binary.AppendVarint(to, units)
	default:
		text := r.Amount.MinorUnits()
		to = binary.AppendUvarint(append(to, amountLong), s.number(r.Amount.Currency()))
		to = binary.AppendUvarint(to, uint64(len(text)))
		to = append(to, text...)
	}
	if r.At.IsZero() {
		return append(to, 0)
	}
	return binary.AppendVarint(append(to, 1), r.At.UnixNano())
}

// number gives a currency its place in the table, which stays in memory: there are few.
func (s *spill) number(c money.Currency) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.index[c]
	if !ok {
		n = uint64(len(s.currencies))
		s.index[c], s.currencies = n, append(s.currencies, c)
	}
	return n
}

// runReader reads a run row by row.
type runReader struct {
	spill *spill
	from  *bufio.Reader
	text  []byte
}

func (s *spill) open(r run, buffer int) *runReader {
	return &runReader{spill: s, from: bufio.NewReaderSize(io.NewSectionReader(s.file, r.offset, r.size), buffer)}
}

// next returns the next row, or io.EOF.
func (r *runReader) next() (entry, error) {
	side, err := r.from.ReadByte()
	if err != nil {
		return entry{}, err
	}
	e := entry{side: Side(side)}
	var length [3]int
	for i := range length {
		length[i] = r.count(&err)
	}
	text := r.string(length[0]+length[1]+length[2], &err)
	if err != nil {
		return entry{}, torn(err)
	}
	e.Key, e.ID, e.Value = text[:length[0]], text[length[0]:length[0]+length[1]], text[length[0]+length[1]:]
	e.Amount = r.amount(&err)
	dated, failed := r.from.ReadByte()
	if err = errors.Join(err, failed); err == nil && dated == 1 {
		var nanos int64
		nanos, err = binary.ReadVarint(r.from)
		e.At = time.Unix(0, nanos).UTC()
	}
	if err != nil {
		return entry{}, torn(err)
	}
	return e, nil
}

func (r *runReader) amount(err *error) money.Amount {
	form, failed := r.from.ReadByte()
	if *err = errors.Join(*err, failed); *err != nil || form == amountNone {
		return money.Amount{}
	}
	index := r.count(err)
	if *err != nil {
		return money.Amount{}
	}
	r.spill.mu.Lock()
	currency := r.spill.currencies[index]
	r.spill.mu.Unlock()
	var amount money.Amount
	if form == amountShort {
		units, failed := binary.ReadVarint(r.from)
		if *err = failed; *err == nil {
			amount, *err = money.FromMinor(units, currency)
		}
		return amount
	}
	if text := r.string(r.count(err), err); *err == nil {
		amount, *err = money.ParseMinor(text, currency)
	}
	return amount
}

func (r *runReader) count(err *error) int {
	if *err != nil {
		return 0
	}
	n, failed := binary.ReadUvarint(r.from)
	*err = failed
	return int(n)
}

func (r *runReader) string(length int, err *error) string {
	if *err != nil {
		return ""
	}
	if cap(r.text) < length {
		r.text = make([]byte, length)
	}
	_, *err = io.ReadFull(r.from, r.text[:length])
	return string(r.text[:length])
}

// torn is about a temporary file that somebody else wrote to or cut off.
func torn(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("read the temporary file of sorted rows: %w", err)
}
