package reconcile

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"slices"

	"github.com/dynafin/dynafin/money"
)

// Totals are the control totals of one side: what the manifest of a batch declares and what its inputs turned out to be.
type Totals struct {
	// Rows is how many there are, each once.
	Rows int64
	// Sums has one amount for each currency, by code.
	Sums []money.Amount
	// Digest is a SHA-256 over all rows in their order by key, in hexadecimal. It does not depend on the order in which
	// they came.
	Digest string
}

// differs names the first total in which what was read differs from what was declared, "" if they agree. Sums and a digest
// that were not declared are not compared.
func (t Totals) differs(declared Totals) string {
	switch {
	case declared.Rows != t.Rows:
		return "rows"
	case declared.Sums != nil && !slices.Equal(byCurrency(declared.Sums), t.Sums):
		return "sums"
	case declared.Digest != "" && declared.Digest != t.Digest:
		return "digest"
	}
	return ""
}

// totaller adds up the rows of one side, in their order.
type totaller struct {
	rows   int64
	sums   sums
	digest hash.Hash
	buffer []byte
}

func newTotaller() *totaller { return &totaller{sums: sums{}, digest: sha256.New()} }

func (t *totaller) add(r Row) error {
	t.rows++
	t.buffer = appendRow(t.buffer[:0], r)
	t.digest.Write(binary.AppendUvarint(nil, uint64(len(t.buffer))))
	t.digest.Write(t.buffer)
	return t.sums.add(r.Amount)
}

func (t *totaller) totals() Totals {
	return Totals{Rows: t.rows, Sums: t.sums.list(), Digest: hex.EncodeToString(t.digest.Sum(nil))}
}

// appendRow writes a row so that two rows never have one text.
func appendRow(to []byte, r Row) []byte {
	currency, units := r.Amount.Currency(), ""
	if currency != (money.Currency{}) {
		units = r.Amount.MinorUnits()
	}
	for _, text := range [...]string{r.Key, r.ID, r.Value, currency.Code(), units} {
		to = binary.AppendUvarint(to, uint64(len(text)))
		to = append(to, text...)
	}
	to = append(to, byte(currency.Scale()), byte(currency.Kind()))
	if r.At.IsZero() {
		return append(to, 0)
	}
	return binary.BigEndian.AppendUint64(append(to, 1), uint64(r.At.UnixNano()))
}

// sums adds amounts up by currency.
type sums map[money.Currency]money.Amount

func (s sums) add(a money.Amount) error {
	if a.Currency() == (money.Currency{}) {
		return nil
	}
	total, ok := s[a.Currency()]
	if !ok {
		s[a.Currency()] = a
		return nil
	}
	total, err := total.Add(a)
	if err != nil {
		return err
	}
	s[a.Currency()] = total
	return nil
}

func (s sums) list() []money.Amount {
	list := make([]money.Amount, 0, len(s))
	for _, total := range s {
		list = append(list, total)
	}
	return byCurrency(list)
}

func byCurrency(amounts []money.Amount) []money.Amount {
	sorted := slices.Clone(amounts)
	slices.SortFunc(sorted, func(a, b money.Amount) int {
		return cmp.Or(compareCurrencies(a, b), compareAmounts(a, b))
	})
	return sorted
}
