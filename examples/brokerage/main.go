// Command brokerage takes a day's orders through a brokerage firm. Each is accepted exactly once: the order, its unique
// client order ID, its durable result and the event for the rest of the firm are committed in one DynamoDB transaction.
// Then the venue fills them: trade, order and event are one transaction again, relays publish the events, and the portfolio
// follows, each event having one effect. It runs on the embedded engine unless -endpoint names another.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"runtime/debug"
	"time"
)

//go:generate go run ./internal/daygen/write testdata/day.jsonl

//go:embed testdata/day.jsonl
var sampleDay []byte

// sampleBroken is how many lines of the sample day are no orders, on purpose.
const sampleBroken = 42

const help = `usage: brokerage [flags] [FILE]

Accepts the orders in FILE, one JSON object a line; "-" is standard input; without FILE
they are a sample day that is built in. Then it fills them and keeps the portfolios.

exit code: 0 every line was accounted for, 1 could not run or had to stop, 2 wrong usage

flags:
`

// The exit codes.
const (
	exitDone = iota
	exitFailed
	exitUsage
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	debug.SetGCPercent(400)      // a program of a few seconds may use the memory that is there
	context.AfterFunc(ctx, stop) // the first ctrl-C lets the orders in work finish, a second one ends the program
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// options are the command line.
type options struct {
	file            string
	workers, passes int
	lose, crash     float64
	lag             time.Duration
	seed            uint64
	endpoint        string
	json            bool
	report          string
}

func parseFlags(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("brokerage", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, help)
		flags.PrintDefaults()
	}
	flags.IntVar(&o.workers, "workers", 8, "how many orders are in work at the same time, 1 to 256")
	flags.IntVar(&o.passes, "repeat", 1, "feed the day `N` times, and let the venue repeat itself as often")
	flags.Float64Var(&o.lose, "lose-answers", 0, "lose this `share` of the answers to transactions after commit, and of the bus, 0 to 0.9")
	flags.Float64Var(&o.crash, "crash", 0, "in this `share` of jobs the worker dies in mid-air, and another takes over, 0 to 0.5")
	flags.DurationVar(&o.lag, "lag", 0, "indexes are up to this `time` behind, by the firm's clock; up to 1m, embedded only")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of lost answers and of crashes")
	flags.StringVar(&o.endpoint, "endpoint", "", "`URL` of a DynamoDB endpoint; tables are created if absent, credentials and region come from AWS_* variables")
	flags.BoolVar(&o.json, "json", false, "print one JSON object instead of the table")
	flags.StringVar(&o.report, "report", "", "write a page about the day to this `FILE`; all take turns then, so that a seed gives the same page, and -lose-answers is 0.1 and -crash 0.02 unless given")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.report != "" {
		o.workers = 1
		o.misfortune(flags)
	}
	var err error
	switch {
	case flags.NArg() > 1:
		err = fmt.Errorf("one file at most; flags stand before it: %q", flags.Args())
	case o.workers < 1 || o.workers > 256:
		err = errors.New("-workers must be 1 to 256")
	case o.passes < 1:
		err = errors.New("-repeat must be at least 1")
	case !(o.lose >= 0 && o.lose <= 0.9):
		err = errors.New("-lose-answers must be 0 to 0.9")
	case !(o.crash >= 0 && o.crash <= 0.5):
		err = errors.New("-crash must be 0 to 0.5")
	case o.lag < 0 || o.lag > time.Minute || o.lag > 0 && o.endpoint != "":
		err = errors.New("-lag must be 0 to 1m, and an endpoint has its own")
	case o.report != "" && o.endpoint != "":
		err = errors.New("-report needs the embedded database")
	case o.endpoint != "" && !isURL(o.endpoint):
		err = fmt.Errorf("-endpoint must be a URL such as http://localhost:8000, not %q", o.endpoint)
	}
	if err != nil {
		fmt.Fprintf(stderr, "brokerage: %v\n", err)
		flags.Usage()
	}
	o.file = flags.Arg(0)
	return o, err
}

// misfortune is what a day has to go through that a page is about: one without faults would show nothing. What was given stays, zero too.
func (o *options) misfortune(flags *flag.FlagSet) {
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if !given["lose-answers"] {
		o.lose = 0.1
	}
	if !given["crash"] {
		o.crash = 0.02
	}
}

func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// run is the program. It touches nothing of the process but its arguments and, for -endpoint, AWS_* variables.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	o, err := parseFlags(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitDone
	case err != nil:
		return exitUsage
	}
	result, err := process(ctx, o, stdin, newConsole(stderr))
	if result != nil { // the day began: whatever stopped it, say what was done
		write := result.writeTable
		if o.json {
			write = result.writeJSON
		}
		err = errors.Join(err, write(stdout))
	}
	if err != nil {
		fmt.Fprintf(stderr, "brokerage: %v\n", err)
		return exitFailed
	}
	return exitDone
}
