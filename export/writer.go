package export

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path"
	"path/filepath"
	"time"
)

// WriteConfig says what an export is that is written.
type WriteConfig struct {
	// Table is the table's name. Required. Region and Account stand in its ARN. Defaults: "us-east-1" and "000000000000".
	Table, Region, Account string
	// Type is what is written. Default: Full. View says which images an incremental export has. Default: NewAndOldImages.
	Type Type
	View View
	// ExportTime is the point in time of a full export; From and To are the window of an incremental one. Required; their
	// milliseconds make the export's ID.
	ExportTime, From, To time.Time
	// Bucket and Prefix are where it is said to be. Default of Bucket: "bucket".
	Bucket, Prefix string
	// ItemsPerFile is how many records a data file has at most; a file is kept in memory while it is written. Default: 10,000.
	ItemsPerFile int
}

const defaultItemsPerFile = 10_000

func (c WriteConfig) withDefaults() WriteConfig {
	c.Region = cmp.Or(c.Region, "us-east-1")
	c.Account = cmp.Or(c.Account, "000000000000")
	c.Type = cmp.Or(c.Type, Full)
	c.Bucket = cmp.Or(c.Bucket, "bucket")
	c.ItemsPerFile = cmp.Or(c.ItemsPerFile, defaultItemsPerFile)
	if c.Type == Incremental {
		c.View = cmp.Or(c.View, NewAndOldImages)
	}
	return c
}

func (c WriteConfig) validate() error {
	bad := func(field, reason string) error {
		return &InvalidError{Field: "WriteConfig." + field, Reason: reason}
	}
	switch {
	case c.Table == "":
		return bad("Table", "is empty")
	case c.Type != Full && c.Type != Incremental:
		return bad("Type", "is unknown")
	case c.Type == Full && c.ExportTime.IsZero():
		return bad("ExportTime", "is missing")
	case c.Type == Incremental && (c.From.IsZero() || !c.From.Before(c.To)):
		return bad("From", "is missing, or not before To")
	case c.Type == Incremental && c.View != NewAndOldImages && c.View != NewImage:
		return bad("View", "is unknown")
	case c.Type == Full && c.View != "":
		return bad("View", "is for incremental exports only")
	case c.ItemsPerFile < 1:
		return bad("ItemsPerFile", "is negative")
	}
	return nil
}

// CreateFile takes one whole file of an export; the name is its path in the bucket. Names do not repeat.
type CreateFile func(name string, content []byte) error

// Directory returns a CreateFile that writes below a directory.
func Directory(dir string) CreateFile {
	return func(name string, content []byte) error {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		return os.WriteFile(name, content, 0o644)
	}
}

// Write writes records as DynamoDB would export them, manifests last, and returns the directory to [Open]: for tests, and to hand
// data on. The same records and configuration make the same bytes. Of a record of a full export only New is written; in an
// incremental one Keys and WrittenAt are required. Errors: ErrInvalid, those of the records and of create.
func Write(create CreateFile, config WriteConfig, records iter.Seq2[Record, error]) (dir string, err error) {
	c := config.withDefaults()
	if err := c.validate(); err != nil {
		return "", err
	}
	w := newWriter(create, c)
	if err := create(path.Join(w.dir, startedName), nil); err != nil {
		return "", err
	}
	for r, err := range records {
		if err != nil {
			return "", err
		}
		if err := w.add(r); err != nil {
			return "", err
		}
	}
	if err := w.finish(); err != nil {
		return "", err
	}
	return w.dir, nil
}

// writer keeps one data file in memory, and a line about each that was written.
type writer struct {
	create     CreateFile
	config     WriteConfig
	id         string
	dir, data  string
	line       []byte
	file       bytes.Buffer
	gz         *gzip.Writer
	inFile     int64
	items      int64
	bytes      int64
	list       bytes.Buffer
	filesCount int
}

func newWriter(create CreateFile, c WriteConfig) *writer {
	until := c.ExportTime
	if c.Type == Incremental {
		until = c.To
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %d", c.Region, c.Account, c.Table, c.Type, c.View, c.From.UnixMilli()))
	w := &writer{create: create, config: c, id: fmt.Sprintf("%014d-%s", until.UnixMilli(), hex.EncodeToString(sum[:4]))}
	w.dir = path.Join(c.Prefix, "AWSDynamoDB", w.id)
	w.data = path.Join(w.dir, "data")
	if c.Type == Incremental { // all of a prefix share one
		w.data = path.Join(c.Prefix, "AWSDynamoDB", "data")
	}
	w.gz = gzip.NewWriter(&w.file)
	return w
}

func (w *writer) add(r Record) error {
	var reason string
	if w.line, reason = appendRecord(w.line[:0], r, w.config); reason != "" {
		return &InvalidError{Field: fmt.Sprintf("record %d", w.items+1), Reason: reason}
	}
	if w.inFile == int64(w.config.ItemsPerFile) {
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.line = append(w.line, '\n')
	w.inFile++
	w.items++
	w.bytes += int64(len(w.line))
	_, err := w.gz.Write(w.line)
	return err
}

// flush writes the data file that is in memory.
func (w *writer) flush() error {
	if err := w.gz.Close(); err != nil {
		return err
	}
	content := bytes.Clone(w.file.Bytes())
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", w.id, w.filesCount))
	name := path.Join(w.data, hex.EncodeToString(sum[:16])+".json.gz")
	if err := w.create(name, content); err != nil {
		return err
	}
	line, err := json.Marshal(fileLine{Items: &w.inFile, MD5: checksum(content), ETag: hex.EncodeToString(sum[16:]) + "-1", Key: name})
	if err != nil {
		return err
	}
	w.list.Write(append(line, '\n'))
	w.filesCount++
	w.inFile = 0
	w.file.Reset()
	w.gz.Reset(&w.file)
	return nil
}

// finish writes the last data file, or an empty one, and the manifests with their checksums.
func (w *writer) finish() error {
	if w.inFile > 0 || w.filesCount == 0 {
		if err := w.flush(); err != nil {
			return err
		}
	}
	c := w.config
	table := fmt.Sprintf("arn:aws:dynamodb:%s:%s:table/%s", c.Region, c.Account, c.Table)
	sum := sha256.Sum256([]byte(table))
	s := summary{
		Version: versionFull, ExportARN: table + "/export/" + w.id, TableARN: table, TableID: tableID(sum), Bucket: c.Bucket,
		SSEAlgorithm: "AES256", ManifestFilesKey: path.Join(w.dir, filesName), BilledBytes: w.bytes, Items: &w.items, OutputFormat: formatJSON,
	}
	if c.Prefix != "" {
		s.Prefix = &c.Prefix
	}
	ended := c.ExportTime
	if c.Type == Incremental {
		ended = c.To
		s.Version, s.ExportType, s.OutputView = versionIncremental, string(Incremental), string(c.View)
		s.ExportFromTime, s.ExportToTime = stamp(c.From), stamp(c.To)
	} else {
		s.ExportTime = stamp(c.ExportTime)
	}
	s.StartTime, s.EndTime = stamp(ended), stamp(ended)
	content, err := json.Marshal(s)
	if err != nil {
		return err
	}
	for _, file := range []struct {
		name    string
		content []byte
	}{{filesName, w.list.Bytes()}, {summaryName, content}} {
		name := path.Join(w.dir, file.name)
		base := name[:len(name)-len(".json")]
		if err := w.create(name, bytes.Clone(file.content)); err != nil {
			return err
		}
		if err := w.create(base+".md5", []byte(checksum(file.content))); err != nil {
			return err
		}
	}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// tableID has the form of a UUID.
func tableID(sum [sha256.Size]byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}
