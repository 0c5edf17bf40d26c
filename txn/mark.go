package txn

import (
	"maps"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The attributes by which a record tells which Commit wrote it. A retry that finds the mark of its own Commit knows that
// an earlier attempt was applied, whole, because a transaction is atomic.
const (
	// MarkAttribute holds the mark of the Commit that put the item. Updates leave it alone, so a created record
	// proves its creation for as long as it lives.
	MarkAttribute = "txnMark"
	// UpdateMarkAttribute holds the mark of the last Commit that updated the item.
	UpdateMarkAttribute = "txnUpdate"
)

const (
	markValue = ":txnMark"
	// markBytes is what a mark adds to an item at most: the attribute's name and 36 bytes.
	markBytes = len(MarkAttribute) + maxMark
	// maxMark is DynamoDB's limit for a request token, which the mark serves as.
	maxMark = 36
)

// marked returns a copy of the item that carries the mark, and no other: an item that was read to be put again may hold
// that of its last update.
func marked(item Item, mark string) Item {
	copied := make(Item, len(item)+1)
	maps.Copy(copied, item)
	delete(copied, UpdateMarkAttribute)
	copied[MarkAttribute] = &types.AttributeValueMemberS{Value: mark}
	return copied
}

// markedUpdate adds the mark to an update expression and its values.
func markedUpdate(update string, values map[string]types.AttributeValue, mark string) (string, map[string]types.AttributeValue) {
	copied := make(map[string]types.AttributeValue, len(values)+1)
	maps.Copy(copied, values)
	copied[markValue] = &types.AttributeValueMemberS{Value: mark}
	const assign = UpdateMarkAttribute + " = " + markValue
	if at := setClause(update); at >= 0 {
		return update[:at] + " " + assign + "," + update[at:], copied
	}
	return "SET " + assign + " " + update, copied
}

// setClause returns the offset behind the keyword SET, or -1. SET is a reserved word, so where it stands alone in an
// update expression it is the keyword: an attribute of that name can only be written as a #substitution. No space need
// stand beside it: DynamoDB reads "REMOVE a[0]SET#b = :b" too.
func setClause(update string) int {
	for at := 0; at+3 < len(update); at++ {
		startsWord := at == 0 || !inWord(update[at-1]) && update[at-1] != '#' && update[at-1] != ':'
		if startsWord && !inWord(update[at+3]) && strings.EqualFold(update[at:at+3], "SET") {
			return at + 3
		}
	}
	return -1
}

// inWord says whether a name or a keyword goes on at this byte.
func inWord(c byte) bool {
	return c == '_' || c == '.' || c == '-' || c >= 0x80 ||
		'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// carries says whether the item was put, or last updated, by the Commit of this mark.
func carries(item Item, mark string) bool {
	for _, name := range [...]string{MarkAttribute, UpdateMarkAttribute} {
		if text, ok := stringValue(item[name]); ok && text == mark {
			return true
		}
	}
	return false
}

// validMark refuses a mark that could not serve as a request token.
func validMark(mark string, parts []Part) error {
	ok := len(mark) >= 1 && len(mark) <= maxMark
	for i := 0; ok && i < len(mark); i++ {
		ok = mark[i] > ' ' && mark[i] < 0x7f
	}
	if !ok {
		return &InvalidError{Parts: labels(parts), Rule: "Config.NewMark must return 1 to 36 bytes of printable ASCII"}
	}
	return nil
}
