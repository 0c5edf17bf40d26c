package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/dynamosim"
)

// start is the time in the scripts, unless they say otherwise.
var start = time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC)

// world is the process and the DynamoDB of one script.
type world struct {
	db       *dynamosim.DB
	now      time.Time
	ids      int
	exit     int
	terminal bool
	stdin    string
	env      func(string) string
	network  func(aws.HTTPClient) aws.HTTPClient
}

// Now is the clock of the machine and of the simulator.
func (w *world) Now() time.Time { return w.now }

// run runs the program once.
func (w *world) run(ctx context.Context, args []string, out, errs interface{ Write([]byte) (int, error) }) int {
	return app.Run(ctx, app.Env{
		Args: args, Stdin: strings.NewReader(w.stdin), Stdout: out, Stderr: errs, Getenv: w.env,
		Now: w.Now,
		Sleep: func(_ context.Context, d time.Duration) error {
			w.now = w.now.Add(d)
			return nil
		},
		NewID: func() string {
			w.ids++
			return fmt.Sprintf("id-%d", w.ids)
		},
		OutTerminal: w.terminal, InTerminal: w.terminal, Simulator: w.db, Network: w.network,
	}, commands...)
}

// TestScripts runs the transcripts of testdata/script, each against a DynamoDB of its own. Beside the commands of testscript
// they have:
//
//	seed NAME             fills the DynamoDB, see seeds
//	dynafin ARGS...       runs the program in this process
//	exit CODE             checks how the last run ended
//	clock DURATION        moves the clock
//	lines FILE COUNT      counts lines
//	noterminal            makes them talk to a program again
//	terminal [ANSWER]     makes the following runs talk to a person, who answers so
//	faults FATE OPERATION after N, faults none   loses all but the first N requests of an operation, or their answers
//	resume, lastrun       runs the program with the last run that began: --resume RUN, or RUN
//
// UPDATE=1 go test rewrites the expected output.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE") != "",
		Setup: func(env *testscript.Env) error {
			w := &world{now: start, env: env.Getenv}
			w.db = dynamosim.Open(dynamosim.Options{Now: w.Now})
			env.Values[worldKey{}] = w
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"dynafin":  runCommand,
			"seed":     seedCommand,
			"exit":     exitCommand,
			"clock":    clockCommand,
			"lines":    linesCommand,
			"terminal": terminalCommand,
			"faults":   faultsCommand,
			"resume":   resumeCommand,
			"lastrun":  lastRunCommand,
			"noterminal": func(ts *testscript.TestScript, _ bool, _ []string) {
				worldOf(ts).terminal = false
			},
		},
	})
}

type worldKey struct{}

func worldOf(ts *testscript.TestScript) *world { return ts.Value(worldKey{}).(*world) }

func runCommand(ts *testscript.TestScript, neg bool, args []string) {
	w := worldOf(ts)
	resolved := slices.Clone(args)
	for i, arg := range args {
		if i > 0 && slices.Contains([]string{"--config", "--load", "--save", "--out", "--report"}, args[i-1]) {
			resolved[i] = ts.MkAbs(arg)
		}
	}
	w.env = func(name string) string {
		value := ts.Getenv(name)
		if name == "DYNAFIN_CONFIG" && value != "" {
			return ts.MkAbs(value)
		}
		return value
	}
	var errs bytes.Buffer
	w.exit = w.run(context.Background(), resolved, ts.Stdout(), io.MultiWriter(ts.Stderr(), &errs))
	checkSuggestions(ts, errs.String())
	if neg != (w.exit != app.ExitOK) {
		ts.Fatalf("exit code %d", w.exit)
	}
}

// checkSuggestions holds what the last line suggests against the program: it can be run as it stands.
func checkSuggestions(ts *testscript.TestScript, errs string) {
	lines := strings.Split(strings.TrimSpace(errs), "\n")
	for i, line := range lines {
		next, ok := strings.CutPrefix(line, "next: ")
		if !ok {
			continue
		}
		if i != len(lines)-1 {
			ts.Fatalf("%q is not the last line", line)
		}
		if err := means(next); err != nil {
			ts.Fatalf("%q: %v", line, err)
		}
	}
}

func exitCommand(ts *testscript.TestScript, _ bool, args []string) {
	if want, err := strconv.Atoi(args[0]); err != nil || worldOf(ts).exit != want {
		ts.Fatalf("exit code %d, want %s", worldOf(ts).exit, args[0])
	}
}

func clockCommand(ts *testscript.TestScript, _ bool, args []string) {
	d, err := time.ParseDuration(args[0])
	ts.Check(err)
	w := worldOf(ts)
	w.now = w.now.Add(d)
}

func linesCommand(ts *testscript.TestScript, _ bool, args []string) {
	if n := strings.Count(ts.ReadFile(args[0]), "\n"); strconv.Itoa(n) != args[1] {
		ts.Fatalf("%d lines, want %s", n, args[1])
	}
}

func terminalCommand(ts *testscript.TestScript, _ bool, args []string) {
	w := worldOf(ts)
	w.terminal, w.stdin = true, strings.Join(args, " ")+"\n"
}

func seedCommand(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		seed, ok := seeds[name]
		if !ok {
			ts.Fatalf("no seed %q; there are %v", name, slices.Sorted(maps.Keys(seeds)))
		}
		ts.Check(seed(context.Background(), worldOf(ts)))
	}
}
