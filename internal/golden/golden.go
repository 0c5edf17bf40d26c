// Package golden compares stored items with files, and state diagrams of the documents with what happens. The attribute names and
// types of stored records are a public format: programs of other versions read them. Only tests import it.
package golden

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// TB is the part of testing.TB that Item needs.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
}

// Item compares an item with testdata/items/name.json below the test's package, in DynamoDB's own JSON with sorted
// names. Attributes named in marks must be there as text; their value is not compared, because it is new each time.
func Item(t TB, name string, item map[string]types.AttributeValue, marks ...string) {
	t.Helper()
	readable := make(map[string]any, len(item))
	for attribute, value := range item {
		if _, text := value.(*types.AttributeValueMemberS); text && slices.Contains(marks, attribute) {
			value = &types.AttributeValueMemberS{Value: "(mark)"}
		}
		readable[attribute] = Wire(value)
	}
	for _, mark := range marks {
		if _, ok := readable[mark]; !ok {
			t.Errorf("%s: there is no %s", name, mark)
		}
	}
	got, err := json.MarshalIndent(readable, "", "  ")
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	got = append(got, '\n')
	file := filepath.Join("testdata", "items", name+".json")
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Errorf("%v", err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Errorf("%v", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s changed; that breaks stored data. Got\n%s", file, got)
	}
}

// Wire is a value as DynamoDB's own JSON has it.
func Wire(value types.AttributeValue) map[string]any {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return map[string]any{"S": v.Value}
	case *types.AttributeValueMemberN:
		return map[string]any{"N": v.Value}
	case *types.AttributeValueMemberB:
		return map[string]any{"B": v.Value} // encoding/json writes bytes in base64, as the wire does
	case *types.AttributeValueMemberBOOL:
		return map[string]any{"BOOL": v.Value}
	case *types.AttributeValueMemberSS:
		return map[string]any{"SS": slices.Sorted(slices.Values(v.Value))}
	case *types.AttributeValueMemberNS:
		return map[string]any{"NS": slices.Sorted(slices.Values(v.Value))}
	case *types.AttributeValueMemberL:
		list := make([]any, len(v.Value))
		for i, element := range v.Value {
			list[i] = Wire(element)
		}
		return map[string]any{"L": list}
	case *types.AttributeValueMemberM:
		entries := make(map[string]any, len(v.Value))
		for name, entry := range v.Value {
			entries[name] = Wire(entry)
		}
		return map[string]any{"M": entries}
	default:
		return map[string]any{"unexpected": fmt.Sprintf("%T", value)}
	}
}
