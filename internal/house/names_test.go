package house

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// symbols are the names that a document may speak of: exported ones as outbox.Relay.Run, and tests by their own name.
type symbols map[string]bool

// symbolsOf collects the names that the Go files declare.
func symbolsOf(files []file) symbols {
	known := symbols{}
	for _, f := range files {
		if !f.isGo() {
			continue
		}
		pkg := path.Base(path.Dir(f.path))
		for _, decl := range f.ast.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				known.function(f, pkg, decl)
			case *ast.GenDecl:
				known.declaration(pkg, decl)
			}
		}
	}
	return known
}

func (known symbols) function(f file, pkg string, decl *ast.FuncDecl) {
	name := decl.Name.Name
	switch {
	case f.isTest():
		known[name] = true
	case decl.Recv == nil:
		known[pkg+"."+name] = true
	default:
		known[pkg+"."+receiver(decl.Recv.List[0].Type)+"."+name] = true
	}
}

func receiver(of ast.Expr) string {
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	if generic, ok := of.(*ast.IndexExpr); ok {
		of = generic.X
	}
	name, _ := of.(*ast.Ident)
	return name.Name
}

func (known symbols) declaration(pkg string, decl *ast.GenDecl) {
	for _, spec := range decl.Specs {
		switch spec := spec.(type) {
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				known[pkg+"."+name.Name] = true
			}
		case *ast.TypeSpec:
			known[pkg+"."+spec.Name.Name] = true
			for _, member := range members(spec.Type) {
				known[pkg+"."+spec.Name.Name+"."+member] = true
			}
		}
	}
}

// members are the fields of a struct, or the methods of an interface.
func members(kind ast.Expr) (names []string) {
	var list *ast.FieldList
	switch kind := kind.(type) {
	case *ast.StructType:
		list = kind.Fields
	case *ast.InterfaceType:
		list = kind.Methods
	default:
		return nil
	}
	for _, member := range list.List {
		for _, name := range member.Names {
			names = append(names, name.Name)
		}
	}
	return names
}

var (
	code      = regexp.MustCompile("`([^`\n]+)`")
	qualified = regexp.MustCompile(`^\*?([a-z][a-z0-9]*)\.([A-Z]\w*(?:\.[A-Z]\w*)?)`)
	testName  = regexp.MustCompile(`^(Test|Example|Fuzz|Benchmark)[A-Z]\w*$`)
)

// checkNames returns the names in code spans of a document that nothing declares: a test, or a name of one of the packages.
func checkNames(f file, packages []string, known symbols) (findings []string) {
	for _, span := range code.FindAllStringSubmatch(withoutFences(f), -1) {
		name := span[1]
		if m := qualified.FindStringSubmatch(name); m != nil && slices.Contains(packages, m[1]) {
			name = m[1] + "." + m[2]
		} else if !testName.MatchString(name) {
			continue
		}
		if !known[name] {
			findings = append(findings, fmt.Sprintf("%s speaks of %s, which no Go file declares", f.path, name))
		}
	}
	return findings
}

var qualifiedInCode = regexp.MustCompile(`\b([a-z][a-z0-9]*)\.([A-Z]\w*)`)

// checkDocCode returns the names of other packages in a package comment that nothing declares.
func checkDocCode(f file, packages []string, known symbols) (findings []string) {
	if f.ast.Doc == nil {
		return nil
	}
	for _, m := range qualifiedInCode.FindAllStringSubmatch(f.ast.Doc.Text(), -1) {
		if slices.Contains(packages, m[1]) && !known[m[1]+"."+m[2]] {
			findings = append(findings, fmt.Sprintf("the package comment in %s speaks of %s, which no Go file declares", f.path, m[0]))
		}
	}
	return findings
}

// withoutFences is the prose of a document.
func withoutFences(f file) string {
	var prose strings.Builder
	fence := ""
	for line := range strings.Lines(f.text) {
		ticks := leadingTicks(line)
		switch {
		case fence == "" && len(ticks) >= 3:
			fence = ticks
		case fence != "" && strings.HasPrefix(line, fence):
			fence = ""
		case fence == "":
			prose.WriteString(line)
		}
	}
	return prose.String()
}

// TestDocumentsNameWhatExists: what a document points to can be looked up.
func TestDocumentsNameWhatExists(t *testing.T) {
	tr := checkout(t)
	var packages []string // an internal one may be called like somebody's variable
	for _, p := range packagesOf(tr.files) {
		if p.public() {
			packages = append(packages, path.Base(p.path))
		}
	}
	known := symbolsOf(tr.files)
	for _, f := range tr.files {
		switch {
		case isMarkdown(f):
			report(t, checkNames(f, packages, known))
		case f.isGo() && !f.isTest():
			report(t, checkDocCode(f, packages, known))
		}
	}
}

func TestNameCheckFindsWhatIsGone(t *testing.T) {
	_, code := goFile(t, "pay/p.go", `package pay

type Desk[T any] struct{ Open, shut bool }

type Clerk interface{ Ask() }

const Limit = 1

func (d *Desk[T]) Close() {}

func New() {}
`)
	_, test := goFile(t, "pay/p_test.go", "package pay\n\nfunc TestHere() {}\n")
	page := file{path: "docs/page.md", text: strings.Join([]string{
		"`pay.Desk`, `pay.Desk.Open`, `pay.Desk.Close(now)`, `*pay.Clerk`, `pay.Clerk.Ask`, `pay.Limit`, `pay.New(x)`, `TestHere`",
		"`pay.Shop`, `pay.Desk.Shut` and `TestGone`; `fmt.Printer` is elsewhere, and TestNowhere is prose",
		"```go", "pay.Nothing(`TestCode`)", "```",
	}, "\n")}
	_, intro := goFile(t, "other/doc.go", "// Package other uses pay.New, which is pay.Gone(1); fmt.Nothing is elsewhere.\npackage other\n")
	mustFind(t, checkDocCode(intro, []string{"pay"}, symbolsOf([]file{code})), "speaks of pay.Gone")
	mustFind(t, checkNames(page, []string{"pay"}, symbolsOf([]file{code, test})), "pay.Shop", "pay.Desk.Shut", "TestGone")
}
