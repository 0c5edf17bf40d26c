// Command dynafin operates what the dynafin library wrote to DynamoDB: it shows what waits, what is stuck and why, whether the
// books balance, and mends it. It works on AWS, at any endpoint, and on a saved simulator.
//
//	$ dynafin --config brokerage.json status
//
// exit code: 0 nothing wrong, 1 could not run, 2 wrong usage, 3 something needs a person
package main

import (
	"cmp"
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/about"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/demo"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/look"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/mend"
	"github.com/dynafin/dynafin/internal/ambient"
)

// commands are all nouns, in the order of the help.
var commands = []app.Command{
	look.Status,
	look.Trace,
	noun("outbox", "events on their way to other services", look.Outbox, mend.OutboxVerbs),
	noun("requests", "commands and their results: idempotency records", look.Requests, mend.RequestVerbs),
	noun("ledger", "books: balances, entries, and their proof", look.Ledger, mend.LedgerVerbs),
	noun("projection", "read models and the gaps they wait at", look.Projection, mend.ProjectionVerbs),
	noun("recon", "breaks between two sides that should agree", look.Recon, mend.ReconVerbs),
	noun("inbox", "receipts of events that were processed", look.Inbox, mend.InboxVerbs),
	noun("sentinel", "unique names and who holds them", look.Sentinel, mend.SentinelVerbs),
	noun("audit", "who changed what, when and why", mend.AuditVerbs),
	noun("table", "the tables of a deployment", look.Table),
	noun("shards", "how even keys are spread", look.Shards),
	look.Cost,
	look.IAM,
	look.Doctor,
	look.Report,
	demo.Command,
	about.Explain,
	about.Version,
}

// noun makes a command of the verbs that several packages have for it.
func noun(name, short string, verbs ...func(*app.App) []*cobra.Command) app.Command {
	return func(a *app.App) *cobra.Command {
		var all []*cobra.Command
		for _, of := range verbs {
			all = append(all, of(a)...)
		}
		for _, verb := range all {
			verb.Example = cmp.Or(verb.Example, mend.Examples[name+" "+verb.Name()])
		}
		return app.Noun(name, short, all...)
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(app.Run(ctx, app.Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
		Now: time.Now, Sleep: ambient.Sleep, NewID: ambient.ID,
		OutTerminal: terminal(os.Stdout), InTerminal: terminal(os.Stdin),
	}, commands...))
}

func terminal(stream io.Writer) bool {
	file, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}
