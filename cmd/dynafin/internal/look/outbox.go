package look

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynafin/dynafin/cmd/dynafin/internal/app"
	"github.com/dynafin/dynafin/cmd/dynafin/internal/deployment"
	"github.com/dynafin/dynafin/outbox"
)

// Outbox returns the verbs that read events.
func Outbox(a *app.App) []*cobra.Command {
	return []*cobra.Command{outboxStats(a), outboxGroups(a), outboxList(a), outboxShow(a), outboxWatch(a)}
}

// events is what every verb of the noun begins with.
type events struct {
	a        *app.App
	names    []string
	store    *app.Store
	services []deployment.Service
}

func (e *events) flag(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringArrayVar(&e.names, "service", nil, "`SERVICE` whose events to look at; repeatable (default: all)")
	return cmd
}

func (e *events) open(ctx context.Context) error {
	d, err := e.a.Deployment()
	if err != nil {
		return err
	}
	if e.services, err = d.Outboxes(e.names...); err != nil {
		return app.Usage("%v", err)
	}
	e.store, err = e.a.Store(ctx)
	return err
}

func (e *events) tables() string {
	var names []string
	for _, s := range e.services {
		names = append(names, s.Table)
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ",")
}

// far is later than any event is due.
var far = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

type outboxStat struct {
	Service string `json:"service"`
	// Waiting are due, Scheduled are due later, Stuck are in flight with an ended lease.
	Waiting      int    `json:"waiting"`
	Scheduled    int    `json:"scheduled"`
	Stuck        int    `json:"stuck"`
	Parked       int    `json:"parked"`
	OldestDue    string `json:"oldest_due_at,omitempty"`
	OldestStuck  string `json:"oldest_stuck_at,omitempty"`
	OldestParked string `json:"oldest_parked_at,omitempty"`

	due, stuck, parked time.Time
}

// stats counts the events of one service that are not published. Everything is counted: there is no cap.
func (e *events) stats(ctx context.Context, s deployment.Service, bad *faults) (outboxStat, error) {
	stat, now := outboxStat{Service: s.Name}, e.a.Now()
	for shard := range s.Shards() {
		for listed, err := range s.Ready(ctx, e.store, shard, far, 0) {
			switch {
			case err != nil:
				if err := bad.skip(err, outbox.ErrCorrupt); err != nil {
					return stat, err
				}
			case listed.Due.After(now):
				stat.Scheduled++
			default:
				stat.Waiting++
				stat.due = oldest(stat.due, listed.Due)
			}
		}
	}
	for r, err := range s.Stuck(ctx, e.store, now) {
		if err != nil {
			if err := bad.skip(err, outbox.ErrCorrupt); err != nil {
				return stat, err
			}
			continue
		}
		stat.Stuck++
		stat.stuck = oldest(stat.stuck, r.LeaseUntil)
	}
	for entry, err := range s.ParkedEntries(ctx, e.store) {
		if err != nil {
			if err := bad.skip(err, outbox.ErrCorrupt); err != nil {
				return stat, err
			}
			continue
		}
		stat.Parked++
		stat.parked = oldest(stat.parked, entry.At)
	}
	stat.OldestDue, stat.OldestStuck, stat.OldestParked = app.Stamp(stat.due), app.Stamp(stat.stuck), app.Stamp(stat.parked)
	return stat, nil
}

func outboxStats(a *app.App) *cobra.Command {
	e := &events{a: a}
	return e.flag(&cobra.Command{
		Use:   "stats",
		Short: "counts the events that are not published",
		Long: `Counts the events that are not published: waiting are due, scheduled are due later, stuck were taken by a relay whose lease
has ended, parked were given up. Events that are published, or that a living relay has, are not counted.
Findings: stuck or parked events.`,
		Example: "  dynafin outbox stats\n  dynafin outbox stats --service orders -o json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := e.open(cmd.Context()); err != nil {
				return err
			}
			bad := &faults{a: a}
			l := app.List[outboxStat]{Schema: "outbox.stats/v1", Table: e.tables()}
			var f found
			stuck, parked := 0, 0
			for _, s := range e.services {
				stat, err := e.stats(cmd.Context(), s, bad)
				if err != nil {
					return err
				}
				stuck, parked = stuck+stat.Stuck, parked+stat.Parked
				l.Items = append(l.Items, stat)
			}
			now := a.Now()
			l.Columns = []app.Column[outboxStat]{
				{Name: "service", Value: func(s outboxStat) string { return s.Service }},
				number("waiting", func(s outboxStat) int { return s.Waiting }),
				number("scheduled", func(s outboxStat) int { return s.Scheduled }),
				number("stuck", func(s outboxStat) int { return s.Stuck }),
				number("parked", func(s outboxStat) int { return s.Parked }),
				age("oldest_due_at", "oldest due", now, func(s outboxStat) time.Time { return s.due }),
				age("oldest_stuck_at", "oldest stuck", now, func(s outboxStat) time.Time { return s.stuck }),
				age("oldest_parked_at", "oldest parked", now, func(s outboxStat) time.Time { return s.parked }),
			}
			switch {
			case parked > 0:
				l.Next = "dynafin outbox groups"
			case stuck > 0:
				l.Next = "dynafin outbox ls --state stuck"
			default:
				l.Next = "dynafin status"
			}
			f.add(parked, "parked event", "parked events")
			f.add(stuck, "stuck event", "stuck events")
			f.add(bad.n, "unreadable event", "unreadable events")
			if err := app.Print(a, l); err != nil {
				return err
			}
			return f.err()
		},
	})
}

func outboxShow(a *app.App) *cobra.Command {
	e := &events{a: a}
	payload := false
	cmd := e.flag(&cobra.Command{
		Use:     "show ID",
		Short:   "shows one event: where it stands, why, and what operators noted",
		Example: "  dynafin outbox show 01J9K2Q4 --payload",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := e.open(cmd.Context()); err != nil {
				return err
			}
			r, s, err := e.find(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			notes, err := s.Audits(cmd.Context(), e.store, args[0])
			if err != nil {
				return err
			}
			return app.Print(a, shownEvent(a, s, r, notes, payload))
		},
	})
	cmd.Flags().BoolVar(&payload, "payload", false, "show the payload, too: it may hold what not everybody may see")
	return cmd
}

// find reads an event from the tables of the services, each once.
func (e *events) find(ctx context.Context, id string) (r outbox.Record, of deployment.Service, err error) {
	asked := map[string]bool{}
	for _, s := range e.services {
		if asked[s.Table] {
			continue
		}
		asked[s.Table] = true
		if r, err = s.Get(ctx, e.store, id); err == nil {
			return r, s, nil
		}
	}
	return r, of, err
}

func outboxWatch(a *app.App) *cobra.Command {
	e := &events{a: a}
	var every time.Duration
	var looks int
	cmd := e.flag(&cobra.Command{
		Use:   "watch",
		Short: "counts again and again until nothing waits any more",
		Long: `Counts what waits, is stuck and is parked, again and again, one line a look, until nothing waits or is stuck any more: to see a
backlog drain. Parked events do not drain by themselves, so they do not keep it going. Findings: stuck or parked events in the end.`,
		Example: "  dynafin outbox watch --every 10s",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if every <= 0 || looks < 1 {
				return app.Usage("--every and --looks must be above zero")
			}
			if err := e.open(cmd.Context()); err != nil {
				return err
			}
			return e.watch(cmd.Context(), every, looks)
		},
	})
	cmd.Flags().DurationVar(&every, "every", 5*time.Second, "time between two looks")
	cmd.Flags().IntVar(&looks, "looks", math.MaxInt32, "stop after so many looks")
	return cmd
}

type outboxLook struct {
	At      string `json:"at"`
	Waiting int    `json:"waiting"`
	Stuck   int    `json:"stuck"`
	Parked  int    `json:"parked"`
}

func (e *events) watch(ctx context.Context, every time.Duration, looks int) error {
	l := app.List[outboxLook]{Schema: "outbox.watch/v1", Table: e.tables()}
	l.Columns = []app.Column[outboxLook]{
		{Name: "at", Value: func(o outboxLook) string { return o.At }},
		number("waiting", func(o outboxLook) int { return o.Waiting }),
		number("stuck", func(o outboxLook) int { return o.Stuck }),
		number("parked", func(o outboxLook) int { return o.Parked }),
	}
	last := outboxLook{}
	for i := range looks {
		if i > 0 {
			if e.a.Sleep(ctx, every) != nil {
				break // somebody has seen enough
			}
		}
		last = outboxLook{At: app.Stamp(e.a.Now())}
		bad := &faults{a: e.a}
		for _, s := range e.services {
			stat, err := e.stats(ctx, s, bad)
			if err != nil {
				return err
			}
			last.Waiting, last.Stuck, last.Parked = last.Waiting+stat.Waiting, last.Stuck+stat.Stuck, last.Parked+stat.Parked
		}
		l.Items = append(l.Items, last)
		e.a.Hint("%s  %s waiting  %s stuck  %s parked", last.At, app.Count(last.Waiting), app.Count(last.Stuck), app.Count(last.Parked))
		if last.Waiting+last.Stuck == 0 {
			break
		}
	}
	if last.Parked > 0 {
		l.Next = "dynafin outbox groups"
	}
	if err := app.Print(e.a, l); err != nil {
		return err
	}
	var f found
	f.add(last.Stuck, "stuck event", "stuck events")
	f.add(last.Parked, "parked event", "parked events")
	return f.err()
}

// number is a column of counts.
func number[T any](name string, value func(T) int) app.Column[T] {
	return app.Column[T]{
		Name: name, Kind: app.Number,
		Value: func(item T) string { return strconv.Itoa(value(item)) },
		Show:  func(item T) string { return app.Count(value(item)) },
	}
}

// age is a column of times, which tables show as ages.
func age[T any](name, title string, now time.Time, value func(T) time.Time) app.Column[T] {
	return app.Column[T]{
		Name: name, Title: title,
		Value: func(item T) string { return app.Stamp(value(item)) },
		Show:  func(item T) string { return app.Age(now, value(item)) },
	}
}

func attempts(r outbox.Record) string { return fmt.Sprint(r.Attempt) }
