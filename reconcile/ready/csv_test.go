package ready_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/dynafin/dynafin/internal/fault"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/reconcile"
	"github.com/dynafin/dynafin/reconcile/ready"
)

var columns = ready.Columns{ID: "Line", Key: "Reference", Amount: "Amount", Currency: "Ccy", At: "Date"}

func TestAStatementBecomesRowsToTheLastDigit(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("CET", 3600)
	c := columns
	c.Zone, c.Negate, c.Value, c.Comma = zone, true, "Code", ';'
	const statement = "\ufeffLine;Reference;Amount;Ccy;Date;Code;Other\n1;pay-1;-19.99;USD;2026-11-29;ok;\n2;\"pay;2\";0.123;KWD;2026-11-28;;x\n"
	var got []reconcile.Row
	for row, err := range ready.CSV(strings.NewReader(statement), c) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, row)
	}
	if len(got) != 2 || got[0].ID != "1" || got[0].Key != "pay-1" || got[0].Amount != money.MustParse("19.99 USD") || got[0].Value != "ok" ||
		!got[0].At.Equal(time.Date(2026, 11, 28, 23, 0, 0, 0, time.UTC)) || got[1].Key != "pay;2" || got[1].Amount != money.MustParse("-0.123 KWD") {
		t.Errorf("%+v", got)
	}
}

// Each statement has one fault, in the line and the column that the error names.
func TestAFaultOfAStatementNamesItsLineAndEndsIt(t *testing.T) {
	t.Parallel()
	const header = "Line,Reference,Amount,Ccy,Date\n1,a,1.00,USD,2026-11-29\n"
	for what, c := range map[string]struct {
		text   string
		line   int
		column string
	}{
		"nothing":           {"", 1, ""},
		"a missing column":  {"Line,Amount,Ccy,Date\n", 1, "Reference"},
		"one column twice":  {"Line,Line,Reference,Amount,Ccy,Date\n", 1, "Line"},
		"a short line":      {header + "2,b,1.00\n", 3, ""},
		"a bare quote":      {header + "2,b\"c,1.00,USD,2026-11-29\n", 3, ""},
		"an exponent":       {header + "2,b,1e3,USD,2026-11-29\n", 3, "Amount"},
		"thousands":         {header + "2,b,\"1,000.00\",USD,2026-11-29\n", 3, "Amount"},
		"too many places":   {header + "2,b,1.001,USD,2026-11-29\n", 3, "Amount"},
		"no currency":       {header + "2,b,1.00,XQQ,2026-11-29\n", 3, "Ccy"},
		"no date":           {header + "2,b,1.00,USD,29.11.2026\n", 3, "Date"},
		"forty digits":      {header + "2,b," + strings.Repeat("9", 40) + ",USD,2026-11-29\n", 3, "Amount"},
		"after a long line": {header + "\"2\n2\",b,1.00,USD,2026-11-29\n3,c,x,USD,2026-11-29\n", 5, "Amount"},
	} {
		var failed error
		rows := 0
		for _, err := range ready.CSV(strings.NewReader(c.text), columns) {
			if err == nil {
				rows++
			}
			failed = err
		}
		var fault *ready.CSVError
		if !errors.As(failed, &fault) || !errors.Is(failed, ready.ErrCSV) || fault.Line != c.line || fault.Column != c.column {
			t.Errorf("%s: %v after %d rows", what, failed, rows)
		}
	}
	unclear := columns
	unclear.Currency = ""
	for _, err := range ready.CSV(strings.NewReader(header), unclear) {
		if !errors.Is(err, ready.ErrCSV) {
			t.Errorf("no currency at all: %v", err)
		}
	}
}

// Two lines that are alike are two, as when a bank charges twice: without a column that tells them apart their places in the file do, and
// with one that does not the statement is refused. Neither is one of them dropped.
func TestTwoLinesThatAreAlikeAreTwo(t *testing.T) {
	t.Parallel()
	const statement = "Reference,Amount\nfee-1,-5.00\nfee-1,-5.00\nfee-2,-5.00\n"
	c := ready.Columns{Key: "Reference", Amount: "Amount", Only: money.MustParse("1 USD").Currency()}
	nobody := func(func(reconcile.Row, error) bool) {}
	both, err := reconcile.Load(t.Context(), reconcile.Options{}, nobody, ready.CSV(strings.NewReader(statement), c))
	if err != nil {
		t.Fatal(err)
	}
	defer both.Close()
	if _, right := both.Totals(); right.Rows != 3 || right.Sums[0] != money.MustParse("-15.00 USD") {
		t.Errorf("%+v", right)
	}
	c.ID = "Reference"
	_, err = reconcile.Load(t.Context(), reconcile.Options{}, nobody, ready.CSV(strings.NewReader(statement), c))
	var fault *ready.CSVError
	if !errors.As(err, &fault) || fault.Line != 3 || fault.Column != "Reference" {
		t.Errorf("%v", err)
	}
}

func FuzzCSV(f *testing.F) {
	f.Add("Line,Reference,Amount,Ccy,Date\n1,a,1.00,USD,2026-11-29\n")
	f.Fuzz(func(t *testing.T, text string) {
		for row, err := range ready.CSV(strings.NewReader(text), columns) {
			var coded interface{ Code() string }
			if err != nil && (!errors.As(err, &coded) || coded.Code() != fault.ReadyCSV.ID) {
				t.Fatalf("%v", err)
			}
			if err == nil && row.Amount.Currency() == (money.Currency{}) {
				t.Fatalf("a row without its currency: %+v", row)
			}
		}
	})
}
