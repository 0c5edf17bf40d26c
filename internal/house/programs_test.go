package house

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// programLimit is far above what a program in a document needs; it ends one that hangs.
const programLimit = 2 * time.Minute

// printed is a program of a document with the output printed under it.
type printed struct {
	block
	want string
}

// name is where the program is built, made from where it stands.
func (p printed) name() string {
	return notWord.ReplaceAllString(fmt.Sprintf("%s_%d", strings.ToLower(p.document), p.line), "_")
}

var notWord = regexp.MustCompile(`[^a-z0-9]+`)

// programs returns the programs of a document; the block that follows each is its output.
func programs(f file) (found []printed, findings []string) {
	blocks := fences(f)
	for i, b := range blocks {
		if !b.program() {
			continue
		}
		if i+1 == len(blocks) || blocks[i+1].language != "" && blocks[i+1].language != "text" {
			findings = append(findings, fmt.Sprintf("%s:%d: no output is printed under the program (a text block)", f.path, b.line))
			continue
		}
		found = append(found, printed{block: b, want: blocks[i+1].text})
	}
	return found, findings
}

// buildPrograms compiles and vets the programs as an importer would: in a module of their own that requires the checkout.
// They land in bin below dir.
func buildPrograms(root, dir string, programs []printed) error {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return err
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		return err
	}
	text := strings.Replace(string(mod), "module "+modulePath, "module example.org/reader", 1)
	text += fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %s => %q\n", modulePath, modulePath, root)
	files := map[string]string{"go.mod": text, "go.sum": string(sum)}
	for _, p := range programs {
		files[filepath.Join(p.name(), "main.go")] = p.text
	}
	for name, text := range files {
		full := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644)); err != nil {
			return err
		}
	}
	bin := filepath.Join(dir, "bin") + string(filepath.Separator)
	if _, err = runIn(dir, "go", "build", "-ldflags=-s -w", "-o", bin, "./..."); err != nil {
		return err
	}
	_, err = runIn(dir, "go", "vet", "./...")
	return err
}

// runProgram runs a built program in an empty directory and returns how its output differs from the printed one.
func runProgram(ctx context.Context, dir, empty string, p printed) []string {
	command := exec.CommandContext(ctx, filepath.Join(dir, "bin", p.name()))
	command.Dir = empty
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return []string{fmt.Sprintf("%s:%d: the program ends with %v\n%s%s", p.document, p.line, err, out, stderr.Bytes())}
	}
	if string(out) != p.want {
		return []string{fmt.Sprintf("%s:%d: the program prints\n%s\nthe document says\n%s", p.document, p.line, out, p.want)}
	}
	return nil
}

// checkPrograms builds and runs the programs of all documents.
func checkPrograms(t *testing.T, root string, documents []file) (findings []string) {
	var all []printed
	for _, f := range documents {
		found, problems := programs(f)
		all, findings = append(all, found...), append(findings, problems...)
	}
	if len(all) == 0 {
		return findings
	}
	dir := t.TempDir()
	if err := buildPrograms(root, dir, all); err != nil {
		return append(findings, fmt.Sprintf("the programs of the documents do not build: %v", err))
	}
	ctx, cancel := context.WithTimeout(t.Context(), programLimit)
	defer cancel()
	for _, p := range all {
		findings = append(findings, runProgram(ctx, dir, t.TempDir(), p)...)
	}
	return findings
}

func TestProgramsInDocumentsPrintWhatTheySay(t *testing.T) {
	tr := checkout(t)
	var documents []file
	for _, f := range tr.files {
		if isMarkdown(f) {
			documents = append(documents, f)
		}
	}
	report(t, checkPrograms(t, tr.root, documents))
}

func TestProgramChecksFindWrongOutput(t *testing.T) {
	program := func(code string) string { return "```go\npackage main\n\n" + code + "\n```\n" }
	hello := program("import (\n\t\"fmt\"\n\n\t\"" + modulePath + "/capacity\"\n)\n\nfunc main() { fmt.Println(\"hello\", capacity.WriteUnits(1025)) }")
	page := file{path: "docs/page.md", text: hello + "\nIt prints:\n\n```text\nhello 2\n```\n" +
		hello + "```\ngoodbye\n```\n" +
		program("func main() { panic(\"oh\") }") + "```\n```\n" +
		hello + "```sh\ngo test ./...\n```\n" + hello}
	mustFind(t, checkPrograms(t, checkout(t).root, []file{page}),
		"docs/page.md:40: no output is printed",
		"docs/page.md:54: no output is printed",
		"docs/page.md:19: the program prints\nhello 2",
		"docs/page.md:33: the program ends with exit status 2")

	broken := file{path: "README.md", text: program("func main() { undefined() }") + "```\n```\n"}
	mustFind(t, checkPrograms(t, checkout(t).root, []file{broken}), "undefined: undefined")
}
