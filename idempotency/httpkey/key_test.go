package httpkey_test

import (
	"strings"
	"testing"

	"github.com/dynafin/dynafin/idempotency/httpkey"
)

func TestAKeyIsAStringQuotedOrNot(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("k", httpkey.KeyBytesMax)
	for value, want := range map[string]string{
		`"8e03978e-40d5-43dd-bc93-6894a57f9324"`: "8e03978e-40d5-43dd-bc93-6894a57f9324",
		"8e03978e-40d5-43dd-bc93-6894a57f9324":   "8e03978e-40d5-43dd-bc93-6894a57f9324",
		" \t\"x\" ":                              "x",
		`"a \"b\" \\ c"`:                         `a "b" \ c`,
		"42":                                     "42",
		"a/b=c+d==":                              "a/b=c+d==",
		longest:                                  longest,
		`"` + longest + `"`:                      longest,
	} {
		if got, err := httpkey.ParseKey([]string{value}); got != want || err != nil {
			t.Errorf("%s: %q, %v", value, got, err)
		}
	}
	for _, value := range []string{
		"", " ", `""`, `"`, `"a`, `a"`, `"a"b`, `"a";p=1`, "a;p=1", `"a", "b"`, "a, b", "a b", "(a b)", ":YQ==:", "?1", "@1659578233", `%"a"`,
		`"\x"`, `"a\"`, "\"a\x00\"", "ä", `"ä"`, longest + "k", `"` + longest + `k"`,
	} {
		if got, err := httpkey.ParseKey([]string{value}); err == nil {
			t.Errorf("%q is the key %q", value, got)
		}
	}
	for _, values := range [][]string{nil, {"a", "b"}, {"a", "a"}} {
		if got, err := httpkey.ParseKey(values); err == nil {
			t.Errorf("%q is the key %q", values, got)
		}
	}
}

// Whatever is a key can be written as a string and is the same key then.
func FuzzParseKey(f *testing.F) {
	for _, seed := range []string{"x", `"x"`, `"a \"b\" \\ c"`, `"a";p`, ":YQ==:", "", "\x7f"} {
		f.Add(seed)
	}
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	f.Fuzz(func(t *testing.T, value string) {
		key, err := httpkey.ParseKey([]string{value})
		if err != nil {
			return
		}
		if len(key) == 0 || len(key) > httpkey.KeyBytesMax {
			t.Errorf("%q: a key of %d bytes", value, len(key))
		}
		if again, err := httpkey.ParseKey([]string{`"` + quote.Replace(key) + `"`}); again != key || err != nil {
			t.Errorf("%q is the key %q; quoted it is %q, %v", value, key, again, err)
		}
	})
}
