package export_test

import (
	"context"
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/export"
	"github.com/dynafin/dynafin/internal/chance"
)

func sorted(names []string) []string { slices.Sort(names); return names }

// What is written is read, record by record, in order, whatever the number of workers and wherever reading goes on.
func TestWhatIsWrittenIsRead(t *testing.T) {
	t.Parallel()
	chance.Check(t, func(rt *rapid.T, seen chance.Seen) {
		config := export.WriteConfig{Table: "Orders", ItemsPerFile: rapid.IntRange(1, 5).Draw(rt, "items per file"), ExportTime: day}
		config.Prefix = rapid.SampledFrom([]string{"", "a", "a/b"}).Draw(rt, "prefix")
		if rapid.Bool().Draw(rt, "incremental") {
			config = export.WriteConfig{Table: "Orders", ItemsPerFile: config.ItemsPerFile, Type: export.Incremental, From: day, To: day.Add(time.Hour),
				View: rapid.SampledFrom([]export.View{export.NewAndOldImages, export.NewImage}).Draw(rt, "view")}
			seen[string(config.View)]++
		}
		want := drawRecords(rt, config)
		b := written(rt, config, want...)
		e := b.open(rt, export.Config{Workers: rapid.IntRange(1, 4).Draw(rt, "workers")})
		got, err := read(e.Records(context.Background(), export.Position{}))
		if err != nil || len(got) != len(want) || e.Manifest().Items != int64(len(want)) {
			rt.Fatalf("%d of %d records, %v", len(got), len(want), err)
		}
		for i, r := range got {
			want[i].At = r.At
			if !reflect.DeepEqual(r, want[i]) {
				rt.Fatalf("record %d is %+v, not %+v", i, r, want[i])
			}
			if r.Deleted() {
				seen["deleted"]++
			} else if r.Old != nil {
				seen["changed"]++
			}
		}
		behind := rapid.IntRange(0, len(want)).Draw(rt, "behind")
		position := export.Position{}
		if behind > 0 {
			if position, err = e.Position(got[behind-1].At.String()); err != nil {
				rt.Fatal(err)
			}
			seen["resumed"]++
		}
		rest, err := read(e.Records(context.Background(), position))
		if err != nil || len(rest) != len(want)-behind || len(rest) > 0 && !reflect.DeepEqual(rest, got[behind:]) {
			rt.Fatalf("behind %v: %d records, %v", position, len(rest), err)
		}
		checkForEach(rt, e, got)
	}, string(export.NewImage), string(export.NewAndOldImages), "resumed", "deleted", "changed")
}

// checkForEach holds what ForEach gives against what Records gave.
func checkForEach(rt *rapid.T, e *export.Export, want []export.Record) {
	var mu sync.Mutex
	var each []export.Record
	lines := map[int]int64{}
	err := e.ForEach(context.Background(), func(_ context.Context, r export.Record) error {
		mu.Lock()
		defer mu.Unlock()
		if r.At.Line != lines[r.At.File]+1 {
			return fmt.Errorf("line %d of file %d after %d", r.At.Line, r.At.File, lines[r.At.File])
		}
		lines[r.At.File] = r.At.Line
		each = append(each, r)
		return nil
	})
	slices.SortFunc(each, func(a, b export.Record) int {
		if a.At.File != b.At.File {
			return a.At.File - b.At.File
		}
		return int(a.At.Line - b.At.Line)
	})
	if err != nil || len(each) != len(want) || len(each) > 0 && !reflect.DeepEqual(each, want) {
		rt.Fatalf("ForEach gives %d records, %v", len(each), err)
	}
}

func drawRecords(rt *rapid.T, config export.WriteConfig) []export.Record {
	draw := rapid.Custom(func(rt *rapid.T) export.Record {
		r := export.Record{New: drawItem(rt, 1)}
		if config.Type != export.Incremental {
			return r
		}
		r.Keys = export.Item{"PK": text(rapid.String().Draw(rt, "PK"))}
		r.WrittenAt = day.Add(time.Duration(rapid.IntRange(0, 3_599_999_999).Draw(rt, "micros")) * time.Microsecond)
		if rapid.Bool().Draw(rt, "changed") {
			r.Old = drawItem(rt, 1)
		}
		if rapid.Bool().Draw(rt, "deleted") && (r.Old != nil || config.View == export.NewImage) {
			r.New = nil
		}
		if config.View == export.NewImage {
			r.Old = nil
		}
		return r
	})
	records := rapid.SliceOfN(draw, 0, 12).Draw(rt, "records")
	return records
}

func drawItem(rt *rapid.T, level int) export.Item {
	return rapid.MapOfN(rapid.StringN(1, 8, -1), rapid.Custom(func(rt *rapid.T) types.AttributeValue { return drawValue(rt, level) }), 1, 5).Draw(rt, "item")
}

func drawValue(rt *rapid.T, level int) types.AttributeValue {
	texts := rapid.SliceOfNDistinct(rapid.String(), 1, 4, rapid.ID)
	numbers := rapid.StringMatching(`-?[0-9]{1,20}(\.[0-9]{1,18})?(E-?[0-9]{1,2})?`)
	blob := rapid.SliceOf(rapid.Byte())
	last := 9
	if level > 4 {
		last = 7
	}
	switch rapid.IntRange(0, last).Draw(rt, "kind") {
	case 0:
		return text(rapid.String().Draw(rt, "S"))
	case 1:
		return &types.AttributeValueMemberN{Value: numbers.Draw(rt, "N")}
	case 2:
		return &types.AttributeValueMemberB{Value: blob.Draw(rt, "B")}
	case 3:
		return &types.AttributeValueMemberBOOL{Value: rapid.Bool().Draw(rt, "BOOL")}
	case 4:
		return &types.AttributeValueMemberNULL{Value: true}
	case 5:
		return &types.AttributeValueMemberSS{Value: texts.Draw(rt, "SS")}
	case 6:
		return &types.AttributeValueMemberNS{Value: rapid.SliceOfNDistinct(numbers, 1, 4, rapid.ID).Draw(rt, "NS")}
	case 7:
		return &types.AttributeValueMemberBS{Value: rapid.SliceOfNDistinct(blob, 1, 3, func(b []byte) string { return string(b) }).Draw(rt, "BS")}
	case 8:
		inner := rapid.Custom(func(rt *rapid.T) types.AttributeValue { return drawValue(rt, level+1) })
		return &types.AttributeValueMemberL{Value: rapid.SliceOfN(inner, 0, 3).Draw(rt, "L")}
	default:
		return &types.AttributeValueMemberM{Value: drawItem(rt, level+1)}
	}
}

// Exports as they are found: checksums of either name, keys with the prefix and without, a copy of the directory alone, no
// files or empty ones, what later versions add.
func TestExportsAsTheyAreFound(t *testing.T) {
	t.Parallel()
	incremental := export.WriteConfig{Type: export.Incremental, From: day, To: day.Add(time.Hour), Prefix: "p"}
	changed := export.Record{Keys: export.Item{"PK": text("a")}, New: order(0), WrittenAt: day}
	for name, c := range map[string]struct {
		bucket *bucket
		change func(b *bucket)
		want   int
	}{
		"as written": {written(t, export.WriteConfig{ItemsPerFile: 2}, orders(5)...), func(*bucket) {}, 5},
		"checksums of the other name": {written(t, export.WriteConfig{}, orders(5)...), func(b *bucket) {
			for _, name := range []string{"manifest-summary", "manifest-files"} {
				b.files[b.path(name+".checksum")] = b.files[b.path(name+".md5")]
				delete(b.files, b.path(name+".md5"))
			}
		}, 5},
		"keys without the prefix": {written(t, export.WriteConfig{Prefix: "p/q"}, orders(5)...), func(b *bucket) {
			b.edit("manifest-files.json", func(s string) string { return strings.ReplaceAll(s, `"p/q/AWS`, `"AWS`) })
			b.edit("manifest-summary.json", func(s string) string { return strings.ReplaceAll(s, `"p/q/AWS`, `"AWS`) })
		}, 5},
		"the directory alone":             {written(t, export.WriteConfig{Prefix: "p", ItemsPerFile: 2}, orders(5)...), func(b *bucket) { b.moved(b.dir) }, 5},
		"an incremental one and its data": {written(t, incremental, changed), func(b *bucket) { b.moved("p/AWSDynamoDB") }, 1},
		"an empty file":                   {written(t, export.WriteConfig{}), func(*bucket) {}, 0},
		"an empty file as DynamoDB writes it": {written(t, export.WriteConfig{}), func(b *bucket) {
			const empty = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00"
			b.replace(b.data(t)[0], []byte(empty))
			if list := string(b.files[b.path("manifest-files.json")].Data); !strings.Contains(list, "FjvgqIxwymKf1RbbqtrZag==") {
				t.Error(list)
			}
		}, 0},
		"no file": {written(t, export.WriteConfig{}), func(b *bucket) {
			b.edit("manifest-files.json", func(string) string { return "" })
		}, 0},
		"a prefix of null, a type, a later field": {written(t, export.WriteConfig{}, orders(2)...), func(b *bucket) {
			b.edit("manifest-summary.json", func(s string) string {
				return strings.Replace(s, `{`, `{"exportType":"FULL_EXPORT","later":{"a":[1]},`, 1)
			})
		}, 2},
		"a last line without its end": {written(t, export.WriteConfig{}, orders(3)...), func(b *bucket) {
			name := b.data(t)[0]
			b.replace(name, pack(strings.TrimSuffix(unpack(t, b.files[name].Data), "\n")))
		}, 3},
		"a file of two gzip members": {written(t, export.WriteConfig{}, orders(3)...), func(b *bucket) {
			name := b.data(t)[0]
			lines := unpack(t, b.files[name].Data)
			b.replace(name, append(pack(lines[:20]), pack(lines[20:])...))
		}, 3},
	} {
		c.change(c.bucket)
		e := c.bucket.open(t, export.Config{})
		if all, err := read(e.Records(t.Context(), export.Position{})); err != nil || len(all) != c.want {
			t.Errorf("%s: %d records, %v", name, len(all), err)
		}
	}
}

// moved makes a directory the root.
func (b *bucket) moved(root string) {
	files := fstest.MapFS{}
	for name, file := range b.files {
		if rest, ok := strings.CutPrefix(name, root+"/"); ok {
			files[rest] = file
		}
	}
	b.files = files
	if b.dir = strings.TrimPrefix(strings.TrimPrefix(b.dir, root), "/"); b.dir == "" {
		b.dir = "."
	}
}

func TestTheManifestIsRead(t *testing.T) {
	t.Parallel()
	e := written(t, export.WriteConfig{Prefix: "p", ItemsPerFile: 3}, orders(7)...).open(t, export.Config{})
	m := e.Manifest()
	if m.Type != export.Full || !m.ExportTime.Equal(day) || !m.Until().Equal(day) || m.Items != 7 || m.Prefix != "p" || m.Bucket != "bucket" ||
		!strings.HasSuffix(m.ExportARN, "table/Orders/export/"+m.ID) || !strings.HasPrefix(m.ID, "01795961880000-") || m.Digest == "" || m.BilledBytes == 0 {
		t.Errorf("%+v", m)
	}
	if files := e.Files(); len(files) != 3 || files[2].Items != 1 || path.Ext(files[0].Key) != ".gz" || files[0].MD5 == "" {
		t.Errorf("%+v", files)
	}
	for at, want := range map[time.Duration]bool{-6 * time.Minute: false, -5 * time.Minute: true, 0: true, 5 * time.Minute: true, 6 * time.Minute: false} {
		if m.AtBoundary(day.Add(at), 5*time.Minute) != want {
			t.Errorf("%v from the boundary: %t", at, !want)
		}
	}
	window := export.Manifest{Type: export.Incremental, From: day, To: day.Add(time.Hour)}
	if !window.AtBoundary(day.Add(time.Minute), time.Minute) || !window.AtBoundary(day.Add(time.Hour), 0) || window.AtBoundary(day.Add(30*time.Minute), time.Minute) {
		t.Error("the boundaries of a window are its two ends")
	}
}

// A loop that ends early leaves nothing behind: Records waits for its workers.
func TestReadingCanEndAtAnyRecord(t *testing.T) {
	t.Parallel()
	b := written(t, export.WriteConfig{ItemsPerFile: 2}, orders(20)...)
	for stop := range 20 {
		var last export.Progress
		e := b.open(t, export.Config{Workers: 3, Progress: func(p export.Progress) { last = p }})
		n := 0
		for _, err := range e.Records(t.Context(), export.Position{}) {
			if n++; err != nil || n > stop {
				break
			}
		}
		if n != stop+1 || last.FilesTotal != 10 || last.ItemsTotal != 20 {
			t.Errorf("%d records, %+v", n, last)
		}
		err := e.ForEach(t.Context(), func(_ context.Context, r export.Record) error {
			if r.New["v"].(*types.AttributeValueMemberN).Value == fmt.Sprint(stop) {
				return errBelow
			}
			return nil
		})
		if !errors.Is(err, errBelow) {
			t.Errorf("stop at %d: %v", stop, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := b.open(t, export.Config{Trusted: true})
	if all, err := read(e.Records(ctx, export.Position{})); !errors.Is(err, context.Canceled) || len(all) > 20 {
		t.Errorf("%d records, %v", len(all), err)
	}
	if err := e.Verify(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestProgressCountsEveryRecordOfBothPasses(t *testing.T) {
	t.Parallel()
	b := written(t, export.WriteConfig{ItemsPerFile: 15_000}, orders(25_000)...)
	var all []export.Progress
	e := b.open(t, export.Config{Workers: 2, Progress: func(p export.Progress) { all = append(all, p) }})
	if records, err := read(e.Records(t.Context(), export.Position{})); err != nil || len(records) != 25_000 {
		t.Fatal(len(records), err)
	}
	for _, phase := range []export.Phase{export.Verifying, export.Reading} {
		last, calls := export.Progress{}, 0
		for _, p := range all {
			if p.Phase != phase {
				continue
			}
			if calls++; p.Items < last.Items || p.Files < last.Files || p.Bytes < last.Bytes {
				t.Errorf("%+v after %+v", p, last)
			}
			last = p
		}
		if last.Files != 2 || last.Items != 25_000 || last.Bytes == 0 || calls < 4 {
			t.Errorf("%s: %d calls, the last is %+v", phase, calls, last)
		}
	}
}
