package inbox_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/inbox"
)

var errBad = errors.New("bad")

// P6: of a batch every failed entry is reported, a stream goes on from the first, and nothing of a group passes its failure.
func TestABatchReportsEveryFailure(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		entries string // group and fate of each: a capital letter fails
		grouped bool
		failed  []int
		held    []int
		tried   string
	}{
		{"nothing", "", true, nil, nil, ""},
		{"all done", "abc", true, nil, nil, "abc"},
		{"one bad entry", "aBc", false, []int{1}, nil, "aBc"},
		{"its group waits, others go on", "aBcbAa", true, []int{1, 3, 4, 5}, []int{3, 5}, "aBcA"},
		{"without groups nothing waits", "aBcbAa", false, []int{1, 4}, nil, "aBcbAa"},
	} {
		tried := ""
		var group func(rune) string
		if c.grouped {
			group = func(entry rune) string { return strings.ToLower(string(entry)) }
		}
		failures := inbox.Batch(t.Context(), []rune(c.entries), group, func(_ context.Context, entry rune) error {
			tried += string(entry)
			if strings.ToUpper(string(entry)) == string(entry) {
				return errBad
			}
			return nil
		})
		var failed, held []int
		for _, f := range failures {
			failed = append(failed, f.Index)
			var back *inbox.HeldBackError
			if errors.As(f.Err, &back) {
				held = append(held, f.Index)
			}
		}
		if !reflect.DeepEqual(failed, c.failed) || !reflect.DeepEqual(held, c.held) || tried != c.tried {
			t.Errorf("%s: failed %v, held back %v, tried %q", c.name, failed, held, tried)
		}
		first, ok := failures.First()
		if ok != (len(c.failed) > 0) || ok && first != c.failed[0] || (failures.Err() == nil) == ok {
			t.Errorf("%s: first %d, %v, %v", c.name, first, ok, failures.Err())
		}
	}
}

func TestABatchStopsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	failures := inbox.Batch(ctx, []int{0, 1, 2}, nil, func(_ context.Context, entry int) error {
		if entry == 1 {
			cancel()
		}
		return nil
	})
	if len(failures) != 1 || failures[0].Index != 2 || !errors.Is(failures.Err(), context.Canceled) {
		t.Errorf("%v", failures)
	}
}

// Delivered again from its first failure until nothing fails, a stream has every entry handled, each group in order.
func TestAStreamDeliveredFromItsFirstFailureKeepsEveryGroupInOrder(t *testing.T) {
	t.Parallel()
	type entry struct {
		group  string
		number int
	}
	rapid.Check(t, func(t *rapid.T) {
		var entries []entry
		for i := range rapid.IntRange(0, 20).Draw(t, "entries") {
			entries = append(entries, entry{rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "group"), i})
		}
		seen := map[int]bool{}
		last := map[string]int{}
		for deliveries, from := 0, 0; ; deliveries++ {
			failures := inbox.Batch(context.Background(), entries[from:], func(e entry) string { return e.group }, func(_ context.Context, e entry) error {
				if deliveries < 20 && rapid.IntRange(0, 3).Draw(t, "trouble") == 3 {
					return errBad
				}
				if !seen[e.number] && len(last) > 0 && e.number < last[e.group] {
					t.Fatalf("entry %d of group %s comes after %d", e.number, e.group, last[e.group])
				}
				seen[e.number], last[e.group] = true, max(last[e.group], e.number)
				return nil
			})
			first, again := failures.First()
			if !again {
				break
			}
			from += first
		}
		if len(seen) != len(entries) {
			t.Fatalf("%d of %d entries were handled", len(seen), len(entries))
		}
	})
}
