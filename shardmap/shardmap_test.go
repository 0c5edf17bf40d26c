package shardmap_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dynafin/dynafin/shardmap"
	"pgregory.net/rapid"
)

// The hashes were computed with another implementation of SHA-256; the one of "abc" is in FIPS 180. A change here
// would lose every stored record.
func TestHashVersion1NeverChanges(t *testing.T) {
	t.Parallel()
	for _, v := range []struct {
		key                   string
		of13, of7, of1, ofMax int
	}{
		{"abc", 11, 2, 0, 74},
		{"evt-1", 3, 6, 0, 361},
		{"evt-2", 1, 0, 0, 2066},
		{"ORD-2026-000001", 8, 6, 0, 2659},
		{"é", 12, 3, 0, 2051},
		{"日本", 3, 2, 0, 6331},
		{"a#b", 4, 4, 0, 342},
		{" ", 8, 1, 0, 1727},
		{"018f3c2e-7b1a-7c3d-9e4f-001122334455", 7, 0, 0, 6437},
	} {
		for n, want := range map[int]int{13: v.of13, 7: v.of7, 1: v.of1, shardmap.MaxShards: v.ofMax} {
			if got, err := shardmap.Shard(shardmap.HashV1, v.key, n); got != want || err != nil {
				t.Errorf("Shard(1, %q, %d) = %d, %v; want %d", v.key, n, got, err, want)
			}
		}
	}
}

func TestARetryIsPlacedWhereTheFirstAttemptWas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := shardmap.Map{
			Version:     rapid.IntRange(1, 9999).Draw(t, "version"),
			HashVersion: shardmap.HashV1,
			Shards:      rapid.IntRange(1, shardmap.MaxShards).Draw(t, "shards"),
		}
		key := rapid.StringN(1, 40, -1).Filter(utf8.ValidString).Draw(t, "key")
		first, err := m.Place(key)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := m.Place(strings.Clone(key)); again != first || err != nil {
			t.Fatalf("placed at %+v, then at %+v, %v", first, again, err)
		}
		if first.Shard < 0 || first.Shard >= m.Shards || first.MapVersion != m.Version || first.HashVersion != m.HashVersion {
			t.Fatalf("%+v is not a placement of %+v", first, m)
		}
	})
}

// Pearson's statistic is compared with the 99.9th percentile of its distribution. The IDs are fixed, so the test
// cannot fail by chance.
func TestIDsOfEveryUsualShapeSpreadEvenly(t *testing.T) {
	t.Parallel()
	const ids = 100_000
	shapes := map[string]string{
		"counter":        "evt-%d",
		"padded":         "ORD-2026-%09d",
		"shared ending":  "%d-2026-11-29",
		"uuid, 7":        "018f3c2e-7b1a-7c3d-9e4f-%012x",
		"tenant-scoped":  "acme/evt/%08X",
		"time with nano": "2026-11-29T14:18:00.%09dZ",
	}
	critical := map[int]float64{13: 32.909, 7: 22.458}
	for name, format := range shapes {
		for shards, bound := range critical {
			counts := make([]int, shards)
			for i := range ids {
				p, err := shardmap.Fixed(shards).Place(fmt.Sprintf(format, i))
				if err != nil {
					t.Fatal(err)
				}
				counts[p.Shard]++
			}
			statistic, expected := 0.0, float64(ids)/float64(shards)
			for _, n := range counts {
				statistic += (float64(n) - expected) * (float64(n) - expected) / expected
			}
			if statistic > bound {
				t.Errorf("%s over %d shards: chi-squared %.2f is above %.2f: %v", name, shards, statistic, bound, counts)
			}
		}
	}
}

func TestInvalidKeysAndMapsAreErrorsThatNameTheFault(t *testing.T) {
	t.Parallel()
	good := shardmap.Default13()
	for _, c := range []struct {
		name string
		m    shardmap.Map
		key  string
		kind error
		says string
	}{
		{"empty key", good, "", shardmap.ErrKey, "empty"},
		{"not UTF-8", good, "evt-\xff", shardmap.ErrKey, "UTF-8"},
		{"a surrogate", good, "\xed\xa0\x80", shardmap.ErrKey, "UTF-8"},
		{"zero map", shardmap.Map{}, "evt-1", shardmap.ErrMap, "version 0"},
		{"unknown hash", shardmap.Map{Version: 1, HashVersion: 2, Shards: 13}, "evt-1", shardmap.ErrMap, "hash version 2"},
		{"no shards", shardmap.Fixed(0), "evt-1", shardmap.ErrMap, "0 shards"},
		{"negative shards", shardmap.Fixed(-13), "evt-1", shardmap.ErrMap, "-13 shards"},
		{"too many shards", shardmap.Fixed(shardmap.MaxShards + 1), "evt-1", shardmap.ErrMap, "10001 shards"},
	} {
		p, err := c.m.Place(c.key)
		if p != (shardmap.Placement{}) || !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %+v, %v; want an error of kind %v that says %q", c.name, p, err, c.kind, c.says)
		}
		if err != nil && c.key != "" && strings.Contains(err.Error(), c.key) {
			t.Errorf("%s: the error repeats the key: %v", c.name, err)
		}
	}
}
