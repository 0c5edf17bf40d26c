package situations

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the page instead of comparing it")

const path = "../../../docs/situations.md"

// TestThePageIsCurrent plays every situation and compares what was said with the page; with -update it writes the page.
func TestThePageIsCurrent(t *testing.T) {
	want, err := page(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s is not what happens; run: go generate ./examples/internal/situations (%v)", path, err)
	}
}

// Whatever goes wrong in a situation, there is one order, or one charge, and one answer.
func TestEverySituationEndsWell(t *testing.T) {
	for _, of := range stories {
		said, err := play(t.Context(), of)
		if err != nil {
			t.Errorf("%s: %v", of.title, err)
		}
		if strings.Count(said, "->>provider: charge") > 1 {
			t.Errorf("%s: the provider is asked to charge twice:\n%s", of.title, said)
		}
		if strings.Contains(said, "Exception") || strings.Contains(said, " /") {
			t.Errorf("%s: a request or an answer has no name:\n%s", of.title, said)
		}
	}
}
