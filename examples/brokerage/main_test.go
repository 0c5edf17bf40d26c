package main

import (
	"io"
	"strings"
	"testing"
)

// A page is about faults, so it has some unless they are declined; and its name is not part of it.
func TestAPageHasFaultsUnlessToldOtherwise(t *testing.T) {
	for _, c := range []struct {
		args        []string
		lose, crash float64
	}{
		{nil, 0, 0},
		{[]string{"-report", "day.html"}, 0.1, 0.02},
		{[]string{"-report", "day.html", "-lose-answers", "0", "-crash", "0"}, 0, 0},
		{[]string{"-report", "other.html", "-lose-answers", "0.2"}, 0.2, 0.02},
	} {
		o, err := parseFlags(c.args, io.Discard)
		if err != nil || o.lose != c.lose || o.crash != c.crash {
			t.Errorf("%q: %v of the answers are lost, %v of the jobs die, %v", c.args, o.lose, o.crash, err)
		}
		if text := o.command(); !strings.HasSuffix(text, " -report out.html") {
			t.Errorf("%q: the command is %q", c.args, text)
		}
	}
}

func TestWrongUsageEndsWithTwo(t *testing.T) {
	for _, args := range [][]string{
		{"-workers", "0"}, {"-workers", "257"}, {"-workers", "many"}, {"-repeat", "0"}, {"-lose-answers", "1"},
		{"-lose-answers", "-0.1"}, {"-lose-answers", "NaN"}, {"-crash", "0.9"}, {"-report", "out.html", "-endpoint", "http://localhost:8000"}, {"-lag", "1h"}, {"-lag", "5s", "-endpoint", "http://localhost:8000"}, {"-nonsense"}, {"one", "two"},
		{"-endpoint", "nonsense"}, {"-endpoint", "localhost:8000"},
	} {
		got := brokerage(t.Context(), nil, args...)
		if got.code != exitUsage || !strings.Contains(got.stderr, "usage: brokerage") || got.stdout != "" {
			t.Errorf("%q: exit code %d, stdout %q, stderr %q", args, got.code, got.stdout, got.stderr)
		}
	}
	if got := brokerage(t.Context(), nil, "-h"); got.code != exitDone {
		t.Errorf("-h ends with %d", got.code)
	}
}
