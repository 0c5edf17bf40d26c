package house

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// documented is a package with the files a reader of its documentation meets.
type documented struct {
	path  string // relative to the root of the checkout
	files []file // tests included
}

// public reports whether other modules can import the package and find code in it.
func (p documented) public() bool {
	return p.path != "." && !strings.Contains("/"+p.path+"/", "/internal/") && !p.program()
}

func (p documented) program() bool { return p.files[0].ast.Name.Name == "main" }

// code returns the syntax of the files that are not tests.
func (p documented) code() (files []*ast.File) {
	for _, f := range p.files {
		if !f.isTest() {
			files = append(files, f.ast)
		}
	}
	return files
}

// docs reads the package as go doc does. It parses the code anew: go/doc takes the unexported names out of the syntax that
// it is given, also when told to preserve it, and all tests share the tree.
func (p documented) docs(fset *token.FileSet) (*doc.Package, error) {
	var files []*ast.File
	for _, f := range p.files {
		if f.isTest() {
			continue
		}
		syntax, err := parser.ParseFile(fset, f.path, f.text, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, syntax)
	}
	return doc.NewFromFiles(fset, files, modulePath+"/"+p.path)
}

// packagesOf groups the Go files by directory; a directory with nothing but tests is no package to document.
func packagesOf(files []file) []documented {
	byDir := map[string][]file{}
	for _, f := range files {
		if f.isGo() {
			byDir[path.Dir(f.path)] = append(byDir[path.Dir(f.path)], f)
		}
	}
	var packages []documented
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		p := documented{path: dir, files: byDir[dir]}
		if len(p.code()) > 0 {
			packages = append(packages, p)
		}
	}
	return packages
}

// checkPackageDoc returns a package that does not introduce itself. A public one does so in doc.go, the file that a
// reader opens first.
func checkPackageDoc(p documented) []string {
	for _, f := range p.files {
		if f.ast.Doc != nil && !f.isTest() && (!p.public() || path.Base(f.path) == "doc.go") {
			return nil
		}
	}
	return []string{fmt.Sprintf("package %s has no package comment (in doc.go, if it is public): guarantee first, smallest use, limits", p.path)}
}

// checkExample returns a public package without an example whose output is checked.
func checkExample(p documented) []string {
	if !p.public() {
		return nil
	}
	for _, f := range p.files {
		if !f.isTest() {
			continue
		}
		for _, example := range doc.Examples(f.ast) {
			if example.Output != "" {
				return nil
			}
		}
	}
	return []string{fmt.Sprintf("package %s has no Example with an Output comment: a reader tries the first one he sees", p.path)}
}

// wellKnownMethods do what their interface says, fmt.Stringer or error, and nothing else.
var wellKnownMethods = []string{"Error", "String"}

// wellKnownFields mean the same wherever they stand; docs/glossary.md says what.
var wellKnownFields = []string{"Tenant", "Kind", "Name", "Key", "EventID", "Table", "PK", "SK"}

// checkDocComments returns every exported name without a doc comment; in public packages fields and interface methods
// count too.
func checkDocComments(p documented) []string {
	if p.program() {
		return nil
	}
	fset := token.NewFileSet()
	pkg, err := p.docs(fset)
	if err != nil {
		return []string{fmt.Sprintf("package %s: %v", p.path, err)}
	}
	var findings []string
	missing := func(name string) {
		findings = append(findings, fmt.Sprintf("%s.%s has no doc comment: say what it is, its unit, its errors", p.path, name))
	}
	functions := func(functions []*doc.Func, owner string) {
		for _, f := range functions {
			if f.Doc == "" && !slices.Contains(wellKnownMethods, f.Name) {
				missing(owner + f.Name)
			}
		}
	}
	values := func(values []*doc.Value) {
		for _, group := range values {
			for _, name := range undocumentedValues(group) {
				missing(name)
			}
		}
	}
	values(pkg.Consts)
	values(pkg.Vars)
	functions(pkg.Funcs, "")
	for _, t := range pkg.Types {
		if t.Doc == "" {
			missing(t.Name)
		}
		values(t.Consts)
		values(t.Vars)
		functions(t.Funcs, "")
		functions(t.Methods, t.Name+".")
		if p.public() {
			for _, field := range undocumentedMembers(fset, t) {
				missing(t.Name + "." + field)
			}
		}
	}
	return findings
}

// undocumentedValues returns the exported names of a const or var group that neither the group nor their own line
// documents.
func undocumentedValues(group *doc.Value) (names []string) {
	if group.Doc != "" {
		return nil
	}
	for _, spec := range group.Decl.Specs {
		value, ok := spec.(*ast.ValueSpec)
		if !ok || value.Doc != nil || value.Comment != nil {
			continue
		}
		for _, name := range value.Names {
			if name.IsExported() {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

// undocumentedMembers returns the exported fields of a struct, or methods of an interface, that no comment explains. A
// comment may stand on the member, above its paragraph, or on the type if it names the member, or the SDK's client whose
// methods it repeats.
func undocumentedMembers(fset *token.FileSet, t *doc.Type) (names []string) {
	for _, spec := range t.Decl.Specs {
		var members *ast.FieldList
		switch kind := spec.(*ast.TypeSpec).Type.(type) {
		case *ast.StructType:
			members = kind.Fields
		case *ast.InterfaceType:
			members = kind.Methods
		default:
			continue
		}
		if strings.Contains(t.Doc, "dynamodb.Client") {
			continue
		}
		explained, last := false, 0 // of the paragraph so far, and its last line
		for _, member := range members.List {
			if fset.Position(member.Pos()).Line > last+1 {
				explained = false
			}
			last = fset.Position(member.End()).Line
			explained = explained || member.Doc != nil
			for _, name := range member.Names { // an embedded member is documented where it is declared
				if name.IsExported() && !explained && member.Comment == nil && !mentions(t.Doc, name.Name) &&
					!slices.Contains(wellKnownFields, name.Name) {
					names = append(names, name.Name)
				}
			}
		}
	}
	return names
}

// mentions reports whether the text has the name as a word of its own.
func mentions(text, name string) bool {
	return slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), name)
}

func TestEverythingExportedIsDocumented(t *testing.T) {
	tr := checkout(t)
	for _, p := range packagesOf(tr.files) {
		report(t, checkPackageDoc(p))
		report(t, checkExample(p))
		report(t, checkDocComments(p))
	}
}

func TestDocumentationChecksFindGaps(t *testing.T) {
	_, code := goFile(t, "p/p.go", `// Package p is introduced in the wrong file.
package p

const Loose = 1

// Limits of the service.
const (
	A = 1
	B = 2 // two
)

type Config struct {
	Label string
	Tenant string

	// Size is in bytes, Width too.
	Size int
	Width int
	quiet bool
}

// Client is what p calls; Stop stops it.
type Client interface{
	Call()
	Stop()
}

func Free() {}

func (Config) Method() {}

func (Config) String() string { return "" }

func hidden() {}
`)
	_, example := goFile(t, "p/p_test.go", "package p_test\n\nfunc Example() {\n\tprintln()\n}\n")
	p := documented{path: "p", files: []file{code, example}}
	mustFind(t, checkPackageDoc(p), "package p has no package comment")
	mustFind(t, checkExample(p), "package p has no Example")
	mustFind(t, checkDocComments(p), "p.Loose has", "p.Free has", "p.Client.Call has", "p.Config has", "p.Config.Method has", "p.Config.Label has")

	_, intro := goFile(t, "p/doc.go", "// Package p is whole.\npackage p\n")
	_, example = goFile(t, "p/example_test.go", "package p_test\n\nfunc Example() {\n\tprintln()\n\t// Output:\n\t// x\n}\n")
	whole := documented{path: "p", files: []file{intro, example}}
	mustFind(t, slices.Concat(checkPackageDoc(whole), checkExample(whole), checkDocComments(whole)))
}
