package ledger_test

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var withMutants = flag.Bool("mutants", false, "make each mistake of the table in a copy, and see that the named test finds it")

// mutants are mistakes in this package that no history of the harness is needed for, and the test that finds each. Mistakes in
// what is written are planted below invariant.
var mutants = []struct {
	mistake, file, old, new, test string
}{
	{"a transaction is overtaken for ever", "batchqueue.go", "sub.passed >= maxPassed", "false", "TestNobodyIsPassedForever"},
	{"overtaking is not counted", "batchqueue.go", "sub.passed++", "_ = sub", "TestNobodyIsPassedForever"},
	{"company goes where another one has a claim", "batchqueue.go", "case s.batch != nil || s.claimed == b.queue.pass:", "case s.batch != nil:", "TestNobodyIsPassedForever"},
	{"all of a batch fail for one busy item", "batchround.go", "if len(busy) == 0 || busy[m] {", "if true {", "TestABusyItemFailsOnlyThoseWhoNeedIt"},
	{"all that share a busy batch fail for one balance", "batchround.go", " && m.plan.change(g.changes[at-balances].ref) != nil", "", "TestABusyItemFailsOnlyThoseWhoNeedIt"},
	{"a busy record of one's own is nobody's", "batchround.go", "if at >= g.first[i] && at < g.first[i+1] ||", "if i < 0 ||", "TestABusyItemFailsOnlyThoseWhoNeedIt"},
	{"a batch is judged by its sum", "batchmerge.go", "if c.merged {", "if false {", "TestAMergedChangeNeedsWhatItsPartsNeedInTurn"},
	{"one identifier twice in a batch", "batchround.go", "if taken[id] || !g.add", "if !g.add", "TestOneMemberDoesNotSinkTheOthers"},
	{"a member is refused for what others take", "batchjudge.go", "err = g.book.rule(c, s.met.balance)", "_ = c", "TestNobodyIsRefusedForAnothersSake"},
	{"two batches write one balance", "batchqueue.go", "return s.batch != nil || s.claimed == q.pass", "return false", "TestABatchIsAtMostAHundredWrites"},
	{"a batch of more than a hundred writes", "batchqueue.go", "if all.writes+writes > txn.MaxItems {", "if false {", "TestABatchIsAtMostAHundredWrites"},
	{"a queue without an end", "batchqueue.go", "case b.held >= b.config.Queue:", "case false:", "TestTheQueueIsBounded"},
	{"a panic leaves its batch under way", "batchround.go", "b.running--\n", "if broken == nil {\n\t\tb.running--\n\t}\n", "TestAPanicIsRaisedForOneCallerOnly"},
	{"a panic is swallowed", "batchround.go", "heard, m.panicked = true, broken", "heard = true", "TestAPanicIsRaisedForOneCallerOnly"},
	{"a lost copy is forgotten in a refusal", "batchjudge.go", "Unsettled: canceled.Unsettled", "Unsettled: false", "TestARefusalThatALostCopyMayOverturnSaysSo"},
	{"a reversal of what never was", "header.go", `Condition: "#state = :posted AND fingerprint = :read"`, `Condition: "attribute_not_exists(nothing) OR #state = :posted AND fingerprint = :read"`, "TestOnlyWhatIsStoredIsReversed"},
	{"a hold of another account is given back", "capture.go", " AND account = :account", " AND (account = :account OR account <> :account)", "TestOnlyWhatIsHeldIsGivenBack"},
	{"a refused reservation is listed as held", "reservation.go", "delete(item, listed)", "_ = listed", "TestARefusedReservationStaysRefused"},
}

// Every mistake can still be made: the line that it changes is there, once. With -mutants each is made and found.
func TestEveryMutantIsFound(t *testing.T) {
	t.Parallel()
	for _, m := range mutants {
		source, err := os.ReadFile(m.file)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(source), m.old); n != 1 {
			t.Errorf("%s: %q is %d times in %s", m.mistake, m.old, n, m.file)
			continue
		}
		if *withMutants {
			t.Run(m.mistake, func(t *testing.T) { wantFound(t, m.file, strings.Replace(string(source), m.old, m.new, 1), m.test) })
		}
	}
}

// wantFound runs a test of this package with one of its files replaced, and fails the test unless that one does.
func wantFound(t *testing.T, file, source, test string) {
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	changed, overlay := filepath.Join(t.TempDir(), file), filepath.Join(t.TempDir(), "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(here, file): changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{changed: []byte(source), overlay: replace} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "-count=1", "-timeout=60s", "-run", "^"+test+"$", ".").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "FAIL: "+test) && !strings.Contains(string(out), "panic: ") {
		t.Errorf("%s says %v:\n%.2000s", test, err, out)
	}
}
