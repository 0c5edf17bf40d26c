package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"testing"
)

// floatName matches the types and every function or method named for one.
var floatName = regexp.MustCompile(`(?i)float`)

// exact lists the packages in which a binary float has no business. Numbers that reach a stored record are exact.
var exact = []string{"money", "shardmap", "internal/keys", "idempotency", "sentinel", "outbox", "inbox", "projection", "fanout", "ledger"}

// checkExact returns float types and float-taking or -giving names in a file. Tests may show what a float would do.
func checkExact(fset *token.FileSet, f file) []string {
	if !f.isGo() || f.isTest() {
		return nil
	}
	var findings []string
	ast.Inspect(f.ast, func(node ast.Node) bool {
		found := ""
		switch node := node.(type) {
		case *ast.BasicLit:
			if node.Kind == token.FLOAT {
				found = node.Value
			}
		case *ast.Ident:
			if floatName.MatchString(node.Name) {
				found = node.Name
			}
		}
		if found != "" {
			findings = append(findings, fmt.Sprintf("%s:%d: %s: no binary float comes near an amount, a key or a placement",
				f.path, fset.Position(node.Pos()).Line, found))
		}
		return true
	})
	return findings
}

func TestExactPackagesHaveNoFloat(t *testing.T) {
	tr := checkout(t)
	for _, f := range tr.files {
		if slices.ContainsFunc(exact, f.in) {
			report(t, checkExact(tr.fset, f))
		}
	}
}

func TestExactCheckFindsFloats(t *testing.T) {
	fset, f := goFile(t, "money/p.go", `package money

import "strconv"

func f(x float64) string { return strconv.FormatFloat(x+0.1, 'f', -1, 64) }
`)
	mustFind(t, checkExact(fset, f), "money/p.go:5: float64", "money/p.go:5: FormatFloat", "money/p.go:5: 0.1")
}
