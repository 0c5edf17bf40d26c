package look

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/inbox"
)

// Inbox returns the verbs that read receipts.
func Inbox(a *app.App) []*cobra.Command { return []*cobra.Command{inboxList(a), inboxShow(a)} }

type receiptItem struct {
	EventID   string            `json:"event_id"`
	Consumer  string            `json:"consumer"`
	Source    string            `json:"source,omitempty"`
	Version   string            `json:"source_version,omitempty"`
	Effect    map[string]string `json:"effect,omitempty"`
	Processed string            `json:"processed_at"`
	Expires   string            `json:"expires_at,omitempty"`

	processed time.Time
}

func receiptOf(consumer string, r inbox.Receipt) receiptItem {
	item := receiptItem{EventID: r.EventID, Consumer: consumer, Source: r.Source, Effect: r.Effect, Processed: app.Stamp(r.ProcessedAt),
		Expires: app.Stamp(r.ExpiresAt), processed: r.ProcessedAt}
	if r.Source != "" {
		item.Version = strconv.FormatInt(r.SourceVersion, 10)
	}
	return item
}

func receiptColumns(now time.Time) []app.Column[receiptItem] {
	return []app.Column[receiptItem]{
		{Name: "event_id", Kind: app.ID, Value: func(r receiptItem) string { return r.EventID }},
		{Name: "consumer", Value: func(r receiptItem) string { return r.Consumer }},
		{Name: "source", Value: func(r receiptItem) string { return r.Source }},
		{Name: "source_version", Title: "version", Kind: app.Number, Value: func(r receiptItem) string { return r.Version }},
		age("processed_at", "processed", now, func(r receiptItem) time.Time { return r.processed }),
		{Name: "effect", Value: func(r receiptItem) string { return pairs(r.Effect) }},
	}
}

func inboxList(a *app.App) *cobra.Command {
	var consumers []string
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "lists receipts (needs --scan)",
		Long: `Lists the receipts of consumers: what they have processed. No index has them, because nothing needs them in a list, so this takes
a scan. To look for one event, use dynafin inbox show.`,
		Example: "  dynafin inbox ls --consumer portfolio --scan -o csv",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := a.Deployment()
			if err != nil {
				return err
			}
			all, err := d.Inboxes(consumers...)
			if err != nil {
				return app.Usage("%v", err)
			}
			bad := &faults{a: a}
			l := app.List[receiptItem]{Schema: "inbox.ls/v1", Columns: receiptColumns(a.Now()), Empty: "no receipts"}
			for _, in := range all {
				rows, err := a.Scan(cmd.Context(), in.Table, ", or look for one event with dynafin inbox show ID")
				if err != nil {
					return err
				}
				l.Table = in.Table.Name
				for row, err := range rows {
					if err != nil {
						return err
					}
					r, ok, err := in.Decode(row)
					switch {
					case err != nil:
						if err := bad.skip(err, inbox.ErrCorrupt); err != nil {
							return err
						}
					case ok:
						l.Items = append(l.Items, receiptOf(in.Name, r))
					}
				}
			}
			slices.SortStableFunc(l.Items, func(x, y receiptItem) int {
				return cmp.Or(x.processed.Compare(y.processed), cmp.Compare(x.EventID, y.EventID), cmp.Compare(x.Consumer, y.Consumer))
			})
			return printAll(l, bad, "receipt")
		},
	}
	cmd.Flags().StringArrayVar(&consumers, "consumer", nil, "`CONSUMER` whose receipts to look at; repeatable (default: all)")
	return cmd
}

func inboxShow(a *app.App) *cobra.Command {
	var consumers []string
	cmd := &cobra.Command{
		Use:     "show EVENT",
		Short:   "shows what became of one event at each consumer",
		Example: "  dynafin inbox show 01J9K2Q4",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := a.Deployment()
			if err != nil {
				return err
			}
			all, err := d.Inboxes(consumers...)
			if err != nil {
				return app.Usage("%v", err)
			}
			store, err := a.Store(cmd.Context())
			if err != nil {
				return err
			}
			l := app.List[receiptItem]{Schema: "inbox.show/v1", Columns: receiptColumns(a.Now())}
			var missing error
			for _, in := range all {
				l.Table = in.Table.Name
				r, err := in.Get(cmd.Context(), store, args[0])
				switch {
				case errors.Is(err, inbox.ErrNotFound):
					missing = err
					l.Foot = append(l.Foot, fmt.Sprintf("%s has no receipt of it: it would take effect there", in.Name))
				case err != nil:
					return err
				default:
					l.Items = append(l.Items, receiptOf(in.Name, r))
				}
			}
			if len(l.Items) == 0 {
				return missing
			}
			l.Next = "dynafin outbox show " + quoted(args[0])
			return app.Print(a, l)
		},
	}
	cmd.Flags().StringArrayVar(&consumers, "consumer", nil, "`CONSUMER` to look at; repeatable (default: all)")
	return cmd
}
