package export_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/export"
)

var updateLayout = flag.Bool("layout", false, "write the golden layouts instead of comparing with them")

// The layout is DynamoDB's own, so what is written is held against files: names, contents, and the lines of the data.
func TestTheLayoutMatchesTheGoldenFiles(t *testing.T) {
	t.Parallel()
	every := export.Item{
		"PK": text("a\"\\\n\t\x7fé😀"), "n": &types.AttributeValueMemberN{Value: "-1.5E+20"}, "b": &types.AttributeValueMemberB{Value: []byte{0, 255}},
		"t": &types.AttributeValueMemberBOOL{Value: true}, "z": &types.AttributeValueMemberNULL{Value: true},
		"ss": &types.AttributeValueMemberSS{Value: []string{"y", "x"}}, "ns": &types.AttributeValueMemberNS{Value: []string{"1", "2"}},
		"bs": &types.AttributeValueMemberBS{Value: [][]byte{{1}, {2}}},
		"l":  &types.AttributeValueMemberL{Value: []types.AttributeValue{text(""), &types.AttributeValueMemberM{Value: export.Item{}}}},
	}
	for name, b := range map[string]*bucket{
		"full":  written(t, export.WriteConfig{Prefix: "ledger", ItemsPerFile: 2}, export.Record{New: every}, export.Record{New: order(1)}, export.Record{New: order(2)}),
		"empty": written(t, export.WriteConfig{}),
		"incremental": written(t, export.WriteConfig{Type: export.Incremental, From: day, To: day.Add(time.Hour), Prefix: "ledger"},
			export.Record{Keys: export.Item{"PK": text("a")}, New: order(1), WrittenAt: day},
			export.Record{Keys: export.Item{"PK": text("b")}, Old: order(1), New: order(2), WrittenAt: day.Add(time.Microsecond)},
			export.Record{Keys: export.Item{"PK": text("c")}, Old: order(1), WrittenAt: day.Add(time.Hour - 1)}),
		"new images": written(t, export.WriteConfig{Type: export.Incremental, View: export.NewImage, From: day, To: day.Add(time.Hour)},
			export.Record{Keys: export.Item{"PK": text("b")}, Old: order(1), New: order(2), WrittenAt: day},
			export.Record{Keys: export.Item{"PK": text("c")}, Old: order(1), WrittenAt: day}),
	} {
		var names []string
		for name := range b.files {
			names = append(names, name)
		}
		var layout strings.Builder
		for _, name := range sorted(names) {
			content := string(b.files[name].Data)
			switch {
			case strings.HasSuffix(name, ".gz"):
				content = unpack(t, b.files[name].Data)
			case strings.HasSuffix(name, ".md5"):
				if content != sum(b.files[strings.TrimSuffix(name, ".md5")+".json"].Data) {
					t.Errorf("%s: %s", name, content)
				}
				content = "(checksum)"
			case strings.HasSuffix(name, "files.json"):
				for _, data := range b.data(t) { // what gzip makes of a file is not the same in every release of Go
					content = strings.Replace(content, sum(b.files[data].Data), "(checksum)", 1)
				}
			}
			fmt.Fprintf(&layout, "== %s\n%s\n", name, strings.TrimSuffix(content, "\n"))
		}
		file := filepath.Join("testdata", "layout", strings.ReplaceAll(name, " ", "_")+".txt")
		if *updateLayout {
			if err := os.WriteFile(file, []byte(layout.String()), 0o644); err != nil {
				t.Error(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || string(want) != layout.String() {
			t.Errorf("%s: %v; written is\n%s", file, err, layout.String())
		}
	}
}

func TestWhatHasNoFormIsNotWritten(t *testing.T) {
	t.Parallel()
	value := func(v types.AttributeValue) export.Record { return export.Record{New: export.Item{"a": v}} }
	deep := text("x")
	for range export.MaxDepth {
		deep = &types.AttributeValueMemberL{Value: []types.AttributeValue{deep}}
	}
	nothing := func(string, []byte) error { return nil }
	for name, r := range map[string]export.Record{
		"no item": {}, "no name": {New: export.Item{"": text("x")}}, "no value": value(nil), "text": value(text("\xff")),
		"number": value(&types.AttributeValueMemberN{Value: fmt.Sprint(math.NaN())}), "null": value(&types.AttributeValueMemberNULL{}),
		"set": value(&types.AttributeValueMemberSS{}), "depth": value(deep), "unknown": value(&types.UnknownUnionMember{}),
	} {
		var invalid *export.InvalidError
		_, err := export.Write(nothing, export.WriteConfig{Table: "Orders", ExportTime: day}, same(export.Record{New: order(1)}, r))
		if !errors.As(err, &invalid) || invalid.Field != "record 2" {
			t.Errorf("%s: %v", name, err)
		}
	}
	for field, c := range map[string]export.WriteConfig{
		"Table": {ExportTime: day}, "ExportTime": {Table: "t"}, "Type": {Table: "t", Type: "HALF"}, "From": {Table: "t", Type: export.Incremental, To: day},
		"View": {Table: "t", ExportTime: day, View: export.NewImage}, "ItemsPerFile": {Table: "t", ExportTime: day, ItemsPerFile: -1},
	} {
		var invalid *export.InvalidError
		if _, err := export.Write(nothing, c, same()); !errors.As(err, &invalid) || invalid.Field != "WriteConfig."+field {
			t.Errorf("%s: %v", field, err)
		}
	}
	unknown := export.WriteConfig{Table: "t", Type: export.Incremental, From: day, To: day.Add(1), View: "OLD"}
	if _, err := export.Write(nothing, unknown, same()); !errors.Is(err, export.ErrInvalid) {
		t.Error(err)
	}
}

// An error of whoever takes the files, or gives the records, ends the writing.
func TestAnErrorEndsTheWriting(t *testing.T) {
	t.Parallel()
	for last := range 8 {
		n := 0
		create := func(string, []byte) error {
			if n++; n > last {
				return errBelow
			}
			return nil
		}
		_, err := export.Write(create, export.WriteConfig{Table: "Orders", ExportTime: day, ItemsPerFile: 1}, same(orders(2)...))
		if (err == nil) != (last == 7) || err != nil && !errors.Is(err, errBelow) {
			t.Errorf("%d files: %v", last, err)
		}
	}
	torn := func(yield func(export.Record, error) bool) { yield(export.Record{}, errBelow) }
	if _, err := export.Write(func(string, []byte) error { return nil }, export.WriteConfig{Table: "Orders", ExportTime: day}, torn); !errors.Is(err, errBelow) {
		t.Error(err)
	}
}

func TestADirectoryIsWrittenAndRead(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir, err := export.Write(export.Directory(root), export.WriteConfig{Table: "Orders", ExportTime: day, ItemsPerFile: 4}, same(orders(10)...))
	if err != nil {
		t.Fatal(err)
	}
	e, err := export.Open(os.DirFS(root), dir, export.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if all, err := read(e.Records(t.Context(), export.Position{})); err != nil || strings.Join(versions(all), " ") != "0 1 2 3 4 5 6 7 8 9" {
		t.Error(versions(all), err)
	}
}
