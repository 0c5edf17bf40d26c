package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/examples/brokerage/internal/daygen"
	"github.com/dynafin/dynafin/internal/stores"
	"github.com/dynafin/dynafin/txn"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // as main does
	os.Exit(m.Run())
}

// ran is what one run of the program left.
type ran struct {
	code           int
	stdout, stderr string
}

func brokerage(ctx context.Context, stdin io.Reader, args ...string) ran {
	var stdout, stderr bytes.Buffer
	code := run(ctx, args, stdin, &stdout, &stderr)
	return ran{code, stdout.String(), stderr.String()}
}

// figures runs the program with -json on the lines and returns its object.
func figures(t *testing.T, lines []daygen.Line, args ...string) map[string]any {
	t.Helper()
	got := brokerage(t.Context(), strings.NewReader(daygen.Text(lines)), append(append([]string{"-json"}, args...), "-")...)
	return decode(t, got)
}

func decode(t *testing.T, got ran) map[string]any {
	t.Helper()
	if got.code != exitDone {
		t.Fatalf("exit code %d\n%s", got.code, got.stderr)
	}
	var object map[string]any
	if err := json.Unmarshal([]byte(got.stdout), &object); err != nil {
		t.Fatalf("stdout is not one JSON object: %v\n%s", err, got.stdout)
	}
	return object
}

// mustCount compares the counts of a run with what the day must come to.
func mustCount(t *testing.T, got map[string]any, want daygen.Totals) {
	t.Helper()
	if got["gaps_open"] != 0.0 {
		t.Errorf("%v gaps are open", got["gaps_open"])
	}
	for name, n := range map[string]int{
		"orders_read": want.Read, "accepted": want.Accepted, "replayed": want.Replayed, "mismatched": want.Mismatched,
		"name_taken": want.NameTaken, "not_covered": want.NotCovered, "invalid": want.Invalid, "unfinished": 0, "outbox_ready": want.Accepted, "reads_sent": 0,
	} {
		if got[name] != float64(n) {
			t.Errorf("%s is %v, want %d", name, got[name], n)
		}
	}
}

func mustCost(t *testing.T, got map[string]any) {
	t.Helper()
	cost, _ := got["units_per_accept"].(map[string]any)
	for name, units := range map[string]float64{"base": 12, "index": 3, "total": 15} {
		if cost[name] != units {
			t.Errorf("an accepted order costs %v %s units, want %v", cost[name], name, units)
		}
	}
	steps, _ := got["units_by_step"].(map[string]any)
	for step, base := range map[string]float64{"accept": 12, "route": 4, "fill": 8} {
		if units, _ := steps[step].(map[string]any); units["base"] != base {
			t.Errorf("%s costs %v base units, want %v", step, units["base"], base)
		}
	}
}

// The same day comes to the same business result, whatever workers do, networks lose and indexes do not know yet.
func TestTheResultDependsNeitherOnWorkersNorOnFaults(t *testing.T) {
	t.Parallel()
	day := daygen.Day(7, 40)
	variants := []struct {
		name   string
		passes int
		args   []string
	}{
		{"one worker", 1, []string{"-workers", "1"}},
		{"many workers, three times", 3, []string{"-workers", "64", "-repeat", "3"}},
		{"lost answers, crashes and lag", 1, []string{"-lose-answers", "0.2", "-crash", "0.05", "-lag", "5s"}},
		{"all of it, three times", 3, []string{"-lose-answers", "0.2", "-crash", "0.1", "-lag", "5s", "-repeat", "3"}},
	}
	digests := make([]any, len(variants))
	t.Run("variants", func(t *testing.T) {
		for i, v := range variants {
			t.Run(v.name, func(t *testing.T) {
				t.Parallel()
				got := figures(t, day, v.args...)
				mustCount(t, got, daygen.Expect(day, v.passes, covered))
				mustFollow(t, got, day)
				mustUseEverything(t, got)
				if slices.Contains(v.args, "-crash") && got["workers_died"] == 0.0 {
					t.Error("no worker died, so nothing was proved")
				}
				digests[i] = got["audit"].(map[string]any)["business_digest"]
			})
		}
	})
	for i, digest := range digests {
		if digest == nil || digest != digests[0] {
			t.Errorf("%s: the business result is %v, and %v with one worker", variants[i].name, digest, digests[0])
		}
	}
}

// mustUseEverything: all eighteen access patterns, over all nineteen routes, and every unit has its pattern.
func mustUseEverything(t *testing.T, got map[string]any) {
	t.Helper()
	patterns, routes := got["patterns"].([]any), got["routes"].([]any)
	if len(patterns) != 18 || len(routes) != 19 || got["units_unexplained"] != 0.0 {
		t.Errorf("%d patterns, %d routes, %v units unexplained", len(patterns), len(routes), got["units_unexplained"])
	}
	for _, p := range patterns {
		if p := p.(map[string]any); p["operations"] == 0.0 || p["requests"] == 0.0 || p["read_units"] == 0.0 && p["write_units"] == 0.0 {
			t.Errorf("%v was not used: %v", p["id"], p)
		}
	}
	for _, r := range routes {
		if r := r.(map[string]any); r["used"] != true {
			t.Errorf("%v was not taken", r["id"])
		}
	}
}

func TestOneLineIsOneRequest(t *testing.T) {
	line := daygen.Line{Text: goodLine}
	sent := map[int]float64{}
	for _, lines := range []int{1, 3} {
		got := figures(t, slices.Repeat([]daygen.Line{line}, lines), "-workers", "1")
		mustCount(t, got, daygen.Totals{Read: lines, Accepted: 1, Replayed: lines - 1})
		sent[lines] = got["transactions_sent"].(float64)
	}
	const opening = 6 // the refused first try, three accounts of the house, the customer's, and what he pays in
	if sent[1] != 1+opening || sent[3] != 3+opening {
		t.Errorf("%v transactions sent, want one for each line beside the opening of the account", sent)
	}
}

func TestEveryBadLineIsReportedWithItsNumberAndChangesNothing(t *testing.T) {
	day := daygen.Day(7, 40)
	got := brokerage(t.Context(), strings.NewReader(daygen.Text(day)), "-json", "-repeat", "2", "-")
	mustCount(t, decode(t, got), daygen.Expect(day, 2, covered))
	said := bufio.NewScanner(strings.NewReader(got.stderr))
	for i, line := range day {
		if line.Invalid == "" {
			continue
		}
		if !said.Scan() {
			t.Fatalf("nothing was said about line %d", i+1)
		}
		if message := said.Text(); !strings.HasPrefix(message, fmt.Sprintf("line %d: ", i+1)) || !strings.Contains(message, line.Invalid) {
			t.Errorf("line %d: the message should speak of %q: %s", i+1, line.Invalid, message)
		}
	}
	for said.Scan() {
		t.Errorf("said about no bad line: %s", said.Text())
	}
}

func TestTheTableSaysWhatTheObjectSays(t *testing.T) {
	file := filepath.Join(t.TempDir(), "day.jsonl")
	day := daygen.Day(7, 40)
	if err := os.WriteFile(file, []byte(daygen.Text(day)), 0o600); err != nil {
		t.Fatal(err)
	}
	got := brokerage(t.Context(), nil, file)
	if got.code != exitDone {
		t.Fatalf("exit code %d: %s", got.code, got.stderr)
	}
	want := daygen.Expect(day, 1, covered)
	for name, n := range map[string]int{
		"accepted": want.Accepted, "replayed": want.Replayed, "mismatched": want.Mismatched,
		"name taken": want.NameTaken, "invalid": want.Invalid, "read": want.Read, "outbox": want.Accepted, "accept": 15,
	} {
		if !strings.Contains(got.stdout, "\n"+pad(name)+" "+padLeft(grouped(n))+"   ") {
			t.Errorf("no row %q with %d in\n%s", name, n, got.stdout)
		}
	}
}

// A seed has one page, whatever goes wrong on the way.
func TestASeedHasOnePage(t *testing.T) {
	t.Parallel()
	day := daygen.Day(7, 40)
	var pages []string
	for range 2 {
		file := filepath.Join(t.TempDir(), "out.html")
		got := figures(t, day, "-lose-answers", "0.2", "-crash", "0.1", "-lag", "5s", "-report", file)
		mustCount(t, got, daygen.Expect(day, 1, covered))
		mustFollow(t, got, day)
		mustUseEverything(t, got)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, string(text))
	}
	if pages[0] != pages[1] {
		t.Error("two pages of one seed differ")
	}
	if !strings.Contains(pages[0], "All 12 invariants held") {
		t.Error("the page does not say that all invariants held")
	}
}

func TestWhatCannotRunEndsWithOne(t *testing.T) {
	nobody := httptest.NewServer(nil)
	nobody.Close()
	for name, args := range map[string][]string{
		"no such file": {filepath.Join(t.TempDir(), "absent.jsonl")},
		"a directory":  {t.TempDir()},
		"no endpoint":  {"-endpoint", nobody.URL},
	} {
		got := brokerage(t.Context(), nil, args...)
		if got.code != exitFailed || !strings.HasPrefix(got.stderr, "brokerage: ") {
			t.Errorf("%s: exit code %d, stderr %q", name, got.code, got.stderr)
		}
	}
}

func TestAnInterruptedDayFinishesWhatItBegan(t *testing.T) {
	text := daygen.Text(daygen.Day(7, 40))
	ctx, interrupt := context.WithCancel(t.Context())
	silent, keepOpen := io.Pipe() // as a terminal at which nobody types
	defer keepOpen.Close()
	stdin := io.MultiReader(strings.NewReader(text[:len(text)/2]), readFunc(func(p []byte) (int, error) {
		interrupt()
		return silent.Read(p)
	}))
	got := brokerage(ctx, stdin, "-json", "-")
	if got.code != exitFailed || !strings.Contains(got.stderr, "interrupted") {
		t.Fatalf("exit code %d, stderr %q", got.code, got.stderr)
	}
	if r := mustAddUp(t, got); r.OutboxReady != r.Accepted || r.Unfinished != 0 {
		t.Errorf("the report of an interrupted day is %+v", r)
	}
}

// A day that cannot go on stops; what it says about the lines up to then still holds.
func TestAnOrderThatStaysUndecidedStopsTheDay(t *testing.T) {
	db := dynamosim.New(t)
	var sent atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), "."+transact) && sent.Add(1) > 20 {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"no longer"}`)
			return
		}
		db.ServeHTTP(w, r)
	}))
	defer server.Close()
	got := brokerage(t.Context(), strings.NewReader(daygen.Text(daygen.Day(7, 40))), "-json", "-workers", "4", "-endpoint", server.URL, "-")
	if got.code != exitFailed || !strings.Contains(got.stderr, "AccessDenied") || !strings.Contains(got.stderr, "brokerage: line ") {
		t.Fatalf("exit code %d, stderr %q", got.code, got.stderr)
	}
	r := mustAddUp(t, got)
	if r.Unfinished < 1 || r.Unfinished > 4 || r.OutboxReady != r.Accepted {
		t.Errorf("the report is %+v", r)
	}
}

// mustAddUp returns the report of a run that stopped, and checks that every line is in exactly one count.
func mustAddUp(t *testing.T, got ran) report {
	t.Helper()
	var r report
	if err := json.Unmarshal([]byte(got.stdout), &r); err != nil {
		t.Fatal(err)
	}
	if sum := r.Accepted + r.Replayed + r.Mismatched + r.NameTaken + r.NotCovered + r.Invalid + r.Unfinished; sum != r.OrdersRead {
		t.Errorf("%d lines counted, %d read", sum, r.OrdersRead)
	}
	return r
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// An endpoint keeps its tables between runs, so the second run finds every decision of the first.
func TestAnEndpointKeepsTheDecisionsOfTheFirstRun(t *testing.T) {
	url := endpoint(t)
	day := daygen.Day(7, 40)
	first := figures(t, day, "-endpoint", url)
	mustCount(t, first, daygen.Expect(day, 1, covered))
	mustFollow(t, first, day)
	mustCost(t, first)

	second := figures(t, day, "-endpoint", url)
	want := daygen.Expect(day, 2, covered)
	for name, n := range map[string]int{
		"accepted": 0, "name_taken": 0, "outbox_ready": 0, "fills": 0, "events_published": 0, "events_applied": 0,
		"not_covered": 0, "replayed": want.Replayed - daygen.Expect(day, 1, covered).Replayed,
	} {
		if second[name] != float64(n) {
			t.Errorf("second run: %s is %v, want %d", name, second[name], n)
		}
	}
	if first["positions_digest"] != second["positions_digest"] {
		t.Error("the positions are not those of the first run")
	}
}

// endpoint returns an endpoint without the program's tables: the one that the tests run at, or the embedded database
// behind a socket.
func endpoint(t *testing.T) string {
	url := stores.Endpoint()
	if url == "" {
		server := httptest.NewServer(dynamosim.New(t))
		t.Cleanup(server.Close)
		return server.URL
	}
	client := newWire(0, 0).remote(url, 1)
	for _, table := range []txn.Table{ordersTable, idempotencyTable, executionTable, portfolioTable, ledgerTable, reconTable} {
		_, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table.Name})
		var absent *types.ResourceNotFoundException
		if !errors.As(err, &absent) {
			t.Fatalf("table %s is at %s already (%v); the test deletes what it made, so it does not touch it", table.Name, url, err)
		}
		t.Cleanup(func() {
			if _, err := client.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: &table.Name}); err != nil {
				t.Error(err)
			}
		})
	}
	return url
}

func pad(name string) string { return name + strings.Repeat(" ", 12-len(name)) }

func padLeft(number string) string { return strings.Repeat(" ", 9-len(number)) + number }
