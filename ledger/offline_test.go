package ledger_test

import (
	"context"
	"errors"
	"iter"
	"maps"
	"reflect"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/dynafin/dynafin/export"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/txn"
)

var errExport = errors.New("the export fails")

// exported is the table as an export has it, and as it is read back.
func (b *bench) exported(t *testing.T, without ...txn.Item) iter.Seq2[txn.Item, error] {
	t.Helper()
	files, all := fstest.MapFS{}, b.dump(t)
	dir, err := export.Write(func(name string, content []byte) error { files[name] = &fstest.MapFile{Data: content}; return nil },
		export.WriteConfig{Table: b.books.Name, ExportTime: day, ItemsPerFile: 5}, func(yield func(export.Record, error) bool) {
			for _, item := range all { // in no order
				lost := slices.ContainsFunc(without, func(key txn.Item) bool { return sameKey(key, item) })
				if !lost && !yield(export.Record{New: item}, nil) {
					return
				}
			}
		})
	if err != nil {
		t.Fatal(err)
	}
	e, err := export.Open(files, dir, export.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return export.Items(e.Records(context.Background(), export.Position{}))
}

func sameKey(a, b txn.Item) bool {
	return reflect.DeepEqual(a["PK"], b["PK"]) && reflect.DeepEqual(a["SK"], b["SK"])
}

func (b *bench) verifyAll(t *testing.T, torn []txn.Item, without ...txn.Item) map[string]ledger.Report {
	t.Helper()
	reports, err := b.book.VerifyAll(b.exported(t, without...), torn)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]ledger.Report{}
	for _, r := range reports {
		all[r.Place.Account+" "+r.Place.Asset] = r
	}
	return all
}

// An export proves every balance, as Verify does one by one at the table.
func TestAnExportProvesEveryBalance(t *testing.T) {
	t.Parallel()
	b := books(t)
	all := b.verifyAll(t, nil)
	for _, name := range []string{"cash", "sales"} {
		got, want := all[name+" USD"], b.verify(t, ledger.Verification{Account: name})
		if got.Err() != nil || got.Place != want.Place || !got.Done || got.Months != want.Months || got.Postings != want.Postings || got.Recomputed != want.Recomputed {
			t.Errorf("%s: %+v, not %+v", name, got, want)
		}
	}
	for name, r := range all {
		if r.Err() != nil {
			t.Errorf("%s: %v", name, r.Err())
		}
	}
}

// Whatever Verify finds, and what it finds only if it looks for strays, is found in an export.
func TestWhatWasChangedIsFoundInAnExport(t *testing.T) {
	t.Parallel()
	for _, c := range tamperings() {
		b := books(t)
		c.do(t, b)
		findings := 0
		for _, r := range b.verifyAll(t, nil) {
			findings += len(r.Findings)
			if (r.Err() == nil) != (len(r.Findings) == 0) {
				t.Errorf("%s: %+v, %v", c.what, r.Findings, r.Err())
			}
		}
		if findings == 0 {
			t.Errorf("%s: nothing is found", c.what)
		}
	}
}

// What is missing at the boundary is no fault, if the export that follows has it.
func TestATornTransactionIsNoFault(t *testing.T) {
	t.Parallel()
	b := books(t)
	for name, lost := range map[string]txn.Item{"a posting": novemberKey(t, 3), "a seal": cashKey("SEAL#CASH#USD#2026-10")} {
		whole, torn := b.verifyAll(t, nil, lost), b.verifyAll(t, []txn.Item{lost}, lost)
		if err := whole["cash USD"].Err(); !errors.Is(err, ledger.ErrUnproved) {
			t.Errorf("%s: %v", name, err)
		}
		if r := torn["cash USD"]; !errors.Is(r.Err(), ledger.ErrMoved) || len(r.Findings) > 0 || len(r.Moved) == 0 {
			t.Errorf("%s: %+v", name, r)
		}
		if err := torn["sales USD"].Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r := b.verifyAll(t, nil, cashKey("AUTH#CASH#USD"))["cash USD"]; len(r.Findings) < 3 {
		t.Errorf("without the balance: %+v", r)
	}
}

// Lines and balances are read from items, and nothing else is.
func TestLinesAndBalancesAreReadFromItems(t *testing.T) {
	t.Parallel()
	b := books(t)
	lines, balances, others := 0, map[string]ledger.Balance{}, 0
	for item, err := range b.exported(t) {
		if err != nil {
			t.Fatal(err)
		}
		line, isLine, err := b.book.LineIn(item)
		balance, isBalance, balanceErr := b.book.BalanceIn(item)
		if err != nil || balanceErr != nil || isLine && isBalance {
			t.Fatal(err, balanceErr)
		}
		switch {
		case isLine && line.Transaction != "" && line.Tenant == tenant:
			lines++
		case isBalance:
			balances[balance.Account+" "+balance.Currency.Code()] = balance
		default:
			others++
		}
	}
	if lines != 16 || balances["cash USD"].Totals() != b.balance(t, "cash").Totals() || others == 0 {
		t.Errorf("%d lines, balances of %v, %d others", lines, slices.Collect(maps.Keys(balances)), others)
	}
	failing := func(yield func(txn.Item, error) bool) { yield(nil, errExport) }
	if _, err := b.book.VerifyAll(failing, nil); !errors.Is(err, errExport) {
		t.Error(err)
	}
}
