package export

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Defaults of a Config.
const (
	// DefaultMargin is how long after a boundary [Export.Torn] looks for the rest of transactions.
	DefaultMargin = 5 * time.Minute
	// DefaultMaxTorn is how many items Torn keeps in memory.
	DefaultMaxTorn = 100_000
	// DefaultMaxManifestBytes is how large manifest-files.json may be: about 300,000 files.
	DefaultMaxManifestBytes = 64 << 20
	// MaxLineBytes is how long a line may be: old and new image of the largest item, each byte of them escaped.
	MaxLineBytes = 8 << 20
	// ProgressEvery is after how many records of a file Progress is called, besides at its end.
	ProgressEvery = 10_000
)

// Config says how an export is read. The zero value works.
type Config struct {
	// Workers is how many files are read at the same time. Default: one for each processor that Go uses.
	Workers int
	// Progress is told how far reading is, by one goroutine at a time. Optional.
	Progress func(Progress)
	// Trusted leaves out the pass that verifies everything before the first record is given. Every file is still held against
	// checksum, count and form while it is read, so a fault is found, but what was read before it has been given.
	Trusted bool
	// MaxManifestBytes is how large manifest-files.json may be. Default: DefaultMaxManifestBytes.
	MaxManifestBytes int64
	// Margin is how long after the boundary Torn looks, and MaxTorn how many items it keeps in memory. Defaults:
	// DefaultMargin and DefaultMaxTorn.
	Margin  time.Duration
	MaxTorn int
}

// WithDefaults returns the configuration with its empty fields filled in.
func (c Config) WithDefaults() Config {
	c.Workers = cmp.Or(c.Workers, runtime.GOMAXPROCS(0))
	c.MaxManifestBytes = cmp.Or(c.MaxManifestBytes, DefaultMaxManifestBytes)
	c.Margin = cmp.Or(c.Margin, DefaultMargin)
	c.MaxTorn = cmp.Or(c.MaxTorn, DefaultMaxTorn)
	return c
}

// Validate reports the first field that breaks its rule, as an [InvalidError].
func (c Config) Validate() error {
	c = c.WithDefaults()
	for _, field := range []struct {
		name  string
		value int64
		max   int64
	}{
		{"Workers", int64(c.Workers), 1024}, {"MaxManifestBytes", c.MaxManifestBytes, 1 << 40},
		{"Margin", int64(c.Margin), int64(24 * time.Hour)}, {"MaxTorn", int64(c.MaxTorn), 1 << 40},
	} {
		if field.value < 1 || field.value > field.max {
			return &InvalidError{Field: "Config." + field.name, Reason: fmt.Sprintf("is %d, outside 1 to %d", field.value, field.max)}
		}
	}
	return nil
}

// Phase says what a Progress is about.
type Phase string

// The phases.
const (
	// Verifying: everything is read once, and nothing is given.
	Verifying Phase = "verifying"
	// Reading: records are given.
	Reading Phase = "reading"
)

// Progress says how far reading is.
type Progress struct {
	// Phase is what is being done.
	Phase Phase
	// Files is how many files were read to their end, FilesTotal how many there are.
	Files, FilesTotal int
	// Items is how many records were read, ItemsTotal how many there are.
	Items, ItemsTotal int64
	// Bytes is how much of uncompressed lines that was.
	Bytes int64
}

// Position is a record's place: of an export, the file's number in the manifest, from 0, and the line in it, from 1; of a Scan,
// the segment, and the record's number in it since it was started. The zero value is before everything.
type Position struct {
	// Source tells exports apart: the digest of the manifest, or the name of the Scan.
	Source string
	// File is the number of the file or segment.
	File int
	// Line is the line, or the record.
	Line int64
}

// String returns the position as text that [Export.Position] reads, "" for the zero value.
func (p Position) String() string {
	if p == (Position{}) {
		return ""
	}
	return p.Source + ":" + strconv.Itoa(p.File) + ":" + strconv.FormatInt(p.Line, 10)
}

// Export is a table export that was opened. It is safe for concurrent use.
type Export struct {
	fsys     fs.FS
	dir      string
	config   Config
	manifest Manifest
	files    []File

	mu       sync.Mutex
	verified bool
}

// Open reads the manifests of an export and holds them against their checksums, and looks whether every data file is
// there. dir is the directory with manifest-summary.json; fsys is the bucket, or a copy of it, or of dir alone. Errors:
// ErrInvalid, ErrFormat, ErrManifest, ErrMissing, ErrChecksum, ErrCount, ErrRead.
//
// An export is complete once its manifests are there, but only DescribeExport says so for certain, and it alone tells whether the
// export was made with a filter: a filtered one is a part of the table.
func Open(fsys fs.FS, dir string, config Config) (*Export, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	dir = path.Clean(dir)
	if fsys == nil || !fs.ValidPath(dir) {
		return nil, &InvalidError{Field: "dir", Reason: "is no path of a file system, or there is none"}
	}
	e := &Export{fsys: fsys, dir: dir, config: config.WithDefaults()}
	if err := e.readManifests(); err != nil {
		return nil, err
	}
	for i, f := range e.files {
		found, err := e.find(f.Key, path.Join("data", path.Base(f.Key)))
		if err != nil {
			return nil, err
		}
		e.files[i].path = found
	}
	return e, nil
}

// Manifest returns what the export is.
func (e *Export) Manifest() Manifest { return e.manifest }

// Files returns the data files, in the order in which they are read.
func (e *Export) Files() []File { return slices.Clone(e.files) }

// Position reads the text of a position of this export; "" is before everything. A position of another export is an
// [InvalidError].
func (e *Export) Position(text string) (Position, error) {
	if text == "" {
		return Position{}, nil
	}
	parts := strings.Split(text, ":")
	if len(parts) != 3 || parts[0] != e.source() {
		return Position{}, &InvalidError{Field: "position", Reason: "is not of this export"}
	}
	file, err := strconv.Atoi(parts[1])
	line, err2 := strconv.ParseInt(parts[2], 10, 64)
	p := Position{Source: parts[0], File: file, Line: line}
	if err != nil || err2 != nil || p.String() != text || file < 0 || file >= len(e.files) || line < 0 || line > e.files[file].Items {
		return Position{}, &InvalidError{Field: "position", Reason: "is not of this export"}
	}
	return p, nil
}

func (e *Export) source() string { return e.manifest.Digest }

// Verify reads everything once and gives nothing: every file must have its checksum, unpack, and have as many lines as
// the manifest says, each of them well formed. The error is that of the first faulty file. Once it succeeded, Verify
// returns at once. Errors: ErrMissing, ErrChecksum, ErrDamaged, ErrLine, ErrCount, ErrRead, and the context's.
//
// Cost: it reads files and no table, so no units.
func (e *Export) Verify(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.verified {
		return nil
	}
	progress := e.progress(Verifying)
	err := e.eachFile(func(index int, stopped func() bool) error {
		return e.readFile(ctx, index, fileRead{progress: progress})
	})
	e.verified = err == nil
	return err
}

// verifyFirst is what comes before the first record.
func (e *Export) verifyFirst(ctx context.Context) error {
	if e.config.Trusted {
		return nil
	}
	return e.Verify(ctx)
}

// eachFile reads files, Workers at a time, and returns the error of the first one in their order that failed. After a failure no
// file is begun any more.
func (e *Export) eachFile(read func(index int, stopped func() bool) error) error {
	var mu sync.Mutex
	next, failed := 0, false
	faults := make([]error, len(e.files))
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if failed || next == len(e.files) {
			return 0, false
		}
		next++
		return next - 1, true
	}
	stopped := func() bool { mu.Lock(); defer mu.Unlock(); return failed }
	var workers sync.WaitGroup
	for range min(e.config.Workers, len(e.files)) {
		workers.Go(func() {
			for {
				index, ok := take()
				if !ok {
					return
				}
				if err := read(index, stopped); err != nil {
					mu.Lock()
					faults[index], failed = err, true
					mu.Unlock()
				}
			}
		})
	}
	workers.Wait()
	for _, err := range faults {
		if err != nil && err != errStopped {
			return err
		}
	}
	return nil
}

// progress returns a function that counts what was read.
func (e *Export) progress(phase Phase) func(files int, items, bytes int64) {
	var mu sync.Mutex
	p := Progress{Phase: phase, FilesTotal: len(e.files), ItemsTotal: e.manifest.Items}
	return func(files int, items, bytes int64) {
		mu.Lock()
		defer mu.Unlock()
		p.Files += files
		p.Items += items
		p.Bytes += bytes
		if e.config.Progress != nil {
			e.config.Progress(p)
		}
	}
}
