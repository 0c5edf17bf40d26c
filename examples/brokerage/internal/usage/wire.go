package usage

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"regexp"
	"slices"

	"github.com/dynafin/dynafin/capacity"
)

// item is an item, or a key, as it is on the wire.
type item map[string]value

// value is an attribute value as it is on the wire.
type value struct {
	S, N, B    *string
	SS, NS, BS []string
	BOOL, NULL *bool
	M          item
	L          []value
}

// request is what the meter reads of a request, whatever its operation.
type request struct {
	TableName, IndexName      string
	Key, Item                 item
	ConsistentRead            bool
	KeyConditionExpression    string
	ExpressionAttributeValues json.RawMessage // only a query's are looked at
	TransactItems             []struct{ Put, Update, Delete, ConditionCheck, Get *request }
	RequestItems              map[string]json.RawMessage
}

// answer is what it reads of an answer.
type answer struct {
	ConsumedCapacity consumed
}

// consumed is a list in the answers of transactions and batches, and one object in all others.
type consumed []struct {
	TableName              string
	CapacityUnits          float64
	Table                  struct{ CapacityUnits float64 }
	GlobalSecondaryIndexes map[string]struct{ CapacityUnits float64 }
	ReadCapacityUnits      float64
}

func (c *consumed) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		data = slices.Concat([]byte("["), data, []byte("]"))
	}
	type list consumed
	return json.Unmarshal(data, (*list)(c))
}

func (i item) text(name string) string {
	if v := i[name]; v.S != nil {
		return *v.S
	}
	return ""
}

// size is what an item counts for, names included.
func (i item) size() (n int) {
	for name, v := range i {
		n += len(name) + v.size()
	}
	return n
}

func (v value) size() (n int) {
	switch {
	case v.S != nil:
		return len(*v.S)
	case v.N != nil:
		return capacity.NumberSize(*v.N)
	case v.B != nil:
		return binarySize(*v.B)
	case v.M != nil:
		return capacity.MapOverhead + len(v.M)*capacity.ElementOverhead + v.M.size()
	case v.L != nil:
		n = capacity.ListOverhead
		for _, element := range v.L {
			n += capacity.ElementOverhead + element.size()
		}
		return n
	case v.BOOL != nil, v.NULL != nil:
		return 1
	}
	for _, text := range v.SS {
		n += len(text)
	}
	for _, text := range v.NS {
		n += capacity.NumberSize(text)
	}
	for _, text := range v.BS {
		n += binarySize(text)
	}
	return n
}

func binarySize(text string) int {
	data, _ := base64.StdEncoding.DecodeString(text) // the SDK has encoded it
	return len(data)
}

var operand = regexp.MustCompile(`(#?\w+)[^:#]*(:\w+)`)

// conditions are the values that a key condition names: the partition key's, and the first of the sort key's.
func (r request) conditions() (pk, sk string) {
	var values item
	if err := json.Unmarshal(r.ExpressionAttributeValues, &values); err != nil {
		return "", ""
	}
	for i, found := range operand.FindAllStringSubmatch(r.KeyConditionExpression, -1) {
		text := values.text(found[2])
		switch i {
		case 0:
			pk = text
		case 1:
			sk = text
		}
	}
	return pk, sk
}

// tables are those that a batch names, sorted.
func (r request) tables() []string { return slices.Sorted(maps.Keys(r.RequestItems)) }
