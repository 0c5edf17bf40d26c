package expr

import (
	"slices"

	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// Projection is a parsed projection expression.
type Projection struct {
	paths []path // sorted, none inside another
}

// ParseProjection parses the text of a ProjectionExpression: paths with commas between them.
func ParseProjection(src string, subs *Subs) (*Projection, error) {
	p, err := newParser(ProjectionExpression, src, subs)
	if err != nil {
		return nil, err
	}
	for {
		if _, err := p.path(); err != nil {
			return nil, err
		}
		if !p.accept(',') {
			break
		}
	}
	p.checkDisjoint(p.paths)
	if err := p.done(); err != nil {
		return nil, err
	}
	return newProjection(p.paths), nil
}

func newProjection(paths []path) *Projection {
	sorted := slices.Clone(paths)
	slices.SortFunc(sorted, comparePaths)
	return &Projection{sorted}
}

// Apply returns the parts of the item that the projection names. Paths that are not in the item are left out; elements of
// a list move together, in the order they have there.
func (p *Projection) Apply(item value.Item) value.Item {
	return pickEntries(item, p.paths, 0)
}

// Names returns the top-level attributes the projection reads, sorted, each once.
func (p *Projection) Names() []string { return topNames(p.paths) }

// Nested returns those of Names that the projection reaches into, which is refused where they are keys.
func (p *Projection) Nested() []string { return nestedNames(p.paths) }

// pickEntries takes the entries that paths name in their step at the given depth.
func pickEntries(entries value.Item, paths []path, depth int) value.Item {
	var picked []value.Attr
	for group := range groups(paths, depth) {
		name := group[0][depth].name
		if v, ok := entries.Get(name); ok {
			if v, ok = pick(v, group, depth+1); ok {
				picked = append(picked, value.Attr{Name: name, Value: v})
			}
		}
	}
	return value.NewItem(picked...)
}

// pick takes from a value what the paths, which all lead to it, name in it.
func pick(v value.Value, paths []path, depth int) (value.Value, bool) {
	if len(paths[0]) == depth {
		return v, true
	}
	switch v.Kind() {
	case value.M:
		picked := pickEntries(v.Entries(), paths, depth)
		return picked.Value(), !picked.IsEmpty()
	case value.L:
		var picked []value.Value
		for group := range groups(paths, depth) {
			s := group[0][depth]
			if elem, ok := v.Index(s.index); ok && s.isIndex {
				if elem, ok = pick(elem, group, depth+1); ok {
					picked = append(picked, elem)
				}
			}
		}
		return value.List(picked...), len(picked) > 0
	default:
		return value.Value{}, false
	}
}
