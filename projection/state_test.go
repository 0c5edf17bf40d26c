package projection

import (
	"os"
	"strings"
	"testing"
)

// Every version against every place of a source: lower and equal is stale, the next is applied, all others wait.
func TestEveryVersionHasOneResult(t *testing.T) {
	t.Parallel()
	for current := range int64(6) {
		for version := int64(1); version < 9; version++ {
			want := Parked
			if version <= current {
				want = Stale
			} else if version-current == 1 {
				want = Applied
			}
			if got := resultOf(current, version); got != want {
				t.Errorf("version %d at %d: %s, want %s", version, current, got, want)
			}
		}
	}
}

// The states and results that the package documentation draws are those that there are.
func TestTheDocumentationNamesEveryStateAndResult(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{string(Applied), string(Stale), string(Parked), string(Building), string(Loaded), string(Proved)} {
		if !strings.Contains(string(text), name) {
			t.Errorf("%s is not in doc.go", name)
		}
	}
	for _, name := range attributes[:len(attributes)-2] {
		if !strings.Contains(string(text), name) {
			t.Errorf("attribute %s is not in doc.go", name)
		}
	}
}
