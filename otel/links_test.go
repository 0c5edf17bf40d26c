package otel_test

import (
	"os/exec"
	"strings"
	"testing"
)

// A library speaks the API; which SDK there is, if any, is the program's decision.
func TestImportingThisCompilesNoSDK(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dep := range strings.FieldsSeq(string(out)) {
		if strings.HasPrefix(dep, "go.opentelemetry.io/otel/sdk") || strings.Contains(dep, "dynamosim") {
			t.Errorf("it compiles %s", dep)
		}
	}
	if !strings.Contains(string(out), "go.opentelemetry.io/otel/metric") {
		t.Error("what was listed is not this package")
	}
}
