package sentinel

import (
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/internal/keys"
	"github.com/dynafin/dynafin/txn"
)

// The attributes of a record. They are a public format: see the golden files in testdata/items.
const (
	attrFormat   = "v"
	attrVersion  = "version"
	attrOwner    = "owner"
	attrCommand  = "command"
	attrReserved = "reservedAt"
	attrReleased = "releasedAt"
)

// recordFormat is the format that this package writes and reads.
const recordFormat = "1"

// markBytes is what txn adds to a record: the attribute and a mark of at most 36 bytes.
const markBytes = len(txn.UpdateMarkAttribute) + 36

// names are the substitutions that every expression draws from: "owner" and "command" could become reserved words.
func substitutions(more ...string) map[string]string {
	names := map[string]string{"#v": attrFormat, "#version": attrVersion, "#owner": attrOwner}
	for _, name := range more {
		names["#"+name] = name
	}
	return names
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

var format = &types.AttributeValueMemberN{Value: recordFormat}

// checkSize refuses a claim whose record could outgrow one write unit, at the longest version and mark.
func (n *Names) checkSize(c Claim, key keys.Key, at string) error {
	item := n.table.Key(key.PK, key.SK)
	item[attrFormat] = format
	item[attrVersion] = number(1<<63 - 1)
	item[attrOwner] = text(c.Owner)
	item[attrCommand] = text(c.Command)
	item[attrReserved] = text(at)
	if size := capacity.ItemSize(item) + markBytes; size > MaxRecordBytes {
		return &InvalidError{c.Tenant, c.Kind, c.Name, "Claim",
			"makes a record of " + strconv.Itoa(size) + " bytes; at most " + strconv.Itoa(MaxRecordBytes) + " fit one write unit"}
	}
	return nil
}

// decode reads a record. held is false for a name that nobody holds: no record, or one without an owner.
func decode(tenant, kind, name string, item txn.Item) (h Held, held bool, err error) {
	if item == nil {
		return Held{}, false, nil
	}
	bad := func(attr string) error {
		return errCorrupt.Wrap(nil, "sentinel: %s %q of tenant %q: attribute %q of its record is not what format %s has there",
			kind, name, tenant, attr, recordFormat)
	}
	if v, ok := item[attrFormat].(*types.AttributeValueMemberN); !ok || v.Value != recordFormat {
		return Held{}, false, bad(attrFormat)
	}
	h.Tenant, h.Kind, h.Name = tenant, kind, name
	version, ok := item[attrVersion].(*types.AttributeValueMemberN)
	if !ok {
		return Held{}, false, bad(attrVersion)
	}
	if h.Version, err = strconv.ParseInt(version.Value, 10, 64); err != nil || h.Version < 1 {
		return Held{}, false, bad(attrVersion)
	}
	if item[attrOwner] == nil {
		return h, false, nil
	}
	since := ""
	for _, field := range []struct {
		attr string
		into *string
	}{{attrOwner, &h.Owner}, {attrCommand, &h.Command}, {attrReserved, &since}} {
		value, ok := item[field.attr].(*types.AttributeValueMemberS)
		if !ok || value.Value == "" {
			return Held{}, false, bad(field.attr)
		}
		*field.into = value.Value
	}
	if h.Since, err = keys.ParseTime(since); err != nil {
		return Held{}, false, bad(attrReserved)
	}
	return h, true, nil
}

func (n *Names) timestamp(c Claim) (string, error) {
	at, err := keys.Time(n.now())
	if err != nil {
		return "", &InvalidError{c.Tenant, c.Kind, c.Name, "Now", err.Error()}
	}
	return at, nil
}
