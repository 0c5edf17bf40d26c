package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// The states of a header.
const (
	headerPosted  = "POSTED"
	headerRefused = "REFUSED"
)

// origin says what made a transaction, besides its author: at most one of these.
type origin struct{ reverses, corrects, captures string }

// Entry is a transaction as it is stored.
type Entry struct {
	Transaction
	// RecordedAt is when the writer's clock recorded it.
	RecordedAt time.Time
	// Reverses, Corrects and Captures are the transaction that it reverses, the one that it corrects, and the reservation
	// that it captures; at most one is not empty.
	Reverses, Corrects, Captures string
	// Buckets are the sub-buckets of the month that its postings are in, line by line.
	Buckets []int
}

// Lines returns the postings as they are stored.
func (e Entry) Lines() []Line {
	all := make([]Line, len(e.Postings))
	for i, p := range e.Postings {
		all[i] = Line{Posting: p, Tenant: e.Tenant, Transaction: e.ID, Line: i, EffectiveAt: e.EffectiveAt, RecordedAt: e.RecordedAt, Source: e.Source}
		if i < len(e.Buckets) {
			all[i].Bucket = e.Buckets[i]
		}
	}
	return all
}

// fingerprint stands for what a transaction says: who, when, what, and why. Where its postings are stored, when they
// were recorded and which versions were expected is not part of it: a repeat may differ in these.
func (tx *Transaction) fingerprint(from origin) [sha256.Size]byte {
	var space [1024]byte
	b := append(space[:0], "dynafin.ledger.transaction.1"...)
	for _, s := range [...]string{tx.Tenant, tx.ID, tx.Source, from.reverses, from.corrects, from.captures} {
		b = appendText(b, s)
	}
	b = binary.AppendVarint(b, tx.EffectiveAt.Unix())
	b = binary.AppendVarint(b, int64(tx.EffectiveAt.Nanosecond()))
	b = binary.AppendUvarint(b, uint64(len(tx.Postings)))
	for i := range tx.Postings {
		p := &tx.Postings[i]
		c := p.Amount.Currency()
		b = appendText(appendText(appendText(b, p.Account), c.Code()), classOf(c))
		b = appendText(binary.AppendVarint(b, int64(c.Scale())), p.Amount.MinorUnits())
	}
	names := make([]string, 0, len(tx.Metadata))
	for name := range tx.Metadata {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		b = appendText(appendText(b, name), tx.Metadata[name])
	}
	return sha256.Sum256(b)
}

// headerWrite creates the header, which decides what the identifier means.
func (l *Ledger) headerWrite(tx *Transaction, from origin, state, reason string, t times, buckets []int, v *values) (txn.Write, error) {
	key, err := keys.Transaction(tx.Tenant, tx.ID)
	if err != nil {
		return txn.Write{}, invalidKey("transaction", tx.ID, err)
	}
	fingerprint := tx.fingerprint(from)
	item := v.key(l.config.Table, key, 14)
	item[attrFormat], item[attrState] = formatValue, v.text(state)
	item[attrEffective], item[attrRecorded] = v.text(t.effective), v.text(t.recorded)
	item[attrFingerprint] = &types.AttributeValueMemberB{Value: fingerprint[:]}
	if state == headerPosted {
		item[attrLines] = linesValue(tx, buckets, v)
	}
	if len(tx.Metadata) > 0 {
		item[attrMetadata] = metadataValue(tx.Metadata)
	}
	for _, optional := range [...]struct{ name, value string }{
		{attrSource, tx.Source}, {attrReason, reason}, {attrReverses, from.reverses}, {attrCorrects, from.corrects}, {attrCaptures, from.captures},
	} {
		if optional.value != "" {
			item[optional.name] = v.text(optional.value)
		}
	}
	tenant, id := tx.Tenant, tx.ID
	return txn.Write{
		Action: txn.ActionPut, Table: l.config.Table, Item: item,
		Condition: ifAbsent, Names: l.absent, Fence: true, Settles: true,
		Explain: func(old txn.Item) error { return taken(tenant, id, fingerprint[:], old) },
	}, nil
}

func linesValue(tx *Transaction, buckets []int, v *values) types.AttributeValue {
	list := make([]types.AttributeValue, len(tx.Postings))
	for i := range tx.Postings {
		p := &tx.Postings[i]
		c := p.Amount.Currency()
		line := make(txn.Item, 8)
		line[attrAccount], line[attrAsset], line[attrClass] = v.text(p.Account), v.text(c.Code()), v.text(classOf(c))
		line[attrScale], line[attrAmount] = v.integer(int64(c.Scale())), v.number(p.Amount.MinorUnits())
		for _, where := range [...]struct {
			name  string
			value int
		}{{attrStripe, p.Stripe}, {attrLane, p.Lane}, {attrBucket, buckets[i]}} {
			if where.value != 0 {
				line[where.name] = v.number(strconv.Itoa(where.value))
			}
		}
		list[i] = &types.AttributeValueMemberM{Value: line}
	}
	return &types.AttributeValueMemberL{Value: list}
}

// taken says what an identifier that is in use means for a transaction.
func taken(tenant, id string, fingerprint []byte, old txn.Item) error {
	if old == nil {
		return nil
	}
	d := decode(headerName(tenant, id), old)
	stored, _ := old[attrFingerprint].(*types.AttributeValueMemberB)
	state := d.text(attrState)
	if stored == nil {
		d.fail(attrFingerprint)
	}
	if d.err != nil {
		return d.err
	}
	same := bytes.Equal(stored.Value, fingerprint)
	if same && state == headerRefused {
		return refusal(d, tenant, id)
	}
	return &DuplicateError{What: "transaction", Tenant: tenant, ID: id, Same: same}
}

func refusal(d *decoder, tenant, id string) error {
	refused := &RefusedError{Tenant: tenant, Transaction: id, Reason: d.text(attrReason), At: d.time(attrRecorded)}
	if d.err != nil {
		return d.err
	}
	return refused
}

func headerName(tenant, id string) string {
	return "transaction " + strconv.Quote(id) + " of tenant " + strconv.Quote(tenant)
}

// decodeHeader reads a transaction. One that was refused for good is a [RefusedError].
func decodeHeader(tenant, id string, item txn.Item) (Entry, error) {
	d := decode(headerName(tenant, id), item)
	switch state := d.text(attrState); {
	case d.err != nil:
		return Entry{}, d.err
	case state == headerRefused:
		return Entry{}, refusal(d, tenant, id)
	case state != headerPosted:
		d.fail(attrState)
	}
	e := Entry{
		Transaction: Transaction{Tenant: tenant, ID: id, EffectiveAt: d.time(attrEffective), Source: d.optionalText(attrSource), Metadata: d.metadata()},
		RecordedAt:  d.time(attrRecorded),
		Reverses:    d.optionalText(attrReverses), Corrects: d.optionalText(attrCorrects), Captures: d.optionalText(attrCaptures),
	}
	list, ok := item[attrLines].(*types.AttributeValueMemberL)
	if !ok {
		d.fail(attrLines)
		return e, d.err
	}
	for i, value := range list.Value {
		m, ok := value.(*types.AttributeValueMemberM)
		if !ok {
			d.fail(attrLines)
			return e, d.err
		}
		line := &decoder{record: d.record + " line " + strconv.Itoa(i), item: m.Value}
		c := line.currency()
		e.Postings = append(e.Postings, Posting{
			Account: line.text(attrAccount), Amount: line.amount(attrAmount, c),
			Stripe: int(line.optionalCount(attrStripe)), Lane: int(line.optionalCount(attrLane)),
		})
		e.Buckets = append(e.Buckets, int(line.optionalCount(attrBucket)))
		if d.err == nil {
			d.err = line.err
		}
	}
	e.checkFingerprint(d)
	return e, d.err
}

// headerCheck is the condition that a transaction, as it was read, is stored.
func (l *Ledger) headerCheck(e Entry) (txn.Write, error) {
	key, err := keys.Transaction(e.Tenant, e.ID)
	if err != nil {
		return txn.Write{}, invalidKey("transaction", e.ID, err)
	}
	sum := e.fingerprint(e.origin())
	return txn.Write{
		Action: txn.ActionCheck, Table: l.config.Table, Key: l.config.Table.Key(key.PK, key.SK),
		Condition: "#state = :posted AND fingerprint = :read", Names: map[string]string{"#state": attrState},
		Values: map[string]types.AttributeValue{":posted": text(headerPosted), ":read": &types.AttributeValueMemberB{Value: sum[:]}},
		Explain: func(old txn.Item) error {
			if old == nil {
				return &NotFoundError{What: "transaction", Tenant: e.Tenant, ID: e.ID}
			}
			if _, err := decodeHeader(e.Tenant, e.ID, old); err != nil {
				return err
			}
			return e.invalid("original", "is not the transaction that is stored")
		},
	}, nil
}

func (e *Entry) origin() origin {
	return origin{reverses: e.Reverses, corrects: e.Corrects, captures: e.Captures}
}

// checkFingerprint finds a header that was changed behind the ledger's back.
func (e *Entry) checkFingerprint(d *decoder) {
	stored, ok := d.item[attrFingerprint].(*types.AttributeValueMemberB)
	sum := e.fingerprint(e.origin())
	if !ok || !bytes.Equal(stored.Value, sum[:]) {
		d.fail(attrFingerprint)
	}
}

// signedSum adds up what a transaction posts to one balance.
func (tx *Transaction) signedSum(r ref) (sum money.Amount, found bool, err error) {
	for i := range tx.Postings {
		p := &tx.Postings[i]
		if refOf(tx.Tenant, p.Account, p.Amount.Currency(), p.Stripe) != r {
			continue
		}
		if sum, err = sum.Add(p.Amount); err != nil {
			return sum, true, err
		}
		found = true
	}
	return sum, found, nil
}
