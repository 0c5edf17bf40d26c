package house

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxFirstPage is how much somebody reads who has not decided yet.
const maxFirstPage = 300

var floorBox = regexp.MustCompile(`\bf(\d)\["([^"]*)"\]`)

// checkPicture compares the floors that a document draws with those that the imports are held to. Modules of their own and
// internal packages are in no picture.
func checkPicture(f file, floors map[string]int, nested func(dir string) bool) (findings []string) {
	drawn := map[string]int{}
	for _, m := range floorBox.FindAllStringSubmatch(f.text, -1) {
		for name := range strings.SplitSeq(m[2], ", ") {
			drawn[name] = int(m[1][0] - '0') // 0 is the ground
		}
	}
	for _, name := range slices.Sorted(maps.Keys(floors)) {
		at, ok := drawn[name]
		delete(drawn, name)
		if name == "." || strings.Contains("/"+name, "/internal/") || nested(name) {
			continue
		}
		if want := max(floors[name], 0); !ok || at != want {
			findings = append(findings, fmt.Sprintf("%s does not draw %s on floor %d", f.path, name, want))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(drawn)) {
		findings = append(findings, fmt.Sprintf("%s draws %s, which has no floor", f.path, name))
	}
	return findings
}

var plantedCount = regexp.MustCompile(`\[(\d+) planted bugs\]`)

// checkPlanted compares the number of planted bugs that a document claims with the rows of their page.
func checkPlanted(f, page file) []string {
	rows := -2 // the head of the table
	for line := range strings.Lines(page.text) {
		if strings.HasPrefix(line, "|") {
			rows++
		}
	}
	claimed := plantedCount.FindStringSubmatch(f.text)
	if claimed == nil || claimed[1] != fmt.Sprint(rows) {
		return []string{fmt.Sprintf("%s claims %v, and %s has %d", f.path, claimed, page.path, rows)}
	}
	return nil
}

// TestTheFirstPageIsShortAndTrue: the figures and the picture that nothing else holds.
func TestTheFirstPageIsShortAndTrue(t *testing.T) {
	tr := checkout(t)
	readme, _ := tr.named("README.md")
	planted, _ := tr.named("docs/planted-bugs.md")
	if lines := strings.Count(readme.text, "\n"); lines > maxFirstPage {
		t.Errorf("README.md has %d lines, the limit is %d: what can wait belongs into docs", lines, maxFirstPage)
	}
	index, _ := tr.named("docs/README.md")
	report(t, checkPicture(index, floors, tr.nested))
	report(t, checkPlanted(readme, planted))
}

func TestFirstPageChecksFindWhatHasChanged(t *testing.T) {
	page := file{path: "README.md", text: "[3 planted bugs]\n  f1[\"b, gone\"] --> f0[\"a\"]\n"}
	own := func(dir string) bool { return dir == "own" }
	mustFind(t, checkPicture(page, map[string]int{"a": -2, "b": 1, "c": 1, "internal/d": 1, "own": 1}, own), "draw c on floor 1", "draws gone")
	mustFind(t, checkPicture(page, map[string]int{"a": 1, "b": 1, "gone": 1}, own), "draw a on floor 1")
	mustFind(t, checkPlanted(page, file{path: "p.md", text: "| a |\n|---|\n| one |\n| two |\n"}), "p.md has 2")
}
