package export_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/export"
	"github.com/dynafin/dynafin/internal/chance"
)

// Each fault is an error of its own kind that names the file, and the line where there is one; and nothing is given.
func TestEachFaultIsNamedAndNothingIsGiven(t *testing.T) {
	t.Parallel()
	const summary, list = "manifest-summary.json", "manifest-files.json"
	replace := func(name, old, new string) func(*testing.T, *bucket) {
		return func(t *testing.T, b *bucket) {
			b.edit(name, func(s string) string {
				if !strings.Contains(s, old) {
					t.Fatalf("%s has no %s", s, old)
				}
				return strings.Replace(s, old, new, 1)
			})
		}
	}
	second := func(change func(t *testing.T, b *bucket, name string)) func(*testing.T, *bucket) {
		return func(t *testing.T, b *bucket) { change(t, b, b.data(t)[1]) }
	}
	relined := func(change func(string) string) func(*testing.T, *bucket) {
		return second(func(t *testing.T, b *bucket, name string) {
			b.replace(name, pack(change(unpack(t, b.files[name].Data))))
		})
	}
	for _, c := range []struct {
		name  string
		spoil func(*testing.T, *bucket)
		kinds []error
		says  []string
	}{
		{"a file that is cut", second(func(t *testing.T, b *bucket, name string) {
			b.files[name].Data = b.files[name].Data[:len(b.files[name].Data)-9]
		}), []error{export.ErrChecksum, export.ErrDamaged}, []string{"DATA1", "line 5", "ends early"}},
		{"a file that was made short", second(func(t *testing.T, b *bucket, name string) {
			b.replace(name, b.files[name].Data[:len(b.files[name].Data)-9])
		}), []error{export.ErrDamaged}, []string{"DATA1", "line", "ends early"}},
		{"a file that was made empty", second(func(t *testing.T, b *bucket, name string) { b.replace(name, nil) }),
			[]error{export.ErrDamaged}, []string{"DATA1", "line 1", "ends early"}},
		{"a file that is not gzip", second(func(t *testing.T, b *bucket, name string) { b.replace(name, []byte(strings.Repeat("x", 99))) }),
			[]error{export.ErrDamaged}, []string{"DATA1", "not what gzip makes"}},
		{"another file", second(func(t *testing.T, b *bucket, name string) { b.files[name].Data = b.files[b.data(t)[0]].Data }),
			[]error{export.ErrChecksum}, []string{"DATA1", "has the checksum"}},
		{"a missing part", second(func(t *testing.T, b *bucket, name string) { delete(b.files, name) }), []error{export.ErrMissing}, []string{"DATA1"}},
		{"a malformed line", relined(func(s string) string { return strings.Replace(s, `"5"`, `"five"`, 1) }),
			[]error{export.ErrLine}, []string{"DATA1", "line 2", "byte 48", "a number"}},
		{"an empty line", relined(func(s string) string { return strings.Replace(s, "\n", "\n\n", 1) }),
			[]error{export.ErrLine}, []string{"DATA1", "line 2", "is empty"}},
		{"a line more", relined(func(s string) string { return s + s[:strings.Index(s, "\n")+1] }),
			[]error{export.ErrCount}, []string{"DATA1", "5 items", "says 4"}},
		{"a line less", relined(func(s string) string { return s[strings.Index(s, "\n")+1:] }),
			[]error{export.ErrCount}, []string{"DATA1", "3 items", "says 4"}},
		{"a line without end", relined(func(s string) string { return strings.Repeat("x", export.MaxLineBytes+1<<20) }),
			[]error{export.ErrLine}, []string{"DATA1", "line 1", "too long"}},
		{"another total", replace(summary, `"itemCount":10`, `"itemCount":11`), []error{export.ErrCount}, []string{list, "10 items", "says 11"}},
		{"no total", replace(summary, `"itemCount":10`, `"items":10`), []error{export.ErrManifest}, []string{summary, "itemCount"}},
		{"an unknown version", replace(summary, "2020-06-30", "2031-01-01"), []error{export.ErrFormat}, []string{summary, "version", "2031-01-01"}},
		{"Ion", replace(summary, "DYNAMODB_JSON", "ION"), []error{export.ErrFormat}, []string{summary, "outputFormat", "ION"}},
		{"an unknown type", replace(summary, `"itemCount"`, `"exportType":"HALF","itemCount"`), []error{export.ErrFormat}, []string{summary, "HALF"}},
		{"an unknown view", func(t *testing.T, b *bucket) {
			replace(summary, `"itemCount"`, `"exportType":"INCREMENTAL_EXPORT","outputView":"OLD","itemCount"`)(t, b)
		}, []error{export.ErrFormat}, []string{summary, "outputView", "OLD"}},
		{"no time", replace(summary, "exportTime", "time"), []error{export.ErrManifest}, []string{summary, "time"}},
		{"a summary that is not JSON", replace(summary, "{", "["), []error{export.ErrManifest}, []string{summary}},
		{"a list that is not JSON", replace(list, "}\n{", "}\n["), []error{export.ErrManifest}, []string{list, "line 2"}},
		{"a file without key", replace(list, "dataFileS3Key", "key"), []error{export.ErrManifest}, []string{list, "line 1", "dataFileS3Key"}},
		{"a file without count", replace(list, `"itemCount":4`, `"itemCount":-4`), []error{export.ErrManifest}, []string{list, "line 1", "itemCount"}},
		{"a file without checksum", replace(list, `"md5Checksum":"`, `"md5Checksum":"!`), []error{export.ErrManifest}, []string{list, "line 1", "md5Checksum"}},
		{"a file twice", func(t *testing.T, b *bucket) {
			b.edit(list, func(s string) string { return s + s[:strings.Index(s, "\n")+1] })
		}, []error{export.ErrManifest}, []string{list, "line 4", "second time"}},
		{"a file outside", func(t *testing.T, b *bucket) {
			b.edit(list, func(s string) string { return strings.Replace(s, `"dataFileS3Key":"`, `"dataFileS3Key":"../`, 1) })
		}, []error{export.ErrMissing}, []string{"../"}},
		{"no summary", func(t *testing.T, b *bucket) { delete(b.files, b.path(summary)) }, []error{export.ErrMissing}, []string{summary}},
		{"no list", func(t *testing.T, b *bucket) { delete(b.files, b.path(list)) }, []error{export.ErrMissing}, []string{list}},
		{"no checksum", func(t *testing.T, b *bucket) { delete(b.files, b.path("manifest-files.md5")) }, []error{export.ErrMissing}, []string{"manifest-files.md5"}},
		{"a wrong checksum", func(t *testing.T, b *bucket) { b.files[b.path("manifest-summary.md5")].Data[3]++ }, []error{export.ErrChecksum}, []string{summary}},
	} {
		b := written(t, export.WriteConfig{ItemsPerFile: 4}, orders(10)...)
		names := b.data(t)
		c.spoil(t, b)
		given := new(atomic.Int64)
		err := readEveryWay(t, b, given)
		for _, kind := range c.kinds {
			if !errors.Is(err, kind) {
				t.Errorf("%s: %v, not %v", c.name, err, kind)
			}
		}
		for _, want := range c.says {
			if want = strings.Replace(want, "DATA1", names[1], 1); err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v does not say %q", c.name, err, want)
			}
		}
		if given.Load() > 0 {
			t.Errorf("%s: %d records were given", c.name, given.Load())
		}
	}
}

// readEveryWay reads an export in both ways, counts what it gives, and returns the error, the same for both.
func readEveryWay(t TB, b *bucket, given *atomic.Int64) error {
	t.Helper()
	e, err := export.Open(b.files, b.dir, export.Config{Workers: 2})
	if err != nil {
		return err
	}
	for _, recordErr := range e.Records(context.Background(), export.Position{}) {
		if err = recordErr; err == nil {
			given.Add(1)
		}
	}
	eachErr := e.ForEach(context.Background(), func(context.Context, export.Record) error { given.Add(1); return nil })
	if (err == nil) != (eachErr == nil) || err != nil && err.Error() != eachErr.Error() {
		t.Fatalf("Records says %v, ForEach says %v", err, eachErr)
	}
	return err
}

// Any byte of any file that is another one, and any cut of any file, is an error, and nothing is given.
func TestNoDamageGoesUnseen(t *testing.T) {
	t.Parallel()
	chance.Check(t, func(rt *rapid.T, seen chance.Seen) {
		b := written(rt, export.WriteConfig{ItemsPerFile: 3}, orders(rapid.IntRange(0, 7).Draw(rt, "items"))...)
		var names []string
		for name := range b.files {
			if len(b.files[name].Data) > 0 {
				names = append(names, name)
			}
		}
		name := rapid.SampledFrom(sorted(names)).Draw(rt, "file")
		content := b.files[name].Data
		at := rapid.IntRange(0, len(content)-1).Draw(rt, "at")
		if rapid.Bool().Draw(rt, "cut") {
			b.files[name].Data = content[:at]
			seen["cut"]++
		} else {
			content[at] ^= byte(rapid.IntRange(1, 255).Draw(rt, "flip"))
			seen["flip"]++
		}
		seen[path.Ext(name)]++
		given := new(atomic.Int64)
		if err := readEveryWay(rt, b, given); err == nil || given.Load() > 0 {
			rt.Fatalf("%s, byte %d: %d records and %v", name, at, given.Load(), err)
		}
	}, "cut", "flip", ".gz", ".json", ".md5")
}

// What happens after the verification is seen when the file is read again.
func TestAFileThatChangesAfterItWasVerifiedIsFound(t *testing.T) {
	t.Parallel()
	b := written(t, export.WriteConfig{ItemsPerFile: 4}, orders(10)...)
	e := b.open(t, export.Config{Workers: 1})
	if err := e.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	name := b.data(t)[2]
	b.files[name].Data = pack(strings.Replace(unpack(t, b.files[name].Data), `"9"`, `"8"`, 1))
	all, err := read(e.Records(t.Context(), export.Position{}))
	if !errors.Is(err, export.ErrChecksum) || len(all) > 10 {
		t.Errorf("%d records, %v", len(all), err)
	}
	delete(b.files, name)
	if _, err := read(e.Records(t.Context(), export.Position{})); !errors.Is(err, export.ErrMissing) {
		t.Error(err)
	}
}

// A trusted export gives what it reads at once; a fault is found all the same.
func TestATrustedExportIsCheckedWhileItIsRead(t *testing.T) {
	t.Parallel()
	b := written(t, export.WriteConfig{ItemsPerFile: 4}, orders(10)...)
	name := b.data(t)[1]
	b.files[name].Data = b.files[name].Data[:len(b.files[name].Data)-1]
	all, err := read(b.open(t, export.Config{Trusted: true}).Records(t.Context(), export.Position{}))
	if !errors.Is(err, export.ErrChecksum) || !errors.Is(err, export.ErrDamaged) || len(all) < 4 {
		t.Errorf("%d records, %v", len(all), err)
	}
}

// A file system that fails says so, wherever it fails.
func TestAFailingFileSystemIsReported(t *testing.T) {
	t.Parallel()
	b := written(t, export.WriteConfig{}, orders(10)...)
	for name := range b.files {
		if path.Base(name) == "_started" {
			continue
		}
		e, err := export.Open(failing{b.files, name}, b.dir, export.Config{})
		if err == nil {
			err = e.Verify(t.Context())
		}
		if !errors.Is(err, export.ErrRead) || !errors.Is(err, errBelow) || !strings.Contains(fmt.Sprint(err), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

var errBelow = errors.New("from below")

// failing has a file that cannot be read.
type failing struct {
	fstest.MapFS
	name string
}

func (f failing) Open(name string) (fs.File, error) {
	file, err := f.MapFS.Open(name)
	if name == f.name {
		return failingFile{file}, err
	}
	return file, err
}

type failingFile struct{ fs.File }

func (failingFile) Read([]byte) (int, error) { return 0, errBelow }

func TestAWrongCallIsRefused(t *testing.T) {
	t.Parallel()
	b := written(t, export.WriteConfig{}, orders(3)...)
	for name, config := range map[string]export.Config{
		"Workers": {Workers: -1}, "Margin": {Margin: -1}, "MaxTorn": {MaxTorn: -1}, "MaxManifestBytes": {MaxManifestBytes: -1},
	} {
		var invalid *export.InvalidError
		if _, err := export.Open(b.files, b.dir, config); !errors.As(err, &invalid) || invalid.Field != "Config."+name {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := export.Open(nil, b.dir, export.Config{}); !errors.Is(err, export.ErrInvalid) {
		t.Error(err)
	}
	if _, err := export.Open(b.files, "../up", export.Config{}); !errors.Is(err, export.ErrInvalid) {
		t.Error(err)
	}
	if _, err := export.Open(b.files, b.dir, export.Config{MaxManifestBytes: 10}); !errors.Is(err, export.ErrRead) {
		t.Error(err)
	}
	e := b.open(t, export.Config{})
	for _, wrong := range []string{"x", "a:0:1", e.Manifest().Digest + ":0:4", e.Manifest().Digest + ":1:0", e.Manifest().Digest + ":00:1"} {
		if _, err := e.Position(wrong); !errors.Is(err, export.ErrInvalid) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	if _, err := read(e.Records(t.Context(), export.Position{Source: "another", Line: 1})); !errors.Is(err, export.ErrInvalid) {
		t.Error(err)
	}
}
