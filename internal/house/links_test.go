package house

import (
	"encoding/json"
	"fmt"
	"go/version"
	"maps"
	"slices"
	"strings"
	"testing"
)

const sdk = "github.com/aws/aws-sdk-go-v2"

// What the parts of the client bring along. An entry allows an import path and everything below it.
var (
	values = []string{modulePath + "/internal/fault", sdk + "/service/dynamodb/types", sdk + "/service/dynamodb/schemas",
		"github.com/aws/smithy-go"}
	client = []string{modulePath, sdk + "/aws", sdk + "/internal", sdk + "/service/dynamodb", sdk + "/service/internal",
		"github.com/aws/smithy-go"}
	expression = []string{sdk + "/feature/dynamodb/expression", sdk + "/feature/dynamodb/attributevalue",
		sdk + "/service/dynamodbstreams/types", sdk + "/service/dynamodbstreams/schemas"}
	backoff   = []string{"github.com/cenkalti/backoff/v4"}
	primitive = slices.Concat(client, expression, backoff)
)

// publisher is what a publisher links: the outbox, and the client of its own broker.
func publisher(service string) []string { return slices.Concat(primitive, []string{sdk + service}) }

// links says what importing a package may link besides the standard library: an importer pays for the client that it
// has anyway, and for nothing that only the tests or the simulator need.
var links = map[string][]string{
	"internal/fault":      {},
	"internal/ambient":    {},
	"internal/jsontext":   {},
	"internal/update":     values,
	"internal/plot":       {},
	"internal/watch":      client,
	"observe":             slices.Concat(values, []string{modulePath + "/capacity"}),
	"internal/keys":       values,
	"shardmap":            client,
	"capacity":            values,
	"capacity/reference":  slices.Concat(values, []string{modulePath + "/capacity"}),
	"money":               values,
	"fanout":              client,
	"export":              client,
	"schema":              client,
	"txn":                 primitive,
	"idempotency":         primitive,
	"idempotency/httpkey": primitive,
	"sentinel":            primitive,
	"outbox":              primitive,
	"inbox":               primitive,
	"projection":          primitive,
	"ledger":              primitive,
	"reconcile":           primitive,
	"outbox/eventbridge":  publisher("/service/eventbridge"),
	"outbox/kinesis":      publisher("/service/kinesis"),
	"outbox/sns":          publisher("/service/sns"),
	"outbox/sqs":          publisher("/service/sqs"),
	"dynamosim":           slices.Concat(client, []string{sdk + "/service/dynamodbstreams", "github.com/tidwall/btree"}),
}

// neverLinked are packages of this module that must not reach a user's program through a primitive.
var neverLinked = slices.Concat([]string{"dynamosim", "invariant", "loadtest", "storetest", "examples", "cmd",
	"otel", "lambda", "internal/house"}, testSupport)

// testSupport are packages that only tests import.
var testSupport = []string{"internal/chance", "internal/stores", "internal/golden", "outbox/internal/publishertest"}

// checkLinks returns every dependency of the packages that the table does not allow. isStandard tells the standard
// library apart.
func checkLinks(links map[string][]string, packages []listed, isStandard func(path string) bool) []string {
	byName := map[string]listed{}
	for _, p := range packages {
		byName[rel(p.ImportPath)] = p
	}
	var findings []string
	for _, name := range slices.Sorted(maps.Keys(links)) {
		for _, dep := range byName[name].Deps {
			if isStandard(dep) || within(dep, modulePath+"/"+name) {
				continue
			}
			inHouse := rel(dep) != "" && slices.ContainsFunc(neverLinked, func(banned string) bool { return within(rel(dep), banned) })
			if inHouse || !slices.ContainsFunc(links[name], func(allowed string) bool { return within(dep, allowed) }) {
				findings = append(findings, fmt.Sprintf("importing %s links %s; the table links in internal/house/links_test.go does not allow it",
					name, dep))
			}
		}
	}
	return findings
}

// within reports whether path is dir or lies below it.
func within(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

func TestImportingAPackageLinksOnlyWhatItNeeds(t *testing.T) {
	tr := checkout(t)
	report(t, checkLinks(links, tr.packages, func(path string) bool { return tr.deps[path].Standard }))
}

// TestImportingAPrimitiveCompilesNoHarness says it without the table: whatever the table allows, an importer of a primitive compiles
// no simulator, no harness, nothing of OpenTelemetry, and no client of a broker.
func TestImportingAPrimitiveCompilesNoHarness(t *testing.T) {
	banned := []string{"go.opentelemetry.io", sdk + "/service/sqs", sdk + "/service/sns", sdk + "/service/eventbridge", sdk + "/service/kinesis",
		"github.com/ThreeDotsLabs/watermill", "pgregory.net/rapid", "github.com/anishathalye/porcupine", "testing"}
	for _, name := range neverLinked {
		banned = append(banned, modulePath+"/"+name)
	}
	seen := 0
	for _, p := range checkout(t).packages {
		name := rel(p.ImportPath)
		if floors[name] != 2 && floors[name] != 3 || name == "dynamosim" || slices.Contains(testSupport, name) {
			continue
		}
		seen++
		for _, dep := range p.Deps {
			if slices.ContainsFunc(banned, func(path string) bool { return within(dep, path) }) {
				t.Errorf("importing %s compiles %s", name, dep)
			}
		}
	}
	if seen < 11 {
		t.Errorf("%d packages were looked at", seen)
	}
}

func TestEveryPublicPackageSaysWhatItLinks(t *testing.T) {
	for _, p := range checkout(t).packages {
		name := rel(p.ImportPath)
		entry, _ := home(floors, name)
		inner := name != entry && (p.Name == "main" || strings.Contains(name, "/internal/"))
		if name == "." || floors[entry] > 3 || inner || slices.Contains(testSupport, name) {
			continue // documentation, programs, the inner packages of another, and what only tests import
		}
		if _, ok := links[name]; !ok {
			t.Errorf("package %s is missing in the table links in internal/house/links_test.go: say what its importers pay for", name)
		}
	}
}

func TestLinksCheckFindsHeavyImports(t *testing.T) {
	packages := []listed{
		{ImportPath: modulePath + "/money", Deps: []string{"fmt", sdk + "/service/dynamodb/types", sdk + "/service/dynamodb"}},
		{ImportPath: modulePath + "/outbox", Deps: []string{modulePath + "/txn", modulePath + "/dynamosim/internal/engine", sdk + "/config", "pgregory.net/rapid"}},
		{ImportPath: modulePath + "/outbox/sns", Deps: []string{modulePath + "/outbox", sdk + "/service/sns", sdk + "/service/sqs"}},
		{ImportPath: modulePath + "/inbox", Deps: []string{sdk + "/service/sqs/types"}},
	}
	standard := func(path string) bool { return path == "fmt" }
	mustFind(t, checkLinks(links, packages, standard),
		"importing inbox links "+sdk+"/service/sqs/types;",
		"importing money links "+sdk+"/service/dynamodb;",
		"importing outbox links "+modulePath+"/dynamosim/internal/engine;",
		"importing outbox links "+sdk+"/config;",
		"importing outbox links pgregory.net/rapid;",
		"importing outbox/sns links "+sdk+"/service/sqs;")
}

const goLine = "1.25"

// goMod is the part of `go mod edit -json` that the checks use.
type goMod struct{ Go, Toolchain string }

// checkGoLine returns what would force a newer Go on an importer: the module's own line, or a dependency's.
func checkGoLine(mod goMod, dependencies map[string]string) []string {
	var findings []string
	if mod.Go != goLine {
		findings = append(findings, fmt.Sprintf("go.mod says go %s; it stays at go %s so that importers one release behind can use the module", mod.Go, goLine))
	}
	if mod.Toolchain != "" {
		findings = append(findings, fmt.Sprintf("go.mod has the line toolchain %s; it would be forced on nobody but asked of everybody, take it out", mod.Toolchain))
	}
	for _, path := range slices.Sorted(maps.Keys(dependencies)) {
		if line := dependencies[path]; line != "" && version.Compare("go"+line, "go"+goLine) > 0 {
			findings = append(findings, fmt.Sprintf("%s asks for go %s, which would raise go %s for every importer; take an older version of it", path, line, goLine))
		}
	}
	return findings
}

func TestGoLineStays(t *testing.T) {
	tr := checkout(t)
	out, err := tr.goCommand("mod", "edit", "-json")
	if err != nil {
		t.Fatal(err)
	}
	var mod goMod
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}
	dependencies := map[string]string{}
	for _, p := range tr.deps {
		if p.Module != nil && p.Module.Path != modulePath {
			dependencies[p.Module.Path] = p.Module.GoVersion
		}
	}
	report(t, checkGoLine(mod, dependencies))
}

func TestGoLineCheckFindsNewerLines(t *testing.T) {
	mustFind(t, checkGoLine(goMod{Go: "1.25"}, map[string]string{"a": "1.25", "b": "1.13", "c": ""}))
	mustFind(t, checkGoLine(goMod{Go: "1.26", Toolchain: "go1.26.1"}, map[string]string{"a": "1.25.0", "b": "1.26"}),
		"go.mod says go 1.26", "toolchain go1.26.1", "a asks for go 1.25.0", "b asks for go 1.26")
}
