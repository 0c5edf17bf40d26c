// Command journal imports a double-entry journal, as the CSV that hledger exports, into a ledger, and prints the trial
// balance. Each transaction of the journal is posted once, however often its file is imported. It runs on the embedded
// engine unless -endpoint names another.
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
	"strconv"
	"strings"

	"github.com/dynafin/dynafin/money"
)

//go:embed testdata/household.csv
var sample []byte

const usage = `usage: journal [flags] [FILE...]

Imports journals in the CSV of "hledger print -O csv" and prints the balance of every account in
them as account, commodity and amount, with tabs between. "-" is standard input; without FILE it
imports a sample that is built in.

exit code: 0 every transaction is in the ledger, 1 some were refused or it had to stop, 2 wrong usage

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
	context.AfterFunc(ctx, stop) // the first ctrl-C lets the transactions in work finish, a second one ends the program
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// options are the command line.
type options struct {
	files    []string
	workers  int
	tenant   string
	endpoint string
	equity   bool
	verify   bool
	scale    perCommodity
	places   perCommodity
}

// perCommodity is a flag that can be given for every commodity: -scale BTC=8.
type perCommodity map[string]int

func (p perCommodity) String() string { return "" }

func (p perCommodity) Set(text string) error {
	at := strings.LastIndexByte(text, '=')
	if at < 0 {
		return errors.New("it is written COMMODITY=PLACES")
	}
	places, err := strconv.Atoi(text[at+1:])
	if err != nil || places < 0 || places > money.MaxScale {
		return fmt.Errorf("decimal places are 0 to %d", money.MaxScale)
	}
	p[text[:at]] = places
	return nil
}

func parseFlags(args []string, stderr io.Writer) (*options, error) {
	o := &options{scale: perCommodity{}, places: perCommodity{}}
	flags := flag.NewFlagSet("journal", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	flags.IntVar(&o.workers, "workers", 32, "how many transactions are in work at the same time, 1 to 256")
	flags.StringVar(&o.tenant, "tenant", "journal", "`name` of the books")
	flags.StringVar(&o.endpoint, "endpoint", "", "`URL` of a DynamoDB endpoint; its table is created if absent, credentials and region come from AWS_* variables")
	flags.BoolVar(&o.equity, "equity", false, "also print the accounts that the ledger needs beside the journal's, so that every commodity adds up to zero")
	flags.BoolVar(&o.verify, "verify", false, "prove every balance from its stored postings")
	flags.Var(o.scale, "scale", "`COMMODITY=PLACES`: keep at least so many decimal places, for files to come; once for each commodity")
	flags.Var(o.places, "places", "`COMMODITY=PLACES`: print rounded half to even, as hledger does for a commodity with a display style")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	var err error
	switch {
	case o.workers < 1 || o.workers > 256:
		err = errors.New("-workers must be 1 to 256")
	case o.tenant == "":
		err = errors.New("-tenant must not be empty")
	case o.endpoint != "" && !isURL(o.endpoint):
		err = fmt.Errorf("-endpoint must be a URL such as http://localhost:8000, not %q", o.endpoint)
	}
	if err != nil {
		fmt.Fprintf(stderr, "journal: %v\n", err)
		flags.Usage()
	}
	o.files = flags.Args()
	return o, err
}

func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// run is the program. It touches nothing of the process but its arguments, the files that they name, and for -endpoint
// AWS_* variables.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	o, err := parseFlags(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitDone
	case err != nil:
		return exitUsage
	}
	refused, err := process(ctx, o, stdin, stdout, newConsole(stderr))
	if err != nil && ctx.Err() != nil {
		err = errors.New("interrupted; every transaction that was begun is finished, and importing again goes on from there")
	}
	if err != nil {
		fmt.Fprintf(stderr, "journal: %v\n", err)
	}
	if err != nil || refused > 0 {
		return exitFailed
	}
	return exitDone
}
