package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dynafin/dynafin/internal/fault"
)

var codeID = regexp.MustCompile(`^DFN-[1-9][0-9]{3}$`)

// checkCodes returns codes that are not unique, not whole, or not ordered.
func checkCodes(codes []fault.Code) []string {
	var findings []string
	owner, named := map[string]string{}, map[string]bool{}
	for _, code := range codes {
		find := func(problem string) {
			findings = append(findings, fmt.Sprintf("code %s of %s: %s", code.ID, code.Name, problem))
		}
		if !codeID.MatchString(code.ID) {
			find("the identifier should be DFN- and four digits")
		}
		if other, ok := owner[code.ID]; ok {
			find("the identifier belongs to " + other + "; a code is never used twice")
		}
		if named[code.Name] {
			find("this error has a code already")
		}
		for _, text := range []string{code.Meaning, code.Action} {
			if !strings.HasSuffix(text, ".") {
				find(fmt.Sprintf("%q is not a sentence", text))
			}
		}
		if !slices.Contains([]fault.Retry{fault.RetrySafe, fault.RetryLater, fault.RetryNever}, code.Retry) {
			find("it does not say what a repeat can bring")
		}
		owner[code.ID], named[code.Name] = code.Name, true
	}
	return findings
}

// faultVars maps the variables of package fault to the identifier of the code they hold, and returns the tables of
// codes, and those that All lists.
func faultVars(files []file) (ids map[string]string, tables, inAll []string) {
	ids = map[string]string{}
	for _, f := range files {
		for name, value := range packageVars(f.ast) {
			literal, ok := value.(*ast.CompositeLit)
			if !ok {
				continue
			}
			if kind, ok := literal.Type.(*ast.Ident); ok && kind.Name == "Code" && len(literal.Elts) > 0 {
				if id, ok := literal.Elts[0].(*ast.BasicLit); ok {
					ids[name], _ = strconv.Unquote(id.Value)
				}
			} else if _, ok := literal.Type.(*ast.ArrayType); ok {
				tables = append(tables, name)
			}
		}
		for _, decl := range f.ast.Decls {
			if function, ok := decl.(*ast.FuncDecl); ok && function.Name.Name == "All" {
				inAll = append(inAll, mentioned(function)...)
			}
		}
	}
	slices.Sort(tables)
	return ids, tables, inAll
}

// packageVars returns the variables of a file with the expressions that initialise them.
func packageVars(syntax *ast.File) map[string]ast.Expr {
	vars := map[string]ast.Expr{}
	for _, decl := range syntax.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.VAR {
			continue
		}
		for _, spec := range group.Specs {
			value := spec.(*ast.ValueSpec)
			for i, name := range value.Names {
				if i < len(value.Values) {
					vars[name.Name] = value.Values[i]
				}
			}
		}
	}
	return vars
}

// mentioned returns the identifiers inside a node.
func mentioned(node ast.Node) (names []string) {
	ast.Inspect(node, func(node ast.Node) bool {
		if name, ok := node.(*ast.Ident); ok {
			names = append(names, name.Name)
		}
		return true
	})
	return names
}

// sentinels returns the variables of a package that are made by fault.New, with the identifier of their code.
func sentinels(p documented, ids map[string]string) map[string]string {
	vars := map[string]ast.Expr{}
	for _, syntax := range p.code() {
		maps.Copy(vars, packageVars(syntax))
	}
	codes := map[string]string{}
	for name, value := range vars {
		if alias, ok := value.(*ast.Ident); ok { // ErrX error = errX
			value = vars[alias.Name]
		}
		call, ok := value.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			continue
		}
		made, ok := call.Fun.(*ast.SelectorExpr)
		code, isCode := call.Args[0].(*ast.SelectorExpr)
		if ok && isCode && made.Sel.Name == "New" {
			codes[name] = ids[code.Sel.Name]
		}
	}
	return codes
}

// checkErrors returns the exported errors of a package that have no code, or somebody else's. names maps identifiers to
// the names their codes are registered under. The names found are marked in used.
func checkErrors(p documented, ids, names map[string]string, used map[string]bool) []string {
	var findings []string
	pkg := path.Base(p.path)
	codes := sentinels(p, ids)
	for _, syntax := range p.code() {
		for _, name := range slices.Sorted(maps.Keys(packageVars(syntax))) {
			if !strings.HasPrefix(name, "Err") {
				continue
			}
			id, coded := codes[name]
			registered := names[id]
			switch {
			case !coded || id == "":
				findings = append(findings, fmt.Sprintf("%s.%s carries no code: make it with fault.New and a code of internal/fault", pkg, name))
			case registered != pkg+"."+name:
				findings = append(findings, fmt.Sprintf("%s.%s has code %s, which internal/fault gives to %q", pkg, name, id, registered))
			default:
				used[registered] = true
			}
		}
		for _, kind := range errorTypes(syntax) {
			if !unwrapsTo(p, kind, codes) {
				findings = append(findings, fmt.Sprintf("*%s.%s has no Unwrap that leads to a sentinel with a code, so errors.Is cannot tell its kind", pkg, kind))
			}
		}
	}
	return findings
}

// errorTypes returns the exported types of a file whose names end in Error.
func errorTypes(syntax *ast.File) (kinds []string) {
	for _, decl := range syntax.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.TYPE {
			continue
		}
		for _, spec := range group.Specs {
			kind := spec.(*ast.TypeSpec)
			if kind.Name.IsExported() && strings.HasSuffix(kind.Name.Name, "Error") {
				kinds = append(kinds, kind.Name.Name)
			}
		}
	}
	return kinds
}

// unwrapsTo reports whether the Unwrap method of a type mentions a sentinel of its package.
func unwrapsTo(p documented, kind string, codes map[string]string) bool {
	for _, syntax := range p.code() {
		for _, decl := range syntax.Decls {
			method, ok := decl.(*ast.FuncDecl)
			if !ok || method.Recv == nil || method.Name.Name != "Unwrap" || !slices.Contains(mentioned(method.Recv), kind) {
				continue
			}
			return slices.ContainsFunc(mentioned(method.Body), func(name string) bool { return codes[name] != "" })
		}
	}
	return false
}

func TestEveryErrorHasACode(t *testing.T) {
	tr := checkout(t)
	var packages []documented
	ids, names, used := map[string]string{}, map[string]string{}, map[string]bool{}
	for _, p := range packagesOf(tr.files) {
		if p.path != "internal/fault" {
			packages = append(packages, p)
			continue
		}
		var tables, inAll []string
		ids, tables, inAll = faultVars(p.files)
		for _, table := range tables {
			if !slices.Contains(inAll, table) {
				t.Errorf("fault.%s is missing in fault.All", table)
			}
		}
	}
	report(t, checkCodes(fault.All()))
	for _, code := range fault.All() {
		names[code.ID] = code.Name
	}
	for _, p := range packages {
		if entry, _ := home(floors, p.path); entry == p.path { // errors of a package's inner packages stay inside it
			report(t, checkErrors(p, ids, names, used))
		}
	}
	for _, code := range fault.All() {
		if !used[code.Name] {
			t.Errorf("code %s is for %s, which no package declares", code.ID, code.Name)
		}
	}
}

func TestErrorChecksFindMissingCodes(t *testing.T) {
	whole := fault.Code{ID: "DFN-1201", Name: "p.ErrA", Meaning: "It broke.", Action: "Mend it.", Retry: fault.RetrySafe}
	again := whole
	torn := fault.Code{ID: "DFN-12", Name: "p.ErrB", Meaning: "It broke", Action: "Mend it."}
	mustFind(t, checkCodes([]fault.Code{whole, again, torn}),
		"belongs to p.ErrA", "has a code already", "four digits", "is not a sentence", "what a repeat can bring")

	_, table := goFile(t, "internal/fault/codes_p.go", `package fault

var (
	PA = Code{"DFN-1201", "p.ErrA"}
	PB = Code{"DFN-1202", "p.ErrOther"}
)

var P = []Code{PA, PB}

func All() []Code { return Q }
`)
	ids, tables, inAll := faultVars([]file{table})
	if ids["PA"] != "DFN-1201" || !slices.Equal(tables, []string{"P"}) || slices.Contains(inAll, "P") {
		t.Fatalf("faultVars gives %v, %v, %v", ids, tables, inAll)
	}
	_, code := goFile(t, "p/errors.go", `package p

var errA = fault.New(fault.PA, "p: a")

var (
	ErrA error = errA
	ErrB = fault.New(fault.PB, "p: b")
	ErrC = errors.New("p: c")
)

type GoodError struct{}

func (e *GoodError) Unwrap() []error { return []error{ErrA, e.Cause} }

type LooseError struct{}

func (e *LooseError) Unwrap() error { return e.Cause }

type BareError struct{}
`)
	used := map[string]bool{}
	names := map[string]string{"DFN-1201": "p.ErrA", "DFN-1202": "p.ErrOther"}
	mustFind(t, checkErrors(documented{path: "p", files: []file{code}}, ids, names, used),
		`p.ErrB has code DFN-1202, which internal/fault gives to "p.ErrOther"`, "p.ErrC carries no code", "*p.LooseError has no Unwrap", "*p.BareError has no Unwrap")
	if !used["p.ErrA"] {
		t.Error("p.ErrA was not recognised")
	}
}
