package keys

// The routes of a Scan's run.
var (
	scanRunRoute     = newRoute("ScanRun", "SCAN#{run}", "RUN")
	scanSegmentRoute = newRoute("ScanSegment", "SCAN#{run}", "SEGMENT#{segment}")
)

// ScanRun is the key of the record of a Scan's run (EXP01).
func ScanRun(run string) (Key, error) { return scanRunRoute.key(text(run)) }

// ParseScanRun reads a key of [ScanRun].
func ParseScanRun(k Key) (run string, err error) {
	d := scanRunRoute.read(k)
	run = d.text()
	return run, d.err
}

// ScanSegment is the key of the record of how far a segment of a Scan was handled (EXP02).
func ScanSegment(run string, segment int) (Key, error) {
	return scanSegmentRoute.key(text(run), number(segment, shardDigits))
}

// ParseScanSegment reads a key of [ScanSegment].
func ParseScanSegment(k Key) (run string, segment int, err error) {
	d := scanSegmentRoute.read(k)
	run, segment = d.text(), d.number(shardDigits)
	return run, segment, d.err
}
