package export

import (
	"fmt"
	"io/fs"
	"iter"
	"strconv"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// posting is an item such as a ledger has.
func posting(n int) Item {
	s := func(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }
	number := func(text string) types.AttributeValue { return &types.AttributeValueMemberN{Value: text} }
	return Item{
		"PK": s(fmt.Sprintf("TEN#acme#ACCT#account-%d#MONTH#2026-11#BKT#00", n%5000)),
		"SK": s(fmt.Sprintf("POST#2026-11-29T14:18:00.%09dZ#txn-%08x#0001", n%1_000_000_000, n)),
		"v":  number("1"), "amount": number(strconv.Itoa(n*17 - 500)), "asset": s("USD"), "scale": number("2"),
		"sequence": number(strconv.Itoa(n)), "transactionId": s(fmt.Sprintf("txn-%08x", n)), "kind": s("ORDER_FILLED"),
		"effectiveAt": s("2026-11-29T14:18:00.000000000Z"), "recordedAt": s("2026-11-29T14:18:00.120000000Z"),
		"memo": s("fill of order acme/ord-" + strconv.Itoa(n)), "txnMark": s(fmt.Sprintf("k%08xQ2n9vXzR4tYw%08x", n*2654435761, n*40503)),
	}
}

func postings(n int) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for i := range n {
			if !yield(Record{New: posting(i)}, nil) {
				return
			}
		}
	}
}

func inMemory(files fstest.MapFS) CreateFile {
	return func(name string, content []byte) error {
		files[name] = &fstest.MapFile{Data: content, Mode: fs.FileMode(0o644)}
		return nil
	}
}

var day = time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC)

func BenchmarkDecode(b *testing.B) {
	var lines [][]byte
	size := 0
	for i := range 1000 {
		line, _ := appendRecord(nil, Record{New: posting(i)}, WriteConfig{Type: Full})
		lines = append(lines, line)
		size += len(line) + 1
	}
	for _, build := range []bool{false, true} {
		b.Run(fmt.Sprintf("build=%t", build), func(b *testing.B) {
			d := newDecoder(build)
			m := &Manifest{Type: Full}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				for _, line := range lines {
					if _, ok := d.record(line, m); !ok {
						b.Fatal(d.reason)
					}
				}
			}
		})
	}
}

// One worker, so that the figure is that of one processor. The bytes are those of the uncompressed lines.
func BenchmarkRead(b *testing.B) {
	files := fstest.MapFS{}
	dir, err := Write(inMemory(files), WriteConfig{Table: "Ledger", ExportTime: day, ItemsPerFile: 5000}, postings(20_000))
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		trusted bool
		read    bool
	}{{"verify", false, false}, {"read", true, true}, {"verify and read", false, true}} {
		b.Run(c.name, func(b *testing.B) {
			var size int64
			for b.Loop() {
				var last Progress
				e, err := Open(files, dir, Config{Workers: 1, Trusted: c.trusted, Progress: func(p Progress) { last = p }})
				if err != nil {
					b.Fatal(err)
				}
				if !c.read {
					err = e.Verify(b.Context())
				} else {
					for _, err = range e.Records(b.Context(), Position{}) {
						if err != nil {
							break
						}
					}
				}
				if err != nil {
					b.Fatal(err)
				}
				size = last.Bytes
			}
			b.SetBytes(size)
		})
	}
}
