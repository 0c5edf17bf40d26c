package house

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

var question = regexp.MustCompile(`(?m)^## (\d+)\. .+\?$`)

// checkQuestions returns the questions of a page that are out of number, or whose answer does not point to anything that
// shows it: a name or a link behind "Shown by:". Other checks look up whether these exist.
func checkQuestions(f file, want int) (findings []string) {
	found := question.FindAllStringSubmatchIndex(f.text, -1)
	if len(found) != want {
		findings = append(findings, fmt.Sprintf("%s has %d questions, want %d", f.path, len(found), want))
	}
	for i, at := range found {
		end := len(f.text)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		if number := f.text[at[2]:at[3]]; number != fmt.Sprint(i+1) {
			findings = append(findings, fmt.Sprintf("%s: question %s stands at %d", f.path, number, i+1))
		}
		if _, shown, ok := strings.Cut(f.text[at[0]:end], "\nShown by:"); !ok || !points(shown) {
			findings = append(findings, fmt.Sprintf("%s: nothing shows the answer to question %d", f.path, i+1))
		}
	}
	return findings
}

// points says whether text names code, or links to something.
func points(text string) bool { return code.MatchString(text) || link.MatchString(text) }

// checkRows returns the rows of the tables with a last column "shown by" that point to nothing, and whether there are as many
// as there should be.
func checkRows(f file, want int) (findings []string) {
	rows, inside := 0, false
	for line := range strings.Lines(f.text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		last := strings.TrimSpace(cells[len(cells)-1])
		switch {
		case !strings.HasPrefix(line, "|"):
			inside = false
		case last == "shown by":
			inside = true
		case inside && strings.Trim(last, "-") != "":
			rows++
			if !points(last) {
				findings = append(findings, fmt.Sprintf("%s: nothing shows%s", f.path, strings.TrimRight(cells[0], " ")))
			}
		}
	}
	if rows != want {
		findings = append(findings, fmt.Sprintf("%s has %d rows that something shows, want %d", f.path, rows, want))
	}
	return findings
}

// TestEveryAnswerPointsToWhatShowsIt: an answer without a test or code behind it is an opinion.
func TestEveryAnswerPointsToWhatShowsIt(t *testing.T) {
	tr := checkout(t)
	questions, _ := tr.named("docs/questions.md")
	report(t, checkQuestions(questions, 18))
	myths, _ := tr.named("docs/myths.md")
	report(t, checkRows(myths, 13))
	choices, _ := tr.named("docs/choosing.md")
	report(t, checkRows(choices, 12))
}

func TestAnswerChecksFindOpinions(t *testing.T) {
	page := file{path: "docs/q.md", text: "# Q\n\n## 1. Why?\n\nSo.\n\nShown by: `TestIt`.\n\n## 3. And?\n\nSo.\n\nShown by: everybody.\n\n## 3. Who?\n\n[x](y.md)\n"}
	mustFind(t, checkQuestions(page, 4), "has 3 questions", "question 3 stands at 2", "question 2", "question 3")
	table := file{path: "docs/t.md", text: "| a | shown by |\n|---|---|\n| one | [x](y.md) |\n| two | all |\n\n| a | b |\n|---|---|\n| three | none |\n"}
	mustFind(t, checkRows(table, 3), "nothing shows two", "has 2 rows")
}
