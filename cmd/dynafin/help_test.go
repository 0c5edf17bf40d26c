package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
)

// words splits a command line as a shell does, as far as suggestions and examples need it.
func words(line string) (all []string) {
	var word strings.Builder
	quoted, some := false, false
	for _, r := range line {
		switch {
		case r == '\'' || r == '"':
			quoted, some = !quoted, true
		case r == ' ' && !quoted:
			if word.Len() > 0 || some {
				all = append(all, word.String())
			}
			word.Reset()
			some = false
		default:
			word.WriteRune(r)
		}
	}
	if word.Len() > 0 || some {
		all = append(all, word.String())
	}
	return all
}

// means checks that a command line is a call of the program: the command is there, and takes these flags and arguments.
func means(line string) error {
	line, _, _ = strings.Cut(line, " > ")
	args := words(line)
	if len(args) == 0 || args[0] != "dynafin" {
		return fmt.Errorf("%q is no call of the program", line)
	}
	root := app.Tree(app.Env{Getenv: func(string) string { return "" }}, commands...)
	cmd, rest, err := root.Find(args[1:])
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); errors.Is(err, pflag.ErrHelp) {
		return nil
	} else if err != nil {
		return fmt.Errorf("%s: %w", cmd.CommandPath(), err)
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		return fmt.Errorf("%s: %w", cmd.CommandPath(), err)
	}
	return nil
}

func TestEveryCommandHasHelpAndExamplesThatMeanSomething(t *testing.T) {
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, below := range cmd.Commands() {
			walk(below)
		}
		if cmd.HasSubCommands() || cmd.Name() == "help" {
			return
		}
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: its line in the help is %q", cmd.CommandPath(), cmd.Short)
		}
		if cmd.Example == "" {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		for _, line := range strings.Split(cmd.Example, "\n") {
			line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "$"))
			if line == "" {
				continue
			}
			if err := means(line); err != nil {
				t.Errorf("example %q: %v", line, err)
			}
		}
	}
	walk(app.Tree(app.Env{}, commands...))
}
