package dynamosim_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"
)

var (
	drawnPartitions = []string{"a", "b"}
	drawnSorts      = []string{"1", "2", "3", "4"}
	drawnOperations = []string{"get", "put", "update", "delete", "query", "scan", "batch get", "batch write", "transact get", "transact write"}
)

// drawer draws operations on the test table. Sort keys of indexes are unique, because the order of equal ones is free.
type drawer struct{ *rapid.T }

func pick[V any](d drawer, label string, choices ...V) V {
	return rapid.SampledFrom(choices).Draw(d.T, label)
}

func (d drawer) chance(label string, percent int) bool {
	return rapid.IntRange(0, 99).Draw(d.T, label) < percent
}

func (d drawer) operation() operation {
	kind := pick(d, "operation", drawnOperations...)
	return operation{kind, map[string]func() func(backend) (any, error){
		"get": d.get, "put": d.put, "update": d.update, "delete": d.delete, "query": d.query, "scan": d.scan,
		"batch get": d.batchGet, "batch write": d.batchWrite, "transact get": d.transactGet, "transact write": d.transactWrite,
	}[kind]()}
}

// expressions are what a request says in words, with the values that the words stand for.
type expressions struct{ values attrs }

func (e *expressions) value(v types.AttributeValue) string {
	name := fmt.Sprintf(":v%d", len(e.values))
	if e.values == nil {
		e.values = attrs{}
	}
	e.values[name] = v
	return name
}

func (d drawer) key() attrs {
	return key(pick(d, "pk", drawnPartitions...), pick(d, "sk", drawnSorts...))
}

// keys returns one to n different keys.
func (d drawer) keys(n int) (keys []attrs) {
	for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(drawnPartitions)*len(drawnSorts)-1), 1, n, rapid.ID[int]).Draw(d.T, "keys") {
		keys = append(keys, key(drawnPartitions[i%len(drawnPartitions)], drawnSorts[i/len(drawnPartitions)]))
	}
	return keys
}

// item returns an item with the key, a member of any index or none, and as large as its values make it.
func (d drawer) item(key attrs) attrs {
	item := with(key)
	if d.chance("grouped", 60) {
		item["gk"], item["gs"] = s(pick(d, "gk", "g", "h")), d.groupSort(key)
	}
	if d.chance("local", 40) {
		item["ls"] = d.localSort(key)
	}
	if d.chance("wrong index key", 3) {
		item[pick(d, "which", "gk", "gs", "ls")] = pick[types.AttributeValue](d, "wrong", &types.AttributeValueMemberBOOL{Value: true}, s(""))
	}
	for _, name := range []string{"x", "y", "z", "proj"} {
		if d.chance(name, 60) {
			item[name] = d.value(2)
		}
	}
	return item
}

// groupSort is a number that no item with another key has.
func (d drawer) groupSort(key attrs) types.AttributeValue {
	at := slices.Index(drawnPartitions, text(key["pk"]))*len(drawnSorts) + slices.Index(drawnSorts, text(key["sk"]))
	return n(strconv.Itoa(10*at + rapid.IntRange(-4, 4).Draw(d.T, "gs")))
}

// localSort is a text that no item with another key has.
func (d drawer) localSort(key attrs) types.AttributeValue {
	return s(pick(d, "ls", "l", "m", "z") + text(key["sk"]))
}

func (d drawer) value(depth int) types.AttributeValue {
	kinds := []string{"S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M", "N", "S"}
	if depth == 0 {
		kinds = kinds[:5]
	}
	switch pick(d, "type", kinds...) {
	case "S":
		return s(d.text())
	case "N":
		return n(d.number())
	case "B":
		return &types.AttributeValueMemberB{Value: []byte(d.text())}
	case "BOOL":
		return &types.AttributeValueMemberBOOL{Value: d.chance("true", 50)}
	case "NULL":
		return &types.AttributeValueMemberNULL{Value: true}
	case "SS":
		return &types.AttributeValueMemberSS{Value: d.members()}
	case "NS":
		return &types.AttributeValueMemberNS{Value: pick(d, "numbers", []string{"1"}, []string{"2", "1"}, []string{"1.50", "-3", "1e2"}, []string{"1", "1.0"}, []string{})}
	case "BS":
		return &types.AttributeValueMemberBS{Value: pick(d, "binaries", [][]byte{{1}}, [][]byte{{2}, {1}}, [][]byte{{1}, {1}})}
	case "L":
		list := []types.AttributeValue{}
		for range rapid.IntRange(0, 3).Draw(d.T, "length") {
			list = append(list, d.value(depth-1))
		}
		return &types.AttributeValueMemberL{Value: list}
	default:
		fields := attrs{}
		for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"k", "l", ""}), rapid.ID[string]).Draw(d.T, "fields") {
			if name != "" || depth == 2 && d.chance("empty name", 5) {
				fields[name] = d.value(depth - 1)
			}
		}
		return &types.AttributeValueMemberM{Value: fields}
	}
}

func (d drawer) members() []string {
	return pick(d, "members", []string{"a"}, []string{"b", "a"}, []string{"b", "c", ""}, []string{"a", "a"}, []string{})
}

// text is short, or long enough to move an item over the edge of a unit.
func (d drawer) text() string {
	return strings.Repeat("é", rapid.IntRange(0, 2).Draw(d.T, "wide")) +
		strings.Repeat("x", pick(d, "letters", 0, 1, 3, 3, 40, 500, 900, 980, 1020, 1100, 2000, 4000, 9000))
}

func (d drawer) number() string {
	return pick(d, "number", "0", "-0", "1", "2", "-3", "007", "1.50", "-12.5", "1e3", "12345678901234567890123456789012345678",
		"0.00000000000000000000000000000000000001", "1E-130", "-9.9e125", "99999999999999999999999999999999999999", "1e126", "1x")
}

func (d drawer) capacity() types.ReturnConsumedCapacity {
	return pick(d, "capacity", types.ReturnConsumedCapacityIndexes, types.ReturnConsumedCapacityTotal, types.ReturnConsumedCapacityNone)
}

func (d drawer) oldOnFailure() types.ReturnValuesOnConditionCheckFailure {
	return pick(d, "on failure", types.ReturnValuesOnConditionCheckFailureAllOld, types.ReturnValuesOnConditionCheckFailureNone)
}

// maybe returns a drawn text, or none.
func (d drawer) maybe(label string, draw func() string) *string {
	if d.chance(label, 50) {
		return nil
	}
	return aws.String(draw())
}

func (d drawer) path() string {
	return pick(d, "path", "x", "y", "z", "proj", "gk", "gs", "ls", "pk", "x.k", "y.l", "z[0]", "x[1]", "y.k[0]", "absent")
}

func (d drawer) operand(e *expressions) string {
	switch rapid.IntRange(0, 4).Draw(d.T, "operand") {
	case 0:
		return "size(" + d.path() + ")"
	case 1, 2:
		return d.path()
	default:
		return e.value(d.value(1))
	}
}

// ordered is an operand of a comparison that orders: a value in the request has to be text, a number or binary.
func (d drawer) ordered(e *expressions) string {
	if d.chance("stored", 60) {
		return pick(d, "sized", "size("+d.path()+")", d.path(), d.path())
	}
	return e.value(pick[types.AttributeValue](d, "bound", s(d.text()), n(d.number()), &types.AttributeValueMemberB{Value: []byte("x")}))
}

// other is an operand that is not the first once more.
func (d drawer) other(e *expressions, first string, draw func(*expressions) string) string {
	if next := draw(e); next != first {
		return next
	}
	return e.value(n("1"))
}

func (d drawer) condition(e *expressions, depth int) string {
	if depth > 0 && d.chance("deeper", 40) {
		switch pick(d, "logic", "AND", "OR", "NOT") {
		case "AND":
			return "(" + d.condition(e, depth-1) + " AND " + d.condition(e, depth-1) + ")"
		case "OR":
			return d.condition(e, depth-1) + " OR " + d.condition(e, depth-1)
		default:
			return "NOT " + d.condition(e, depth-1)
		}
	}
	switch pick(d, "condition", "exists", "absent", "type", "begins", "contains", "between", "in", "order", "equal") {
	case "exists":
		return "attribute_exists(" + d.path() + ")"
	case "absent":
		return "attribute_not_exists(" + d.path() + ")"
	case "type":
		return "attribute_type(" + d.path() + ", " + e.value(s(pick(d, "named type", "S", "N", "B", "SS", "L", "M", "NULL", "BOOL"))) + ")"
	case "begins":
		return "begins_with(" + d.path() + ", " + e.value(s(pick(d, "prefix", "x", "é", ""))) + ")"
	case "contains":
		return "contains(" + d.path() + ", " + e.value(d.value(1)) + ")"
	case "between":
		bounds := pick(d, "bounds", [2]types.AttributeValue{n("-3"), n("7")}, [2]types.AttributeValue{s(""), s("x")}, [2]types.AttributeValue{n("1"), n("1")})
		return pick(d, "between", d.path(), "size("+d.path()+")") + " BETWEEN " + e.value(bounds[0]) + " AND " + e.value(bounds[1])
	case "in":
		first := d.operand(e)
		return first + " IN (" + d.other(e, first, d.operand) + ", " + d.other(e, first, d.operand) + ")"
	case "order":
		first := d.ordered(e)
		return first + " " + pick(d, "comparator", "<", "<=", ">", ">=") + " " + d.other(e, first, d.ordered)
	default:
		first := d.operand(e)
		return first + " " + pick(d, "comparator", "=", "<>") + " " + d.other(e, first, d.operand)
	}
}
