package export

import (
	"fmt"

	"github.com/dynafin/dynafin/internal/fault"
)

// The kinds of failure of reading and writing an export. Compare with errors.Is; the types below carry the facts.
var (
	// ErrInvalid: a configuration or a call broke a rule that is checked before anything is read. See [InvalidError].
	ErrInvalid error = fault.New(fault.ExportInvalid, "export: invalid configuration or call")
	// ErrFormat: the export is of a version or a form that this package does not read. See [FormatError].
	ErrFormat error = fault.New(fault.ExportFormat, "export: unknown format")
	// ErrManifest: a manifest cannot be read. See [ManifestError].
	ErrManifest error = fault.New(fault.ExportManifest, "export: unreadable manifest")
	// ErrMissing: a file of the export is not there. See [MissingError].
	ErrMissing error = fault.New(fault.ExportMissing, "export: missing file")
	// ErrChecksum: a file is not the one that was exported. See [ChecksumError].
	ErrChecksum error = fault.New(fault.ExportChecksum, "export: wrong checksum")
	// ErrDamaged: a file ends early, or is not what gzip makes. See [DamagedError].
	ErrDamaged error = fault.New(fault.ExportDamaged, "export: damaged file")
	// ErrLine: a line is not an item. See [LineError].
	ErrLine error = fault.New(fault.ExportLine, "export: malformed line")
	// ErrCount: there are more or fewer items than the manifest says. See [CountError].
	ErrCount error = fault.New(fault.ExportCount, "export: wrong count")
	// ErrRead: the file system failed. See [ReadError].
	ErrRead error = fault.New(fault.ExportRead, "export: read failed")
	// ErrLimit: more was written at the boundary than may be looked at. The error is a [LimitError].
	ErrLimit error = fault.New(fault.ExportLimit, "export: too much at the boundary")
)

// InvalidError says which field breaks which rule.
type InvalidError struct {
	// Field is the field of a configuration, or the argument.
	Field string
	// Reason says what is wrong with it.
	Reason string
}

func (e *InvalidError) Error() string {
	return fault.ExportInvalid.Text("export: %s %s", e.Field, e.Reason)
}

// Unwrap returns ErrInvalid.
func (e *InvalidError) Unwrap() error { return ErrInvalid }

// FormatError says which version or form of an export is not known.
type FormatError struct {
	// File is the manifest.
	File string
	// Field is its field, Found what that says.
	Field, Found string
}

func (e *FormatError) Error() string {
	return fault.ExportFormat.Text("export: %s: %s is %.64q, which this version does not read", e.File, e.Field, e.Found)
}

// Unwrap returns ErrFormat.
func (e *FormatError) Unwrap() error { return ErrFormat }

// ManifestError says what is wrong with a manifest whose checksum is right.
type ManifestError struct {
	// File is the manifest, Line its line, from 1; zero if it is about the whole.
	File string
	Line int64
	// Reason says what is wrong.
	Reason string
}

func (e *ManifestError) Error() string {
	return fault.ExportManifest.Text("export: %s %s", place(e.File, e.Line), e.Reason)
}

// Unwrap returns ErrManifest.
func (e *ManifestError) Unwrap() error { return ErrManifest }

// MissingError names a file that is not there.
type MissingError struct {
	// File is its key, as the manifest has it, or its path.
	File string
}

func (e *MissingError) Error() string {
	return fault.ExportMissing.Text("export: %s is not there, nor below the prefix, nor beside the manifest", e.File)
}

// Unwrap returns ErrMissing.
func (e *MissingError) Unwrap() error { return ErrMissing }

// ChecksumError says that a file is another one than the manifest has.
type ChecksumError struct {
	// File is the file's path.
	File string
	// Want is the MD5 that the manifest has, Got the file's, both in base64.
	Want, Got string
	// Err is what keeps the file from being read, if something does: a DamagedError, a LineError or a CountError.
	Err error
}

func (e *ChecksumError) Error() string {
	detail := ""
	switch err := e.Err.(type) {
	case *DamagedError:
		detail = "; " + place("", err.Line) + " " + err.Reason
	case *LineError:
		detail = "; " + place("", err.Line) + " " + err.Reason
	case *CountError:
		detail = fmt.Sprintf("; it has %d items, not %d", err.Got, err.Want)
	}
	return fault.ExportChecksum.Text("export: %s has the checksum %s, not %s%s", e.File, e.Got, e.Want, detail)
}

// Unwrap returns ErrChecksum and Err.
func (e *ChecksumError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrChecksum}
	}
	return []error{ErrChecksum, e.Err}
}

// DamagedError says where a compressed file cannot be read any more.
type DamagedError struct {
	// File is the file's path, Line the line, from 1, that could not be read.
	File string
	Line int64
	// Reason says what is wrong: it ends early, or is not what gzip makes.
	Reason string
}

func (e *DamagedError) Error() string {
	return fault.ExportDamaged.Text("export: %s %s", place(e.File, e.Line), e.Reason)
}

// Unwrap returns ErrDamaged.
func (e *DamagedError) Unwrap() error { return ErrDamaged }

// LineError says what is wrong with a line. It never repeats what the line says.
type LineError struct {
	// File is the file's path, Line the line in it, from 1, Offset the byte in the line, from 0.
	File   string
	Line   int64
	Offset int
	// Reason says what is wrong.
	Reason string
}

func (e *LineError) Error() string {
	return fault.ExportLine.Text("export: %s byte %d: the line %s", place(e.File, e.Line), e.Offset, e.Reason)
}

// Unwrap returns ErrLine.
func (e *LineError) Unwrap() error { return ErrLine }

// CountError says that a file, or all of them, have more or fewer items than they must.
type CountError struct {
	// File is the file's path.
	File string
	// Want is what the manifest says, Got what was counted; in a file, counting ends at one too many.
	Want, Got int64
}

func (e *CountError) Error() string {
	return fault.ExportCount.Text("export: %s has %d items, the manifest says %d", e.File, e.Got, e.Want)
}

// Unwrap returns ErrCount.
func (e *CountError) Unwrap() error { return ErrCount }

// ReadError says where the file system failed.
type ReadError struct {
	// File is the file's path, Line the line that could not be read, from 1; zero before the first.
	File string
	Line int64
	// Err is the file system's error.
	Err error
}

func (e *ReadError) Error() string {
	return fault.ExportRead.Text("export: %s: %v", place(e.File, e.Line), e.Err)
}

// Unwrap returns ErrRead and the file system's error.
func (e *ReadError) Unwrap() []error { return []error{ErrRead, e.Err} }

// LimitError says that more items were written close to a boundary than may be kept in memory.
type LimitError struct {
	// File is the file in which the limit was reached.
	File string
	// Max is the limit.
	Max int
}

func (e *LimitError) Error() string {
	return fault.ExportLimit.Text("export: %s: more than %d items were written within the margin of the boundary", e.File, e.Max)
}

// Unwrap returns ErrLimit.
func (e *LimitError) Unwrap() error { return ErrLimit }

// place names a line.
func place(file string, line int64) string {
	switch {
	case line == 0:
		return file
	case file == "":
		return fmt.Sprintf("line %d", line)
	}
	return fmt.Sprintf("%s, line %d,", file, line)
}
