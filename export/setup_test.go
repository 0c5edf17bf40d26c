package export_test

import (
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"path"
	"strings"
	"testing/fstest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/export"
)

var day = time.Date(2026, 11, 29, 14, 18, 0, 0, time.UTC)

// TB is the part of testing.TB and *rapid.T that helpers need.
type TB interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func text(s string) types.AttributeValue  { return &types.AttributeValueMemberS{Value: s} }
func number(n int64) types.AttributeValue { return &types.AttributeValueMemberN{Value: fmt.Sprint(n)} }
func order(n int) export.Item {
	return export.Item{"PK": text(fmt.Sprintf("order-%04d", n)), "v": number(int64(n))}
}
func same(all ...export.Record) iter.Seq2[export.Record, error] {
	return func(yield func(export.Record, error) bool) {
		for _, r := range all {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func orders(n int) (all []export.Record) {
	for i := range n {
		all = append(all, export.Record{New: order(i)})
	}
	return all
}

// bucket is an export in memory.
type bucket struct {
	files fstest.MapFS
	dir   string
}

// written writes records as a full export of small files.
func written(t TB, config export.WriteConfig, records ...export.Record) *bucket {
	t.Helper()
	if config.Table == "" {
		config.Table = "Orders"
	}
	if config.Type != export.Incremental && config.ExportTime.IsZero() {
		config.ExportTime = day
	}
	b := &bucket{files: fstest.MapFS{}}
	dir, err := export.Write(b.create, config, same(records...))
	if err != nil {
		t.Fatal(err)
	}
	b.dir = dir
	return b
}

func (b *bucket) create(name string, content []byte) error {
	if _, twice := b.files[name]; twice {
		return fmt.Errorf("%s is written twice", name)
	}
	b.files[name] = &fstest.MapFile{Data: content, Mode: 0o644}
	return nil
}

func (b *bucket) open(t TB, config export.Config) *export.Export {
	t.Helper()
	e, err := export.Open(b.files, b.dir, config)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// path names one of the manifests, or a file beside it.
func (b *bucket) path(name string) string { return path.Join(b.dir, name) }

// data names the data files, in the order of the manifest.
func (b *bucket) data(t TB) (names []string) {
	t.Helper()
	for line := range bytes.Lines(b.files[b.path("manifest-files.json")].Data) {
		var f struct {
			Key string `json:"dataFileS3Key"`
		}
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatal(err)
		}
		names = append(names, f.Key)
	}
	return names
}

// edit changes a manifest and its checksum.
func (b *bucket) edit(name string, change func(string) string) {
	f := b.files[b.path(name)]
	f.Data = []byte(change(string(f.Data)))
	b.files[b.path(strings.TrimSuffix(name, ".json")+".md5")].Data = []byte(sum(f.Data))
}

func sum(content []byte) string {
	s := md5.Sum(content)
	return base64.StdEncoding.EncodeToString(s[:])
}

// replace gives a data file other content, and the manifests its checksum: as if it had been exported so.
func (b *bucket) replace(name string, content []byte) {
	old := sum(b.files[name].Data)
	b.files[name].Data = content
	b.edit("manifest-files.json", func(s string) string { return strings.ReplaceAll(s, old, sum(content)) })
}

func unpack(t TB, content []byte) string {
	t.Helper()
	gz, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	lines, err := io.ReadAll(gz)
	if err != nil {
		t.Fatal(err)
	}
	return string(lines)
}

func pack(lines string) []byte {
	var b bytes.Buffer
	gz := gzip.NewWriter(&b)
	_, _ = io.WriteString(gz, lines)
	_ = gz.Close()
	return b.Bytes()
}

// read collects what Records gives, and its error.
func read(records iter.Seq2[export.Record, error]) (all []export.Record, err error) {
	for r, err := range records {
		if err != nil {
			return all, err
		}
		all = append(all, r)
	}
	return all, nil
}

// versions are the numbers of orders, in their order.
func versions(records []export.Record) (all []string) {
	for _, r := range records {
		all = append(all, r.New["v"].(*types.AttributeValueMemberN).Value)
	}
	return all
}
