package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/dynamosim"
)

const runbooks = "../../docs/runbooks"

// TestEveryCommandOfEveryRunbookPrintsWhatItSays runs the console blocks of the runbooks, in order, each page against a DynamoDB of its
// own, and compares what they print. An HTML comment "seed NAME..." says what has happened before, and "clock DURATION" lets time pass.
// UPDATE=1 go test rewrites the output.
func TestEveryCommandOfEveryRunbookPrintsWhatItSays(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(runbooks, "*.md"))
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d runbooks, %v", len(pages), err)
	}
	for _, page := range append(pages, "README.md") {
		t.Run(filepath.Clean(page), func(t *testing.T) {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			got, commands, err := replay(t.Context(), string(text))
			if err != nil {
				t.Fatal(err)
			}
			if commands == 0 && filepath.Dir(page) == runbooks && filepath.Base(page) != "README.md" {
				t.Error("it has no command")
			}
			switch {
			case got == string(text):
			case os.Getenv("UPDATE") != "":
				if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("it prints something else; if that is meant, run the test with UPDATE=1. Got\n%s", got)
			}
		})
	}
}

// replay returns the page with the output that its commands have now.
func replay(ctx context.Context, page string) (string, int, error) {
	w := &world{now: start}
	w.db = dynamosim.Open(dynamosim.Options{Now: w.Now})
	env := map[string]string{"USER": "ann", "DYNAFIN_CONFIG": filepath.Join(runbooks, "brokerage.json")}
	w.env = func(name string) string { return env[name] }
	var out []string
	commands, inside := 0, false
	for _, line := range strings.Split(page, "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
			out = append(out, line)
		case inside && strings.HasPrefix(line, "$ "):
			shown, err := w.command(ctx, strings.TrimPrefix(line, "$ "))
			if err != nil {
				return "", 0, err
			}
			out = append(append(out, line), shown...)
			commands++
		case inside: // what it printed when the page was written
		default:
			if err := w.comment(ctx, line); err != nil {
				return "", 0, err
			}
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n"), commands, nil
}

// comment does what an HTML comment of a page says.
func (w *world) comment(ctx context.Context, line string) error {
	text, ok := strings.CutPrefix(line, "<!-- ")
	if !ok {
		return nil
	}
	words := strings.Fields(strings.TrimSuffix(text, " -->"))
	for _, name := range words[1:] {
		seed, ok := seeds[name]
		if words[0] != "seed" || !ok {
			return fmt.Errorf("%s: there is no such step", line)
		}
		if err := seed(ctx, w); err != nil {
			return fmt.Errorf("seed %s: %w", name, err)
		}
	}
	return nil
}

// command runs a line of a console. What a terminal shows is what comes back, and the exit code if it is not 0.
func (w *world) command(ctx context.Context, line string) ([]string, error) {
	args, err := split(line)
	if err != nil || len(args) == 0 || args[0] != "dynafin" {
		return nil, fmt.Errorf("%q is no command of the tool: %w", line, err)
	}
	var shown bytes.Buffer
	exit := w.run(ctx, args[1:], &shown, &shown)
	if exit != app.ExitOK {
		fmt.Fprintf(&shown, "exit %d\n", exit)
	}
	text := strings.TrimSuffix(shown.String(), "\n")
	if text == "" {
		return nil, nil
	}
	return strings.Split(text, "\n"), nil
}

// split takes a line apart as a shell does: at blanks, but not between quotes.
func split(line string) (args []string, err error) {
	var word strings.Builder
	quote, begun := rune(0), false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case r == ' ':
			if begun {
				args = append(args, word.String())
			}
			word.Reset()
			begun = false
		case strings.ContainsRune("|&;<>$`\\*?()", r):
			return nil, fmt.Errorf("a shell would make something else of %q", r)
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote is open")
	}
	if begun {
		args = append(args, word.String())
	}
	return args, nil
}

func TestALineIsTakenApartAsAShellDoes(t *testing.T) {
	got, err := split(`dynafin outbox retry --where 'cause~503 from' --reason "it's back"  --id ''`)
	if want := "[dynafin outbox retry --where cause~503 from --reason it's back --id ]"; err != nil || fmt.Sprint(got) != want || len(got) != 9 {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{"a | b", "a 'b", "a > b", "a $b"} {
		if _, err := split(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
