package idempotency_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dynafin/dynafin/idempotency"
)

func TestCanonicalJSONHasOneSpellingPerValue(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		want      string
		spellings []string
	}{
		"key order and white space": {`{"a":1,"b":{"c":2,"d":3}}`, []string{`{"a":1,"b":{"c":2,"d":3}}`, "\t{ \"b\" : { \"d\":3 ,\r\n\"c\":2 }, \"a\":1 }\n"}},
		"integers":                  {`1`, []string{"1", "1.0", "1e0", "10e-1", "0.1e1", "0.1E+01", "100e-002"}},
		"zero":                      {`0`, []string{"0", "-0", "0.000", "0e5", "-0.0E-9"}},
		"money":                     {`-1999e-2`, []string{"-19.99", "-19.990", "-1999e-2", "-0.01999e3"}},
		"hundreds":                  {`1e2`, []string{"100", "1e2", "100.00", "0.1e3"}},
		"text escapes":              {`"é\"\\/\u0000\u000a😀"`, []string{`"é\"\\\/\u0000\n😀"`, `"\u00e9\u0022\u005C/\u0000\u000A\uD83D\ude00"`}},
		"escaped keys":              {`{"a":null,"é":true}`, []string{`{"\u00e9":true,"a":null}`, `{"\u0061":null,"é":true}`}},
		"empty values":              {`[[],{},"",false,null,0]`, []string{`[ [ ] , { } , "" , false , null , 0 ]`}},
		"above 2^53":                {`9007199254740993`, []string{"9007199254740993", "9007199254740993.0"}},
	} {
		for _, spelling := range c.spellings {
			got, err := idempotency.CanonicalJSON([]byte(spelling))
			if err != nil || string(got) != c.want {
				t.Errorf("%s: %q gives %q, %v; want %q", name, spelling, got, err, c.want)
			}
		}
	}
}

func TestCanonicalJSONKeepsDifferentValuesApart(t *testing.T) {
	t.Parallel()
	documents := []string{
		`9007199254740992`, `9007199254740993`, `1`, `-1`, `10`, `0.1`, `"1"`, `true`, `"true"`, `null`, `"null"`, `""`, `0`, `[]`, `{}`,
		`[1,2]`, `[2,1]`, `[[1],2]`, `[[1,2]]`, `{"a":1}`, `{"a":"1"}`, `{"a":1,"b":null}`, `{"b":1}`, `{"a":[1]}`,
		`"é"`, `"e\u0301"`, `"a"`, `"A"`, `" a"`, `{"a":{"b":1}}`, `{"a":{},"b":1}`, `1e1000`, `1e999`,
	}
	seen := map[string]string{}
	for _, document := range documents {
		got, err := idempotency.CanonicalJSON([]byte(document))
		if err != nil {
			t.Fatalf("%s: %v", document, err)
		}
		if other, ok := seen[string(got)]; ok {
			t.Errorf("%s and %s both give %s", document, other, got)
		}
		seen[string(got)] = document
	}
}

func TestCanonicalJSONRefusesWithReasonAndOffset(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	if _, err := idempotency.CanonicalJSON([]byte(deep(idempotency.JSONDepthMax))); err != nil {
		t.Fatalf("at the depth limit: %v", err)
	}
	digits := strings.Repeat("7", idempotency.NumberDigitsMax)
	for _, document := range []string{digits, "1e1000", "1e-1000", "10e999", "0.1e-999", "0e999999"} {
		if _, err := idempotency.CanonicalJSON([]byte(document)); err != nil {
			t.Fatalf("%.20s at the limit: %v", document, err)
		}
	}
	for _, c := range []struct {
		document string
		offset   int
		reason   idempotency.Reason
	}{
		{``, 0, idempotency.ReasonSyntax},
		{`  `, 2, idempotency.ReasonSyntax},
		{"\ufeff{}", 0, idempotency.ReasonSyntax},
		{`{"a":1,}`, 7, idempotency.ReasonSyntax},
		{`[1,]`, 3, idempotency.ReasonSyntax},
		{`[1 2]`, 3, idempotency.ReasonSyntax},
		{`{"a" 1}`, 5, idempotency.ReasonSyntax},
		{`{a:1}`, 1, idempotency.ReasonSyntax},
		{`{"a":1 "b":2}`, 7, idempotency.ReasonSyntax},
		{`[`, 1, idempotency.ReasonSyntax},
		{`"a`, 2, idempotency.ReasonSyntax},
		{"\"a\nb\"", 2, idempotency.ReasonSyntax},
		{`"\x41"`, 1, idempotency.ReasonSyntax},
		{`"\u12g4"`, 1, idempotency.ReasonSyntax},
		{`"\`, 1, idempotency.ReasonSyntax},
		{`"\u12`, 1, idempotency.ReasonSyntax},
		{`nul`, 0, idempotency.ReasonSyntax},
		{`NaN`, 0, idempotency.ReasonSyntax},
		{`+1`, 0, idempotency.ReasonSyntax},
		{`01`, 2, idempotency.ReasonSyntax},
		{`-`, 1, idempotency.ReasonSyntax},
		{`1.`, 2, idempotency.ReasonSyntax},
		{`.5`, 0, idempotency.ReasonSyntax},
		{`1e`, 2, idempotency.ReasonSyntax},
		{`1_0`, 1, idempotency.ReasonTrailing},
		{`{} {}`, 3, idempotency.ReasonTrailing},
		{`1 // x`, 2, idempotency.ReasonTrailing},
		{`{"b":0,"a":1,"a":1}`, 13, idempotency.ReasonDuplicate},
		{`[{"a":1,"\u0061":2}]`, 8, idempotency.ReasonDuplicate},
		{"\"\xff\"", 1, idempotency.ReasonUTF8},
		{"\"\xed\xa0\x80\"", 1, idempotency.ReasonUTF8},
		{"{\"\xc3\":1}", 2, idempotency.ReasonUTF8},
		{`"x\ud83d"`, 2, idempotency.ReasonSurrogate},
		{`"\ude00"`, 1, idempotency.ReasonSurrogate},
		{`"\ud83d\ud83d"`, 1, idempotency.ReasonSurrogate},
		{`"\ud83dx"`, 1, idempotency.ReasonSurrogate},
		{`[1e1001]`, 1, idempotency.ReasonNumber},
		{`1e-1001`, 0, idempotency.ReasonNumber},
		{`1e1000000000000000000000`, 0, idempotency.ReasonNumber},
		{digits + "0", 0, idempotency.ReasonNumber},
		{deep(idempotency.JSONDepthMax + 1), idempotency.JSONDepthMax, idempotency.ReasonTooDeep},
		{strings.Repeat(" ", idempotency.JSONBytesMax+1), idempotency.JSONBytesMax, idempotency.ReasonTooLarge},
	} {
		_, err := idempotency.CanonicalJSON([]byte(c.document))
		var commandErr *idempotency.CommandError
		if !errors.As(err, &commandErr) || !errors.Is(err, idempotency.ErrCommand) {
			t.Errorf("%.40q: error %v", c.document, err)
			continue
		}
		if commandErr.Offset != c.offset || commandErr.Reason != c.reason || commandErr.Field != "" {
			t.Errorf("%.40q: %+v, want offset %d, %q", c.document, *commandErr, c.offset, c.reason)
		}
	}
}

// FuzzCanonicalJSON holds the canonical form against encoding/json: what it accepts is JSON of the same value, its
// form is a fixed point, and white space changes nothing.
func FuzzCanonicalJSON(f *testing.F) {
	for _, seed := range []string{
		`{"symbol":"ACME","qty":10.50,"legs":[{"side":"BUY"},null,true]}`, `[1e3,-0.0,9007199254740993]`, `"\ud83d\ude00\u0000"`,
		`{"a":1,"\u0061":2}`, `"\ud800"`, `{"z":{"y":{}},"a":[[]]}`, `1e1000000000`, "\"\xff\"", `[1,]`, ` null `,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		canonical, err := idempotency.CanonicalJSON(document)
		if err != nil {
			var commandErr *idempotency.CommandError
			if !errors.As(err, &commandErr) || commandErr.Offset < 0 || commandErr.Offset > len(document) {
				t.Fatalf("error %v is not typed or points outside the document", err)
			}
			return
		}
		if !utf8.Valid(canonical) || len(canonical) > 6*len(document)+8 {
			t.Fatalf("%q gives invalid or inflated %q", document, canonical)
		}
		again, err := idempotency.CanonicalJSON(canonical)
		if err != nil || !bytes.Equal(again, canonical) {
			t.Fatalf("%q gives %q, and that gives %q, %v", document, canonical, again, err)
		}
		if want, got := decode(t, document), decode(t, canonical); !equalJSON(want, got) {
			t.Fatalf("%q gives %q, which is another value", document, canonical)
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, document, "\t", "  "); err != nil {
			t.Fatalf("%q: encoding/json does not accept it: %v", document, err)
		}
		if spaced, err := idempotency.CanonicalJSON(indented.Bytes()); indented.Len() <= idempotency.JSONBytesMax && (err != nil || !bytes.Equal(spaced, canonical)) {
			t.Fatalf("%q with other white space gives %q, %v; want %q", document, spaced, err, canonical)
		}
	})
}

func decode(t *testing.T, document []byte) any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("%q: encoding/json does not accept it: %v", document, err)
	}
	return value
}

// equalJSON compares two values that encoding/json has read, numbers by exact value.
func equalJSON(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		other, ok := b.(json.Number)
		if !ok {
			return false
		}
		x, okX := new(big.Rat).SetString(a.String())
		y, okY := new(big.Rat).SetString(other.String())
		// A zero may be spelt with an exponent that big.Rat refuses.
		return okX && okY && x.Cmp(y) == 0 || !okX && other == "0"
	case []any:
		other, ok := b.([]any)
		if !ok || len(a) != len(other) {
			return false
		}
		for i := range a {
			if !equalJSON(a[i], other[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		other, ok := b.(map[string]any)
		if !ok || len(a) != len(other) {
			return false
		}
		for key := range a {
			if !equalJSON(a[key], other[key]) {
				return false
			}
		}
		return true
	default:
		return a == b
	}
}
