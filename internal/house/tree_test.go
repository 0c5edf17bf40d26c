package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const modulePath = "github.com/dynafin/dynafin"

// tree is the checkout as the checks see it. It is read once and never changed.
type tree struct {
	root     string
	fset     *token.FileSet
	files    []file            // every source and document, nested modules included
	packages []listed          // the packages of the root module
	deps     map[string]listed // everything the packages and their tests reach, by import path
}

// file is one text file of the checkout.
type file struct {
	path string // relative to the root, with slashes
	text string
	ast  *ast.File // nil unless it is Go
}

func (f file) isGo() bool   { return f.ast != nil }
func (f file) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// in reports whether the file lies in the directory or below it.
func (f file) in(dir string) bool { return strings.HasPrefix(f.path, dir+"/") }

// listed is the part of `go list -json` that the checks use.
type listed struct {
	ImportPath, Dir, Name, ForTest     string
	Standard, DepOnly                  bool
	Module                             *struct{ Path, GoVersion string }
	GoFiles, TestGoFiles, XTestGoFiles []string
	Imports, TestImports, XTestImports []string
	Deps                               []string
}

// rel is the path of a package inside the module, "." for its root, and "" for a package outside it.
func rel(importPath string) string {
	if importPath == modulePath {
		return "."
	}
	if inside, ok := strings.CutPrefix(importPath, modulePath+"/"); ok {
		return inside
	}
	return ""
}

var loadTree = sync.OnceValues(func() (*tree, error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return nil, err
	}
	tr := &tree{root: root, fset: token.NewFileSet()}
	return tr, errors.Join(tr.readFiles(), tr.listPackages())
})

// checkout returns the tree, loaded once for all tests.
func checkout(t *testing.T) *tree {
	t.Helper()
	tr, err := loadTree()
	if err != nil {
		t.Fatalf("reading the checkout: %v", err)
	}
	return tr
}

// readFiles reads every text file by walking, not by asking git: the tests also run where there is no repository.
func (tr *tree) readFiles() error {
	return filepath.WalkDir(tr.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if name == ".git" || name == "bin" || name == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() || !isText(name) {
			return nil
		}
		return tr.readFile(path)
	})
}

func (tr *tree) readFile(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	inside, err := filepath.Rel(tr.root, path)
	if err != nil {
		return err
	}
	if bytes.IndexByte(text, 0) >= 0 {
		return nil // a program that somebody built here
	}
	f := file{path: filepath.ToSlash(inside), text: string(text)}
	if filepath.Ext(path) == ".go" {
		if f.ast, err = parser.ParseFile(tr.fset, path, text, parser.ParseComments); err != nil {
			return err
		}
	}
	tr.files = append(tr.files, f)
	return nil
}

func isText(name string) bool {
	switch filepath.Ext(name) {
	case ".go", ".mod", ".md", ".sh", ".json", ".yaml", ".yml", ".toml", ".conf", "":
		return true
	}
	return false
}

// listPackages asks the go command once for the whole import graph, tests included.
func (tr *tree) listPackages() error {
	// -e: a package that does not build is reported by the build; the checks say what they can about the rest.
	out, err := tr.goCommand("list", "-e", "-deps", "-test", "-json=ImportPath,Dir,Name,ForTest,Standard,DepOnly,Module,"+
		"GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports,Deps", "./...")
	if err != nil {
		return err
	}
	tr.deps = map[string]listed{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("go list: %w", err)
		}
		if p.ForTest != "" || strings.HasSuffix(p.ImportPath, ".test") {
			continue // the variants that the go command makes up to run tests
		}
		tr.deps[p.ImportPath] = p
		if rel(p.ImportPath) != "" {
			tr.packages = append(tr.packages, p)
		}
	}
}

// goCommand runs the go command in the root of the checkout and returns its standard output.
func (tr *tree) goCommand(args ...string) ([]byte, error) {
	return runIn(tr.root, "go", args...)
}

func runIn(dir, name string, args ...string) ([]byte, error) {
	command := exec.Command(name, args...)
	command.Dir = dir
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return out, fmt.Errorf("%s %s: %w\n%s", name, args[0], err, stderr.Bytes())
	}
	return out, nil
}

// nested says whether a directory belongs to a module of its own.
func (tr *tree) nested(dir string) bool {
	for ; dir != "."; dir = path.Dir(dir) {
		if _, ok := tr.named(dir + "/go.mod"); ok {
			return true
		}
	}
	return false
}

// named returns the file with this path.
func (tr *tree) named(path string) (file, bool) {
	for _, f := range tr.files {
		if f.path == path {
			return f, true
		}
	}
	return file{}, false
}

// goFile makes a Go file out of text, for checks that are tried on bad input.
func goFile(t *testing.T, path, text string) (*token.FileSet, file) {
	t.Helper()
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, path, text, parser.ParseComments)
	if err != nil {
		t.Fatalf("the fabricated file is not Go: %v", err)
	}
	return fset, file{path: path, text: text, ast: syntax}
}

// report fails the test once per finding.
func report(t *testing.T, findings []string) {
	t.Helper()
	for _, finding := range findings {
		t.Error(finding)
	}
}

// mustFind fails unless there are exactly as many findings as wanted texts, each containing its text.
func mustFind(t *testing.T, findings []string, want ...string) {
	t.Helper()
	if len(findings) != len(want) {
		t.Fatalf("got %d findings, want %d:\n%s", len(findings), len(want), strings.Join(findings, "\n"))
	}
	for i, text := range want {
		if !strings.Contains(findings[i], text) {
			t.Errorf("finding %d is %q, it should contain %q", i+1, findings[i], text)
		}
	}
}
