package capacity_test

import (
	"math"
	"testing"

	"github.com/dynafin/dynafin/capacity"
	"pgregory.net/rapid"
)

const kib = 1024

// hundredths returns a size of n hundredths of a KiB, rounded up to a byte: 120 is 1.2 KiB.
func hundredths(n int) int { return (n*kib + 99) / 100 }

func TestReadsRoundAsTheGuideSays(t *testing.T) {
	t.Parallel()
	batch := func(c capacity.Consistency, sizes ...int) (sum capacity.Units) {
		for _, size := range sizes {
			sum += capacity.ReadUnits(size, c)
		}
		return sum
	}
	for _, c := range []struct {
		name string
		got  capacity.Units
		want string
	}{
		{"missing item, eventual", capacity.ReadUnits(0, capacity.Eventual), "0.5"},
		{"missing item, strong", capacity.ReadUnits(0, capacity.Strong), "1"},
		{"missing item in a transaction", capacity.ReadUnits(0, capacity.Transactional), "2"},
		{"exactly one chunk", capacity.ReadUnits(4096, capacity.Strong), "1"},
		{"one byte more", capacity.ReadUnits(4097, capacity.Strong), "2"},
		{"10 KiB strong", capacity.ReadUnits(10*kib, capacity.Strong), "3"},
		{"10 KiB eventual", capacity.ReadUnits(10*kib, capacity.Eventual), "1.5"},
		{"10 KiB in a transaction", capacity.ReadUnits(10*kib, capacity.Transactional), "6"},
		{"Query of 24,000 B", capacity.ReadUnits(24_000, capacity.Eventual), "3"},
		{"Query of 40.8 KB strong", capacity.ReadUnits(hundredths(4080), capacity.Strong), "11"},
		{"Query of 40.8 KB eventual", capacity.ReadUnits(hundredths(4080), capacity.Eventual), "5.5"},
		{"Query of an index, 8 x 2,000 B", capacity.ReadUnits(8*2000, capacity.Eventual), "2"},
		{"page of 100 x 0.4 KiB", capacity.ReadUnits(hundredths(100*40), capacity.Eventual), "5"},
		{"batch of 1.5 KB and 6.5 KB", batch(capacity.Strong, hundredths(150), hundredths(650)), "3"},
		{"batch of 10 KiB, eventual, two rounded alone", batch(capacity.Eventual, 5*kib, 1*kib), "1.5"},
		{"token replay of 1.5 KB", capacity.ReadUnits(hundredths(150), capacity.Transactional), "2"},
		{"token replay of 9 KB", capacity.ReadUnits(9*kib, capacity.Transactional), "6"},
		{"token replay of a 9 KB delete and a small put", batch(capacity.Transactional, 9*kib, 100), "8"},
	} {
		if c.got.String() != c.want {
			t.Errorf("%s: %s units, want %s", c.name, c.got, c.want)
		}
	}
}

func TestWritesRoundByTheLargerOfBeforeAndAfter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		before, after int
		want          int
	}{
		{"delete of nothing", 0, 0, 1},
		{"put of one byte", 0, 1, 1},
		{"put of exactly 1 KiB", 0, kib, 1},
		{"put of a byte more", 0, kib + 1, 2},
		{"put of 1.2 KiB", 0, hundredths(120), 2},
		{"put that shrinks 3 KiB", 3 * kib, 100, 3},
		{"delete of 3 KiB", 3 * kib, 0, 3},
		{"update of 1.6 KiB in place", hundredths(160), hundredths(160), 2},
		{"the largest item", 0, capacity.MaxItemBytes, 400},
		{"the largest int", 0, math.MaxInt, math.MaxInt/kib + 1},
		{"a negative size is none", -5, math.MinInt, 1},
	} {
		if got := capacity.ItemWriteUnits(c.before, c.after); got != c.want {
			t.Errorf("%s: %d units, want %d", c.name, got, c.want)
		}
	}
}

func TestAnIndexIsChargedForWhatChangesInIt(t *testing.T) {
	t.Parallel()
	const small, large = 100, 3 * kib
	for _, c := range []struct {
		name              string
		before, after     int
		keyMoved, changed bool
		want              int
	}{
		{"never a member", 0, 0, false, false, 0},
		{"never a member, whatever else changed", 0, 0, true, true, 0},
		{"appears", 0, small, true, true, 1},
		{"appears, large", 0, large, false, true, 3},
		{"disappears", small, 0, true, true, 1},
		{"disappears, large", large, 0, false, true, 3},
		{"unchanged", large, large, false, false, 0},
		{"content shrinks", large, small, false, true, 3},
		{"content grows", small, large, false, true, 3},
		{"key moves", small, small, true, true, 2},
		{"key moves, each side rounded alone", 1517, 1517, true, true, 4},
		{"key moves and content shrinks", large, small, true, true, 4},
		{"key moves, content equal", small, small, true, false, 2},
	} {
		if got := capacity.IndexWriteUnits(c.before, c.after, c.keyMoved, c.changed); got != c.want {
			t.Errorf("%s: %d units, want %d", c.name, got, c.want)
		}
	}
}

// Captured from DynamoDB: a table with a GSI of some attributes and an LSI of all. Each row is one write, plain and in a
// transaction.
func TestTheModelGivesTheUnitsThatDynamoDBReported(t *testing.T) {
	t.Parallel()
	const s, large = 100, 3 * kib
	none := change{}
	for _, c := range []struct {
		name           string
		table          change
		gsi, lsi       change
		plain, inTrans int // -1: not captured
	}{
		{"put, member of the GSI only", change{after: s}, change{after: s}, none, 2, 3},
		{"put, member of both", change{after: s}, change{after: s}, change{after: s}, 3, 4},
		{"identical overwrite", same(s), same(s), same(s), 1, 2},
		{"update outside the GSI projection", edited(s, s), same(s), edited(s, s), 2, 3},
		{"GSI key moved", edited(s, s), moved(s, s), edited(s, s), 4, 5},
		{"GSI key removed", edited(s, s), change{before: s}, edited(s, s), 3, -1},
		{"delete of an item in both", change{before: s}, change{before: s}, change{before: s}, 3, 4},
		{"delete of 3 KB with a 3 KB GSI entry", change{before: large}, change{before: large}, none, 6, 9},
		{"put shrinking 3 KB to small", edited(large, s), none, none, 3, 6},
		{"key move, 1,517 B entry each side", edited(1600, 1600), moved(1517, 1517), none, 6, 8},
		{"delete of a missing item", none, none, none, 1, 2},
	} {
		table := capacity.ItemWriteUnits(c.table.before, c.table.after)
		indexes := c.gsi.indexUnits() + c.lsi.indexUnits()
		if got := table + indexes; got != c.plain {
			t.Errorf("%s: %d units, want %d", c.name, got, c.plain)
		}
		if got := 2*table + indexes; got != c.inTrans && c.inTrans >= 0 {
			t.Errorf("%s: %d units in a transaction, want %d", c.name, got, c.inTrans)
		}
	}
	for size, want := range map[int]int{0: 2, s: 2, large: 6} {
		if got := 2 * capacity.WriteUnits(size); got != want {
			t.Errorf("condition check of %d B: %d units, want %d", size, got, want)
		}
	}
}

// change is what one write does to an item or to an index entry.
type change struct {
	before, after     int
	keyMoved, changed bool
}

func same(size int) change            { return change{before: size, after: size} }
func edited(before, after int) change { return change{before: before, after: after, changed: true} }
func moved(before, after int) change {
	return change{before: before, after: after, changed: true, keyMoved: true}
}

func (c change) indexUnits() int {
	return capacity.IndexWriteUnits(c.before, c.after, c.keyMoved, c.changed)
}

// Base: order, request, outbox event, sentinel. Indexes: orders by account, orders by status, READY events.
func TestAnAcceptedOrderCostsTwelveBaseAndThreeIndexUnits(t *testing.T) {
	t.Parallel()
	base, index := 0, 0
	for _, size := range []int{hundredths(120), hundredths(70), hundredths(160), hundredths(20)} {
		base += 2 * capacity.ItemWriteUnits(0, size)
	}
	for _, entry := range []int{hundredths(45), hundredths(35), hundredths(45)} {
		index += capacity.IndexWriteUnits(0, entry, false, true)
	}
	if base != 12 || index != 3 {
		t.Errorf("%d base and %d index units", base, index)
	}
}

func TestUnitsAreExactHalves(t *testing.T) {
	t.Parallel()
	for u, want := range map[capacity.Units]string{
		0: "0", 1: "0.5", 2: "1", 3: "1.5", capacity.Whole(15): "15", -1: "-0.5", -3: "-1.5", -4: "-2",
		math.MaxInt64: "4611686018427387903.5", math.MinInt64: "-4611686018427387904",
	} {
		if got := u.String(); got != want {
			t.Errorf("%d half units are written %s, want %s", int64(u), got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		u := capacity.Units(rapid.Int64Range(0, 1<<50).Draw(t, "half units"))
		if back := capacity.FromWire(u.Float64()); back != u {
			t.Fatalf("%v came back as %v", u, back)
		}
	})
	for wire, want := range map[float64]capacity.Units{
		0.25: 1, 1.0000001: 3, -1: 0, math.Inf(-1): 0, math.Inf(1): math.MaxInt64/2 + 1,
	} {
		if got := capacity.FromWire(wire); got != want {
			t.Errorf("FromWire(%v) = %v, want %v", wire, got, want)
		}
	}
	if got := capacity.FromWire(math.NaN()); got != 0 {
		t.Errorf("FromWire(NaN) = %v", got)
	}
}
