package keys_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dynafin/dynafin/internal/keys"
)

func TestInvalidComponentsAreErrorsThatNameThem(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC)
	only := func(_ keys.Key, err error) error { return err }
	text := func(_ string, err error) error { return err }
	for _, c := range []struct {
		err       error
		component string
		reason    keys.Reason
	}{
		{only(keys.Order("", "1")), "tenant", keys.Empty},
		{only(keys.Order("acme", "")), "order", keys.Empty},
		{only(keys.Order("acme", "\xff")), "order", keys.NotUTF8},
		{only(keys.Order("acme", "\xed\xa0\x80")), "order", keys.NotUTF8},
		{only(keys.OutboxReady("orders", -1, now, "e")), "shard", keys.OutOfRange},
		{only(keys.OutboxReady("orders", 10000, now, "e")), "shard", keys.OutOfRange},
		{only(keys.OutboxReady("orders", 1, now.AddDate(7974, 0, 0), "e")), "due", keys.OutOfRange},
		{only(keys.OutboxReady("orders", 1, time.Date(0, 12, 31, 23, 59, 59, 0, time.UTC), "e")), "due", keys.OutOfRange},
		{only(keys.Inbox("c", 10000, 1, "e")), "version", keys.OutOfRange},
		{only(keys.Name("acme", "", "n")), "kind", keys.Empty},
		{only(keys.Name("acme", "Email", "n")), "kind", keys.Malformed},
		{only(keys.Name("acme", "A#B", "n")), "kind", keys.Malformed},
		{only(keys.Name("acme", "9A", "n")), "kind", keys.Malformed},
		{only(keys.Name("acme", "_A", "n")), "kind", keys.Malformed},
		{only(keys.Batch("acme", "2026-02-29", "b")), "date", keys.Malformed},
		{only(keys.Batch("acme", "2026-2-9", "b")), "date", keys.Malformed},
		{only(keys.Batch("acme", "0000-01-01", "b")), "date", keys.OutOfRange},
		{only(keys.Batch("acme", "", "b")), "date", keys.Empty},
		{only(keys.Posting{Tenant: "t", Account: "a", Month: "2026-13", At: now, Transaction: "x"}.Key()), "month", keys.Malformed},
		{only(keys.Posting{Tenant: "t", Account: "a", Month: "2026-11", Bucket: 100, At: now, Transaction: "x"}.Key()), "bucket", keys.OutOfRange},
		{only(keys.Posting{Tenant: "t", Account: "a", Month: "2026-11", At: now, Transaction: "x", Line: 10000}.Key()), "line", keys.OutOfRange},
		{text(keys.Number(1000, 3)), "number", keys.OutOfRange},
		{text(keys.Number(-1, 3)), "number", keys.OutOfRange},
		{text(keys.Number(1, 0)), "number", keys.OutOfRange},
		{text(keys.Number(1, 19)), "number", keys.OutOfRange},
		{text(keys.DueThrough(now.AddDate(9999, 0, 0))), "time", keys.OutOfRange},
		{text(keys.OutboxReadyPartition("", 1)), "service", keys.Empty},
	} {
		var e *keys.Error
		err := fmt.Errorf("caller: %w", c.err)
		if !errors.Is(err, keys.ErrInvalid) || !errors.As(err, &e) || e.Component != c.component || e.Reason != c.reason {
			t.Errorf("got %v; want that %s %s", c.err, c.component, c.reason)
		}
	}
}

func TestSizeLimitsHoldToTheByteAfterEscaping(t *testing.T) {
	t.Parallel()
	const pk, sk = len("TEN#t#RECON#"), len("BREAK#")
	write := func(batch, id string) error { _, err := keys.Break("t", batch, id); return err }
	for _, c := range []struct {
		batch, id string
		component string // empty: it fits
	}{
		{strings.Repeat("x", keys.MaxPartitionKeyBytes-pk), strings.Repeat("x", keys.MaxSortKeyBytes-sk), ""},
		{strings.Repeat("x", keys.MaxPartitionKeyBytes-pk+1), "i", "partition key"},
		{"b", strings.Repeat("x", keys.MaxSortKeyBytes-sk+1), "sort key"},
		{"b", strings.Repeat("é", (keys.MaxSortKeyBytes-sk)/2), ""},
		{"b", strings.Repeat("é", (keys.MaxSortKeyBytes-sk)/2+1), "sort key"},
		{"b", strings.Repeat("#", (keys.MaxSortKeyBytes-sk)/3), ""},
		{"b", strings.Repeat("#", (keys.MaxSortKeyBytes-sk)/3+1), "sort key"},
	} {
		var e *keys.Error
		err := write(c.batch, c.id)
		if fits := c.component == ""; fits != (err == nil) || !fits && (!errors.As(err, &e) || e.Component != c.component || e.Reason != keys.TooLong) {
			t.Errorf("a batch of %d and an id of %d bytes: %v", len(c.batch), len(c.id), err)
		}
	}
}

func TestKeysThatWereNeverWrittenAreNotRead(t *testing.T) {
	t.Parallel()
	order := func(k keys.Key) error { _, _, err := keys.ParseOrder(k); return err }
	ready := func(k keys.Key) error { _, _, _, _, err := keys.ParseOutboxReady(k); return err }
	client := func(k keys.Key) error { _, _, err := keys.ParseClientOrder(k); return err }
	const due = "DUE#2026-11-29T14:18:00.000000000Z#e"
	for _, c := range []struct {
		parse     func(keys.Key) error
		pk, sk    string
		component string
		reason    keys.Reason
	}{
		{order, "", "", "partition key", keys.Malformed},
		{order, "TEN#a#ORDER#b", "meta", "sort key", keys.Malformed},
		{order, "TEN#a#ORDER#b#c", "META", "partition key", keys.Malformed},
		{order, "TEN#a#REQ#b", "META", "partition key", keys.Malformed},
		{order, "TEN##ORDER#b", "META", "tenant", keys.Empty},
		{order, "TEN#\xff#ORDER#b", "META", "tenant", keys.NotUTF8},
		{order, "TEN#a%#ORDER#b", "META", "tenant", keys.Malformed},
		{order, "TEN#a%24#ORDER#b", "META", "tenant", keys.Malformed},
		{order, "TEN#a%2#ORDER#b", "META", "tenant", keys.Malformed},
		{order, "TEN#" + strings.Repeat("a", 2048) + "#ORDER#b", "META", "partition key", keys.TooLong},
		{ready, "SERVICE#s#READY#7", due, "shard", keys.Malformed},
		{ready, "SERVICE#s#READY#00007", due, "shard", keys.Malformed},
		{ready, "SERVICE#s#READY#+007", due, "shard", keys.Malformed},
		{ready, "SERVICE#s#READY#0007", "DUE#2026-11-29T14:18:00,000000000Z#e", "due", keys.Malformed},
		{ready, "SERVICE#s#READY#0007", "DUE#2026-11-29T14:18:00Z#e", "due", keys.Malformed},
		{ready, "SERVICE#s#READY#0007", "DUE#2026-11-29T14:18:60.000000000Z#e", "due", keys.Malformed},
		{ready, "SERVICE#s#READY#0007", "DUE#0000-11-29T14:18:00.000000000Z#e", "due", keys.Malformed},
		{client, "TEN#a#EMAIL#b", "UNIQUE", "kind", keys.Malformed},
	} {
		var e *keys.Error
		err := c.parse(keys.Key{PK: c.pk, SK: c.sk})
		if !errors.Is(err, keys.ErrInvalid) || !errors.As(err, &e) || e.Component != c.component || e.Reason != c.reason {
			t.Errorf("%.60q %q: got %v; want that %s %s", c.pk, c.sk, err, c.component, c.reason)
		}
	}
}

func TestAnErrorSaysRouteComponentAndReasonButNotTheValue(t *testing.T) {
	t.Parallel()
	_, err := keys.Name("acme", "secret value", "n")
	const want = "keys: Name: kind does not have the required form; retrying cannot help [DFN-1001]"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
