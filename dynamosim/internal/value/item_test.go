package value_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"unsafe"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim/internal/value"
	"pgregory.net/rapid"
)

func TestValueStaysSmall(t *testing.T) {
	t.Parallel()
	if size := unsafe.Sizeof(value.Value{}); size > 40 {
		t.Errorf("a Value has %d bytes", size)
	}
}

func decode(t testing.TB, src string) value.Item {
	t.Helper()
	item, err := value.DecodeItem([]byte(src))
	if err != nil {
		t.Fatalf("DecodeItem(%s): %v", src, err)
	}
	return item
}

func TestItemComesBackAsItWasSent(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		`{}`:                                     `{}`,
		` { "b" : {"S":"x"} , "a":{"N":"0042"}}`: `{"a":{"N":"42"},"b":{"S":"x"}}`,
		`{"a":{"S":"\u00e9\ud83d\ude00\/\b\f\n\r\t"}}`:          `{"a":{"S":"é😀/\u0008\u000c\n\r\t"}}`,
		`{"a":{"B":"AAE="},"s":{"S":""},"e":{"B":""}}`:          `{"a":{"B":"AAE="},"e":{"B":""},"s":{"S":""}}`,
		`{"a":{"BOOL":false},"n":{"NULL":true}}`:                `{"a":{"BOOL":false},"n":{"NULL":true}}`,
		`{"a":{"NS":["10","9","-1"]},"s":{"SS":["b"]}}`:         `{"a":{"NS":["-1","9","10"]},"s":{"SS":["b"]}}`,
		`{"l":{"L":[{"M":{}},{"L":[]},{"M":{"x":{"N":"1"}}}]}}`: `{"l":{"L":[{"M":{}},{"L":[]},{"M":{"x":{"N":"1"}}}]}}`,
		`{"a":{"S":"old"},"a":{"S":"new"}}`:                     `{"a":{"S":"new"}}`,
		`{"a":{"S":"x","N":null,"Other":[1,{"y":2}]},"z":null}`: `{"a":{"S":"x"}}`,
	} {
		if got := string(decode(t, src).AppendJSON(nil)); got != want {
			t.Errorf("%s came back as %s, want %s", src, got, want)
		}
	}
}

// Each case: a request, V for a validation or S for a serialization error, and a part of its text.
func TestDecodeRefusals(t *testing.T) {
	t.Parallel()
	deep := func(n int) string {
		return `{"a":` + strings.Repeat(`{"M":{"n":`, n) + `{"S":"leaf"}` + strings.Repeat(`}}`, n) + `}`
	}
	decode(t, deep(31))
	for _, tc := range []struct{ src, class, want string }{
		{`{"a":{}}`, "V", "Supplied AttributeValue is empty"},
		{`{"a":{"X":"y"}}`, "V", "Supplied AttributeValue is empty"},
		{`{"a":{"S":null}}`, "V", "Supplied AttributeValue is empty"},
		{`{"a":{"S":"x","N":"1"}}`, "V", "more than one datatypes set"},
		{`{"a":{"S":"x","S":"y"}}`, "V", "more than one datatypes set"},
		{`{"a":{"NULL":false}}`, "V", "Null attribute value types must have the value of true"},
		{`{"a":{"N":"1x"}}`, "V", "cannot be converted to a numeric value: 1x"},
		{`{"a":{"SS":[]}}`, "V", "An string set  may not be empty"},
		{`{"a":{"NS":[]}}`, "V", "An number set  may not be empty"},
		{`{"a":{"BS":[]}}`, "V", "Binary sets should not be empty"},
		{`{"a":{"SS":["a","b","a"]}}`, "V", "Input collection [a, b, a] contains duplicates."},
		{`{"a":{"NS":["1","1.0"]}}`, "V", "Input collection contains duplicates"},
		{`{"a":{"BS":["Yg==","Yg=="]}}`, "V", "Input collection [Yg==, Yg==]of type BS contains duplicates."},
		{`{"":{"S":"x"}}`, "V", "Attribute name is empty"},
		{deep(32), "V", "Nesting Levels have exceeded supported limits"},
		{`{"a":{"L":` + strings.Repeat(`[{"L":`, 100000), "V", "Nesting Levels have exceeded supported limits"},
		{`{"a":{"N":1}}`, "S", "NUMBER_VALUE cannot be converted to String"},
		{`{"a":{"S":true}}`, "S", "TRUE_VALUE cannot be converted to String"},
		{`{"a":{"S":{}}}`, "S", "Start of structure or map"},
		{`{"a":{"S":["x"]}}`, "S", "Start of list"},
		{`{"a":{"BOOL":"true"}}`, "S", "STRING_VALUE cannot be converted to Boolean"},
		{`{"a":{"L":{}}}`, "S", "Start of structure or map"},
		{`{"a":{"M":[]}}`, "S", "Start of list"},
		{`{"a":{"SS":"x"}}`, "S", "Expected list or null"},
		{`{"a":"x"}`, "S", "Expected null"},
		{`[]`, "S", "Start of list"},
		{`{"a":{"B":"A"}}`, "S", "not valid Base64"},
		{`{"a":{"B":"AA=\n="}}`, "S", "not valid"},
		{`{"a":{"B":"AB=="}}`, "S", "not valid Base64"},
		{`{"a":{"S":"x"},}`, "S", "not valid JSON"},
		{`{"a":{"S":"x"}} x`, "S", "not valid JSON"},
		{`{"a":{"S":"x"`, "S", "not valid JSON"},
		{"{\"a\":{\"S\":\"x\ny\"}}", "S", "not valid JSON"},
		{`{"a":{"S":"\ud800"}}`, "S", "not valid JSON"},
		{`{"a":{"S":"\ud800\u0041"}}`, "S", "not valid JSON"},
		{"{\"a\":{\"S\":\"\xff\"}}", "S", "not valid UTF-8"},
		{"{\"a\":{\"S\":\"\\n\xff\"}}", "S", "not valid UTF-8"},
		{`{"a":{"N":"bad"},"b":{"S":1}}`, "S", "NUMBER_VALUE"},
		{``, "S", "not valid JSON"},
		{`{"a":{"X":` + strings.Repeat("[", 100000), "S", "not valid JSON"},
	} {
		_, err := value.DecodeItem([]byte(tc.src))
		refused, ok := err.(*value.Error)
		class := map[value.Class]string{value.Validation: "V", value.Serialization: "S"}
		if !ok || class[refused.Class] != tc.class || !strings.Contains(refused.Message, tc.want) {
			t.Errorf("DecodeItem(%.60s) error = %v, want %s %q", tc.src, err, tc.class, tc.want)
		}
	}
}

func TestJSONRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		item := anyItem(3).Draw(t, "item")
		wire := item.AppendJSON(nil)
		var direct, standard value.Item
		direct, err := value.DecodeItem(wire)
		if err != nil || direct != item {
			t.Fatalf("%s decodes to %s, %v", wire, direct.AppendJSON(nil), err)
		}
		encoded, err := json.Marshal(item)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(encoded, &standard); err != nil || standard != item {
			t.Fatalf("%s decodes to %s, %v by encoding/json", encoded, standard.AppendJSON(nil), err)
		}
	})
}

func TestSDKRoundTripAndSize(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		item := anyItem(3).Draw(t, "item")
		sdk := value.ToSDK(item)
		back, err := value.FromSDK(sdk)
		if err != nil || back != item {
			t.Fatalf("%s came back as %s, %v", item.AppendJSON(nil), back.AppendJSON(nil), err)
		}
		if got, want := item.Size(), capacity.ItemSize(sdk); got != want {
			t.Fatalf("size of %s = %d, package capacity says %d", item.AppendJSON(nil), got, want)
		}
	})
}

// The vectors are measured sizes: the text of a number and its bytes.
func TestNumberSizes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"0": 1, "-0": 1, "1": 2, "12": 2, "15": 2, "123": 3, "1234": 3, "12345": 4, "1234567": 5, "123456789": 6,
		"12345678912": 7, "1234567890123456789": 11, nines(38): 20, "0042": 2, "100": 2, "1010": 3, "0.0000001": 2,
		"1E125": 2, "1E-100": 2, "0.15": 2, "1.5": 3, "1.200": 3, "1.234": 4, "3.14159": 5, "100.5": 4, "-42": 3,
		"-12345": 5, "-0.15": 3, "-1E125": 3,
	} {
		v, err := value.Number(text)
		if err != nil || v.Size() != want {
			t.Errorf("size of %s = %d, %v, want %d", text, v.Size(), err, want)
		}
	}
}

func TestGuideExampleHas23Bytes(t *testing.T) {
	t.Parallel()
	if got := decode(t, `{"shirt-color":{"S":"R"},"shirt-size":{"S":"M"}}`).Size(); got != 23 {
		t.Errorf("size = %d, want 23", got)
	}
}

func TestMergeIsAMapUpdate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		item := anyItem(1).Draw(t, "item")
		model := maps.Collect(item.All())
		var changes []value.Attr
		for range rapid.IntRange(0, 4).Draw(t, "changes") {
			a := value.Attr{Name: rapid.SampledFrom([]string{"a", "aa", "b", "z", "PK"}).Draw(t, "name")}
			if rapid.Bool().Draw(t, "set") {
				a.Value = anyValue(1).Draw(t, "value")
			}
			changes = append(changes, a)
			if a.Value.IsZero() {
				delete(model, a.Name)
			} else {
				model[a.Name] = a.Value
			}
		}
		merged := item.Merge(changes...)
		if got := maps.Collect(merged.All()); !maps.Equal(got, model) || merged.Len() != len(model) {
			t.Fatalf("%s merged to %s", item.AppendJSON(nil), merged.AppendJSON(nil))
		}
		for name, want := range model {
			if got, ok := merged.Get(name); !ok || got != want {
				t.Fatalf("Get(%q) = %v, %t", name, got, ok)
			}
		}
		if again := decode2(t, merged); again != merged {
			t.Fatal("a merged item is not canonical")
		}
	})
}

func decode2(t *rapid.T, item value.Item) value.Item {
	again, err := value.DecodeItem(item.AppendJSON(nil))
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func FuzzDecodeItem(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"a":{"S":"x"},"b":{"N":"-1.50"},"c":{"B":"AAE="}}`, `{"l":{"L":[{"M":{"x":{"NULL":true}}},{"BOOL":false}]}}`,
		`{"s":{"SS":["a","b"]},"n":{"NS":["1","2"]},"b":{"BS":["AA=="]}}`, `{"a":{"S":"\ud83d\ude00\u0000"}}`, `{"a":{"S":"x","N":"1"}}`, `{"a":{"L":[{"L":[{"L":`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		item, err := value.DecodeItem(src)
		if err != nil {
			return
		}
		if !json.Valid(src) && !strings.ContainsAny(string(src), "+-.eE0") { // numbers of unknown members are not looked at
			t.Errorf("accepted invalid JSON %q", src)
		}
		wire := item.AppendJSON(nil)
		if !json.Valid(wire) {
			t.Errorf("wrote invalid JSON %q", wire)
		}
		if again, err := value.DecodeItem(wire); err != nil || again != item {
			t.Errorf("%q does not round-trip: %v", wire, err)
		}
	})
}

// orderItem is about as big as the accepted order of the brokerage example.
const orderItem = `{"PK":{"S":"TEN#t1#ORDER#01J8"},"SK":{"S":"META"},"v":{"N":"1"},"account":{"S":"ACC-000123"},"symbol":{"S":"XNAS:AAPL"},"side":{"S":"BUY"},"quantity":{"N":"1200"},"price":{"N":"187.4325"},"currency":{"S":"USD"},"status":{"S":"ACCEPTED"},"acceptedAt":{"S":"2026-11-29T14:18:00.000000000Z"},"tags":{"SS":["algo","dma"]},"route":{"M":{"venue":{"S":"XNAS"},"desk":{"S":"EQ1"},"legs":{"L":[{"N":"1"},{"N":"2"}]}}},"payload":{"B":"AAECAwQFBgcICQoLDA0ODwABAgMEBQYHCAkKCwwNDg8="}}`

func BenchmarkDecodeItem(b *testing.B) {
	src := []byte(orderItem)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := value.DecodeItem(src); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	item := decode(b, orderItem)
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = item.AppendJSON(buf[:0])
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkGet(b *testing.B) {
	item := decode(b, orderItem)
	for b.Loop() {
		item.Get("status")
	}
}

func BenchmarkSize(b *testing.B) {
	item := decode(b, orderItem)
	for b.Loop() {
		item.Size()
	}
}
