// Package readme holds the tests that the small examples have in common: what a README shows is what its program prints.
package readme

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
)

// TB is the part of testing.TB that Shows needs.
type TB interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
}

// Shows runs the program and compares all that it prints with the text block of README.md beside the test.
func Shows(t TB, run func(ctx context.Context, out io.Writer) error) {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Errorf("%v", err)
	}
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Errorf("the program ends with: %v", err)
	}
	if !strings.Contains(string(readme), "\n```text\n"+out.String()+"```\n") {
		t.Errorf("README.md does not show what the program prints:\n%s", &out)
	}
}
