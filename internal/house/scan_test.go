package house

import (
	"go/ast"
	"slices"
	"testing"
)

// mayScan are the packages whose code may read a table without a key: the emergency path, which says so, the embedded store
// that answers, the checks of tests, the meters: of operations, and of what a person allowed the operator's tool to scan; and
// the outbox by Scan that ours is compared with.
var mayScan = []string{"export", "dynamosim", "internal/watch", "invariant", "cmd/dynafin/internal/app", "bench"}

// checkScans returns where code builds the input of a Scan, or asks for a pager of one.
func checkScans(f file) []string {
	if !f.isGo() || f.isTest() {
		return nil
	}
	if slices.ContainsFunc(mayScan, f.in) {
		return nil
	}
	var findings []string
	ast.Inspect(f.ast, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if from, ok := selector.X.(*ast.Ident); ok && from.Name == "dynamodb" && (selector.Sel.Name == "ScanInput" || selector.Sel.Name == "NewScanPaginator") {
			findings = append(findings, f.path+": a Scan reads the whole table; give it a key, or use package export offline")
		}
		return true
	})
	return findings
}

// TestNothingScansATable: what serves requests reads by keys, always.
func TestNothingScansATable(t *testing.T) {
	for _, f := range checkout(t).files {
		report(t, checkScans(f))
	}
}

func TestScanCheckFindsScans(t *testing.T) {
	const code = `package p
import "github.com/aws/aws-sdk-go-v2/service/dynamodb"
var in = &dynamodb.ScanInput{}
`
	_, bad := goFile(t, "outbox/list.go", code)
	_, good := goFile(t, "export/scan.go", code)
	mustFind(t, checkScans(bad), "outbox/list.go: a Scan reads the whole table")
	mustFind(t, checkScans(good))
}
