// Command golden makes the test data of examples/journal with hledger, which it needs in the path: of every journal the
// CSV that hledger prints, and the balances that hledger finds, in the form in which the program prints its own.
//
//	go run ./internal/golden testdata
package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/dynafin/dynafin/examples/journal/internal/year"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: golden DIRECTORY")
		os.Exit(2)
	}
	if err := makeAll(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "golden:", err)
		os.Exit(1)
	}
}

func makeAll(dir string) error {
	long := filepath.Join(dir, "year.journal")
	if err := os.WriteFile(long, []byte(year.Journal(year.Seed, year.Transactions)), 0o644); err != nil {
		return err
	}
	journals, err := filepath.Glob(filepath.Join(dir, "*.journal"))
	if err != nil {
		return err
	}
	for _, journal := range journals {
		name := strings.TrimSuffix(journal, ".journal")
		printed, printing := hledger("-f", journal, "print", "-O", "csv")
		balances, balancing := hledger("-f", journal, "balance", "--flat", "-N", "--layout=bare", "-O", "csv")
		table, reading := tabbed(balances)
		if err := errors.Join(printing, balancing, reading); err != nil {
			return err
		}
		if err := errors.Join(os.WriteFile(name+".csv", printed, 0o644), os.WriteFile(name+".tsv", table, 0o644)); err != nil {
			return err
		}
	}
	return nil
}

func hledger(args ...string) ([]byte, error) {
	var said bytes.Buffer
	command := exec.Command("hledger", args...)
	command.Stderr = &said
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("hledger %s: %w: %s", strings.Join(args, " "), err, &said)
	}
	return out, nil
}

// tabbed writes balances with tabs, and with a point as the decimal mark. hledger keeps that of the commodity.
func tabbed(balances []byte) ([]byte, error) {
	rows, err := csv.NewReader(bytes.NewReader(balances)).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, errors.Join(err, errors.New("no balances"))
	}
	var text bytes.Buffer
	for _, row := range rows[1:] {
		fmt.Fprintf(&text, "%s\t%s\t%s\n", row[0], row[1], strings.Replace(row[2], ",", ".", 1))
	}
	return text.Bytes(), nil
}
