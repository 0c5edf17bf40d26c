package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	maxFileLines     = 450
	maxFunctionLines = 80
)

// checkSizes returns files and functions that are too long to read in one go. Generated files are read by nobody, and
// the tables of a test count as data, not as code.
func checkSizes(fset *token.FileSet, f file) []string {
	if !f.isGo() || ast.IsGenerated(f.ast) {
		return nil
	}
	var findings []string
	if lines := strings.Count(f.text, "\n"); lines > maxFileLines {
		findings = append(findings, fmt.Sprintf("%s has %d lines, the limit is %d: split it by noun or verb", f.path, lines, maxFileLines))
	}
	for _, decl := range f.ast.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		lines := span(fset, function)
		if f.isTest() {
			lines -= tableLines(fset, function)
		}
		if lines > maxFunctionLines {
			findings = append(findings, fmt.Sprintf("%s: function %s has %d lines, the limit is %d", f.path, function.Name.Name, lines, maxFunctionLines))
		}
	}
	return findings
}

func span(fset *token.FileSet, node ast.Node) int {
	return fset.Position(node.End()).Line - fset.Position(node.Pos()).Line + 1
}

// tableLines counts the lines inside the outermost slice, array and map literals of a function.
func tableLines(fset *token.FileSet, function *ast.FuncDecl) (lines int) {
	ast.Inspect(function, func(node ast.Node) bool {
		literal, ok := node.(*ast.CompositeLit)
		if !ok {
			return true
		}
		switch literal.Type.(type) {
		case *ast.ArrayType, *ast.MapType:
			lines += span(fset, literal) - 1
			return false
		}
		return true
	})
	return lines
}

// unfinished matches the marks of work left lying about. The words are split so that this file passes; the one that is
// also the currency code for "no currency" counts only with the colon of a mark.
var unfinished = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|HA` + `CK)\b|\bX` + `XX:`)

// checkWords returns marks of unfinished work, and every one of the banned texts (hosts and paths of one machine).
func checkWords(f file, banned []string) []string {
	var findings []string
	for number, line := range strings.Split(f.text, "\n") {
		if mark := unfinished.FindString(line); mark != "" {
			findings = append(findings, fmt.Sprintf("%s:%d: %s: finish it, or write an issue", f.path, number+1, mark))
		}
		for _, text := range banned {
			if strings.Contains(line, text) {
				findings = append(findings, fmt.Sprintf("%s:%d: %s belongs to one machine's set-up, not to the project", f.path, number+1, text))
			}
		}
	}
	return findings
}

// checkSkips returns tests that may pass without having run. A property may skip: rapid then draws another action, and
// fails if it finds none.
func checkSkips(fset *token.FileSet, f file) []string {
	if !f.isTest() {
		return nil
	}
	properties := takesRapid(f.ast)
	var findings []string
	ast.Inspect(f.ast, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		method, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, method.Sel.Name) {
			return true
		}
		inProperty := func(property ast.Node) bool { return property.Pos() <= call.Pos() && call.End() <= property.End() }
		if !slices.ContainsFunc(properties, inProperty) {
			findings = append(findings, fmt.Sprintf("%s:%d: %s hides a test that did not run; make it pass or fail", f.path,
				fset.Position(call.Pos()).Line, method.Sel.Name))
		}
		return true
	})
	return findings
}

// takesRapid returns the functions that take a *rapid.T.
func takesRapid(syntax *ast.File) (functions []ast.Node) {
	take := func(function ast.Node, kind *ast.FuncType) {
		for _, parameter := range kind.Params.List {
			if pointer, ok := parameter.Type.(*ast.StarExpr); ok && slices.Equal(mentioned(pointer.X), []string{"rapid", "T"}) {
				functions = append(functions, function)
			}
		}
	}
	ast.Inspect(syntax, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncDecl:
			take(node, node.Type)
		case *ast.FuncLit:
			take(node, node.Type)
		}
		return true
	})
	return functions
}

// checkCgo returns files that need a C compiler: importers cross-compile with CGO_ENABLED=0.
func checkCgo(f file) []string {
	if !f.isGo() {
		return nil
	}
	for _, spec := range f.ast.Imports {
		if spec.Path.Value == `"C"` {
			return []string{fmt.Sprintf("%s imports C; the module builds without cgo", f.path)}
		}
	}
	return nil
}

func TestTreeIsTidy(t *testing.T) {
	tr := checkout(t)
	banned := machineTexts(tr.root)
	for _, f := range tr.files {
		report(t, checkSizes(tr.fset, f))
		report(t, checkWords(f, banned))
		report(t, checkSkips(tr.fset, f))
		report(t, checkCgo(f))
	}
}

// machineTexts are the hosts that this machine fetches modules from, and the place of this checkout.
func machineTexts(root string) []string {
	var texts []string
	if strings.Count(filepath.ToSlash(root), "/") > 1 { // a short path such as /src would match everywhere
		texts = append(texts, root)
	}
	out, err := exec.Command("go", "env", "GOPROXY").Output()
	if err != nil {
		return texts
	}
	for _, address := range strings.FieldsFunc(strings.TrimSpace(string(out)), func(r rune) bool { return r == ',' || r == '|' }) {
		if _, host, ok := strings.Cut(address, "://"); ok {
			host, _, _ = strings.Cut(host, "/")
			texts = append(texts, host)
		}
	}
	return texts
}

func TestTidyChecksFindDisorder(t *testing.T) {
	long := "package p\n\nfunc long() {\n" + strings.Repeat("\tprintln()\n", maxFileLines) + "}\n"
	fset, f := goFile(t, "p/long.go", long)
	mustFind(t, checkSizes(fset, f), "p/long.go has 454 lines", "function long has 452 lines")

	table := "package p\n\nfunc TestTable() {\n\t_ = []int{\n" + strings.Repeat("\t\t1,\n", 100) + "\t}\n}\n"
	fset, f = goFile(t, "p/table_test.go", table)
	mustFind(t, checkSizes(fset, f))
	fset, f = goFile(t, "p/table.go", table)
	mustFind(t, checkSizes(fset, f), "function TestTable has 104 lines")
	fset, f = goFile(t, "p/made.go", "// Code generated by hand. DO NOT EDIT.\n\n"+long)
	mustFind(t, checkSizes(fset, f))

	fset, f = goFile(t, "p/p_test.go", "package p\n\nimport \"C\"\n\n// TO"+"DO: finish.\nfunc TestX(t T) { t.Skip(\"example.org\") }\n\n"+
		"var act = func(t *rapid.T) { t.Skip() }\n")
	mustFind(t, checkSkips(fset, f), "p/p_test.go:6: Skip hides")
	mustFind(t, checkCgo(f), "imports C")
	mustFind(t, checkWords(f, []string{"example.org"}), "p/p_test.go:5: TO"+"DO", "p/p_test.go:6: example.org")
}
