package jsontext_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/dynafin/dynafin/internal/jsontext"
)

func TestEscapeReadsEveryFormAndStopsBehindIt(t *testing.T) {
	for _, row := range []struct {
		src   string
		want  rune
		next  int
		fault jsontext.Fault
	}{
		{`\"x`, '"', 2, jsontext.None},
		{`\\x`, '\\', 2, jsontext.None},
		{`\/x`, '/', 2, jsontext.None},
		{`\b`, '\b', 2, jsontext.None},
		{`\f`, '\f', 2, jsontext.None},
		{`\n`, '\n', 2, jsontext.None},
		{`\r`, '\r', 2, jsontext.None},
		{`\t`, '\t', 2, jsontext.None},
		{`\u00e9x`, 'é', 6, jsontext.None},
		{`\u00E9x`, 'é', 6, jsontext.None},
		{`\ud83d\ude00x`, '😀', 12, jsontext.None},
		{`\ufffd`, '\ufffd', 6, jsontext.None},
		{`\`, 0, 1, jsontext.Syntax},
		{`\x`, 0, 1, jsontext.Syntax},
		{`\u12`, 0, 2, jsontext.Syntax},
		{`\u12g4`, 0, 2, jsontext.Syntax},
		{`\ud83d`, 0, 6, jsontext.Surrogate},
		{`\ud83dx`, 0, 6, jsontext.Surrogate},
		{`\ud83d\n`, 0, 6, jsontext.Surrogate},
		{`\ud83d\u12`, 0, 6, jsontext.Surrogate},
		{`\ud83d\u0041`, 0, 6, jsontext.Surrogate},
		{`\ude00\ud83d`, 0, 6, jsontext.Surrogate},
	} {
		r, next, fault := jsontext.Escape([]byte(row.src), 0)
		if r != row.want || next != row.next || fault != row.fault {
			t.Errorf("Escape(%s) = %q, %d, %d; want %q, %d, %d", row.src, r, next, fault, row.want, row.next, row.fault)
		}
	}
}

// The standard library accepts what we do, with the same meaning; it also accepts lone surrogates, which we refuse.
func FuzzEscapeMeansWhatTheStandardLibrarySays(f *testing.F) {
	for _, seed := range []string{`\n`, `\u0041`, `\ud83d\ude00`, `\ud83d`, `\q`, `\`, `\"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		src := []byte(`\` + text)
		r, next, fault := jsontext.Escape(src, 0)
		if next < 1 || next > len(src) {
			t.Fatalf("Escape(%q) went to %d", src, next)
		}
		if fault != jsontext.None {
			return
		}
		var want string
		if err := json.Unmarshal([]byte(`"`+string(src[:next])+`"`), &want); err != nil || want != string(r) {
			t.Errorf("Escape(%q) = %q; the standard library says %q, %v", src, r, want, err)
		}
		if strings.ContainsRune(want, '\ufffd') && !strings.Contains(strings.ToLower(string(src[:next])), "fffd") {
			t.Errorf("Escape(%q) replaced a character", src)
		}
	})
}
