package app

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/deployment"
)

// App is one run of the program: its flags, its connection, and what it prints. Commands get it when they are made and
// use it when they run.
type App struct {
	Env
	flags flags
	// started is set once a command runs: errors before that are those of the call.
	started bool
	// next is the command to look at next.
	next   string
	store  *Store
	deploy *deployment.Deployment
}

// Command makes a command of the program.
type Command func(*App) *cobra.Command

const rootHelp = `Looks at what the dynafin library wrote to DynamoDB, and mends it.

Commands are nouns with verbs: dynafin outbox groups. They read only, unless their help says "changes data".
The data is named by a deployment file (--config) or by --table PART=NAME; it is on AWS, at any endpoint (--endpoint),
or in a saved simulator (--load).

exit code: 0 nothing wrong, 1 could not run, 2 wrong usage, 3 something needs a person`

// Run runs the program and returns its exit code.
func Run(ctx context.Context, env Env, commands ...Command) int {
	a := &App{Env: env}
	cmd, err := a.root(commands).ExecuteContextC(ctx)
	if saveErr := a.close(); saveErr != nil {
		err = errors.Join(err, saveErr)
	}
	if err != nil && !a.started {
		err = Usage("%v", err)
	}
	a.tell(cmd, err)
	return exitCode(err)
}

// Tree returns the commands of the program, to look at and not to run.
func Tree(env Env, commands ...Command) *cobra.Command { return (&App{Env: env}).root(commands) }

func (a *App) root(commands []Command) *cobra.Command {
	root := &cobra.Command{
		Use:           "dynafin",
		Short:         "operates what the dynafin library wrote to DynamoDB",
		Long:          rootHelp,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if err := a.flags.check(); err != nil {
				return err
			}
			a.started = true
			return nil
		},
	}
	a.flags.register(root.PersistentFlags())
	root.SetArgs(a.Args)
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	for _, command := range commands {
		root.AddCommand(command(a))
	}
	return root
}

// Noun makes a command that only has commands below it.
func Noun(use, short string, verbs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(verbs...)
	return cmd
}

var codeText = regexp.MustCompile(`DFN-\d{4}`)

// tell writes to stderr how a command ended, if not well, and what to do next.
func (a *App) tell(cmd *cobra.Command, err error) {
	var findings *FindingsError
	var usage *UsageError
	next := a.next
	switch {
	case err == nil:
	case errors.As(err, &findings):
		a.Hint("%s", findings.Summary)
	case errors.As(err, &usage):
		a.Hint("%s: %v", cmd.CommandPath(), err)
		next = cmd.CommandPath() + " --help"
	default:
		a.Hint("%s: %v", cmd.CommandPath(), err)
		if next = ""; codeText.MatchString(err.Error()) {
			next = "dynafin explain " + codeText.FindString(err.Error())
		}
	}
	if next != "" {
		a.Hint("next: %s", a.Where(next))
	}
}

// Where puts the flags of this run that say where the data is into a suggested command, so that it can be run as it stands.
func (a *App) Where(command string) string { return a.flags.where(command) }

// Now is the time by which ages, leases and due times are judged: that of a saved simulator, which stands still, or of
// this machine.
func (a *App) Now() time.Time {
	if a.store != nil && !a.store.stands.IsZero() {
		return a.store.stands
	}
	return a.Env.Now().UTC()
}

// Hint writes a line for people to stderr.
func (a *App) Hint(format string, args ...any) { fmt.Fprintf(a.Stderr, format+"\n", args...) }

// Deployment returns what the data is: that of --config, with what --table and --tenant add to it.
func (a *App) Deployment() (*deployment.Deployment, error) {
	if a.deploy != nil {
		return a.deploy, nil
	}
	var d deployment.Deployment
	if path := a.configPath(); path != "" {
		var err error
		if d, err = deployment.Load(path); err != nil {
			return nil, Usage("%v", err)
		}
	}
	for _, t := range a.flags.tables {
		if err := d.Set(t); err != nil {
			return nil, Usage("--table %s: %v", t, err)
		}
	}
	if len(a.flags.tenants) > 0 {
		d.Tenants = slices.Clone(a.flags.tenants)
	}
	d.Now = a.Now
	a.deploy = &d
	return a.deploy, nil
}

func (a *App) configPath() string {
	if a.flags.config != "" {
		return a.flags.config
	}
	return a.Getenv("DYNAFIN_CONFIG")
}

// Tenants returns the tenants to look at; a command that needs one and has none cannot run.
func (a *App) Tenants() ([]string, error) {
	d, err := a.Deployment()
	if err != nil {
		return nil, err
	}
	if len(d.Tenants) == 0 {
		if len(d.Tables()) == 0 {
			return nil, Usage("%v", d.Missing("PART"))
		}
		return nil, Usage("which tenant? name it with --tenant, or in the deployment file")
	}
	return d.Tenants, nil
}

// Tenant returns the one tenant of a command that is about one.
func (a *App) Tenant() (string, error) {
	tenants, err := a.Tenants()
	if err != nil {
		return "", err
	}
	if len(tenants) > 1 {
		return "", Usage("which tenant? --tenant is one of %s", strings.Join(tenants, ", "))
	}
	return tenants[0], nil
}
