package ledger

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/dynafin/dynafin/fanout"
)

// stretch is one month of a statement: the postings of a month are in buckets × stripes × lanes partitions. No month is
// the end.
type stretch struct {
	month                   Month
	buckets, stripes, lanes int
}

// prefix is what a cursor of a statement has in front of fanout's own. It need not be signed: all of it is in the names
// of the partitions, to which fanout's cursor is bound.
func (at stretch) prefix() string {
	return string(at.month) + "." + strconv.Itoa(at.buckets) + "." + strconv.Itoa(at.stripes) + "." + strconv.Itoa(at.lanes) + "."
}

// partitions is how many there are, or too many.
func (at stretch) partitions() int {
	if at.buckets > MaxBuckets || at.stripes > MaxStripes || at.lanes > MaxLanes {
		return fanout.MaxBranches + 1
	}
	return at.buckets * at.stripes * at.lanes
}

// resume takes a cursor apart.
func (s *statement) resume(cursor string) (at stretch, rest string, err error) {
	refused := &CursorError{What: "statement", Tenant: s.Tenant, ID: s.Account, Reason: "is not a cursor of a statement"}
	parts := strings.SplitN(cursor, ".", 5)
	if len(parts) != 5 || parts[4] == "" {
		return at, "", refused
	}
	var failures [3]error
	at.month = Month(parts[0])
	at.buckets, failures[0] = strconv.Atoi(parts[1])
	at.stripes, failures[1] = strconv.Atoi(parts[2])
	at.lanes, failures[2] = strconv.Atoi(parts[3])
	switch {
	case errors.Join(failures[:]...) != nil, !at.month.Valid(), min(at.buckets, at.stripes, at.lanes) < 1,
		at.partitions() > fanout.MaxBranches, at.prefix()+parts[4] != cursor:
		return at, "", refused
	}
	return at, parts[4], nil
}

// next finds the first month behind another one that has postings, from what the balances and their seals say. Balances
// are read first: a month that is closed between the two reads has a seal by then.
func (s *statement) next(ctx context.Context, client Client, after Month) (stretch, error) {
	first := max(s.first, after.next())
	if after == lastMonth || first > s.last {
		return stretch{}, nil
	}
	a, all, err := s.ledger.Balances(ctx, client, s.Tenant, s.Account)
	if err != nil {
		return stretch{}, err
	}
	all = slices.DeleteFunc(all, func(b Balance) bool {
		return !s.wants(b.Currency) || len(s.Stripes) > 0 && !slices.Contains(s.Stripes, b.Stripe)
	})
	if len(all) == 0 && (s.Asset.Code() != "" || len(s.Stripes) > 0) {
		return stretch{}, missing(nil, "asset", s.Tenant, s.Account, s.Asset.Code())
	}
	candidates := make([]MonthTotals, len(all))
	err = each(len(all), func(i int) (err error) {
		candidates[i], err = s.ledger.firstMonth(ctx, client, all[i], first, s.last)
		return err
	})
	if err != nil {
		return stretch{}, err
	}
	at := stretch{stripes: a.Stripes, lanes: a.Lanes}
	if len(s.Stripes) > 0 {
		at.stripes = len(s.Stripes)
	}
	for _, m := range candidates {
		switch {
		case m.Month == "":
		case at.month == "" || m.Month < at.month:
			at.month, at.buckets = m.Month, m.Bucket+1
		case m.Month == at.month:
			at.buckets = max(at.buckets, m.Bucket+1)
		}
	}
	if at.month != "" && at.partitions() > fanout.MaxBranches {
		return stretch{}, &LimitError{What: "statement", ID: s.Account, Limit: "partitions of a month, choose stripes", Max: fanout.MaxBranches}
	}
	return at, nil
}

// firstMonth finds the first month of a balance within a range that has postings, closed or open. The month is empty
// if there is none.
//
// Cost: nothing if the range has no closed month, else 1 read unit.
func (l *Ledger) firstMonth(ctx context.Context, client Client, b Balance, first, last Month) (found MonthTotals, err error) {
	for _, m := range b.Open {
		if m.Month >= first && m.Month <= last {
			found = m
			break
		}
	}
	if b.ClosedThrough < first {
		return found, nil
	}
	seal, ok, err := l.firstSeal(ctx, client, b, first, min(last, b.ClosedThrough))
	if ok {
		found = seal.MonthTotals // every closed month is before every open one
	}
	return found, err
}

// query is fanout's: all partitions of a month, and within them the range of the statement.
func (s *statement) query(at stretch) (fanout.Query, error) {
	q := fanout.Query{
		Name: "AP11.statement", Tenant: s.Tenant, Strong: true,
		Table: s.ledger.config.Table.Name, PK: s.ledger.config.Table.PK, SK: s.ledger.config.Table.SK,
		Range:    fanout.Range{From: fanout.Text(s.from), Through: fanout.Text(s.until)},
		Branches: make([]fanout.Branch, 0, at.partitions()),
	}
	if s.Asset.Code() != "" {
		q.Name += "#" + classOf(s.Asset) + "#" + s.Asset.Code()
	}
	for i := range at.stripes {
		stripe := i
		if len(s.Stripes) > 0 {
			stripe = s.Stripes[i%len(s.Stripes)]
		}
		for lane := range at.lanes {
			for bucket := range at.buckets {
				p := Placed{Tenant: s.Tenant, Account: s.Account, Stripe: stripe, Lane: lane, Month: at.month, Bucket: bucket}
				partition, err := p.partition()
				if err != nil {
					return q, invalidKey("statement", s.Account, err)
				}
				q.Branches = append(q.Branches, fanout.Branch{Name: p.String(), Partition: fanout.Text(partition)})
			}
		}
	}
	return q, nil
}

func (s *statement) start(client Client, at stretch, cursor string) (*fanout.Run, error) {
	q, err := s.query(at)
	if err != nil {
		return nil, err
	}
	run, err := s.reader(client).Start(q, cursor)
	return run, s.explain(err)
}

func (s *statement) page(ctx context.Context, client Client, at stretch, cursor string, limit int) (fanout.Page, error) {
	q, err := s.query(at)
	if err != nil {
		return fanout.Page{}, err
	}
	page, err := s.reader(client).Page(ctx, q, cursor, limit)
	return page, s.explain(err)
}

// cursor is the one at the beginning of a month.
func (s *statement) cursor(client Client, at stretch, rest string) (string, error) {
	run, err := s.start(client, at, rest)
	if err != nil {
		return "", err
	}
	return at.prefix() + run.Cursor(), nil
}

func (s *statement) reader(client Client) *fanout.Reader {
	return fanout.New(client, fanout.Config{Secrets: s.ledger.config.Secrets})
}

// explain turns fanout's errors into this package's.
func (s *statement) explain(err error) error {
	var cursor *fanout.CursorError
	var read *fanout.ReadError
	switch {
	case errors.As(err, &cursor):
		return &CursorError{What: "statement", Tenant: s.Tenant, ID: s.Account, Reason: string(cursor.Reason)}
	case errors.As(err, &read):
		return errRead.Wrap(read.Err, "ledger: read postings of %s, %s: %v", accountName(s.Tenant, s.Account), read.Branch, read.Err)
	}
	return err
}
