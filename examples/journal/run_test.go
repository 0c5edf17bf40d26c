package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
)

// ran is what one run of the program left.
type ran struct {
	code           int
	stdout, stderr string
}

func journal(ctx context.Context, stdin io.Reader, args ...string) ran {
	var stdout, stderr bytes.Buffer
	code := run(ctx, args, stdin, &stdout, &stderr)
	return ran{code, stdout.String(), stderr.String()}
}

// imports runs the program and fails the test unless all went well.
func imports(t *testing.T, stdin string, args ...string) ran {
	t.Helper()
	got := journal(t.Context(), strings.NewReader(stdin), args...)
	if got.code != exitDone {
		t.Fatalf("exit code %d\n%s", got.code, got.stderr)
	}
	return got
}

func (r ran) says(t *testing.T, what string) {
	t.Helper()
	if !strings.Contains(r.stderr, what) {
		t.Errorf("nothing is said of %q:\n%s", what, r.stderr)
	}
}

func file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// server is a database behind a socket, which outlives a run.
func server(t *testing.T) (url string, db *dynamosim.DB) {
	db = dynamosim.New(t)
	s := httptest.NewServer(db)
	t.Cleanup(s.Close)
	return s.URL, db
}

// items are all items of the ledger's table, as text.
func items(t *testing.T, db *dynamosim.DB) string {
	t.Helper()
	var all []string
	pages := dynamodb.NewScanPaginator(db.Client(), &dynamodb.ScanInput{TableName: aws.String(ledger.DefaultTable)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			var m map[string]any
			if err := attributevalue.UnmarshalMapWithOptions(item, &m, func(o *attributevalue.DecoderOptions) { o.UseNumber = true }); err != nil {
				t.Fatal(err)
			}
			all = append(all, fmt.Sprint(m)) // in the order of the names
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

var journals = []string{"household", "portfolio", "year"}

func TestBalancesAreThoseOfHledger(t *testing.T) {
	for _, workers := range []string{"1", "7", "256"} {
		for _, name := range journals {
			if name == "year" && workers == "7" {
				continue // long enough twice
			}
			t.Run(name+" with "+workers+" workers", func(t *testing.T) {
				t.Parallel()
				got := imports(t, "", "-workers", workers, "testdata/"+name+".csv")
				if want := file(t, name+".tsv"); got.stdout != want {
					t.Errorf("the balances are\n%s\nhledger says\n%s", got.stdout, want)
				}
			})
		}
	}
}

func TestTheLongJournalHasAThousandRows(t *testing.T) {
	if n := strings.Count(file(t, "year.csv"), "\n"); n < 1000 {
		t.Errorf("%d", n)
	}
}

func TestWithItsOwnAccountsEveryCommodityAddsUpToZero(t *testing.T) {
	for _, name := range journals {
		sums := map[string]money.Amount{}
		for row := range strings.Lines(imports(t, "", "-equity", "testdata/"+name+".csv").stdout) {
			fields := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
			currency, err := money.Define("x:"+codeOf(fields[1])[len(codePrefix):], money.MaxScale, money.KindSecurity)
			if err != nil {
				t.Fatal(err)
			}
			amount, err := money.Parse(fields[2], currency)
			if err != nil {
				t.Fatal(err)
			}
			if sums[fields[1]], err = sums[fields[1]].Add(amount); err != nil {
				t.Fatal(err)
			}
		}
		for commodity, sum := range sums {
			if !sum.IsZero() {
				t.Errorf("%s: %s adds up to %s", name, commodity, sum)
			}
		}
	}
}

func TestImportingTwiceChangesNothing(t *testing.T) {
	for _, name := range journals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, db := server(t)
			first := imports(t, "", "-endpoint", url, "testdata/"+name+".csv")
			stored := items(t, db)
			second := imports(t, "", "-endpoint", url, "-workers", "3", "testdata/"+name+".csv")
			second.says(t, ": 0 posted, ")
			if first.stdout != second.stdout {
				t.Errorf("the balances were\n%s\nand are\n%s", first.stdout, second.stdout)
			}
			if items(t, db) != stored {
				t.Error("the second import wrote something")
			}
		})
	}
}

// Every balance is proved, conversions and all, until somebody changes a posting.
func TestEveryBalanceIsProvedFromItsPostings(t *testing.T) {
	for _, name := range []string{"household", "portfolio"} {
		imports(t, "", "-verify", "testdata/"+name+".csv").says(t, " balances proved from ")
	}
	url, db := server(t)
	imports(t, header+coffee(1), "-verify", "-endpoint", url, "-").says(t, "2 balances proved from 2 postings\n")
	changed := change(t, db, "POST#")
	got := journal(t.Context(), strings.NewReader(header+coffee(1)), "-verify", "-endpoint", url, "-")
	if got.code != exitFailed || !strings.Contains(got.stderr, "journal: ") {
		t.Errorf("%s was changed, and nobody said so: exit code %d\n%s", changed, got.code, got.stderr)
	}
}

// change changes the source of the first item whose sort key begins so, behind the ledger's back.
func change(t *testing.T, db *dynamosim.DB, sortKey string) (key string) {
	t.Helper()
	client, table := db.Client(), aws.String(ledger.DefaultTable)
	all, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: table})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range all.Items {
		if sk := item["SK"].(*types.AttributeValueMemberS).Value; strings.HasPrefix(sk, sortKey) {
			item["source"] = &types.AttributeValueMemberS{Value: "forged"}
			if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: table, Item: item}); err != nil {
				t.Fatal(err)
			}
			return sk
		}
	}
	t.Fatalf("nothing begins with %s", sortKey)
	return ""
}

func TestTheSameFileNamedTwiceIsImportedOnce(t *testing.T) {
	got := imports(t, "", "testdata/household.csv", "testdata/household.csv")
	got.says(t, "22 transactions: 10 posted, 10 there before, 0 refused, 2 of zero amounts only")
	if got.stdout != file(t, "household.tsv") {
		t.Errorf("the balances are\n%s", got.stdout)
	}
}

// What lies before and behind a database that loses every third answer after it has committed, and one that breaks down in
// the middle, is the same: import again, and the books are right.
func TestLostAnswersAndABreakdownLeaveTheBooksRight(t *testing.T) {
	db := dynamosim.New(t)
	var calls, broken atomic.Int64
	broken.Store(40)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".TransactWriteItems") {
			db.ServeHTTP(w, r)
			return
		}
		n := calls.Add(1)
		if n > broken.Load() {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"no longer"}`)
			return
		}
		answer := httptest.NewRecorder()
		db.ServeHTTP(answer, r)
		if n%3 == 0 {
			panic(http.ErrAbortHandler) // the connection ends without an answer
		}
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	}))
	t.Cleanup(s.Close)
	args := []string{"-endpoint", s.URL, "-workers", "4", "testdata/portfolio.csv"}
	got := journal(t.Context(), nil, args...)
	if got.code != exitFailed || got.stdout != "" || !strings.Contains(got.stderr, "AccessDenied") {
		t.Fatalf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	broken.Store(1 << 40)
	if got := imports(t, "", args...); got.stdout != file(t, "portfolio.tsv") {
		t.Errorf("the balances are\n%s%s", got.stdout, got.stderr)
	}
}

func TestAnInterruptedImportGoesOnWhereItWas(t *testing.T) {
	for _, after := range []int64{0, 1, 40} { // before it begins, while accounts are opened, while it posts
		ctx, interrupt := context.WithCancel(t.Context())
		db := dynamosim.New(t)
		var calls atomic.Int64
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".TransactWriteItems") && calls.Add(1) == after {
				interrupt()
			}
			db.ServeHTTP(w, r)
		}))
		t.Cleanup(s.Close)
		if after == 0 {
			interrupt()
		}
		args := []string{"-endpoint", s.URL, "-workers", "4", "testdata/portfolio.csv"}
		got := journal(ctx, nil, args...)
		if got.code != exitFailed || got.stdout != "" || !strings.Contains(got.stderr, "journal: interrupted; ") {
			t.Fatalf("exit code %d\n%s", got.code, got.stderr)
		}
		if got := imports(t, "", args...); got.stdout != file(t, "portfolio.tsv") {
			t.Errorf("the balances are\n%s", got.stdout)
		}
	}
}

func TestAFileMayComeThroughAPipeAndInPieces(t *testing.T) {
	for name, stdin := range map[string]string{
		"one export":                  file(t, "household.csv"),
		"with a byte order mark":      byteOrderMark + file(t, "household.csv"),
		"with the line ends of DOS":   strings.ReplaceAll(file(t, "household.csv"), "\n", "\r\n"),
		"one export behind the other": file(t, "household.csv") + file(t, "household.csv"),
	} {
		if got := imports(t, stdin, "-"); got.stdout != file(t, "household.tsv") {
			t.Errorf("%s: the balances are\n%s", name, got.stdout)
		}
	}
}

// Each file writes its numbers in its own way.
func TestOneFileMayHaveCommasAndAnotherPoints(t *testing.T) {
	dir := t.TempDir()
	commas, points := filepath.Join(dir, "commas.csv"), filepath.Join(dir, "points.csv")
	for name, text := range map[string]string{
		commas: header + rows(1, "2026-01-02", "x", "a|1,5|EUR", "b|-1,5|EUR"),
		points: header + rows(1, "2026-01-03", "x", "a|1.25|EUR", "b|-1.25|EUR"),
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := imports(t, "", commas, points); got.stdout != "a\tEUR\t2.75\nb\tEUR\t-2.75\n" {
		t.Errorf("the balances are\n%s", got.stdout)
	}
}

func TestWithoutAFileTheSampleIsImported(t *testing.T) {
	if got := imports(t, ""); got.stdout != file(t, "household.tsv") {
		t.Errorf("the balances are\n%s", got.stdout)
	}
}

func TestTheReadmeShowsWhatTheProgramPrints(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	equity := imports(t, "", "-equity", "testdata/portfolio.csv")
	sample, refused := imports(t, ""), journal(t.Context(), nil, "testdata/mistakes.csv")
	for _, text := range []string{sample.stdout + sample.stderr, refused.stderr, conversionRows(equity.stdout)} {
		if !strings.Contains(string(readme), text) {
			t.Errorf("README.md does not show\n%s", text)
		}
	}
}

// conversionRows are the rows of conversions between two commodities.
func conversionRows(text string) string {
	rows := slices.DeleteFunc(strings.SplitAfter(text, "\n"), func(row string) bool {
		account, _, _ := strings.Cut(row, "\t")
		return !strings.HasPrefix(account, conversions) || strings.Count(account, "  ") != 2
	})
	return strings.Join(rows, "")
}

func TestWrongUsageEndsWithTwo(t *testing.T) {
	for _, args := range [][]string{
		{"-workers", "0"}, {"-workers", "257"}, {"-workers", "many"}, {"-tenant", ""}, {"-nonsense"}, {"-endpoint", "localhost:8000"},
		{"-scale", "EUR"}, {"-scale", "EUR=19"}, {"-places", "EUR=-1"}, {"-places", "EUR=few"},
	} {
		got := journal(t.Context(), nil, args...)
		if got.code != exitUsage || !strings.Contains(got.stderr, "usage: journal") || got.stdout != "" {
			t.Errorf("%q: exit code %d, stdout %q, stderr %q", args, got.code, got.stdout, got.stderr)
		}
	}
	if got := journal(t.Context(), nil, "-h"); got.code != exitDone {
		t.Errorf("-h ends with %d", got.code)
	}
}

func TestProgressIsOneLineThatIsRewritten(t *testing.T) {
	var out bytes.Buffer
	screen := &console{w: &out, live: true}
	screen.progress("%s: %d%%", "big.csv", 12)
	screen.progress("%s: %d%%", "big.csv", 13)
	screen.say("big.csv:7: a complaint")
	if want := "big.csv: 12%\r\x1b[Kbig.csv: 13%\r\x1b[Kbig.csv:7: a complaint\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
