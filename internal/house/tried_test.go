package house

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// tried says where a command that a document shows is carried out, if not by itself in CI: the test that does the same.
var tried = map[string]string{
	"go mod edit -replace github.com/dynafin/dynafin=../dynafin": "TestProgramsInDocumentsPrintWhatTheySay",
	"go mod tidy": "TestProgramsInDocumentsPrintWhatTheySay",

	"go run ./dynamosim/cmd/dynamosim -addr 127.0.0.1:8000 -lag 500ms": "TestTheLagFlagKeepsIndexesBehind",

	"go run . demo --seed 7 --save demo.db":                "TestScripts",
	"go run . --load demo.db --config demo.db.json status": "TestScripts",

	"go run ./examples/brokerage -lose-answers 0.2 -crash 0.05 -lag 5s -report out.html": "TestASeedHasOnePage",
	"go run ./examples/brokerage -repeat 3 -lose-answers 0.2 -crash 0.05 -lag 5s -json":  "TestTheResultDependsNeitherOnWorkersNorOnFaults",
	"go run ./examples/brokerage -workers 1 orders.jsonl":                                "TestTheResultDependsNeitherOnWorkersNorOnFaults",
	"go run ./examples/brokerage -":                                                      "TestEveryBadLineIsReportedWithItsNumberAndChangesNothing",
	"go run ./examples/brokerage -endpoint http://localhost:8000":                        "TestAnEndpointKeepsTheDecisionsOfTheFirstRun",
	"go run ./examples/journal -":                                                        "TestAFileMayComeThroughAPipeAndInPieces",
	"go run ./examples/journal jan.csv feb.csv":                                          "TestTheSameFileNamedTwiceIsImportedOnce",
	"go run ./examples/journal -endpoint http://localhost:8000 jan.csv":                  "TestImportingTwiceChangesNothing",
}

// inCI are what .ci/run does: every program of the examples without arguments, all tests, and .ci/endpoint.
var inCI = []*regexp.Regexp{
	regexp.MustCompile(`^go run \./examples/[a-z]+$`),
	regexp.MustCompile(`^go test \./\.\.\.$`),
	regexp.MustCompile(`^DYNAMODB_ENDPOINT=\S+ go test `),
}

// checkTried returns the go commands of a document that nothing carries out.
func checkTried(f file, known symbols) (findings []string) {
	for _, command := range commands(f) {
		test, listed := tried[command]
		switch {
		case !strings.HasPrefix(assignment.ReplaceAllString(command, "go "), "go "):
		case matchesAny(inCI, command):
		case !listed:
			findings = append(findings, fmt.Sprintf("%s shows %q, and nothing runs it: say which test does the same, in internal/house/tried_test.go", f.path, command))
		case !known[test]:
			findings = append(findings, fmt.Sprintf("%s shows %q, but there is no %s", f.path, command, test))
		}
	}
	return findings
}

func matchesAny(expressions []*regexp.Regexp, text string) bool {
	for _, e := range expressions {
		if e.MatchString(text) {
			return true
		}
	}
	return false
}

// TestCommandsInDocumentsAreCarriedOut: what a reader is told to type is done by a test, or by CI as it stands.
func TestCommandsInDocumentsAreCarriedOut(t *testing.T) {
	tr := checkout(t)
	known := symbolsOf(tr.files)
	shown := map[string]bool{}
	for _, f := range tr.files {
		if isMarkdown(f) {
			report(t, checkTried(f, known))
			for _, command := range commands(f) {
				shown[command] = true
			}
		}
	}
	for command := range tried {
		if !shown[command] {
			t.Errorf("no document shows %q any more; take it out of internal/house/tried_test.go", command)
		}
	}
}

func TestTriedCheckFindsWhatNobodyTypes(t *testing.T) {
	page := file{path: "docs/page.md", text: "```sh\ngo run ./examples/outbox\ngo run ./examples/outbox -fast\nX=1 go vet ./...\nmake lint\ngo mod tidy\n```\n"}
	mustFind(t, checkTried(page, symbols{}), "outbox -fast", "go vet", "there is no TestProgramsInDocuments")
}
