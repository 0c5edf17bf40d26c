package expr

import (
	"slices"

	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// edit gives a path a new value, or removes it if the value is zero.
type edit struct {
	target path
	value  value.Value
}

func (e edit) at() path { return e.target }

// editEntries applies sorted edits to the attributes of an item or the entries of a map, by their steps at the depth.
func editEntries(entries value.Item, edits []edit, depth int) (value.Item, error) {
	changes := make([]value.Attr, 0, len(edits))
	for group := range groups(edits, depth) {
		name := group[0].target[depth].name
		old, _ := entries.Get(name)
		v, err := editValue(old, group, depth+1)
		if err != nil {
			return value.Item{}, err
		}
		changes = append(changes, value.Attr{Name: name, Value: v})
	}
	return entries.Merge(changes...), nil
}

// editValue applies edits that all lead to one value, which is zero if there is none: then only an edit of the value itself
// can be applied.
func editValue(old value.Value, edits []edit, depth int) (value.Value, error) {
	if len(edits[0].target) == depth {
		return edits[0].value, nil
	}
	switch inList := edits[0].target[depth].isIndex; {
	case inList && old.Kind() == value.L:
		return editList(old, edits, depth)
	case !inList && old.Kind() == value.M:
		entries, err := editEntries(old.Entries(), edits, depth)
		return entries.Value(), err
	default:
		return value.Value{}, &Error{msgPathInvalid}
	}
}

// editList replaces and removes elements where they are, and appends what is set behind the end, in order of the indexes.
func editList(list value.Value, edits []edit, depth int) (value.Value, error) {
	elems := make([]value.Value, 0, list.Len()+len(edits))
	for _, e := range list.Elems() {
		elems = append(elems, e)
	}
	length := len(elems)
	for group := range groups(edits, depth) {
		index := group[0].target[depth].index
		var old value.Value
		if index < length {
			old = elems[index]
		}
		v, err := editValue(old, group, depth+1)
		if err != nil {
			return value.Value{}, err
		}
		if index < length {
			elems[index] = v
		} else {
			elems = append(elems, v)
		}
	}
	elems = slices.DeleteFunc(elems, value.Value.IsZero)
	return value.List(elems...), nil
}
