package dynamosim_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
)

// heapBytes is what the heap holds after a collection.
func heapBytes() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// load puts items with raw requests, the fastest way in.
func load(t *testing.T, db *dynamosim.DB, items int, item func(int) string) {
	t.Helper()
	for i := 0; i < items; i += 25 {
		requests := make([]string, 25)
		for j := range requests {
			requests[j] = `{"PutRequest":{"Item":` + item(i+j) + `}}`
		}
		body := `{"RequestItems":{"tab":[` + strings.Join(requests, ",") + `]}}`
		if status, answer := post(t, db, "BatchWriteItem", []byte(body)); status != 200 {
			t.Fatal(answer)
		}
	}
}

// stored counts the rows of the table and its indexes and adds up their DynamoDB sizes.
func stored(t *testing.T, db *dynamosim.DB) (rows, bytes int) {
	t.Helper()
	out, err := db.Client().DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("tab")})
	table := must(t, out, err).Table
	rows, bytes = int(*table.ItemCount), int(*table.TableSizeBytes)
	for _, ix := range table.GlobalSecondaryIndexes {
		rows, bytes = rows+int(*ix.ItemCount), bytes+int(*ix.IndexSizeBytes)
	}
	for _, ix := range table.LocalSecondaryIndexes {
		rows, bytes = rows+int(*ix.ItemCount), bytes+int(*ix.IndexSizeBytes)
	}
	return rows, bytes
}

// What is stored takes at most three times its DynamoDB size and 500 bytes, whether it is an item or an index entry, and
// whether there is a schedule for its deletion or not. A million items of the size of a posting, each with an entry in a
// global index, fit in 2 GiB although the collector lets the heap double.
func TestAMillionItemsFitInTwoGigabytes(t *testing.T) {
	const items = 20_000
	for _, c := range []struct {
		name string
		item func(i int) string
	}{
		{"nothing but keys, a partition each", func(i int) string {
			return fmt.Sprintf(`{"pk":{"S":"p%d"},"sk":{"S":"s"}}`, i)
		}},
		{"in two indexes", func(i int) string {
			return fmt.Sprintf(`{"pk":{"S":"p%d"},"sk":{"S":"s"},"gk":{"S":"g%d"},"gs":{"N":"%d"},"ls":{"S":"l"}}`, i, i%100, i)
		}},
		{"a posting", func(i int) string {
			return fmt.Sprintf(`{"pk":{"S":"TEN#acme#ACCOUNT#%08d"},"sk":{"S":"POSTING#2026-11#%09d"},"gk":{"S":"g%d"},"gs":{"N":"%d"},
				"amount":{"N":"1234.56"},"currency":{"S":"EUR"},"v":{"N":"1"},"expires":{"N":"%d"},"memo":{"S":"%s"},
				"lines":{"L":[{"M":{"a":{"N":"1"},"b":{"S":"x"}}}]}}`, i%1000, i, i%100, i, 1800000000+i, strings.Repeat("m", 120))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newExpiring(t, dynamosim.Options{SweepWithin: time.Hour})
			before := heapBytes()
			load(t, e.db, items, c.item)
			grown := heapBytes() - before
			rows, bytes := stored(t, e.db)
			if allowed := 3*bytes + 500*rows; grown > allowed {
				t.Errorf("%d rows of %d bytes take %d bytes, more than %d", rows, bytes, grown, allowed)
			}
			if million := 2 * grown / items * 1_000_000; million > 2<<30 {
				t.Errorf("a million items take %d bytes", million)
			}
			t.Logf("%d bytes a row of %d bytes", grown/rows, bytes/rows)
		})
	}
}
