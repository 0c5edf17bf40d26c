package invariant

import (
	"bufio"
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// caller returns the import path of the package that called the exported function which called caller.
func caller() string {
	pc, _, _, ok := runtime.Caller(2)
	if !ok {
		return "./..."
	}
	name := runtime.FuncForPC(pc).Name()
	slash := strings.LastIndexByte(name, '/') + 1
	last, _, _ := strings.Cut(name[slash:], ".")
	return name[:slash] + strings.TrimSuffix(last, "_test")
}

// printReplay logs, after a failed check, the commands that replay it: the shrunk history from the file in which rapid
// keeps it, and the history that failed first from its seed.
func printReplay(t *testing.T, pkg string) {
	if !t.Failed() {
		return
	}
	t.Helper()
	var pattern []string
	for part := range strings.SplitSeq(t.Name(), "/") {
		pattern = append(pattern, "^"+regexp.QuoteMeta(part)+"$")
	}
	command := "go test " + pkg + " -count=1 -run '" + strings.Join(pattern, "/") + "'"
	dirs, err := filepath.Glob(filepath.Join("testdata", "rapid", "*", "*.fail"))
	if err != nil || len(dirs) == 0 {
		t.Logf("to replay: %s with the -rapid.seed above", command)
		return
	}
	newest := slices.MaxFunc(dirs, func(a, b string) int { return cmp.Compare(modified(a), modified(b)) })
	t.Logf("to replay the schedule above: %s -rapid.failfile=%s", command, newest)
	if seed := seedOf(newest); seed != "" && seed != "0" {
		t.Logf("to replay the search for it:  %s -rapid.seed=%s", command, seed)
	}
}

func modified(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.ModTime().UnixNano()
}

// seedOf reads the seed from rapid's fail file: its first line that is no comment is version#seed.
func seedOf(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); line != "" && !strings.HasPrefix(line, "#") {
			_, seed, _ := strings.Cut(line, "#")
			return seed
		}
	}
	return ""
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
