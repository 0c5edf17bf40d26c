package house

import "github.com/dynafin/dynafin/export"

func exportErrors() []errorCase {
	const file = "AWSDynamoDB/data/part.json.gz"
	line := &export.LineError{File: file, Line: 7, Offset: 12, Reason: "is not JSON"}
	return []errorCase{
		{&export.InvalidError{Field: "Config.Workers", Reason: "is -1"}, export.ErrInvalid, []string{"Config.Workers", "is -1"}},
		{&export.FormatError{File: file, Field: "version", Found: "2031-01-01"}, export.ErrFormat, []string{file, "version", "2031-01-01"}},
		{&export.ManifestError{File: file, Line: 3, Reason: "has no key"}, export.ErrManifest, []string{file, "line 3", "has no key"}},
		{&export.MissingError{File: file}, export.ErrMissing, []string{file, "not there"}},
		{&export.ChecksumError{File: file, Want: "abc=", Got: "def=", Err: line}, export.ErrChecksum, []string{file, "abc=", "def=", "line 7"}},
		{&export.DamagedError{File: file, Line: 7, Reason: "ends early"}, export.ErrDamaged, []string{file, "line 7", "ends early"}},
		{line, export.ErrLine, []string{file, "line 7", "byte 12", "is not JSON"}},
		{&export.CountError{File: file, Want: 3, Got: 4}, export.ErrCount, []string{file, "3", "4"}},
		{&export.ReadError{File: file, Line: 7, Err: errBelow}, export.ErrRead, []string{file, "line 7", "from below"}},
		{&export.LimitError{File: file, Max: 10}, export.ErrLimit, []string{file, "10"}},
		{&export.ScanError{Table: "Orders", Segment: 3, Err: errBelow}, export.ErrScan, []string{"Orders", "segment 3", "from below"}},
		{&export.CheckpointError{Name: "rebuild", Segment: 3, Err: errBelow}, export.ErrCheckpoint, []string{"rebuild", "segment 3", "from below"}},
		{&export.RunError{Name: "rebuild", Segment: -1, Reason: "was not started"}, export.ErrRun, []string{"rebuild", "was not started"}},
		{&export.RecordError{PK: "SCAN#rebuild", SK: "RUN", Attribute: "segments"}, export.ErrRecord, []string{"SCAN#rebuild", "RUN", "segments"}},
	}
}
