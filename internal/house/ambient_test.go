package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"testing"
)

// ambient lists what reads the clock or chance of the process. Code takes both as arguments, so that a test can choose
// them and one seed is one history. For each package: the names that are meant, or, if exempt, all names but these.
var ambient = map[string]struct {
	names  []string
	exempt bool
}{
	"time":         {names: []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer"}},
	"math/rand":    {names: []string{"New", "NewSource", "NewZipf", "Rand", "Source", "Source64", "Zipf"}, exempt: true},
	"math/rand/v2": {names: []string{"New", "NewPCG", "NewChaCha8", "NewZipf", "Rand", "Source", "PCG", "ChaCha8", "Zipf"}, exempt: true},
	"crypto/rand":  {exempt: true},
}

// ambientAllowed names the files and directories that may, each with its reason.
var ambientAllowed = map[string]string{
	"internal/ambient":         "defaults of configurations: identities, jitter, patience",
	"internal/watch/watch.go":  "default of the clock of packages without one",
	"txn/committer.go":         "default of Config.Now",
	"idempotency/requests.go":  "default of Config.Now",
	"ledger/batch.go":          "default of BatchConfig.AfterFunc",
	"ledger/ledger.go":         "default of Config.Now",
	"sentinel/names.go":        "default of Config.Now",
	"outbox/config.go":         "default of RelayConfig.Now",
	"reconcile/config.go":      "default of Config.Now",
	"shardmap/store.go":        "default of Config.Now",
	"dynamosim/options.go":     "default of Options.Now",
	"internal/stores":          "names and tokens that no other run at an endpoint may meet, and real tables that take time",
	"storetest":                "identities that no other run on a table may meet, and indexes of real tables that lag",
	"invariant/ledger_test.go": "a handler in a bubble, whose clock is virtual",
	"invariant/clock.go":       "the clock of a bubble, where time is virtual",
	"bench":                    "a benchmark measures the time of the process",
	"examples/brokerage":       "a program owns its process: the time of acceptance, the name of the run, progress on a terminal",
	"export/scan.go":           "default of ScanConfig.Now",
	"inbox/inbox.go":           "default of Config.Now",
	"lambda/config.go":         "default of Config.Now",
	"dynamosim/cmd/dynamosim":  "a program owns its process: a loaded database goes on by its clock",
	"cmd/dynafin/main.go":      "a program owns its process: the clock that everything below it is given",
	"projection/projection.go": "default of Config.Now",
}

// checkAmbient returns every use of the process's own clock or chance.
func checkAmbient(fset *token.FileSet, f file) []string {
	if !f.isGo() {
		return nil
	}
	packages := map[string]string{} // local name -> import path
	bubble := slices.ContainsFunc(f.ast.Imports, func(spec *ast.ImportSpec) bool { return spec.Path.Value == `"testing/synctest"` })
	for _, spec := range f.ast.Imports {
		importPath, _ := strconv.Unquote(spec.Path.Value)
		if _, ok := ambient[importPath]; !ok {
			continue
		}
		if importPath == "time" && bubble && f.isTest() {
			continue // the bubble's clock is the test's own
		}
		name := path.Base(importPath)
		if importPath == "math/rand/v2" {
			name = "rand"
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		packages[name] = importPath
	}
	var findings []string
	ast.Inspect(f.ast, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		from, ok := selector.X.(*ast.Ident)
		if !ok {
			return true
		}
		importPath, ok := packages[from.Name]
		if !ok || slices.Contains(ambient[importPath].names, selector.Sel.Name) == ambient[importPath].exempt {
			return true
		}
		findings = append(findings, fmt.Sprintf("%s:%d: %s.%s is the process's own clock or chance: take it as an argument or from a Config, "+
			"or name the file with a reason in ambientAllowed of internal/house/ambient_test.go",
			f.path, fset.Position(selector.Pos()).Line, importPath, selector.Sel.Name))
		return true
	})
	return findings
}

func TestClockAndChanceAreInjected(t *testing.T) {
	tr := checkout(t)
	used := map[string]bool{}
	for _, f := range tr.files {
		findings := checkAmbient(tr.fset, f)
		if place := allowedPlace(ambientAllowed, f.path); place != "" {
			used[place] = used[place] || len(findings) > 0
			continue
		}
		report(t, findings)
	}
	for place, reason := range ambientAllowed {
		if !used[place] {
			t.Errorf("%s needs no place in ambientAllowed any more: take it out", place)
		}
		if reason == "" {
			t.Errorf("%s is allowed without a reason", place)
		}
	}
}

// allowedPlace returns the entry that the file is, or lies below.
func allowedPlace(allowed map[string]string, path string) string {
	for place := range allowed {
		if within(path, place) {
			return place
		}
	}
	return ""
}

func TestAmbientCheckFindsClocksAndChance(t *testing.T) {
	fset, f := goFile(t, "p/p.go", `package p

import (
	"math/rand/v2"
	secret "crypto/rand"
	"time"
)

var now = time.Now // a value is a use, too

func f(d time.Duration) {
	time.Sleep(d)
	rand.New(rand.NewPCG(1, 2)).IntN(6)
	rand.IntN(6)
	secret.Text()
}
`)
	bubbles, bubble := goFile(t, "p/p_test.go", `package p

import (
	"testing/synctest"
	"time"
)

func f() { synctest.Wait(); time.Sleep(1) }
`)
	mustFind(t, checkAmbient(bubbles, bubble))
	mustFind(t, checkAmbient(fset, f), "p/p.go:9: time.Now", "p/p.go:12: time.Sleep", "p/p.go:14: math/rand/v2.IntN", "p/p.go:15: crypto/rand.Text")
}
