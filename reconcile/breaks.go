package reconcile

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/internal/watch"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/shardmap"
	"github.com/dynafin/dynafin/txn"
)

// maxListed is how many row IDs of a side a break names; it counts them all.
const maxListed = 10

// Status is where a break is.
type Status string

// The states of a break.
const (
	// StatusOpen: its owner is to explain it by the due time.
	StatusOpen Status = "OPEN"
	// StatusEscalated: it went to somebody else.
	StatusEscalated Status = "ESCALATED"
	// StatusResolved: closed, with evidence.
	StatusResolved Status = "RESOLVED"
)

// Break is a stored discrepancy (AP15, IDX14).
type Break struct {
	// Tenant, Batch and ID name it; see [BreakID].
	Tenant, Batch, ID string
	// Date is the day of the batch.
	Date string
	// Kind is [Missing], [Unexpected] or [Mismatched].
	Kind Kind
	// Key is what the rows have in common.
	Key string
	// Left and Right are the rows.
	Left, Right SideRows
	// Drift and Faults are those of the [Outcome].
	Drift  money.Amount
	Faults []string
	Status Status
	// Owner must resolve it by Due.
	Owner string
	Due   time.Time
	// Created is when it was written.
	Created time.Time
	// Placement is its shard of the due queue.
	Placement shardmap.Placement
	// Changes is what people did, the first before the others.
	Changes []Change
	// Version rises with every change.
	Version int64
}

// SideRows are the rows of a break on one side.
type SideRows struct {
	// Rows is how many they are; IDs names the first ten.
	Rows int
	IDs  []string
	// Sum is their sum, if they are in one currency.
	Sum money.Amount
}

// BreakID is the ID of the break that these rows make: of the rows and their key alone, so that a second run of a batch finds
// the same ones.
func BreakID(o Outcome) string {
	digest := sha256.New()
	write := func(s string) {
		digest.Write(binary.AppendUvarint(nil, uint64(len(s))))
		digest.Write([]byte(s))
	}
	write(o.Key)
	for _, rows := range [][]Row{o.Left, o.Right} {
		digest.Write(binary.AppendUvarint(nil, uint64(len(rows))))
		for _, r := range rows {
			write(r.ID)
		}
	}
	return hex.EncodeToString(digest.Sum(nil)[:16])
}

// writer writes breaks, several at a time.
type writer struct {
	r     *Reconciler
	ctx   context.Context
	batch Batch
	slots chan struct{}
	busy  sync.WaitGroup
	mu    sync.Mutex
	err   error
}

func (r *Reconciler) newWriter(ctx context.Context, batch Batch) *writer {
	return &writer{r: r, ctx: ctx, batch: batch, slots: make(chan struct{}, r.config.Writers)}
}

// write begins to write a break and returns the first error of those before.
func (w *writer) write(o Outcome, to Assignment) error {
	item, err := w.r.breakItem(w.batch, o, to)
	if err != nil {
		return err
	}
	w.slots <- struct{}{}
	w.busy.Go(func() {
		defer func() { <-w.slots }()
		if err := w.put(item); err != nil {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.err = errors.Join(w.err, err)
		}
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// put writes a break unless it is there: then an earlier attempt wrote it, or this one and its answer was lost. One of another
// day is not ours: somebody may have closed it, and what is found today would be nobody's.
func (w *writer) put(item txn.Item) error {
	key := w.r.keyOf(item)
	old, there, err := w.r.put(w.ctx, item)
	if err != nil {
		return errWrite.Wrap(err, "reconcile: write break %s / %s: %v", key.PK, key.SK, err)
	}
	if !there {
		return nil
	}
	d := w.r.decode(key, old)
	day := d.text(attrDate)
	if *d.err == nil && day != w.batch.Date {
		return &ExistsError{Tenant: w.batch.Tenant, Date: day, Batch: w.batch.Batch}
	}
	return *d.err
}

// wait returns what went wrong once all are written.
func (w *writer) wait() error {
	w.busy.Wait()
	return w.err
}

func (r *Reconciler) breakItem(batch Batch, o Outcome, to Assignment) (txn.Item, error) {
	if reason := required(to.Owner); reason != "" {
		return nil, &InvalidError{Field: "Assignment.Owner", Reason: reason}
	}
	id := BreakID(o)
	key, err := keys.Break(batch.Tenant, batch.Batch, id)
	if err != nil {
		return nil, invalidKey(err)
	}
	placement, err := r.config.Map.Place(id)
	if err != nil {
		return nil, &InvalidError{Field: "Config.Map", Reason: err.Error()}
	}
	listed, err := keys.BreakDue{Tenant: batch.Tenant, Status: string(StatusOpen), Shard: placement.Shard, Due: to.Due, Batch: batch.Batch, Break: id}.Key()
	if err != nil {
		return nil, invalidKey(err)
	}
	due, err := keys.Time(to.Due)
	if err != nil {
		return nil, invalidKey(err)
	}
	created, err := keys.Time(r.config.Now())
	if err != nil {
		return nil, invalidKey(err)
	}
	item := r.config.Table.Key(key.PK, key.SK)
	item[r.config.IndexPK], item[r.config.IndexSK] = text(listed.PK), text(listed.SK)
	item[attrFormat], item[attrVersion], item[attrState] = &types.AttributeValueMemberN{Value: recordFormat}, number(1), text(string(StatusOpen))
	item[attrDate] = text(batch.Date)
	item[attrKind], item[attrKey], item[attrFaults] = text(string(o.Kind)), text(o.Key), texts(o.Faults)
	item[attrOwner], item[attrDue], item[attrCreated] = text(to.Owner), text(due), text(created)
	item[attrMap], item[attrHash], item[attrShard] = number(int64(placement.MapVersion)), number(int64(placement.HashVersion)), number(int64(placement.Shard))
	item[attrChanges] = &types.AttributeValueMemberL{Value: []types.AttributeValue{}}
	for attr, rows := range map[string][]Row{attrLeft: o.Left, attrRight: o.Right} {
		if item[attr], err = sideItem(rows); err != nil {
			return nil, err
		}
	}
	return item, setAmount(item, attrDrift, o.Drift)
}

func sideItem(rows []Row) (types.AttributeValue, error) {
	side, ids := txn.Item{fieldRows: number(int64(len(rows)))}, make([]string, 0, min(len(rows), maxListed))
	total := sums{}
	for i, row := range rows {
		if i < maxListed {
			ids = append(ids, row.ID)
		}
		if err := total.add(row.Amount); err != nil {
			return nil, err
		}
	}
	side[fieldIDs] = texts(ids)
	for _, sum := range total {
		if len(total) > 1 {
			break
		}
		if err := setAmount(side, fieldSum, sum); err != nil {
			return nil, err
		}
	}
	return &types.AttributeValueMemberM{Value: side}, nil
}

func setAmount(item txn.Item, attr string, a money.Amount) error {
	if a.Currency() == (money.Currency{}) {
		return nil
	}
	encoded, err := a.Encode()
	if err != nil {
		return &InvalidError{Field: attr, Reason: err.Error()}
	}
	item[attr] = encoded
	return nil
}

// Break reads a break with a strongly consistent read (AP15, IDX14). If there is none, the error is a [NotFoundError].
//
// Cost: 1 read unit for each 4 KiB begun.
func (r *Reconciler) Break(ctx context.Context, tenant, batch, id string) (_ Break, err error) {
	ctx, op := r.watch.Begin(ctx, "AP15.read")
	defer op.End(&err)
	if r.err != nil {
		return Break{}, r.err
	}
	key, err := keys.Break(tenant, batch, id)
	if err != nil {
		return Break{}, invalidKey(err)
	}
	item, err := r.get(ctx, key)
	if err != nil {
		return Break{}, err
	}
	if item == nil {
		return Break{}, &NotFoundError{Batch: batch, Break: id}
	}
	return r.decodeBreak(key, item)
}

// Breaks lists the breaks of a batch in the order of their IDs (AP15, IDX14), resolved ones too, strongly consistent.
//
// Cost: 1 read unit for each 4 KiB begun.
// Errors: [ErrInvalid], [ErrRead], [ErrCorrupt].
func (r *Reconciler) Breaks(ctx context.Context, tenant, batch string) iter.Seq2[Break, error] {
	return watch.Each(ctx, &r.watch, "AP15.batch", "", func(ctx context.Context, yield func(Break, error) bool) {
		partition, err := keys.BreakPartition(tenant, batch)
		if err != nil {
			yield(Break{}, invalidKey(err))
			return
		}
		r.list(ctx, "AP15.batch", partition, keys.BreakPrefix, func(key keys.Key, item txn.Item, err error) bool {
			if err != nil {
				yield(Break{}, err)
				return false
			}
			return yield(r.decodeBreak(key, item))
		})
	})
}

func (r *Reconciler) decodeBreak(key keys.Key, item txn.Item) (Break, error) {
	tenant, batch, id, err := keys.ParseBreak(key)
	if err != nil {
		return Break{}, &RecordError{PK: key.PK, SK: key.SK, Attribute: r.config.Table.SK}
	}
	d := r.decode(key, item)
	b := Break{
		Tenant: tenant, Batch: batch, ID: id, Date: d.text(attrDate), Kind: Kind(d.text(attrKind)), Key: d.text(attrKey), Drift: d.amount(attrDrift),
		Faults: d.texts(attrFaults), Status: Status(d.text(attrState)), Owner: d.text(attrOwner), Due: d.time(attrDue), Created: d.time(attrCreated),
		Placement: shardmap.Placement{MapVersion: int(d.number(attrMap)), HashVersion: int(d.number(attrHash)), Shard: int(d.number(attrShard))},
		Version:   d.number(attrVersion), Left: d.side(attrLeft), Right: d.side(attrRight), Changes: d.changes(),
	}
	return b, *d.err
}

func (d *decoder) side(attr string) SideRows {
	in := d.under(attr)
	if in == nil {
		d.bad(attr)
		return SideRows{}
	}
	return SideRows{Rows: int(in.number(fieldRows)), IDs: in.texts(fieldIDs), Sum: in.amount(fieldSum)}
}
