package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCommittedTableIsWhatTheSourcesGive(t *testing.T) {
	t.Parallel()
	generated := filepath.Join(t.TempDir(), "table.go")
	if err := run(generated); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(generated)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../money/iso4217_table.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("money/iso4217_table.go is stale or edited: run go generate ./money")
	}
}

func TestMergeRefusesUnexplainedDifferences(t *testing.T) {
	t.Parallel()
	usd := entry{code: "USD", numeric: 840, scale: 2}
	isk := entry{code: "ISK", numeric: 352, scale: 0}
	oldISK := entry{code: "ISK", numeric: 352, scale: 2}
	gone := entry{code: "BGN", numeric: 975, scale: 2}
	tests := []struct {
		name        string
		now, before []entry
		want        string // part of the error, or empty
	}{
		{"agreement", []entry{usd}, []entry{usd}, ""},
		{"an explained difference", []entry{isk}, []entry{oldISK}, ""},
		{"a withdrawn code", []entry{usd}, []entry{usd, gone}, ""},
		{"another scale", []entry{usd}, []entry{{code: "USD", numeric: 840, scale: 3}}, "look it up"},
		{"another number", []entry{usd}, []entry{{code: "USD", numeric: 841, scale: 2}}, "look it up"},
		{"a dispute that is over", []entry{isk}, []entry{isk}, "drop it"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			merged, err := merge(byCode(test.now), byCode(test.before))
			if test.want != "" {
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Fatalf("error %v, want one with %q", err, test.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range test.now {
				if merged[e.code] != e {
					t.Errorf("%s became %v", e.code, merged[e.code])
				}
			}
			if e, found := merged["BGN"]; found && !e.withdrawn {
				t.Error("a code that only the earlier source knows is not marked withdrawn")
			}
		})
	}
}

func TestLinkedVersionsAreTheRecordedOnes(t *testing.T) {
	t.Parallel()
	wrong := current
	wrong.version = "v0.0.0"
	if err := checkVersions(wrong); err == nil {
		t.Error("a version that is not linked was accepted")
	}
}

func byCode(entries []entry) map[string]entry {
	m := map[string]entry{}
	for _, e := range entries {
		m[e.code] = e
	}
	return m
}
