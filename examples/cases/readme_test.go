package cases

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

func TestTheReadmeListsEveryCaseWithItsTest(t *testing.T) {
	var declared []string
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		for _, found := range submatches(t, file, `(?m)^func (Test(CS\d\d)_\w+)\(t \*testing\.T\)`) {
			declared = append(declared, fmt.Sprintf("%s [%s](%s)", found[2], found[1], file))
		}
	}
	var listed []string
	for _, found := range submatches(t, "README.md", `(?m)^\| (CS\d\d) \| [^|]+ \| [^|]+ \| (\[\w+\]\(\w+\.go\)) \|$`) {
		listed = append(listed, found[1]+" "+found[2])
	}
	slices.Sort(declared)
	if !slices.Equal(listed, declared) {
		t.Errorf("README.md lists\n%q\nand the tests are\n%q", listed, declared)
	}
	if len(declared) != 12 {
		t.Errorf("%d cases, want 12", len(declared))
	}
}

func submatches(t *testing.T, file, pattern string) [][]string {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1)
}
