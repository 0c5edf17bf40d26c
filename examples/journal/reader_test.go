package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
)

func TestNumbersAreReadDigitByDigit(t *testing.T) {
	for text, want := range map[string]quantity{
		"0":                               {"0", 0, 0},
		"-0":                              {"0", 0, 0},
		"-0.00":                           {"0", 2, '.'},
		"007":                             {"7", 0, 0},
		"100,00":                          {"100", 2, ','},
		"-1000.5":                         {"-1000.5", 1, '.'},
		"0.12345678":                      {"0.12345678", 8, '.'},
		".5":                              {"0.5", 1, '.'},
		"5.":                              {"5", 0, '.'},
		"1.50000000000000000000000000000": {"1.5", 29, '.'},
	} {
		if got, err := parseQuantity(text); err != nil || got != want {
			t.Errorf("%s is %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-", ".", "-,", "--1", "1-", "+1", "1 000", "1'000", "1_000", "1e3", "0x1", "١", "1.2.3", "1,2,3", "1.000,00", "$1", "1 $"} {
		if got, err := parseQuantity(text); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

func TestColumnsAreFoundByTheirNames(t *testing.T) {
	text := "commodity,amount,account,date,txnidx,something new\nEUR,1,a,2026-01-02,1,x\nEUR,-1,b,2026-01-02,1,x\n"
	entries := read(t, text)
	if len(entries) != 1 || len(entries[0].postings) != 2 || entries[0].postings[1].account != "b" || entries[0].postings[1].line != 3 {
		t.Errorf("%+v", entries)
	}
}

// endless is a file that never ends.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	return n, nil
}

// A hundred million rows of one transaction, or one row of a hundred gigabytes: neither is held in memory.
func TestNothingEndlessIsKept(t *testing.T) {
	row := newReader(io.MultiReader(strings.NewReader(header), &endless{text: "x"}))
	if _, err := row.next(); !errors.Is(err, errTooLong) {
		t.Errorf("a row without an end: %v", err)
	}
	rows := io.LimitReader(&endless{text: rows(1, "2026-01-02", "x", "a|1|EUR")}, 20<<20)
	many := newReader(io.MultiReader(strings.NewReader(header), rows))
	var bad *lineError
	if _, err := many.next(); !errors.As(err, &bad) || bad.line != 2 {
		t.Errorf("a transaction without an end: %v", err)
	}
	if _, err := many.next(); err == nil {
		t.Error("there is another one")
	}
}

// FuzzReader holds that whatever is read means the same when it is written and read again, and that lines only rise.
func FuzzReader(f *testing.F) {
	f.Add(header + coffee(1) + coffee(2))
	f.Add(byteOrderMark + header + rows(1, "2026-01-02", "x", "(a)|1,5|€", "[b c]|-1.50|\"\"") + header + coffee(1))
	f.Add("txnidx,date,account,amount,commodity\n1,2026-01-01,a,1,\n\n1,2026-01-01,b,-1,\r\n2,x,y\n")
	f.Add(header + "1,2026-01-02,,*,\"a \"\"code\"\"\",\"two\nlines\",,a,0,\"A B\",,0,!,;\n")
	f.Fuzz(func(t *testing.T, text string) {
		r := newReader(strings.NewReader(text))
		line := 0
		for {
			e, err := r.next()
			var bad *lineError
			if errors.As(err, &bad) {
				if bad.line <= line {
					t.Fatalf("line %d is bad after line %d", bad.line, line)
				}
				continue
			}
			if err != nil {
				return
			}
			if len(e.postings) == 0 || e.line <= line {
				t.Fatalf("after line %d: %+v", line, e)
			}
			line = e.postings[len(e.postings)-1].line
			again, err := newReader(bytes.NewReader(written(t, e))).next()
			if err != nil || again.identity() != e.identity() || again.head != e.head {
				t.Fatalf("%+v, written and read again: %+v, %v", e, again, err)
			}
		}
	})
}

// written writes a transaction as hledger would.
func written(t *testing.T, e *entry) []byte {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	records := [][]string{strings.Split(strings.TrimSpace(header), ",")}
	for _, p := range e.postings {
		account := strings.TrimSpace(virtualOpen[p.virtual:p.virtual+1] + p.account + virtualClose[p.virtual:p.virtual+1])
		records = append(records, []string{e.index, e.head.date, e.date2, e.status, e.code, e.description, e.comment, account,
			p.amount.text, p.commodity, "", "", p.status, p.comment})
	}
	for i := range records[1:] {
		records[i+1][0] = strconv.Itoa(7)
	}
	if err := w.WriteAll(records); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}
