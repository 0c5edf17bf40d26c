package export

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The attributes in which package txn keeps the mark of the transaction that put an item, and of the last that updated it.
const (
	markPut    = "txnMark"
	markUpdate = "txnUpdate"
)

// Torn is a transaction of which an export has a part.
type Torn struct {
	// Mark is the mark that package txn gave it.
	Mark string
	// Here are the keys of its items that the export has as the transaction left them.
	Here []Item
	// Missing are the keys of its items that the export has not, or has as they were before; the next export has them.
	Missing []Item
}

// mark is that of the transaction that wrote an item last, "" if package txn never did.
func mark(item Item) string {
	for _, name := range []string{markUpdate, markPut} {
		if s, ok := item[name].(*types.AttributeValueMemberS); ok {
			return s.Value
		}
	}
	return ""
}

// keyText tells keys apart. Lengths are written down, so that no two keys give one text.
func keyText(key Item) string {
	var b strings.Builder
	add := func(parts ...string) {
		for _, part := range parts {
			b.WriteString(strconv.Itoa(len(part)))
			b.WriteByte(':')
			b.WriteString(part)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(key)) {
		switch v := key[name].(type) {
		case *types.AttributeValueMemberS:
			add(name, "S", v.Value)
		case *types.AttributeValueMemberN:
			add(name, "N", v.Value)
		case *types.AttributeValueMemberB:
			add(name, "B", string(v.Value))
		}
	}
	return b.String()
}

// Torn returns the transactions that are torn at the end of this export: DynamoDB hands a transaction over to an export item by
// item, so it may have some of them, and next, the incremental export whose window begins where this one ends, has the
// rest. Such a part is no fault of the books. The transactions come in the order of their marks.
//
// A mark shows the last write of an item only. So a transaction is not seen as torn if its rest was written again by another before
// the end of next's window, or is a deletion or a check; and nobody knows how long handing over takes: Config.Margin is how
// long after the boundary next is searched. Both exports are read; what was written within the margin is kept in memory,
// Config.MaxTorn items at most. Errors: those of [Export.Verify] of both, ErrInvalid if next does not begin where
// this ends, ErrLimit.
//
// Cost: it reads files and no table, so no units.
func (e *Export) Torn(ctx context.Context, next *Export) ([]Torn, error) {
	if next == nil || next.manifest.Type != Incremental || !next.manifest.From.Equal(e.manifest.Until()) ||
		next.manifest.TableID != e.manifest.TableID {
		return nil, &InvalidError{Field: "next", Reason: "is not the incremental export of this table whose window begins where this one ends"}
	}
	t := tearing{marks: map[string]*torn{}}
	end := next.manifest.From.Add(e.config.Margin)
	err := next.ForEach(ctx, func(_ context.Context, r Record) error {
		if m := mark(r.New); m != "" && r.WrittenAt.Before(end) {
			if !t.later(m, r.Keys, e.config.MaxTorn) {
				return &LimitError{File: next.files[r.At.File].path, Max: e.config.MaxTorn}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = e.ForEach(ctx, func(_ context.Context, r Record) error {
		if m := mark(r.New); m != "" {
			t.here(m, r.New)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t.found(), nil
}

// tearing collects what each transaction has on either side of a boundary.
type tearing struct {
	mu    sync.Mutex
	names []string // of the key attributes
	items int
	marks map[string]*torn
}

type torn struct {
	here    []Item
	missing map[string]Item
}

// later notes an item of a transaction that next has.
func (t *tearing) later(mark string, key Item, limit int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.items++; t.items > limit {
		return false
	}
	if t.names == nil {
		t.names = slices.Sorted(maps.Keys(key))
	}
	if t.marks[mark] == nil {
		t.marks[mark] = &torn{missing: map[string]Item{}}
	}
	t.marks[mark].missing[keyText(key)] = key
	return true
}

// here notes an item that this export has from a transaction.
func (t *tearing) here(mark string, item Item) {
	t.mu.Lock()
	defer t.mu.Unlock()
	both := t.marks[mark]
	if both == nil {
		return
	}
	key := make(Item, len(t.names))
	for _, name := range t.names {
		key[name] = item[name]
	}
	delete(both.missing, keyText(key))
	both.here = append(both.here, key)
}

// found returns the transactions that are on both sides.
func (t *tearing) found() []Torn {
	var all []Torn
	byKey := func(a, b Item) int { return strings.Compare(keyText(a), keyText(b)) }
	for _, mark := range slices.Sorted(maps.Keys(t.marks)) {
		both := t.marks[mark]
		if len(both.here) == 0 || len(both.missing) == 0 {
			continue
		}
		all = append(all, Torn{Mark: mark, Here: slices.SortedFunc(slices.Values(both.here), byKey),
			Missing: slices.SortedFunc(maps.Values(both.missing), byKey)})
	}
	return all
}
