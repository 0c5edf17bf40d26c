package txn

import (
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/internal/keys"
)

// Limits of one transaction, as DynamoDB documents them.
const (
	// MaxItems is how many writes one transaction may have.
	MaxItems = 100
	// MaxBytes is how large all its items may be together.
	MaxBytes = capacity.MaxTransactionBytes
)

// ItemKey names one item. As text it is table, partition key and sort key, for people.
type ItemKey struct {
	Table, PK, SK string
}

// String returns the table and the key values, in quotes if they hold what does not belong on a line of a log.
func (k ItemKey) String() string {
	if k.SK == "" {
		return fmt.Sprintf("%s[%s]", k.Table, printable(k.PK))
	}
	return fmt.Sprintf("%s[%s / %s]", k.Table, printable(k.PK), printable(k.SK))
}

func printable(text string) string {
	if quoted := strconv.Quote(text); quoted[1:len(quoted)-1] != text {
		return quoted
	}
	return text
}

// step is one write with what Commit knows about it.
type step struct {
	*Write
	part string
	key  ItemKey
}

// steps checks the parts against every rule that can be checked before sending and lists their writes in order.
func steps(parts []Part) ([]step, error) {
	if len(parts) == 0 {
		return nil, &InvalidError{Rule: "a transaction needs at least one part"}
	}
	n := 0
	for i := range parts {
		if err := parts[i].err; err != nil {
			return nil, &InvalidError{Parts: []string{parts[i].label}, Rule: "the part could not be built: " + err.Error(), Err: err}
		}
		n += len(parts[i].writes)
	}
	if n == 0 {
		return nil, &InvalidError{Parts: labels(parts), Rule: "a transaction needs at least one write"}
	}
	if n > MaxItems {
		return nil, &InvalidError{Parts: labels(parts), Rule: fmt.Sprintf("%d writes; a transaction takes at most %d", n, MaxItems)}
	}
	all := make([]step, 0, n)
	seen := make(map[ItemKey]string, n)
	bytes := 0
	for i := range parts {
		for j := range parts[i].writes {
			s := step{Write: &parts[i].writes[j], part: parts[i].label}
			size, err := s.check()
			if err != nil {
				return nil, err
			}
			if other, twice := seen[s.key]; twice {
				return nil, &InvalidError{Parts: []string{other, s.part}, Rule: "two writes on one item, " + s.key.String()}
			}
			seen[s.key] = s.part
			bytes += size
			all = append(all, s)
		}
	}
	if bytes > MaxBytes {
		return nil, &InvalidError{Parts: labels(parts), Rule: fmt.Sprintf("%d bytes; a transaction takes at most %d", bytes, MaxBytes)}
	}
	return all, nil
}

// check fills in the key and returns how many bytes the write brings.
func (s *step) check() (size int, err error) {
	keyed := s.Key
	switch s.Action {
	case ActionPut:
		keyed = s.Item
	case ActionUpdate, ActionDelete, ActionCheck:
	default:
		return 0, s.broken("a write without an action")
	}
	if s.Table.Name == "" {
		return 0, s.broken("a write without a table name")
	}
	for _, name := range [...]string{s.Table.PK, s.Table.SK} {
		if name == MarkAttribute || name == UpdateMarkAttribute {
			return 0, s.broken("%s is txn's own attribute, no key of %s", name, s.Table.Name)
		}
	}
	if err := s.checkValues(); err != nil {
		return 0, err
	}
	if s.key, err = s.keyOf(keyed); err != nil {
		return 0, err
	}
	switch {
	case s.Fence && (s.Condition == "" || s.Action == ActionCheck):
		return 0, s.broken("a fence on %s without a write on condition", s.key)
	case s.Action == ActionUpdate && s.Update == "":
		return 0, s.broken("an update of %s without an update expression", s.key)
	case s.Action == ActionCheck && s.Condition == "":
		return 0, s.broken("a condition check of %s without a condition", s.key)
	case s.Action != ActionPut && len(s.Key) != s.keyLen():
		return 0, s.broken("the key of %s has %d attributes, want %d", s.Table.Name, len(s.Key), s.keyLen())
	}
	if _, taken := s.Values[markValue]; taken {
		return 0, s.broken("the substitution %s is txn's own", markValue)
	}
	size = capacity.ItemSize(keyed)
	if s.Action == ActionPut {
		size += markBytes
	}
	if size > capacity.MaxItemBytes {
		return 0, s.broken("%s has %d bytes; an item takes at most %d", s.key, size, capacity.MaxItemBytes)
	}
	if s.Action != ActionPut {
		size += capacity.ItemSize(s.Values)
	}
	return size, nil
}

// checkValues refuses what would be stored as something else, or not at all.
func (s *step) checkValues() error {
	for _, values := range []Item{s.Item, s.Key, s.Values} {
		if name, reason := flaw(values); reason != "" {
			return s.broken("attribute or substitution %q of a %s in %s %s", name, s.Action, s.Table.Name, reason)
		}
	}
	for placeholder, name := range s.Names {
		if reason := textFlaw(name); reason != "" {
			return s.broken("the name of substitution %q of a %s in %s %s", placeholder, s.Action, s.Table.Name, reason)
		}
	}
	return nil
}

func (s *step) keyLen() int {
	if s.Table.WithDefaults(s.Table.Name).HasSortKey() {
		return 2
	}
	return 1
}

// keyOf reads the key attributes and refuses missing, empty and oversized ones.
func (s *step) keyOf(item Item) (ItemKey, error) {
	table := s.Table.WithDefaults(s.Table.Name)
	key := ItemKey{Table: table.Name}
	var err error
	if key.PK, err = s.keyText(table, table.PK, item, keys.MaxPartitionKeyBytes); err != nil {
		return key, err
	}
	if table.HasSortKey() {
		key.SK, err = s.keyText(table, table.SK, item, keys.MaxSortKeyBytes)
	}
	return key, err
}

func (s *step) keyText(table Table, name string, item Item, limit int) (string, error) {
	var text string
	switch v := item[name].(type) { // no nil pointer among them: see checkValues
	case *types.AttributeValueMemberS:
		text = v.Value
	case *types.AttributeValueMemberN:
		text = v.Value
	case *types.AttributeValueMemberB:
		text = string(v.Value)
	case nil:
		return "", s.broken("%s of an item of %s lacks the key attribute %s", s.Action, table.Name, name)
	default:
		return "", s.broken("key attribute %s of an item of %s is neither text, number nor binary", name, table.Name)
	}
	switch {
	case text == "":
		return "", s.broken("key attribute %s of an item of %s is empty", name, table.Name)
	case len(text) > limit:
		return "", s.broken("key attribute %s of an item of %s has %d bytes; DynamoDB takes at most %d", name, table.Name, len(text), limit)
	}
	return text, nil
}

func (s *step) broken(format string, args ...any) error {
	return &InvalidError{Parts: []string{s.part}, Rule: fmt.Sprintf(format, args...)}
}

func labels(parts []Part) []string {
	all := make([]string, len(parts))
	for i := range parts {
		all[i] = parts[i].label
	}
	return all
}
