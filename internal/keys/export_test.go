package keys_test

import "github.com/dynafin/dynafin/internal/keys"

// exportRoutes are the routes of a Scan's run.
func exportRoutes() []route {
	return []route{
		{"ScanRun", "EXP01", "s", "SCAN#s0", "RUN",
			func(c []any) (keys.Key, error) { return keys.ScanRun(str(c[0])) },
			func(k keys.Key) ([]any, error) { run, err := keys.ParseScanRun(k); return []any{run}, err }},
		{"ScanSegment", "EXP02", "sn", "SCAN#s0", "SEGMENT#0001",
			func(c []any) (keys.Key, error) { return keys.ScanSegment(str(c[0]), num(c[1])) },
			func(k keys.Key) ([]any, error) { run, n, err := keys.ParseScanSegment(k); return []any{run, n}, err }},
	}
}
