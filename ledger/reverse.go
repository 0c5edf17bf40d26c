package ledger

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/money"
	"github.com/dynafin/dynafin/txn"
)

// Reversal says what of a transaction is taken back.
type Reversal struct {
	// ID is that of the reversing transaction: unique within the tenant, the same in every repeat. Two partial
	// refunds of the same amount are two, because they have two identifiers.
	ID string
	// EffectiveAt is when the reversal counts, not before the original. Required.
	EffectiveAt time.Time
	// Parts say how much of which lines is reversed; they add up to zero for every asset. Empty for all lines, whole.
	Parts []ReversedPart
	// Source and Metadata are those of the reversing transaction.
	Source   string
	Metadata map[string]string
}

// ReversedPart is how much of one line is reversed.
type ReversedPart struct {
	// Line is the line of the original, from 0.
	Line int
	// Amount has the sign of the original line and is at most as large.
	Amount money.Amount
}

// Reverse returns the part that takes back a transaction, or parts of it, by a new transaction with the opposite
// postings, linked both ways. All reversals of a line together are at most the line, also of those that are under way at the same
// time. The Commit fails with an [ExceedsError] if less is left of a line, with a [NotFoundError] or an [InvalidError] if the
// original is not what is stored, and else with the errors of [Ledger.Post] for the reversing transaction. A reversal has two
// writes more than a posting of its lines: an original that left no room for them among the 100 is reversed in parts.
//
// Cost: that of [Ledger.Post], 2 write units for the check of the original and 2 for the links.
func (l *Ledger) Reverse(original Entry, r Reversal) txn.Part {
	p, err := l.reverse(original, r)
	return l.part("AP10.reverse", p, err)
}

func (l *Ledger) reverse(original Entry, r Reversal) (*plan, error) {
	tx := Transaction{Tenant: original.Tenant, ID: r.ID, EffectiveAt: r.EffectiveAt, Source: r.Source, Metadata: r.Metadata}
	if r.EffectiveAt.Before(original.EffectiveAt) {
		return nil, tx.invalid("EffectiveAt", "is before that of the original")
	}
	parts := r.Parts
	if len(parts) == 0 {
		for i, p := range original.Postings {
			parts = append(parts, ReversedPart{Line: i, Amount: p.Amount})
		}
	}
	seen := make(map[int]bool, len(parts))
	for _, part := range parts {
		if part.Line < 0 || part.Line >= len(original.Postings) || seen[part.Line] {
			return nil, tx.invalid("Parts", "name a line that the original has not, or one line twice")
		}
		seen[part.Line] = true
		line := original.Postings[part.Line]
		rest, err := line.Amount.Sub(part.Amount)
		switch {
		case err != nil || part.Amount.Sign() != line.Amount.Sign():
			return nil, tx.invalid("Parts", "have an amount of another currency or sign than the line")
		case rest.Sign() == -line.Amount.Sign():
			return nil, &ExceedsError{What: "transaction", Tenant: original.Tenant, ID: original.ID, Line: part.Line, Asked: part.Amount, Left: line.Amount}
		}
		line.Amount = part.Amount.Neg()
		tx.Postings = append(tx.Postings, line)
	}
	p, err := l.plan(&tx, origin{reverses: original.ID})
	if err != nil {
		return nil, err
	}
	p.extra, err = l.linked(original, parts, attrReversedBy, r.ID)
	return p, err
}

// Correct returns the part that posts a transaction which corrects another one, linked both ways. What was wrong may be
// reversed by it, or before; Correct limits nothing but the number of links. The Commit fails with a [NotFoundError] or an
// [InvalidError] if the original is not what is stored, and else with the errors of [Ledger.Post].
//
// Cost: that of [Ledger.Post], 2 write units for the check of the original and 2 for the links.
func (l *Ledger) Correct(original Entry, tx Transaction) txn.Part {
	p, err := l.correct(original, tx)
	return l.part("AP10.correct", p, err)
}

func (l *Ledger) correct(original Entry, tx Transaction) (*plan, error) {
	switch {
	case tx.Tenant != original.Tenant:
		return nil, tx.invalid("Tenant", "is not that of the original")
	case tx.EffectiveAt.Before(original.EffectiveAt):
		return nil, tx.invalid("EffectiveAt", "is before that of the original")
	}
	p, err := l.plan(&tx, origin{corrects: original.ID})
	if err != nil {
		return nil, err
	}
	p.extra, err = l.linked(original, nil, attrCorrectedBy, tx.ID)
	return p, err
}

// linked are the writes about the original.
func (l *Ledger) linked(original Entry, parts []ReversedPart, kind, by string) ([]txn.Write, error) {
	stands, err := l.headerCheck(original)
	if err != nil {
		return nil, err
	}
	links, err := l.linksWrite(original, parts, kind, by)
	return []txn.Write{stands, links}, err
}

// reversedAttr is the attribute of what was reversed of a line.
func reversedAttr(line int) string { return "r" + strconv.Itoa(line) }

// linksWrite adds a link to a transaction, and what is reversed of its lines. A line of which nothing was reversed has no
// attribute, and a comparison with none is false: NOT turns both cases into one short clause, since up to 96 of
// them must fit an expression.
func (l *Ledger) linksWrite(original Entry, parts []ReversedPart, kind, by string) (txn.Write, error) {
	key, err := keys.Links(original.Tenant, original.ID)
	if err != nil {
		return txn.Write{}, invalidKey("transaction", original.ID, err)
	}
	var condition, update strings.Builder
	condition.WriteString("(attribute_not_exists(v) OR v = :v) AND NOT #count >= :links")
	update.WriteString("SET v = :v ADD #count :one, " + kind + " :by")
	values := map[string]types.AttributeValue{
		":v": formatValue, ":one": oneValue, ":links": integer(MaxLinks), ":by": &types.AttributeValueMemberSS{Value: []string{by}},
	}
	for _, part := range parts {
		attr, over := reversedAttr(part.Line), " > "
		if part.Amount.Sign() < 0 {
			over = " < "
		}
		most, err := original.Postings[part.Line].Amount.Sub(part.Amount)
		if err != nil {
			return txn.Write{}, original.invalid("Postings", "have an amount out of range")
		}
		condition.WriteString(" AND NOT " + attr + over + ":m" + attr)
		update.WriteString(", " + attr + " :" + attr)
		values[":m"+attr], values[":"+attr] = amount(most), amount(part.Amount)
	}
	return txn.Write{
		Action: txn.ActionUpdate, Table: l.config.Table, Key: l.config.Table.Key(key.PK, key.SK),
		Update: update.String(), Condition: condition.String(), Names: map[string]string{"#count": attrCount}, Values: values,
		Explain: func(old txn.Item) error {
			stored, err := decodeLinks(original, old)
			if err != nil {
				return err
			}
			return stored.refuses(original, parts)
		},
	}, nil
}

// Links says what became of a transaction.
type Links struct {
	// ReversedBy and CorrectedBy are the transactions that reversed and corrected it, sorted.
	ReversedBy, CorrectedBy []string
	// Reversed is how much of each line was reversed, with the sign of the line.
	Reversed []money.Amount
}

// refuses says why parts could not be reversed, or a link not be added.
func (k Links) refuses(original Entry, parts []ReversedPart) error {
	for _, part := range parts {
		line := original.Postings[part.Line].Amount
		left, err := line.Sub(k.Reversed[part.Line])
		if err != nil {
			return err
		}
		if rest, err := left.Sub(part.Amount); err != nil || rest.Sign() == -line.Sign() {
			return &ExceedsError{What: "transaction", Tenant: original.Tenant, ID: original.ID, Line: part.Line, Asked: part.Amount, Left: left}
		}
	}
	return &LimitError{What: "transaction", ID: original.ID, Limit: "reversals and corrections", Max: MaxLinks}
}

func decodeLinks(original Entry, item txn.Item) (Links, error) {
	k := Links{Reversed: make([]money.Amount, len(original.Postings))}
	d := &decoder{record: "links of " + headerName(original.Tenant, original.ID), item: item}
	if item != nil {
		d = decode(d.record, item)
	}
	for i, p := range original.Postings {
		k.Reversed[i] = d.optionalAmount(reversedAttr(i), p.Amount.Currency())
	}
	k.ReversedBy, k.CorrectedBy = d.set(attrReversedBy), d.set(attrCorrectedBy)
	return k, d.err
}

// set reads an optional set of texts, sorted.
func (d *decoder) set(name string) []string {
	if !d.has(name) {
		return nil
	}
	set, ok := d.item[name].(*types.AttributeValueMemberSS)
	if !ok {
		d.fail(name)
		return nil
	}
	return slices.Sorted(slices.Values(set.Value))
}
