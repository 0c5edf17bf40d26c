package mend

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/change"
)

// OutboxVerbs are the commands that change events.
func OutboxVerbs(a *app.App) []*cobra.Command {
	of := func(use, short, next string, operation func(Outbox) change.Operation) *cobra.Command {
		service := ""
		cmd, f := changing(a, use, short, next, func(_ context.Context, f *frame, store *app.Store) (change.Operation, map[string]string, error) {
			o, err := outboxOf(a, store, service)
			return operation(o), map[string]string{"service": o.Service}, err
		})
		cmd.Flags().StringVar(&service, "service", "", "`SERVICE` whose outbox it is (default: the only one)")
		cmd.Flags().StringVar(&f.group, "group", "", "change the events that failed alike, as dynafin outbox groups names them")
		return cmd
	}
	return []*cobra.Command{
		of("retry [ID...]", "publishes parked events again, each aggregate in order", "dynafin outbox stats", Outbox.Retry),
		of("discard [ID...]", "gives up parked events for good; their records stay, PASSED", "dynafin outbox stats", Outbox.Discard),
		of("park [ID...]", "holds READY events back before they are published", "dynafin outbox ls --state parked", Outbox.Park),
		of("pause", "makes the relays that heed it claim nothing more", "dynafin outbox stats", Outbox.Pause),
		of("resume", "lets paused relays go on", "dynafin outbox stats", Outbox.Resume),
	}
}

// outboxOf is the outbox of a service, the only one if none is named.
func outboxOf(a *app.App, store *app.Store, service string) (Outbox, error) {
	d, err := a.Deployment()
	if err != nil {
		return Outbox{}, err
	}
	var names []string
	if service != "" {
		names = []string{service}
	}
	all, err := d.Outboxes(names...)
	if err != nil {
		return Outbox{}, err
	}
	if len(all) > 1 {
		return Outbox{}, app.Usage("which outbox? name its --service")
	}
	return Outbox{Service: all[0].Name, Events: all[0].Outbox, Client: store, Now: a.Now}, nil
}
