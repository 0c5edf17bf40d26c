package look

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/shardmap"
)

// Shards returns the verbs about shards.
func Shards(a *app.App) []*cobra.Command { return []*cobra.Command{shardsHeat(a)} }

type shardItem struct {
	Lane    string `json:"lane"`
	Shard   int    `json:"shard"`
	Entries int    `json:"entries"`
	// Percent is the shard's part of the mean: 100 is even.
	Percent int `json:"percent_of_mean"`
}

const heatHelp = `Counts what stands on each shard of the outbox indexes, the fullest first: how even the hash spreads the events that wait, and what one
shard has more than its share. It reads index entries, half a read unit for about 13. With --rate it says how many shards a lane needs at so
many events a second, when one shard may carry --target units.`

func shardsHeat(a *app.App) *cobra.Command {
	e := &events{a: a}
	load := shardmap.Load{MaxKeyShare: "1"}
	cmd := e.flag(&cobra.Command{
		Use: "heat", Short: "counts what stands on each shard, and how many shards a rate needs", Long: heatHelp,
		Example: "  dynafin shards heat --service orders\n  dynafin shards heat --service orders --rate 5000",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := e.open(cmd.Context()); err != nil {
				return err
			}
			l := app.List[shardItem]{Schema: "shards.heat/v1", Table: e.tables()}
			if load.Rate != "" {
				needed, err := shardmap.ShardsFor(load)
				if err != nil {
					return app.Usage("--rate, --units, --target: %v", err)
				}
				l.Foot = append(l.Foot, fmt.Sprintf("%s events a second of %s units each need %d shards at %s units a shard", load.Rate, load.UnitsPerOperation, needed, load.Target))
			}
			bad := &faults{a: a}
			for i := range e.services {
				items, note, err := e.heat(cmd.Context(), i, bad)
				if err != nil {
					return err
				}
				l.Items, l.Foot = append(l.Items, items...), append([]string{note}, l.Foot...)
			}
			l.Columns = []app.Column[shardItem]{
				{Name: "lane", Value: func(s shardItem) string { return s.Lane }},
				{Name: "shard", Kind: app.Number, Value: func(s shardItem) string { return strconv.Itoa(s.Shard) }},
				number("entries", func(s shardItem) int { return s.Entries }),
				number("percent_of_mean", func(s shardItem) int { return s.Percent }).Titled("% of mean"),
			}
			l.Next = "dynafin cost reference --lanes"
			if err := app.Print(a, l); err != nil {
				return err
			}
			var f found
			f.add(bad.n, "unreadable entry", "unreadable entries")
			return f.err()
		},
	})
	cmd.Flags().StringVar(&load.Rate, "rate", "", "events a second at the peak")
	cmd.Flags().StringVar(&load.UnitsPerOperation, "units", "1", "index units of one event")
	cmd.Flags().StringVar(&load.Target, "target", "800", "units a second that one shard may carry")
	return cmd
}

// heat counts the READY entries of each shard of one service.
func (e *events) heat(ctx context.Context, i int, bad *faults) (items []shardItem, note string, err error) {
	s, total := e.services[i], 0
	for shard := range s.Shards() {
		item := shardItem{Lane: "outbox " + s.Name, Shard: shard}
		for _, err := range s.Ready(ctx, e.store, shard, far, 0) {
			if err != nil {
				if err := bad.skip(err, outbox.ErrCorrupt); err != nil {
					return nil, "", err
				}
				continue
			}
			item.Entries++
		}
		total += item.Entries
		items = append(items, item)
	}
	for i := range items {
		if total > 0 {
			items[i].Percent = 100 * items[i].Entries * len(items) / total
		}
	}
	slices.SortStableFunc(items, func(x, y shardItem) int { return cmp.Compare(y.Entries, x.Entries) })
	return items, fmt.Sprintf("%s: %s on %d shards, the fullest has %d %% of the mean", items[0].Lane, plural(total, "event", "events"), len(items), items[0].Percent), nil
}
