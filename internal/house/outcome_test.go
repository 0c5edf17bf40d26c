package house

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/token"
	"regexp"
	"slices"
	"testing"
)

var (
	saysCost  = regexp.MustCompile(`(?i)\bunits?\b|\bcosts?\b|\bsends nothing\b|\bno requests?\b|\breads nothing\b`)
	saysFault = regexp.MustCompile(`(?i)\berrors?\b|\w+Error\b|\bErr[A-Z]|\bfails?\b|\bfailed\b|\bfault`)
)

// inTests are the packages that a service uses in its tests: what they ask costs nothing there.
var inTests = []string{"dynamosim", "invariant", "loadtest", "storetest"}

// asks reports whether a function is given a context and may return an error: it asks somebody outside the process.
func asks(kind *ast.FuncType) bool {
	if len(kind.Params.List) == 0 || !slices.Equal(mentioned(kind.Params.List[0].Type), []string{"context", "Context"}) {
		return false
	}
	return mayFail(kind)
}

// mayFail reports whether the last thing that a function returns is an error, or an iterator with one.
func mayFail(kind *ast.FuncType) bool {
	if kind.Results == nil {
		return false
	}
	last := kind.Results.List[len(kind.Results.List)-1].Type
	_, returnsFunction := last.(*ast.FuncType)
	return !returnsFunction && slices.Contains(mentioned(last), "error")
}

// interfaces are methods whose errors are those of the interface that they are made for.
var interfaces = regexp.MustCompile(`^(Marshal|Unmarshal)[A-Z]|^Unwrap$`)

// hands reports whether a function returns a part of a transaction, which has a price when it is committed.
func hands(kind *ast.FuncType) bool {
	if kind.Results == nil {
		return false
	}
	last := mentioned(kind.Results.List[0].Type)
	return len(last) > 0 && last[len(last)-1] == "Part"
}

// checkOutcomes returns the exported functions of a public package that ask a store and do not say what that costs and what
// can go wrong.
func checkOutcomes(p documented) (findings []string) {
	fset := token.NewFileSet()
	pkg, err := p.docs(fset)
	if err != nil {
		return []string{fmt.Sprintf("package %s: %v", p.path, err)}
	}
	check := func(functions []*doc.Func, owner string) {
		for _, f := range functions {
			asks := asks(f.Decl.Type)
			if (asks || hands(f.Decl.Type)) && !saysCost.MatchString(f.Doc) {
				findings = append(findings, fmt.Sprintf("%s.%s%s does not say what it costs, in units", p.path, owner, f.Name))
			}
			if mayFail(f.Decl.Type) && !interfaces.MatchString(f.Name) && !saysFault.MatchString(f.Doc) {
				findings = append(findings, fmt.Sprintf("%s.%s%s does not say which errors it returns", p.path, owner, f.Name))
			}
		}
	}
	check(pkg.Funcs, "")
	for _, t := range pkg.Types {
		check(t.Funcs, "")
		check(t.Methods, t.Name+".")
	}
	return findings
}

func TestWhatAsksAStoreSaysItsCostAndErrors(t *testing.T) {
	tr := checkout(t)
	for _, p := range packagesOf(tr.files) {
		if p.public() && !slices.Contains(inTests, p.path) {
			report(t, checkOutcomes(p))
		}
	}
}

var pattern = regexp.MustCompile(`\bAP\d\d\b`)

// TestPrimitivesNameTheirAccessPatterns: who reads the plan of a service finds the package by the pattern.
func TestPrimitivesNameTheirAccessPatterns(t *testing.T) {
	for _, p := range packagesOf(checkout(t).files) {
		if floors[p.path] != 3 || !p.public() {
			continue
		}
		if pkg, err := p.docs(token.NewFileSet()); err != nil || !pattern.MatchString(pkg.Doc) {
			t.Errorf("the documentation of %s names no access pattern, AP01 to AP18 (%v)", p.path, err)
		}
	}
}

func TestOutcomeCheckFindsSilence(t *testing.T) {
	_, code := goFile(t, "p/p.go", `package p

// Silent asks.
func Silent(ctx context.Context) error { return nil }

// Told asks for 2 write units, and fails with ErrX.
func Told(ctx context.Context) (int, error) { return 0, nil }

// Create is a part.
func (d Desk) Create() txn.Part { return nil }

// List costs one unit.
func (d Desk) List(ctx context.Context) iter.Seq2[Item, error] { return nil }

// Note asks nobody.
func Note(ctx context.Context) {}

// Pure is pure.
func Pure(n int) error { return nil }

// Later returns something that is called later.
func Later() func() error { return nil }

// MarshalText implements an interface.
func (Desk) MarshalText() ([]byte, error) { return nil, nil }

// Desk is one.
type Desk struct{}
`)
	mustFind(t, checkOutcomes(documented{path: "p", files: []file{code}}),
		"p.Pure does not say which errors", "p.Silent does not say what it costs", "p.Silent does not say which errors", "p.Desk.Create does not say what it costs", "p.Desk.List does not say which errors")
}
