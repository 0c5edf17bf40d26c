package expr

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// step is one element of a document path: a name, or an index into a list.
type step struct {
	name    string
	index   int
	isIndex bool
}

// path is a document path with all names resolved; its first step is a top-level attribute.
type path []step

// resolve finds the value at the path.
func (p path) resolve(item value.Item) (value.Value, bool) {
	v, ok := item.Get(p[0].name)
	for _, s := range p[1:] {
		if !ok {
			break
		}
		if s.isIndex {
			v, ok = v.Index(s.index)
		} else {
			v, ok = v.Entries().Get(s.name)
		}
	}
	return v, ok
}

// String shows the path as the service does: [a, b, [0]].
func (p path) String() string {
	parts := make([]string, len(p))
	for i, s := range p {
		parts[i] = s.name
		if s.isIndex {
			parts[i] = "[" + strconv.Itoa(s.index) + "]"
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func compareSteps(a, b step) int {
	if a.isIndex != b.isIndex {
		if a.isIndex {
			return 1
		}
		return -1
	}
	return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(a.index, b.index))
}

func comparePaths(a, b path) int { return slices.CompareFunc(a, b, compareSteps) }

// relation says how two paths stand to each other.
type relation uint8

const (
	apart relation = iota
	overlap
	conflict
)

// relate finds paths of which one holds the other, and paths that need one value to be both a map and a list.
func relate(a, b path) relation {
	for i := range min(len(a), len(b)) {
		if a[i].isIndex != b[i].isIndex {
			return conflict
		}
		if a[i] != b[i] {
			return apart
		}
	}
	return overlap
}

// nestedNames returns the top-level attributes that paths reach into, sorted, each once.
func nestedNames(paths []path) []string {
	return topNames(slices.DeleteFunc(slices.Clone(paths), func(p path) bool { return len(p) == 1 }))
}

// topNames returns the top-level attributes of the paths, sorted, each once.
func topNames(paths []path) []string {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = p[0].name
	}
	slices.Sort(names)
	return slices.Compact(names)
}
