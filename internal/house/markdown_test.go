package house

import (
	"fmt"
	"go/format"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// block is a fenced block of a document.
type block struct {
	document string
	line     int    // of its first line of text
	language string // go, sh, text or nothing
	text     string // ends in a newline, unless it is empty
}

// fences returns the fenced blocks of a document, in order.
func fences(f file) (blocks []block) {
	var open *block
	var fence string
	for number, line := range strings.Split(f.text, "\n") {
		switch ticks := leadingTicks(line); {
		case open == nil && len(ticks) >= 3:
			language, _, _ := strings.Cut(strings.TrimSpace(line[len(ticks):]), " ")
			open, fence = &block{document: f.path, line: number + 2, language: language}, ticks
		case open != nil && len(ticks) >= len(fence) && strings.TrimSpace(line[len(ticks):]) == "":
			blocks, open = append(blocks, *open), nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	return blocks
}

func leadingTicks(line string) string { return line[:len(line)-len(strings.TrimLeft(line, "`"))] }

var mainClause = regexp.MustCompile(`(?m)^package main$`)

func (b block) program() bool { return b.language == "go" && mainClause.MatchString(b.text) }

func isMarkdown(f file) bool { return path.Ext(f.path) == ".md" }

// checkFragments returns Go blocks of a document that do not parse, or are not formatted as gofmt would.
func checkFragments(f file) []string {
	var findings []string
	for _, b := range fences(f) {
		if b.language != "go" {
			continue
		}
		formatted, err := format.Source([]byte(b.text))
		switch {
		case err != nil:
			findings = append(findings, fmt.Sprintf("%s:%d: the Go block does not parse: %v", f.path, b.line, err))
		case string(formatted) != b.text:
			findings = append(findings, fmt.Sprintf("%s:%d: the Go block is not formatted; gofmt gives\n%s", f.path, b.line, formatted))
		}
	}
	return findings
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// checkReferences returns the relative links of a document that lead nowhere.
func checkReferences(f file, exists func(path string) bool) []string {
	var findings []string
	for _, found := range link.FindAllStringSubmatch(f.text, -1) {
		target, _, _ := strings.Cut(found[1], "#")
		if target == "" || strings.Contains(target, ":") {
			continue // inside the page, or on the web
		}
		if !exists(path.Join(path.Dir(f.path), target)) {
			findings = append(findings, fmt.Sprintf("%s links to %s, which does not exist", f.path, target))
		}
	}
	return findings
}

// commands returns the shell commands that a document tells its reader to type: each line of a sh block, and each line
// after a $ of a console block. Pipelines and lists are taken apart.
func commands(f file) (lines []string) {
	for _, b := range fences(f) {
		text := strings.ReplaceAll(b.text, "\\\n", " ")
		for line := range strings.Lines(text) {
			line, prompted := strings.CutPrefix(strings.TrimSpace(line), "$ ")
			if line, _, _ = strings.Cut(line, " #"); strings.HasPrefix(line, "#") {
				continue
			}
			if b.language == "sh" || b.language == "console" && prompted {
				lines = append(lines, separators.Split(strings.TrimSpace(line), -1)...)
			}
		}
	}
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
}

var (
	separators = regexp.MustCompile(`\s*(?:&&|\|\||[|;])\s*`)
	assignment = regexp.MustCompile(`^[A-Z_]+=`)
	makeTarget = regexp.MustCompile(`(?m)^([a-z][a-z-]*):`)
	otherTools = []string{"git", "cd", "cat", "bash", "export", "dynafin"}
)

// checkCommands returns the commands of a document that this checkout cannot carry out.
func checkCommands(f file, files []file) []string {
	var findings []string
	for _, command := range commands(f) {
		words := strings.Fields(command)
		for len(words) > 0 && assignment.MatchString(words[0]) {
			words = words[1:]
		}
		if len(words) == 0 {
			continue
		}
		for _, problem := range commandProblems(words, files) {
			findings = append(findings, fmt.Sprintf("%s: %q: %s", f.path, command, problem))
		}
	}
	return findings
}

func commandProblems(words []string, files []file) (problems []string) {
	switch {
	case words[0] == "make":
		for _, target := range words[1:] {
			if !assignment.MatchString(target) && !slices.Contains(makeTargets(files), target) {
				problems = append(problems, "the Makefile has no target "+target)
			}
		}
	case words[0] == "go":
		for i, word := range words {
			dir, local := strings.CutPrefix(word, "./")
			if !local {
				continue
			}
			dir = strings.TrimSuffix(strings.TrimSuffix(dir, "..."), "/")
			if dir != "" && !slices.ContainsFunc(files, func(f file) bool { return f.in(dir) || f.path == dir }) {
				problems = append(problems, "there is no "+word)
			} else if words[1] == "run" {
				problems = append(problems, unknownFlags(words[i+1:], dir, files)...)
				break
			}
		}
	case !slices.Contains(otherTools, words[0]):
		problems = append(problems, "nobody said that a reader has this tool; see otherTools in internal/house/markdown_test.go")
	}
	return problems
}

func makeTargets(files []file) (targets []string) {
	for _, f := range files {
		if f.path == "Makefile" {
			for _, found := range makeTarget.FindAllStringSubmatch(f.text, -1) {
				targets = append(targets, found[1])
			}
		}
	}
	return targets
}

// unknownFlags returns the flags among the words that no file of the program names in a string.
func unknownFlags(words []string, dir string, files []file) (problems []string) {
	for _, word := range words {
		name, isFlag := strings.CutPrefix(word, "-")
		if name = strings.TrimPrefix(name, "-"); !isFlag || name == "" {
			continue
		}
		name, _, _ = strings.Cut(name, "=")
		if !slices.ContainsFunc(files, func(f file) bool { return f.isGo() && f.in(dir) && strings.Contains(f.text, `"`+name+`"`) }) {
			problems = append(problems, dir+" has no flag -"+name)
		}
	}
	return problems
}

func TestDocumentsHoldTrue(t *testing.T) {
	tr := checkout(t)
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join(tr.root, filepath.FromSlash(name)))
		return err == nil
	}
	for _, f := range tr.files {
		if isMarkdown(f) {
			report(t, checkFragments(f))
			report(t, checkReferences(f, exists))
			report(t, checkCommands(f, tr.files))
		}
	}
}

func TestEveryDecisionIsIndexed(t *testing.T) {
	tr := checkout(t)
	index, _ := tr.named("docs/decisions/README.md")
	for _, f := range tr.files {
		if f.in("docs/decisions") && f.path != index.path && !strings.Contains(index.text, "("+path.Base(f.path)+")") {
			t.Errorf("%s is missing in %s", f.path, index.path)
		}
	}
}

// TestEveryPageIsIndexed: a page that nothing leads to is read by nobody.
func TestEveryPageIsIndexed(t *testing.T) {
	tr := checkout(t)
	index, _ := tr.named("docs/README.md")
	for _, f := range tr.files {
		if path.Dir(f.path) == "docs" && isMarkdown(f) && f.path != index.path && !strings.Contains(index.text, "("+path.Base(f.path)+")") {
			t.Errorf("%s is missing in %s: add the question that it answers", f.path, index.path)
		}
	}
}

// TestReadmeShowsTheTwoCommands holds what a fresh clone can do with nothing but Go, and that CI does the same.
func TestReadmeShowsTheTwoCommands(t *testing.T) {
	tr := checkout(t)
	readme, ok := tr.named("README.md")
	if !ok {
		t.Fatal("README.md is missing")
	}
	shown := commands(readme)
	for _, command := range []string{"go run ./examples/brokerage", "go test ./..."} {
		if !slices.Contains(shown, command) {
			t.Errorf("README.md does not show %q in a sh block", command)
		}
	}
	run, err := os.ReadFile(filepath.Join(tr.root, ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(strings.Split(string(run), "\n"), "go test ./...") {
		t.Error(".ci/run does not run the README's test command, go test ./..., on a line of its own")
	}
}

func TestDocumentChecksFindWhatIsNotTrue(t *testing.T) {
	page := file{path: "docs/page.md", text: strings.Join([]string{
		"[good](page.md#part) [web](https://example.org) [here](#part) [gone](../gone.md)",
		"```go", "x:=1", "```", "```go", "x := f(", "```", "```go", "x := 1", "```",
		"```sh", "# a comment", "CGO_ENABLED=0 go test ./... && go run ./cmd -good -bad=1 | frobnicate # why", "go vet ./nowhere/...", "make lint \\", "  gone", "```",
		"```console", "$ go run ./cmd -n 3", "not a command", "```",
	}, "\n")}
	_, program := goFile(t, "cmd/main.go", `package main

var flags = []string{"good", "n"}
`)
	files := []file{page, program, {path: "Makefile", text: "lint: ## check\n\tgo vet\n"}}
	mustFind(t, checkFragments(page), "docs/page.md:3: the Go block is not formatted", "docs/page.md:6: the Go block does not parse")
	mustFind(t, checkReferences(page, func(name string) bool { return name == "docs/page.md" }), "links to ../gone.md")
	mustFind(t, checkCommands(page, files), "cmd has no flag -bad", `"frobnicate": nobody said`, "there is no ./nowhere/...", "no target gone")
}
