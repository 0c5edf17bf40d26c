package export

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"
)

// Type says what an export has.
type Type string

// The types of exports.
const (
	// Full: every item, as it was at one point in time.
	Full Type = "FULL_EXPORT"
	// Incremental: for each item that changed in a window, its state at the end, and at the beginning.
	Incremental Type = "INCREMENTAL_EXPORT"
)

// View says which images an incremental export has.
type View string

// The views.
const (
	// NewAndOldImages: the item at the beginning and at the end of the window.
	NewAndOldImages View = "NEW_AND_OLD_IMAGES"
	// NewImage: only that at the end.
	NewImage View = "NEW_IMAGE"
)

// The format versions of manifest-summary.json that this package reads and writes.
const (
	versionFull        = "2020-06-30"
	versionIncremental = "2023-08-01"
	formatJSON         = "DYNAMODB_JSON"
)

// Names of files.
const (
	summaryName = "manifest-summary.json"
	filesName   = "manifest-files.json"
	startedName = "_started"
)

// maxSummaryBytes is far more than a summary has.
const maxSummaryBytes = 1 << 20

// Manifest says what an export is, in its own words.
type Manifest struct {
	// ID is the export's own: the last part of its ARN.
	ID string
	// ExportARN, TableARN and TableID name the export and its table.
	ExportARN, TableARN, TableID string
	// Type is what it has; View which images, if it is incremental.
	Type Type
	View View
	// StartedAt and EndedAt are when the job ran.
	StartedAt, EndedAt time.Time
	// ExportTime is the point in time of a full export.
	ExportTime time.Time
	// From, included, and To, not included, are the window of an incremental one.
	From, To time.Time
	// Bucket and Prefix are where it was written. The prefix may be empty.
	Bucket, Prefix string
	// Items is how many records it has; the files' counts add up to it.
	Items int64
	// BilledBytes is what was charged.
	BilledBytes int64
	// Digest is the MD5 of manifest-files.json, in base64. That file has the checksum of every data file, so the digest stands
	// for everything that the export has.
	Digest string
}

// Until is the time that the export has everything up to: that of a full one, or the end of the window.
func (m Manifest) Until() time.Time {
	if m.Type == Incremental {
		return m.To
	}
	return m.ExportTime
}

// AtBoundary says whether something that was written at a time may be in the export in part: a transaction reaches an export item by
// item, and how long that takes is not documented. What contradicts itself so close to the boundary is no proof of a
// fault: look at it again in the next export. See [Export.Torn].
func (m Manifest) AtBoundary(at time.Time, margin time.Duration) bool {
	near := func(boundary time.Time) bool { d := at.Sub(boundary); return -margin <= d && d <= margin }
	return near(m.Until()) || m.Type == Incremental && near(m.From)
}

// File is a data file, as manifest-files.json has it.
type File struct {
	// Key is the file's key in the bucket.
	Key string
	// Items is how many lines it has.
	Items int64
	// MD5 is the checksum of the compressed file, in base64; ETag what S3 says, which is no checksum of it.
	MD5, ETag string

	path string // in the file system
}

// summary is the wire form of manifest-summary.json.
type summary struct {
	Version          string  `json:"version"`
	ExportARN        string  `json:"exportArn"`
	StartTime        string  `json:"startTime"`
	EndTime          string  `json:"endTime"`
	TableARN         string  `json:"tableArn"`
	TableID          string  `json:"tableId"`
	ExportTime       string  `json:"exportTime,omitempty"`
	ExportFromTime   string  `json:"exportFromTime,omitempty"`
	ExportToTime     string  `json:"exportToTime,omitempty"`
	Bucket           string  `json:"s3Bucket"`
	Prefix           *string `json:"s3Prefix"`
	SSEAlgorithm     string  `json:"s3SseAlgorithm"`
	SSEKey           *string `json:"s3SseKmsKeyId"`
	ManifestFilesKey string  `json:"manifestFilesS3Key"`
	BilledBytes      int64   `json:"billedSizeBytes"`
	Items            *int64  `json:"itemCount"`
	OutputFormat     string  `json:"outputFormat"`
	OutputView       string  `json:"outputView,omitempty"`
	ExportType       string  `json:"exportType,omitempty"`
}

// fileLine is the wire form of a line of manifest-files.json.
type fileLine struct {
	Items *int64 `json:"itemCount"`
	MD5   string `json:"md5Checksum"`
	ETag  string `json:"etag"`
	Key   string `json:"dataFileS3Key"`
}

func checksum(content []byte) string {
	sum := md5.Sum(content)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// readManifests reads and checks both manifests.
func (e *Export) readManifests() error {
	name := path.Join(e.dir, summaryName)
	content, err := e.checked(name, name)
	if err != nil {
		return err
	}
	var s summary
	if err := json.Unmarshal(content, &s); err != nil {
		return &ManifestError{File: name, Reason: "is not the JSON of a summary"}
	}
	if e.manifest, err = s.manifest(name); err != nil {
		return err
	}
	if s.ManifestFilesKey == "" {
		s.ManifestFilesKey = path.Join(e.dir, filesName)
	}
	name, err = e.find(s.ManifestFilesKey, filesName)
	if err != nil {
		return err
	}
	if content, err = e.checked(name, s.ManifestFilesKey); err != nil {
		return err
	}
	e.manifest.Digest = checksum(content)
	return e.readFiles(name, content)
}

// checked reads a manifest and holds it against its checksum. The documents and real exports name the file of that
// differently.
func (e *Export) checked(name, key string) ([]byte, error) {
	content, err := e.small(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &MissingError{File: name}
	}
	if err != nil {
		return nil, &ReadError{File: name, Err: err}
	}
	base := strings.TrimSuffix(name, ".json")
	for _, sumName := range []string{base + ".md5", base + ".checksum"} {
		want, err := e.small(sumName)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, &ReadError{File: sumName, Err: err}
		}
		if got := checksum(content); string(bytes.TrimSpace(want)) != got {
			return nil, &ChecksumError{File: name, Want: string(bytes.TrimSpace(want)), Got: got}
		}
		return content, nil
	}
	return nil, &MissingError{File: base + ".md5"}
}

// small reads a file that is kept whole: a summary, a checksum, or the list of files, which has about 200 bytes for each.
func (e *Export) small(name string) ([]byte, error) {
	limit := int64(maxSummaryBytes)
	if path.Base(name) == filesName {
		limit = e.config.MaxManifestBytes
	}
	f, err := e.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = errors.New("is larger than a manifest may be")
	}
	return content, err
}

// manifest checks a summary and returns what it says.
func (s summary) manifest(name string) (Manifest, error) {
	m := Manifest{
		ID: s.ExportARN[strings.LastIndexByte(s.ExportARN, '/')+1:], ExportARN: s.ExportARN, TableARN: s.TableARN, TableID: s.TableID,
		Type: Type(s.ExportType), View: View(s.OutputView), Bucket: s.Bucket, BilledBytes: s.BilledBytes,
	}
	if s.Prefix != nil {
		m.Prefix = *s.Prefix
	}
	if m.Type == "" {
		m.Type = Full // real full exports do not say
	}
	format := func(field, found string) (Manifest, error) {
		return Manifest{}, &FormatError{File: name, Field: field, Found: found}
	}
	want := versionFull
	switch m.Type {
	case Full:
	case Incremental:
		want = versionIncremental
		if m.View != NewAndOldImages && m.View != NewImage {
			return format("outputView", s.OutputView)
		}
	default:
		return format("exportType", s.ExportType)
	}
	if s.Version != want {
		return format("version", s.Version)
	}
	if s.OutputFormat != formatJSON {
		return format("outputFormat", s.OutputFormat)
	}
	if s.Items == nil || *s.Items < 0 {
		return Manifest{}, &ManifestError{File: name, Reason: "has no itemCount, or a negative one"}
	}
	m.Items = *s.Items
	for _, at := range []struct {
		text   string
		target *time.Time
		needed bool
	}{
		{s.StartTime, &m.StartedAt, false}, {s.EndTime, &m.EndedAt, false}, {s.ExportTime, &m.ExportTime, m.Type == Full},
		{s.ExportFromTime, &m.From, m.Type == Incremental}, {s.ExportToTime, &m.To, m.Type == Incremental},
	} {
		t, err := time.Parse(time.RFC3339Nano, at.text)
		if err != nil && (at.needed || at.text != "") {
			return Manifest{}, &ManifestError{File: name, Reason: "has no time, or a malformed one, where the export's times must be"}
		}
		if err == nil {
			*at.target = t.UTC()
		}
	}
	return m, nil
}

// readFiles reads manifest-files.json: JSON Lines, one object for each data file.
func (e *Export) readFiles(name string, content []byte) error {
	total, number := int64(0), int64(0)
	known := map[string]bool{}
	for line := range bytes.Lines(content) {
		number++
		var f fileLine
		if err := json.Unmarshal(line, &f); err != nil {
			return &ManifestError{File: name, Line: number, Reason: "is not the JSON of a file"}
		}
		sum, err := base64.StdEncoding.DecodeString(f.MD5)
		switch {
		case f.Key == "":
			return &ManifestError{File: name, Line: number, Reason: "has no dataFileS3Key"}
		case f.Items == nil || *f.Items < 0:
			return &ManifestError{File: name, Line: number, Reason: "has no itemCount, or a negative one"}
		case err != nil || len(sum) != md5.Size:
			return &ManifestError{File: name, Line: number, Reason: "has no md5Checksum, or a malformed one"}
		case known[f.Key]:
			return &ManifestError{File: name, Line: number, Reason: "lists a file for the second time"}
		}
		known[f.Key] = true
		total += *f.Items
		e.files = append(e.files, File{Key: f.Key, Items: *f.Items, MD5: f.MD5, ETag: f.ETag})
	}
	if total != e.manifest.Items {
		return &CountError{File: name, Want: e.manifest.Items, Got: total}
	}
	return nil
}

// find returns where in the file system a key of the bucket is: there, or below the prefix, which manifests give with their keys or
// without; or where it lies beside this manifest, if only the export was copied and not the tree of the bucket.
func (e *Export) find(key, beside string) (string, error) {
	if !fs.ValidPath(key) {
		return "", &MissingError{File: key}
	}
	for _, name := range []string{key, path.Join(e.manifest.Prefix, key), path.Join(e.dir, beside), path.Join(path.Dir(e.dir), beside)} {
		_, err := fs.Stat(e.fsys, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", &ReadError{File: name, Err: err}
		}
		return name, nil
	}
	return "", &MissingError{File: key}
}
