package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/examples/brokerage/internal/daygen"
)

func testMarket(t testing.TB) market {
	t.Helper()
	m, err := openMarket()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestSampleDayIsWhatTheGeneratorWrites(t *testing.T) {
	file, err := os.ReadFile("testdata/day.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if string(file) != daygen.Text(daygen.Day(daygen.Seed, daygen.Orders)) {
		t.Error("testdata/day.jsonl differs from what its generator writes; run: go generate ./examples/brokerage")
	}
	if string(sampleDay) != string(file) {
		t.Error("the built-in day is not the file")
	}
}

func TestEveryLineOfTheDayIsJudgedAsItsGeneratorSays(t *testing.T) {
	m := testMarket(t)
	for i, line := range daygen.Day(daygen.Seed, daygen.Orders) {
		_, err := m.parse([]byte(line.Text))
		switch {
		case line.Invalid == "" && err != nil:
			t.Errorf("line %d is a good order, got %v", i+1, err)
		case line.Invalid != "" && err == nil:
			t.Errorf("line %d must be refused because of %q", i+1, line.Invalid)
		case line.Invalid != "" && !strings.Contains(err.Error(), line.Invalid):
			t.Errorf("line %d: the error should speak of %q: %v", i+1, line.Invalid, err)
		}
	}
}

const goodLine = `{"tenant":"alder","request_key":"r-1","client_order_id":"c-1","account":"ACC-1","symbol":"ETH-USD",` +
	`"side":"buy","type":"limit","quantity":1.000000000000000001,"limit_price":"0.1","currency":"USD","at":"2026-11-27T15:30:00.5+01:00"}`

func TestParseKeepsEveryDigit(t *testing.T) {
	o, err := testMarket(t).parse([]byte(goodLine))
	if err != nil {
		t.Fatal(err)
	}
	if got := o.Quantity.String(); got != "1.000000000000000001 ETH-USD" {
		t.Errorf("quantity is %s", got)
	}
	if got := o.LimitPrice.String(); got != "0.10 USD" {
		t.Errorf("limit price is %s", got)
	}
	if want := time.Date(2026, 11, 27, 14, 30, 0, 500_000_000, time.UTC); !o.At.Equal(want) || o.At.Location() != time.UTC {
		t.Errorf("at is %v, want %v", o.At, want)
	}
	if o.TimeInForce != "day" {
		t.Errorf("time in force is %q, want the default", o.TimeInForce)
	}
}

func TestParseNamesEveryFaultOfALine(t *testing.T) {
	line := strings.NewReplacer(`"side":"buy"`, `"side":"hold"`, `"tenant":"alder",`, "", `"0.1"`, `"1e3"`).Replace(goodLine)
	_, err := testMarket(t).parse([]byte(line))
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range []string{"side:", "tenant: is missing", "limit_price:"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not say %q: %v", part, err)
		}
	}
}

// An order of which no trade could be booked is not accepted.
func TestParseRefusesAnOrderWithoutAValue(t *testing.T) {
	nines := func(n int) string { return strings.Repeat("9", n) }
	for name, edit := range map[string]*strings.Replacer{
		"at its limit": strings.NewReplacer("1.000000000000000001", nines(20), `"0.1"`, nines(20)),
		"at the last price": strings.NewReplacer("1.000000000000000001", nines(38), `"limit"`, `"market"`, `,"limit_price":"0.1"`, "",
			`"ETH-USD"`, `"TOKAI"`, `"USD"`, `"JPY"`),
	} {
		if _, err := testMarket(t).parse([]byte(edit.Replace(goodLine))); err == nil || !strings.Contains(err.Error(), "its value at this price does not fit") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTwoSpellingsOfOneOrderHaveOneFingerprint(t *testing.T) {
	m := testMarket(t)
	fingerprint := func(line string) string {
		o, err := m.parse([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		f, err := o.request().Fingerprint()
		if err != nil {
			t.Fatal(err)
		}
		return f.String()
	}
	original := fingerprint(goodLine)
	for name, edit := range map[string][2]string{
		"a quoted number":      {`1.000000000000000001`, `"1.000000000000000001"`},
		"padding zeros":        {`"0.1"`, `0.10`},
		"the same instant":     {`15:30:00.5+01:00`, `14:30:00.500Z`},
		"an escaped letter":    {`"alder"`, `"\u0061lder"`},
		"the default in words": {`"side"`, `"time_in_force":"day","side"`},
	} {
		if fingerprint(strings.Replace(goodLine, edit[0], edit[1], 1)) != original {
			t.Errorf("%s makes another order", name)
		}
	}
	for name, edit := range map[string][2]string{
		"the last digit":   {`1.000000000000000001`, `1.000000000000000002`},
		"the side":         {`"buy"`, `"sell"`},
		"a nanosecond":     {`00.5+`, `00.500000001+`},
		"another trader":   {`"side"`, `"trader":"x","side"`},
		"a market order":   {`"limit","quantity":1.000000000000000001,"limit_price":"0.1"`, `"market","quantity":1.000000000000000001`},
		"another order ID": {`"c-1"`, `"c-2"`},
	} {
		if fingerprint(strings.Replace(goodLine, edit[0], edit[1], 1)) == original {
			t.Errorf("%s makes no difference", name)
		}
	}
}

// largestOrder has every field at its limit, in the letters that take most room in keys and in JSON.
func largestOrder(t *testing.T) order {
	t.Helper()
	number := strings.Repeat("9", 20) + "." + strings.Repeat("9", 18)
	line := strings.NewReplacer(
		`"alder"`, `"`+strings.Repeat("t", maxText/2)+`"`,
		`"ACC-1"`, `"`+strings.Repeat("a", maxText/2)+`"`,
		`"r-1"`, `"`+strings.Repeat("#", maxText)+`"`,
		`"c-1"`, `"`+strings.Repeat("#", maxText)+`"`,
		`1.000000000000000001`, number,
		`"0.1"`, strings.Repeat("9", 14)+".99", // its value just fits the books
		`"side"`, `"time_in_force":"day","trader":"`+strings.Repeat("x", maxText)+`","instructions":"`+strings.Repeat("x", maxInstructions)+`","side"`,
	).Replace(goodLine)
	o, err := testMarket(t).parse([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// The limits of a line are chosen so that the price of an accepted order is known before it is sent.
func TestTheLargestOrderStaysWithinItsWriteUnits(t *testing.T) {
	const mark = 64 // room for the transaction's mark
	o := largestOrder(t)
	now := time.Date(2026, 11, 27, 15, 0, 0, 123456789, time.UTC)
	item, err := orderItem(o, now)
	if err != nil {
		t.Fatal(err)
	}
	if size := capacity.ItemSize(item) + mark; size > 2*capacity.WriteUnitBytes {
		t.Errorf("the order has %d bytes", size)
	}
	event, err := acceptedEvent(o, now)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("order %d, payload %d", capacity.ItemSize(item)+mark, len(event.Payload))
}

func TestReadLine(t *testing.T) {
	long := strings.Repeat("x", maxLine+1)
	fits := strings.Repeat("y", maxLine)
	input := "first\n\n" + long + "\n" + fits + "\n" + long + long + long + "\nlast"
	lines := bufio.NewReaderSize(strings.NewReader(input), maxLine+1)
	for i, want := range []struct {
		line string
		err  error
	}{{"first", nil}, {"", nil}, {"", errOverlong}, {fits, nil}, {"", errOverlong}, {"last", nil}, {"", io.EOF}} {
		line, err := readLine(lines)
		if !errors.Is(err, want.err) || string(line) != want.line {
			t.Errorf("line %d: got %.20q, %v; want %.20q, %v", i+1, line, err, want.line, want.err)
		}
	}
}

func TestReadLineTakesAnOverlongLastLineForALine(t *testing.T) {
	lines := bufio.NewReaderSize(strings.NewReader(strings.Repeat("x", maxLine+1)), maxLine+1)
	if _, err := readLine(lines); !errors.Is(err, errOverlong) {
		t.Errorf("got %v", err)
	}
	if _, err := readLine(lines); err != io.EOF {
		t.Errorf("got %v, want the end", err)
	}
}
