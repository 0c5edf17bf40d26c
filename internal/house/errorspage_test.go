package house

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dynafin/dynafin/internal/fault"
)

var update = flag.Bool("update", false, "write docs/errors.md instead of comparing it")

const errorsPage = "docs/errors.md"

// renderErrors writes the page that explains every code.
func renderErrors(codes []fault.Code) string {
	var page strings.Builder
	page.WriteString(errorsIntro)
	section := ""
	for _, code := range codes {
		pkg, _, _ := strings.Cut(code.Name, ".")
		if pkg != section {
			fmt.Fprintf(&page, "\n## %s\n", pkg)
			section = pkg
		}
		fmt.Fprintf(&page, "\n### %s `%s`\n\n%s\n\n%s %s.\n", code.ID, code.Name, code.Meaning,
			code.Action, capitalised(string(code.Retry)))
	}
	return page.String()
}

func capitalised(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

const errorsIntro = `<!-- Generated from internal/fault by "go generate ./internal/house"; edit the tables there. -->

# Errors and their codes

Every error of this module ends with what a repeat of the same call can bring and with a stable code, ` + "`[DFN-nnnn]`" + `. A code
never changes its meaning and is never used again. In a program, match the kind with ` + "`errors.Is`" + `, read the facts from the
typed error with ` + "`errors.As`" + `, and find the code through any wrapping with

` + "```go" + `
var coded interface{ Code() string }
if errors.As(err, &coded) {
	fmt.Println("code:", coded.Code())
}
` + "```" + `
`

// TestErrorsPageIsCurrent compares the page with the tables; with -update it writes the page.
func TestErrorsPageIsCurrent(t *testing.T) {
	tr := checkout(t)
	want := renderErrors(fault.All())
	if *update {
		if err := os.WriteFile(filepath.Join(tr.root, filepath.FromSlash(errorsPage)), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if page, _ := tr.named(errorsPage); page.text != want {
		t.Errorf("%s is not what internal/fault says; run: go generate ./internal/house", errorsPage)
	}
}
