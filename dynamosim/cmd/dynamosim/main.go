// Command dynamosim is DynamoDB in memory behind an address, for SDKs of any language: package dynamosim over HTTP. It
// prints its URL and serves until it is interrupted; what was written is gone then, unless it is saved.
//
//	$ dynamosim -addr 127.0.0.1:8000 -lag 500ms -heat
//	http://127.0.0.1:8000
//
//	$ dynamosim -load monday.db -save monday.db
//	http://127.0.0.1:8000
//
// Any region and any credentials will do: signatures are not looked at, so keep it on an address that only you can reach.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/dynafin/dynafin/dynamosim"
)

const usage = `usage: dynamosim [flags]

Serves a DynamoDB in memory, prints its URL, and stops at an interrupt.

exit code: 0 stopped, 1 could not serve, 2 wrong usage

flags:
`

// The exit codes.
const (
	exitDone = iota
	exitFailed
	exitUsage
)

const (
	headerTimeout = 10 * time.Second
	// stopTimeout is how long requests in work may take to finish.
	stopTimeout = 5 * time.Second
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run serves until the context ends and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s, err := parseFlags(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitDone
	case err != nil:
		return exitUsage
	}
	if err := s.run(ctx, stdout); err != nil {
		fmt.Fprintln(stderr, "dynamosim:", err)
		return exitFailed
	}
	return exitDone
}

// settings are what the flags say.
type settings struct {
	addr, load, save string
	dynamosim.Options
}

func (s *settings) run(ctx context.Context, stdout io.Writer) error {
	db, err := s.open()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", s.addr)
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, url(listener.Addr()))
	if err := serve(ctx, listener, db); err != nil || s.save == "" {
		return err
	}
	return db.SaveFile(s.save)
}

func (s *settings) open() (*dynamosim.DB, error) {
	if s.load == "" {
		return dynamosim.Open(s.Options), nil
	}
	file, err := os.Open(s.load)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	s.Now = time.Now
	return dynamosim.Load(file, s.Options)
}

func parseFlags(args []string, stderr io.Writer) (s settings, err error) {
	flags := flag.NewFlagSet("dynamosim", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	flags.StringVar(&s.addr, "addr", "127.0.0.1:8000", "`address` to listen on; port 0 chooses one")
	flags.StringVar(&s.load, "load", "", "begin with the database in a `file` that -save wrote")
	flags.StringVar(&s.save, "save", "", "when stopped, save the database to a `file`")
	flags.DurationVar(&s.IndexLag.Max, "lag", 0, "how long global indexes may be behind, at most")
	region := flags.String("region", "", "region in resource names (default that of -load, else us-east-1)")
	flags.Uint64Var(&s.Seed, "seed", 0, "orders what DynamoDB leaves unordered")
	heat := flags.Bool("heat", false, "limit a partition key to 1,000 write units and 3,000 read units a second, without burst")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	switch {
	case flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case s.IndexLag.Max < 0:
		err = fmt.Errorf("-lag %v is below zero", s.IndexLag.Max)
	}
	if err != nil {
		fmt.Fprintln(stderr, "dynamosim:", err)
		flags.Usage()
	}
	s.Region = *region
	if *heat {
		s.Heat = &dynamosim.Heat{}
	}
	return s, err
}

// url is where a client on this machine reaches the listener.
func url(addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return "http://" + addr.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// serve answers requests until the context ends, and lets those in work finish.
func serve(ctx context.Context, listener net.Listener, db http.Handler) error {
	server := &http.Server{Handler: db, ReadHeaderTimeout: headerTimeout}
	stopped := make(chan error, 1)
	cancel := context.AfterFunc(ctx, func() {
		grace, done := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer done()
		stopped <- server.Shutdown(grace)
	})
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		cancel()
		return err
	}
	return <-stopped
}
