package house

import (
	"fmt"
	"go/scanner"
	"go/token"
	"strings"
	"testing"
)

// tokens is Go code as text without layout and comments: two texts with the same tokens are the same code. Every token is
// between two line feeds, so that a part of one is found whole or not at all.
func tokens(code string) string {
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile("", fset.Base(), len(code)), []byte(code), func(token.Position, string) {}, 0)
	var text strings.Builder
	text.WriteByte('\n')
	for {
		_, tok, literal := s.Scan()
		switch {
		case tok == token.EOF:
			return text.String()
		case tok == token.SEMICOLON && literal == "\n":
			continue // written by nobody
		case literal == "":
			literal = tok.String()
		}
		text.WriteString(literal + "\n")
	}
}

// quotable are the texts that the compiler sees, as tokens: the Go files, and the programs of the documents.
func quotable(files []file) (texts []string) {
	for _, f := range files {
		switch {
		case f.isGo():
			texts = append(texts, tokens(f.text))
		case isMarkdown(f):
			for _, b := range fences(f) {
				if b.program() {
					texts = append(texts, tokens(b.text))
				}
			}
		}
	}
	return texts
}

// checkQuotes returns the Go blocks of a document that are neither a program nor a quotation: lines that stand in a Go file,
// or in a program of a document, and so are compiled. Layout and comments may differ.
func checkQuotes(f file, texts []string) (findings []string) {
	for _, b := range fences(f) {
		if b.language != "go" || b.program() {
			continue
		}
		quoted, found := tokens(b.text), false
		for _, text := range texts {
			found = found || strings.Contains(text, quoted)
		}
		if !found {
			findings = append(findings, fmt.Sprintf("%s:%d: the Go block is in no Go file of the checkout, so nothing compiles it: quote one", f.path, b.line))
		}
	}
	return findings
}

// TestFragmentsInDocumentsAreQuotations: what a reader sees is what a compiler has seen.
func TestFragmentsInDocumentsAreQuotations(t *testing.T) {
	tr := checkout(t)
	texts := quotable(tr.files)
	for _, f := range tr.files {
		if isMarkdown(f) {
			report(t, checkQuotes(f, texts))
		}
	}
}

func TestQuoteCheckFindsWhatNobodyCompiles(t *testing.T) {
	_, code := goFile(t, "p/p.go", "package p\n\nfunc f(x int) int {\n\tif x > 0 { // why\n\t\treturn call(x,\n\t\t\t1)\n\t}\n\treturn xs\n}\n")
	page := file{path: "docs/page.md", text: strings.Join([]string{
		"```go", "if x > 0 {", "\treturn call(x, 1) // one", "}", "```",
		"```go", "return x", "```", // xs is another word
		"```go", "if x > 1 {", "```",
		"```go", "package main", "", "func main() { println(y) }", "```",
		"```go", "println(y)", "```",
		"```sh", "if x > 2", "```",
	}, "\n")}
	mustFind(t, checkQuotes(page, quotable([]file{page, code})), "docs/page.md:7:", "docs/page.md:10:")
}
