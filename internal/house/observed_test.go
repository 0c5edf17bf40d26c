package house

import (
	"fmt"
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// observed are the packages whose operations report to an observe.Observer.
var observed = []string{"txn", "fanout", "shardmap", "export", "idempotency", "sentinel", "outbox", "inbox", "ledger", "projection", "reconcile"}

// composed are exported functions that take a context and do not report by themselves, each with the reason.
var composed = map[string]string{
	"export.Export.Verify":              "reads files",
	"export.Export.ForEach":             "reads files",
	"export.Export.Records":             "reads files",
	"export.Export.Torn":                "reads files",
	"export.Scan.Records":               "is ForEach",
	"projection.Namespace.Checkpoints":  "is checkpoints",
	"shardmap.Map.Versions":             "asks nobody",
	"idempotency.ProberFunc.Probe":      "is the caller's",
	"idempotency.RepairWorker.Run":      "its rounds report",
	"idempotency.RepairWorker.Once":     "its steps report",
	"ledger.Ledger.Balance":             "is StripeBalance of stripe 0",
	"ledger.Ledger.Seals":               "is seals",
	"ledger.Batcher.Close":              "waits",
	"outbox.Relay.Run":                  "its steps report",
	"outbox.Relay.Once":                 "its steps report",
	"projection.Namespace.Load":         "may take hours: Apply and its notes report",
	"projection.Namespace.Lag":          "is Checkpoint",
	"projection.Runbook.Run":            "may take hours: its steps report",
	"projection.Sorted.Entries":         "reads a source of the caller",
	"projection.Namespace.WaitCaughtUp": "is Checkpoint, again and again",
	"reconcile.Load":                    "reads sources of the caller",
	"reconcile.Comparison.Match":        "reads files of its own",
	"shardmap.Loader.Versions":          "is Load, now and then",
	"txn.Commit":                        "is Committer.Commit",
}

// reports says whether a function begins an operation, or hands its context to a function of the package that does.
func reports(body *ast.BlockStmt) bool {
	found := false
	ast.Inspect(body, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch fun := call.Fun.(type) {
		case *ast.SelectorExpr:
			found = found || fun.Sel.Name == "Begin" || fun.Sel.Name == "Each" || fun.Sel.Name == "step" || fun.Sel.Name == "listed"
		case *ast.Ident:
			found = found || fun.Name == "list"
		}
		return true
	})
	return found
}

// checkObserved returns the exported functions of a package that take a context, may fail, and report nothing.
func checkObserved(pkg string, files []file) (findings []string, silent []string) {
	for _, f := range files {
		if !f.isGo() || f.isTest() {
			continue
		}
		for _, decl := range f.ast.Decls {
			function, ok := decl.(*ast.FuncDecl)
			if !ok || !function.Name.IsExported() || function.Body == nil || !asks(function.Type) || reports(function.Body) {
				continue
			}
			name := pkg + "." + function.Name.Name
			if function.Recv != nil {
				owner := receiver(function.Recv.List[0].Type)
				if !ast.IsExported(owner) {
					continue
				}
				name = pkg + "." + owner + "." + function.Name.Name
			}
			if _, ok := composed[name]; ok {
				silent = append(silent, name)
				continue
			}
			findings = append(findings, fmt.Sprintf("%s takes a context and reports to no Observer: begin an operation of internal/watch, or say in "+
				"composed of internal/house/observed_test.go who reports in its place", name))
		}
	}
	return findings, silent
}

func TestWhatAsksAStoreReportsToAnObserver(t *testing.T) {
	tr := checkout(t)
	var silent []string
	for _, p := range packagesOf(tr.files) {
		if slices.Contains(observed, p.path) {
			findings, known := checkObserved(p.path, p.files)
			report(t, findings)
			silent = append(silent, known...)
		}
	}
	for name, reason := range composed {
		if !slices.Contains(silent, name) || reason == "" {
			t.Errorf("%s needs no place in composed any more, or has no reason", name)
		}
	}
}

// labelled are the functions that are given the label of an operation.
var labelled = []string{"Begin", "Each", "try", "listed", "list"}

var operation = regexp.MustCompile(`^"(?:AP\d\d\.)?[a-z][a-z.]*"$`)

// checkReported returns the labels of operations in code that no test of package observe names.
func checkReported(f file, tests string) (findings []string) {
	ast.Inspect(f.ast, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		name := ""
		switch fun := call.Fun.(type) {
		case *ast.SelectorExpr:
			name = fun.Sel.Name
		case *ast.Ident:
			name = fun.Name
		}
		for _, arg := range call.Args {
			label, ok := arg.(*ast.BasicLit)
			if ok && slices.Contains(labelled, name) && operation.MatchString(label.Value) && !strings.Contains(tests, strings.TrimSuffix(label.Value, `"`)) {
				findings = append(findings, fmt.Sprintf("%s: no test makes %s report exactly once: add it to observe/every_*_test.go", f.path, label.Value))
			}
		}
		return true
	})
	return findings
}

func TestEveryOperationThatReportsIsTried(t *testing.T) {
	tr := checkout(t)
	var tests strings.Builder
	for _, f := range tr.files {
		if strings.HasPrefix(f.path, "observe/every_") {
			tests.WriteString(f.text)
		}
	}
	for _, p := range packagesOf(tr.files) {
		for _, f := range p.files {
			if slices.Contains(observed, p.path) && f.isGo() && !f.isTest() {
				report(t, checkReported(f, tests.String()))
			}
		}
	}
}

func TestReportedCheckFindsOperationsThatNobodyTries(t *testing.T) {
	_, code := goFile(t, "p/p.go", `package p

func f() {
	w.Begin(ctx, "AP01.known")
	w.Begin(ctx, "AP01.unknown")
	watch.Each(ctx, &w, "load", "", nil)
}
`)
	mustFind(t, checkReported(code, `"AP01.known"`), `no test makes "AP01.unknown" report`, `no test makes "load" report`)
}

func TestObservedCheckFindsSilence(t *testing.T) {
	_, code := goFile(t, "p/p.go", `package p

func (d *Desk) Told(ctx context.Context) (err error) {
	ctx, op := d.watch.Begin(ctx, "AP01.told")
	defer op.End(&err)
	return nil
}

func (d *Desk) Silent(ctx context.Context) error { return nil }

func Pure(n int) error { return nil }
`)
	findings, _ := checkObserved("p", []file{code})
	mustFind(t, findings, "p.Desk.Silent takes a context and reports to no Observer")
	if strings.Contains(strings.Join(findings, " "), "Told") {
		t.Error(findings)
	}
}
