package invariant_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dynafin/dynafin/invariant"
)

// failing names the environment variable that lets the tests below fail, in a process of their own.
const failing = "DYNAFIN_INVARIANT_FAILING"

// TestFailingChild is what the tests of this file run: it fails as the variable says, and passes without it.
func TestFailingChild(t *testing.T) {
	switch os.Getenv(failing) {
	case "invariant":
		invariant.Check(t, invariant.Config{}, func(w *invariant.World) {
			w.Table("Seats")
			for _, client := range []string{"ann", "bob"} {
				w.Command(client, func(ctx context.Context, p *invariant.Process) ([]byte, error) { return claimSeat(ctx, p, client) })
			}
			w.Run()
			w.Settle()
			w.Check("each client is told one thing", invariant.SameAnswers(w.Answers()))
		})
	case "never":
		invariant.Check(t, calm, func(w *invariant.World) { w.Sometimes("the impossible", false) })
	case "each fault":
		invariant.EachFault(t, calm, func(w *invariant.World) {
			w.Table("Things")
			w.Worker("a", func(ctx context.Context, p *invariant.Process) error {
				_ = put(ctx, p, "x")
				return nil
			})
			w.Run()
			w.Settle()
			if !stored(w, "x") {
				w.Fatalf("it is not stored")
			}
		})
	}
}

// child runs TestFailingChild in a directory of its own and returns what it prints.
func child(t *testing.T, dir, how string, args ...string) string {
	t.Helper()
	command := exec.Command(os.Args[0], append([]string{"-test.run=^TestFailingChild$"}, args...)...)
	command.Dir, command.Env = dir, append(os.Environ(), failing+"="+how)
	out, err := command.CombinedOutput()
	if err == nil {
		t.Fatalf("it passed:\n%s", out)
	}
	return string(out)
}

func mustSay(t *testing.T, out string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(out, word) {
			t.Errorf("%q is not in\n%s", word, out)
		}
	}
}

// TestAFailureShowsItsScheduleAndReplays: the printed options, given to the test, bring the same schedule back.
func TestAFailureShowsItsScheduleAndReplays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := child(t, dir, "invariant", "-rapid.shrinktime=2s")
	mustSay(t, out, "invariant each client is told one thing", "time", "fate", "GetItem SEAT#12A/SEAT",
		"to replay the schedule above: go test github.com/dynafin/dynafin/invariant -count=1 -run '^TestFailingChild$' -rapid.failfile=")
	kept := regexp.MustCompile(`-rapid\.failfile=(\S+\.fail)\n`).FindStringSubmatch(out)
	seed := regexp.MustCompile(`-run '\^TestFailingChild\$' -rapid\.seed=(\d+)`).FindStringSubmatch(out)
	if kept == nil || seed == nil {
		t.Fatalf("no commands in\n%s", out)
	}
	table := regexp.MustCompile(`(?s)time +worker.*?\n    check\.go`)
	again := child(t, dir, "invariant", "-rapid.failfile="+kept[1])
	if one, two := table.FindString(out), table.FindString(again); one == "" || one != two {
		t.Errorf("the file gave\n%s\nnot\n%s", two, one)
	}
	fresh := t.TempDir()
	mustSay(t, child(t, fresh, "invariant", "-rapid.seed="+seed[1], "-rapid.shrinktime=1ms"), "failed after 0 tests")
	mustSay(t, child(t, filepath.Join(fresh), "invariant", "-rapid.nofailfile", "-rapid.shrinktime=1ms"), "invariant each client")
}

func TestWhatNeverHappenedFailsTheCheck(t *testing.T) {
	t.Parallel()
	mustSay(t, child(t, t.TempDir(), "never", "-rapid.checks=100"), "in 1000 histories these never happened", "the impossible")
}

func TestEachFaultShowsWhichOneBroke(t *testing.T) {
	t.Parallel()
	mustSay(t, child(t, t.TempDir(), "each fault"), "request 1, request lost: invariant story: it is not stored", "PutItem x/x")
}
