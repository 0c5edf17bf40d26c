package export

import (
	"fmt"

	"github.com/dynafin/dynafin/internal/fault"
)

// The kinds of failure of a Scan.
var (
	// ErrScan: a page could not be read. See [ScanError].
	ErrScan error = fault.New(fault.ExportScan, "export: page not read")
	// ErrCheckpoint: a record of a run could not be read or written. See [CheckpointError].
	ErrCheckpoint error = fault.New(fault.ExportCheckpoint, "export: checkpoint not read or written")
	// ErrRun: the run is not what the call needs, or another runner has it. See [RunError].
	ErrRun error = fault.New(fault.ExportRun, "export: wrong run")
	// ErrRecord: a record of a run cannot be read. See [RecordError].
	ErrRecord error = fault.New(fault.ExportRecord, "export: unreadable record")
)

// ScanError says which segment could not be read.
type ScanError struct {
	// Table is the table.
	Table string
	// Segment is the segment.
	Segment int
	// Err is the error of the AWS client.
	Err error
}

func (e *ScanError) Error() string {
	return fault.ExportScan.Text("export: scan table %q, segment %d: %v", e.Table, e.Segment, e.Err)
}

// Unwrap returns ErrScan and the error of the AWS client.
func (e *ScanError) Unwrap() []error { return []error{ErrScan, e.Err} }

// CheckpointError says which record of a run was not read or written.
type CheckpointError struct {
	// Name names the run.
	Name string
	// Segment is the segment, or -1 for the run itself.
	Segment int
	// Err is the error of the AWS client.
	Err error
}

func (e *CheckpointError) Error() string {
	return fault.ExportCheckpoint.Text("export: %s: %v", runPlace(e.Name, e.Segment), e.Err)
}

// Unwrap returns ErrCheckpoint and the error of the AWS client.
func (e *CheckpointError) Unwrap() []error { return []error{ErrCheckpoint, e.Err} }

// RunError says that a run is not what a call needs.
type RunError struct {
	// Name names the run.
	Name string
	// Segment is the segment, or -1 for the run itself.
	Segment int
	// Reason says what was found.
	Reason string
}

func (e *RunError) Error() string {
	return fault.ExportRun.Text("export: %s %s", runPlace(e.Name, e.Segment), e.Reason)
}

// Unwrap returns ErrRun.
func (e *RunError) Unwrap() error { return ErrRun }

// RecordError says what is wrong with a stored record.
type RecordError struct {
	// PK and SK are the record's key.
	PK, SK string
	// Attribute is the attribute that is not what this format has there.
	Attribute string
}

func (e *RecordError) Error() string {
	return fault.ExportRecord.Text("export: record %q / %q: attribute %q is not what format %d has there", e.PK, e.SK, e.Attribute, recordFormat)
}

// Unwrap returns ErrRecord.
func (e *RecordError) Unwrap() error { return ErrRecord }

func runPlace(name string, segment int) string {
	if segment < 0 {
		return fmt.Sprintf("run %q", name)
	}
	return fmt.Sprintf("run %q, segment %d,", name, segment)
}
