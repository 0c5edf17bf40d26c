// Command write puts the sample day into the file that its argument names.
package main

import (
	"fmt"
	"os"

	"github.com/dynafin/dynafin/examples/brokerage/internal/daygen"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: write FILE")
		os.Exit(2)
	}
	text := daygen.Text(daygen.Day(daygen.Seed, daygen.Orders))
	if err := os.WriteFile(os.Args[1], []byte(text), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "write:", err)
		os.Exit(1)
	}
}
