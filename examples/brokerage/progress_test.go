package main

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/dynafin/dynafin/capacity"
)

func TestProgressLine(t *testing.T) {
	at := tally{Read: 12345, Outcomes: map[outcome]int{accepted: 10000}}
	for _, c := range []struct {
		percent int
		elapsed time.Duration
		want    string
	}{
		{-1, 5 * time.Second, "12,345 orders   10,000 accepted   2,469/s"},
		{25, 5 * time.Second, "12,345 orders   10,000 accepted   2,469/s   25%   15s left"},
		{100, 5 * time.Second, "12,345 orders   10,000 accepted   2,469/s   100%"},
		{0, 0, "12,345 orders   10,000 accepted   0%"},
	} {
		if got := progressLine(at, c.percent, c.elapsed); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

func TestMessagesStandOnLinesOfTheirOwn(t *testing.T) {
	var screen bytes.Buffer
	c := newConsole(&screen)
	c.progress("10 orders")
	c.say("line %d: bad", 7)
	c.progress("20 orders")
	c.clear()
	if want := "10 orders\r\x1b[Kline 7: bad\n20 orders\r\x1b[K"; screen.String() != want {
		t.Errorf("got %q, want %q", screen.String(), want)
	}
}

func TestNoProgressWhereThereIsNoTerminal(t *testing.T) {
	var screen bytes.Buffer
	c := newConsole(&screen)
	c.follow((&day{}).progress)()
	if screen.Len() > 0 {
		t.Errorf("%q was written", screen.String())
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is written %s", n, got)
		}
	}
}

func TestMeanIsExact(t *testing.T) {
	for _, c := range []struct {
		sum  int64
		n    int
		want string
	}{{30, 1, "15"}, {31, 1, "15.5"}, {1, 3, "0.167"}, {0, 0, "0"}, {200, 10, "10"}} {
		if got := mean(capacity.Units(c.sum), c.n); fmt.Sprint(got) != c.want {
			t.Errorf("%d halves over %d orders are %s, want %s", c.sum, c.n, got, c.want)
		}
	}
}
