package house

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// floors places every package of the module. A package belongs to the longest entry that is a prefix of its path,
// so that dynamosim/internal/engine lives with dynamosim: packages of one entry may import one another, packages of
// two entries on one floor may not, and arrows only go down.
var floors = map[string]int{
	// The ground, one stone upon another: the shape of every error, of every cost, and of what is told of both. The root
	// package holds only documentation.
	"internal/fault": -3,
	"capacity":       -2,
	"observe":        -1,
	"internal/watch": 0,
	".":              0,

	// Floor 1: values and rules. Standard library and third parties.
	"money":             1,
	"shardmap":          1,
	"internal/ambient":  1,
	"internal/update":   1,
	"internal/chance":   1,
	"internal/golden":   1,
	"internal/plot":     1,
	"internal/jsontext": 1,
	"internal/keys":     1,

	// Floor 2: the transaction, the tables and the embedded store.
	"txn":       2,
	"fanout":    2,
	"schema":    2,
	"export":    2,
	"dynamosim": 2,

	// Floor 3: the primitives. They meet only in the caller's transaction, so they never import one another.
	"idempotency": 3,
	"sentinel":    3,
	"outbox":      3,
	"inbox":       3,
	"ledger":      3,
	"projection":  3,
	"reconcile":   3,

	// Beside them: what a test runs on. Only tests import it.
	"internal/stores": 3,

	// Floor 4: what is put together from all of it.
	"reconcile/ready": 4,
	"invariant":       4,
	"storetest":       4,
	"loadtest":        4,

	// Floor 5: programs.
	"cmd/dynafin": 5,
	"examples":    5,

	// Modules of their own, which see this one as any importer does.
	"lambda": 4,
	"otel":   4,

	// The roof: these tests look at everything, nothing looks at them.
	"internal/house": 6,
}

const (
	highestInTests = 2 // a package's own tests may use the simulator, whatever floor they are on
	highestAsUser  = 3 // a test in package x_test acts as a user, and a user may combine the primitives
)

// home returns the entry of the floors that a package belongs to.
func home(floors map[string]int, pkg string) (entry string, ok bool) {
	for entry := pkg; entry != ""; {
		if _, ok := floors[entry]; ok {
			return entry, true
		}
		cut := strings.LastIndexByte(entry, '/')
		if cut < 0 {
			break
		}
		entry = entry[:cut]
	}
	return "", false
}

// checkFloors returns every package that has no floor and every import that does not go down.
func checkFloors(floors map[string]int, packages []listed) []string {
	var findings []string
	for _, p := range packages {
		name := rel(p.ImportPath)
		entry, ok := home(floors, name)
		if !ok {
			findings = append(findings, fmt.Sprintf("package %s has no floor: decide which packages may import it and add it "+
				"to the table floors in internal/house/floors_test.go", name))
			continue
		}
		floor := floors[entry]
		check := func(imports []string, highest int, kind string) {
			for _, path := range imports {
				target := rel(path)
				other, ok := home(floors, target)
				if !ok || other == entry || floors[other] <= highest {
					continue
				}
				findings = append(findings, fmt.Sprintf("%s (floor %d) imports %s (floor %d) %s; the highest floor it may import there is %d",
					name, floor, target, floors[other], kind, highest))
			}
		}
		check(p.Imports, floor-1, "in its code")
		check(p.TestImports, max(floor-1, highestInTests), "in its own tests")
		check(p.XTestImports, max(floor-1, highestAsUser), "in its external tests")
	}
	return findings
}

func TestImportsOnlyGoDown(t *testing.T) {
	report(t, checkFloors(floors, checkout(t).packages))
}

func TestFloorsCheckFindsWrongImports(t *testing.T) {
	own := func(paths ...string) (full []string) {
		for _, path := range paths {
			full = append(full, modulePath+"/"+path)
		}
		return full
	}
	good := []listed{
		{ImportPath: modulePath + "/outbox", Imports: append(own("txn", "internal/keys", "internal/fault"), "fmt", "example.com/x/money"),
			TestImports: own("dynamosim"), XTestImports: own("idempotency", "outbox")},
		{ImportPath: modulePath + "/dynamosim", Imports: own("dynamosim/internal/engine", "capacity")},
		{ImportPath: modulePath + "/money", TestImports: own("dynamosim")},
	}
	mustFind(t, checkFloors(floors, good))

	bad := []listed{
		{ImportPath: modulePath + "/outbox", Imports: own("idempotency")},
		{ImportPath: modulePath + "/money", Imports: own("shardmap", "txn")},
		{ImportPath: modulePath + "/txn", TestImports: own("outbox"), XTestImports: own("examples/brokerage")},
		{ImportPath: modulePath + "/brandnew"},
		{ImportPath: modulePath + "/internal/brandnew"},
	}
	mustFind(t, checkFloors(floors, bad),
		"outbox (floor 3) imports idempotency (floor 3) in its code",
		"money (floor 1) imports shardmap (floor 1)",
		"money (floor 1) imports txn (floor 2)",
		"txn (floor 2) imports outbox (floor 3) in its own tests",
		"txn (floor 2) imports examples/brokerage (floor 5) in its external tests",
		"package brandnew has no floor",
		"package internal/brandnew has no floor")
}

func TestPrimitivesShareOneFloor(t *testing.T) {
	primitives := []string{"idempotency", "inbox", "ledger", "outbox", "projection", "reconcile", "sentinel"}
	onThird := slices.Sorted(maps.Keys(floors))
	onThird = slices.DeleteFunc(onThird, func(entry string) bool { return floors[entry] != 3 || entry == "internal/stores" })
	if !slices.Equal(onThird, primitives) {
		t.Errorf("floor 3 holds %v; the design puts exactly %v there", onThird, primitives)
	}
}
