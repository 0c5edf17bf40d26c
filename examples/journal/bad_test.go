package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const header = "txnidx,date,date2,status,code,description,comment,account,amount,commodity,credit,debit,posting-status,posting-comment\n"

// rows writes a transaction: each posting is account|amount|commodity.
func rows(index int, date, description string, postings ...string) string {
	var text strings.Builder
	for _, p := range postings {
		fields := strings.Split(p, "|")
		fmt.Fprintf(&text, "%d,%s,,,,%s,,%s,\"%s\",%s,,,,\n", index, date, description, fields[0], fields[1], fields[2])
	}
	return text.String()
}

// coffee is a transaction that nothing is wrong with.
func coffee(index int) string {
	return rows(index, "2026-01-02", "Coffee", "expenses:coffee|3.20|EUR", "assets:cash|-3.20|EUR")
}

const coffeeBalances = "assets:cash\tEUR\t-3.20\nexpenses:coffee\tEUR\t3.20\n"

// Whatever is wrong with a transaction: the message names its line, nothing of it is posted, and those around it are.
func TestABadTransactionIsNamedAndPassedOver(t *testing.T) {
	cases := []struct{ name, bad, message string }{
		{"one commodity is left over", rows(2, "2026-01-03", "x", "a|3.20|EUR", "b|-3.02|EUR"), ":4: does not balance: 0.18 EUR too much"},
		{"two of one sign", rows(2, "2026-01-03", "x", "a|3|EUR", "b|2|USD"), ":4: does not balance: 3.00 EUR and 2.00 USD too much"},
		{"a part is missing", rows(2, "2026-01-03", "x", "a|3|EUR"), ":4: does not balance: 3.00 EUR too much"},
		{"balanced virtual postings do not", rows(2, "2026-01-03", "x", "a|1|EUR", "b|-1|EUR", "[c]|1|EUR"), ":4: does not balance: 1.00 EUR too much"},
		{"no day", rows(2, "2026-02-30", "x", "a|1|EUR", "b|-1|EUR"), `:4: date: "2026-02-30" is no date such as 2026-01-31`},
		{"year nought", rows(2, "0000-01-01", "x", "a|1|EUR", "b|-1|EUR"), `:4: date: "0000-01-01" is no date`},
		{"digit groups", rows(2, "2026-01-03", "x", "a|1,200.00|EUR", "b|-1|EUR"), `:4: amount: "1,200.00" has digit groups`},
		{"an exponent", rows(2, "2026-01-03", "x", "a|1|EUR", "b|-1e3|EUR"), `:5: amount: "-1e3" is no plain number`},
		{"not a number", rows(2, "2026-01-03", "x", "a|NaN|EUR", "b|-1|EUR"), `:4: amount: "NaN" is no plain number`},
		{"no amount", rows(2, "2026-01-03", "x", "a||EUR", "b|-1|EUR"), `:4: amount: "" is no plain number`},
		{"finer than anything", rows(2, "2026-01-03", "x", "a|0.0000000000000000001|EUR", "b|-1|EUR"), ":4: amount: \"0.0000000000000000001\" has more than 18"},
		{"a mebibyte of digits", rows(2, "2026-01-03", "x", "a|"+strings.Repeat("9", 1<<20-100)+"|EUR", "b|-1|EUR"), ":4: amount of EUR: "},
		{"39 digits", rows(2, "2026-01-03", "x", "a|"+strings.Repeat("9", 39)+"|EUR", "b|-1|EUR"), ":4: amount of EUR: "},
		{"38 digits", rows(2, "2026-01-03", "x", "a|"+strings.Repeat("9", 36)+"|EUR", "b|-"+strings.Repeat("9", 36)+"|EUR"), ":4: "},
		{"no account", rows(2, "2026-01-03", "x", "|1|EUR", "b|-1|EUR"), ":4: account: is empty"},
		{"nothing in brackets", rows(2, "2026-01-03", "x", "()|1|EUR"), ":4: account: is empty"},
		{"an account of ours", rows(2, "2026-01-03", "x", "equity:conversion  EUR  USD|1|EUR", "b|-1|EUR"), ":4: account: "},
		{"a control character", rows(2, "2026-01-03", "x", "a\tb|1|EUR", "b|-1|EUR"), ":4: account: "},
		{"a tab in a commodity", rows(2, "2026-01-03", "x", "a|1|E\tR", "b|-1|E\tR"), ":4: commodity: "},
		{"a name longer than a key", rows(2, "2026-01-03", "x", strings.Repeat("a", 3000)+"|1|EUR", "b|-1|EUR"), ":4: ledger: "},
		{"no text", rows(2, "2026-01-03", "\xff", "a|1|EUR", "b|-1|EUR"), ":4: description: is not valid UTF-8"},
		{"two descriptions", rows(2, "2026-01-03", "x", "a|1|EUR") + rows(2, "2026-01-03", "y", "b|-1|EUR"), ":5: the rows of transaction 2 differ in description; lines 4 and 5"},
		{"two dates", rows(2, "2026-01-03", "x", "a|1|EUR") + rows(2, "2026-01-04", "x", "b|-1|EUR"), ":5: the rows of transaction 2 differ in date; lines 4 and 5"},
		{"too few fields", "2,2026-01-03,,,,x,,a,1\n", ":4: 9 fields, the header has 14"},
		{"too many fields", strings.Replace(rows(2, "2026-01-03", "x", "a|1|EUR"), "\n", ",\n", 1), ":4: 15 fields, the header has 14"},
		{"more than a page of metadata", rows(2, "2026-01-03", strings.Repeat("x", 17*1024), "a|1|EUR", "b|-1|EUR"), ":4: ledger: "},
		{"more postings than anyone has", rows(2, "2026-01-03", "x", strings.Split(strings.Repeat("a|1|EUR,", maxPostings+1), ",")[:maxPostings+1]...), ":4: transaction 2 has more than 10000 postings"},
		{"longer than it may be", strings.Repeat(rows(2, "2026-01-03", strings.Repeat("x", 1<<19), "a|1|EUR"), 9), ":4: transaction 2 has more than"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := journal(t.Context(), strings.NewReader(header+coffee(1)+c.bad+coffee(3)), "-")
			if got.code != exitFailed {
				t.Errorf("exit code %d", got.code)
			}
			if message, _, _ := strings.Cut(got.stderr, "\n"); !strings.HasPrefix(message, "standard input"+c.message) || len(message) > 600 {
				t.Errorf("the message is %.800q, want one that begins with %q", message, c.message)
			}
			got.says(t, "3 transactions: 2 posted, 0 there before, 1 refused\n")
			if want := strings.ReplaceAll(coffeeBalances, "3.20", "6.40"); got.stdout != want {
				t.Errorf("the balances are\n%s, want\n%s", got.stdout, want)
			}
		})
	}
}

// A file that cannot be read to its end is not imported to its middle.
func TestNothingOfABrokenFileIsPosted(t *testing.T) {
	for name, c := range map[string]struct{ text, message string }{
		"empty":                 {"", "standard input: the file is empty; export with: hledger print -O csv"},
		"a journal, not CSV":    {"2026-01-02 Coffee\n    expenses  3 EUR\n", `standard input: line 1: there is no column "txnidx"`},
		"the balances instead":  {"\"account\",\"balance\"\n\"a\",\"1\"\n", `standard input: line 1: there is no column "txnidx"`},
		"two columns of a name": {"txnidx,txnidx\n", "standard input: line 1: two columns are called"},
		"a quote never ends":    {header + coffee(1) + "2,\"2026\n", "standard input: line 4: not CSV: "},
		"a quote in the middle": {header + coffee(1) + "2,20\"26\"\n" + coffee(3), "standard input: line 4: not CSV: "},
		"a row never ends":      {header + coffee(1) + strings.Repeat("x", 2<<20), "standard input: after line 3: a row has more than 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			url, _ := server(t)
			got := journal(t.Context(), strings.NewReader(c.text), "-endpoint", url, "-")
			if got.code != exitFailed || got.stdout != "" || !strings.HasPrefix(got.stderr, "journal: "+c.message) {
				t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
			}
			if got := imports(t, header+coffee(1), "-endpoint", url, "-"); got.stdout != coffeeBalances {
				t.Errorf("afterwards the balances are\n%s", got.stdout)
			}
		})
	}
}

func TestWhatCannotBeReadEndsWithOne(t *testing.T) {
	for _, name := range []string{"testdata/absent.csv", "testdata"} {
		if got := journal(t.Context(), nil, name); got.code != exitFailed || !strings.HasPrefix(got.stderr, "journal: ") {
			t.Errorf("%s: exit code %d\n%s", name, got.code, got.stderr)
		}
	}
}

// One mark may be a thousands separator where there are two, so 1,000 is not guessed at.
func TestACommodityWithTwoDecimalMarksIsRefused(t *testing.T) {
	text := header + rows(1, "2026-01-02", "x", "a|1.50|EUR", "b|-1.50|EUR") +
		rows(2, "2026-01-03", "y", "a|1,000|EUR", "b|-1,000|EUR") + rows(3, "2026-01-03", "z", "a|1,5|GBP", "b|-1,5|GBP")
	got := journal(t.Context(), strings.NewReader(text), "-")
	got.says(t, "standard input:4: the amounts of EUR have a decimal point (line 2) and a decimal comma (line 4)\n")
	got.says(t, "3 transactions: 1 posted, 0 there before, 2 refused\n")
	if got.stdout != "a\tGBP\t1.5\nb\tGBP\t-1.5\n" {
		t.Errorf("the balances are\n%s", got.stdout)
	}
}

func TestFinerAmountsThanTheLedgerKeepsAreRefusedAndCanBeForeseen(t *testing.T) {
	coarse := header + rows(1, "2026-01-02", "x", "a|1.5|$", "b|-1.5|$")
	fine := header + rows(1, "2026-01-03", "y", "a|0.125|$", "b|-0.125|$")
	url, _ := server(t)
	imports(t, coarse, "-endpoint", url, "-")
	got := journal(t.Context(), strings.NewReader(fine), "-endpoint", url, "-")
	if got.code != exitFailed || got.stdout != "" {
		t.Errorf("exit code %d\n%s", got.code, got.stdout)
	}
	got.says(t, "standard input:2: amount of $: ")
	got.says(t, "keeps 1 decimal place of it")

	imports(t, coarse, "-endpoint", url, "-tenant", "other", "-scale", "$=4", "-")
	if got := imports(t, fine, "-endpoint", url, "-tenant", "other", "-"); got.stdout != "a\t$\t1.625\nb\t$\t-1.625\n" {
		t.Errorf("the balances are\n%s", got.stdout)
	}
}

// More months than an account keeps open: the oldest ones are closed on the way.
func TestAJournalOfFourteenYears(t *testing.T) {
	var text strings.Builder
	text.WriteString(header)
	for i := range 170 {
		date := time.Date(2001, time.Month(1+i), 15, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
		text.WriteString(rows(i+1, date, "Rent", "expenses:rent|700.00|EUR", "assets:bank|-700.00|EUR"))
	}
	url, _ := server(t)
	for _, said := range []string{": 170 posted, 0 there before", ": 0 posted, 170 there before"} {
		got := imports(t, text.String(), "-endpoint", url, "-verify", "-")
		got.says(t, said)
		got.says(t, "2 balances proved from 340 postings\n")
		if got.stdout != "assets:bank\tEUR\t-119000.00\nexpenses:rent\tEUR\t119000.00\n" {
			t.Errorf("the balances are\n%s", got.stdout)
		}
	}
}
