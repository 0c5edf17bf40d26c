package house

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	whenToUse = regexp.MustCompile(`(?m)^## When to use it`)
	whenNot   = regexp.MustCompile(`(?m)^## .*[Ww]hen not`)
)

// checkExampleDir returns what the README of an example leaves out: how to run it, what it prints, held by a test of the
// directory, when to use the pattern and when not.
func checkExampleDir(dir string, files []file) (findings []string) {
	lacks := func(what string) { findings = append(findings, fmt.Sprintf("%s: %s", dir, what)) }
	at := slices.IndexFunc(files, func(f file) bool { return f.path == dir+"/README.md" })
	if at < 0 {
		lacks("has no README.md")
		return findings
	}
	readme := files[at]
	if !slices.Contains(commands(readme), "go run ./"+dir) {
		lacks("README.md does not say how to run it")
	}
	if !slices.ContainsFunc(fences(readme), func(b block) bool { return b.language == "text" }) {
		lacks("README.md does not show what it prints")
	}
	if !slices.ContainsFunc(files, func(f file) bool {
		return path.Dir(f.path) == dir && f.isTest() && (strings.Contains(f.text, "readme.Shows(") || strings.Contains(f.text, `"README.md"`))
	}) {
		lacks("no test compares README.md with what the program prints")
	}
	if !whenToUse.MatchString(readme.text) || !whenNot.MatchString(readme.text) {
		lacks("README.md does not say when to use it, and when not")
	}
	return findings
}

// TestEveryExampleSaysWhatItIsFor: and the page of examples leads to each.
func TestEveryExampleSaysWhatItIsFor(t *testing.T) {
	tr := checkout(t)
	index, _ := tr.named("examples/README.md")
	for _, p := range packagesOf(tr.files) {
		if path.Dir(p.path) != "examples" || !p.program() {
			continue
		}
		report(t, checkExampleDir(p.path, tr.files))
		if !strings.Contains(index.text, "("+path.Base(p.path)+"/README.md)") {
			t.Errorf("%s does not lead to %s", index.path, p.path)
		}
	}
}

func TestExampleCheckFindsWhatIsLeftOut(t *testing.T) {
	_, shows := goFile(t, "examples/good/main_test.go", "package main\n\nfunc TestX() { readme.Shows(nil, run) }\n")
	good := file{path: "examples/good/README.md", text: "```sh\ngo run ./examples/good\n```\n```text\nx\n```\n## When to use it, and when not\n"}
	files := []file{good, shows, {path: "examples/bare/README.md", text: "# bare\n"}}
	mustFind(t, checkExampleDir("examples/good", files))
	mustFind(t, checkExampleDir("examples/bare", files), "how to run", "what it prints", "no test", "when not")
	mustFind(t, checkExampleDir("examples/none", files), "has no README")
}
