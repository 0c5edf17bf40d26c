package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

func TestTheReadmeShowsWhatTheProgramPrints(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), nil, nil, &stdout, &stderr); code != 0 || stderr.Len() > 0 {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	if !strings.Contains(string(readme), "```text\n"+stdout.String()+"```\n") {
		t.Errorf("README.md does not show\n%s", &stdout)
	}
}

func TestWrongUsageEndsWithTwo(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"more"}, nil, &stdout, &stderr); code != 2 || !strings.Contains(stderr.String(), "usage: ") {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
}
