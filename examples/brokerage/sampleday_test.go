//go:build !race

// The race detector makes the whole day last for minutes. It gets the days of the other tests, which are shorter and have
// more workers and every fault.

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/dynafin/dynafin/examples/brokerage/internal/daygen"
)

// sampleRun is one run of the sample day, as the program shows it both ways.
func sampleRun(t *testing.T) (shown struct{ object, table ran }) {
	t.Helper()
	r, err := ranSample()
	if err != nil {
		t.Fatal(err)
	}
	shown.object.stderr, shown.table.stderr = r.stderr, r.stderr
	var object, table strings.Builder
	if err := errors.Join(r.report.writeJSON(&object), r.report.writeTable(&table)); err != nil {
		t.Fatal(err)
	}
	shown.object.stdout, shown.table.stdout = object.String(), table.String()
	return shown
}

var ranSample = sync.OnceValues(func() (r struct {
	report *report
	stderr string
}, err error) {
	var stderr bytes.Buffer
	o, err := parseFlags(nil, &stderr)
	if err == nil {
		r.report, err = process(context.Background(), o, nil, newConsole(&stderr))
	}
	r.stderr = stderr.String()
	return r, err
})

func TestTheSampleDayComesToItsTotals(t *testing.T) {
	t.Parallel()
	day := daygen.Day(daygen.Seed, daygen.Orders)
	got := decode(t, sampleRun(t).object)
	mustCount(t, got, daygen.Expect(day, 1, covered))
	if got["invalid"] != float64(sampleBroken) {
		t.Errorf("%v lines are invalid, and %d are announced", got["invalid"], sampleBroken)
	}
	mustFollow(t, got, day)
	mustCost(t, got)
	mustUseEverything(t, got)
	if got["answers_lost"] != 0.0 {
		t.Errorf("%v answers lost, want none", got["answers_lost"])
	}
}

// Some figures differ from run to run: a rejected order whose repeat is in work at the same time takes one transaction more or
// less; and what comes twice, early or last, and how full batches are, depends on who was faster.
func TestTheReadmeShowsWhatTheProgramPrints(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	got := sampleRun(t).table
	messages := strings.SplitAfterN(got.stderr, "\n", 5)
	shown := append(messages[:4], strings.SplitAfter(got.stdout, "\n")...)
	differs := regexp.MustCompile(`^(transactions|duplicates|early|fill|publish|apply|settle|AP..) `)
	for _, line := range shown {
		line, _, _ = strings.Cut(line, ", version ")
		if !differs.MatchString(line) && !strings.Contains(string(readme), line) {
			t.Errorf("README.md does not show %q", line)
		}
	}
}
