package expr

import (
	"slices"

	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// maxItemBytes is the largest item. Update gives up as soon as what it writes is more, because a short expression can
// write a large value many times over; the size of the whole item is for the engine to check.
const maxItemBytes = 409600

// Update is a parsed update expression.
type Update struct {
	actions []action // sorted by target
	targets *Projection
}

// verb is the section of an action.
type verb uint8

const (
	verbSet verb = iota
	verbRemove
	verbAdd
	verbDelete
	verbs
)

var verbNames = [verbs]string{"SET", "REMOVE", "ADD", "DELETE"}

// action is one change: SET target = source, REMOVE target, ADD target source, DELETE target source.
type action struct {
	verb   verb
	target path
	source source // nil for REMOVE
}

func (a action) at() path { return a.target }

// ParseUpdate parses the text of an UpdateExpression.
func ParseUpdate(src string, subs *Subs) (*Update, error) {
	p, err := newParser(UpdateExpression, src, subs)
	if err != nil {
		return nil, err
	}
	actions, err := p.update()
	if err != nil {
		return nil, err
	}
	targets := make([]path, len(actions))
	for i, a := range actions {
		targets[i] = a.target
	}
	p.checkDisjoint(targets)
	if err := p.done(); err != nil {
		return nil, err
	}
	slices.SortFunc(actions, func(a, b action) int { return comparePaths(a.target, b.target) })
	return &Update{actions, newProjection(targets)}, nil
}

// Apply returns the item after the update. Every source reads the item as it was before, and list indexes mean the elements
// as they were. The error is an *Error; the item is never half updated.
func (u *Update) Apply(item value.Item) (value.Item, error) { return u.apply(item, true) }

// Create returns the item that the update makes of a bare key where no item exists. Apart from Apply it differs in one
// thing, as the service does: REMOVE or DELETE of a path into an attribute that is not there is not an error.
func (u *Update) Create(key value.Item) (value.Item, error) { return u.apply(key, false) }

// Names returns the top-level attributes the update writes or removes, sorted, each once.
func (u *Update) Names() []string { return u.targets.Names() }

// Updated returns the parts of an item that the update writes: for UPDATED_OLD give the item before, for UPDATED_NEW
// the item after.
func (u *Update) Updated(item value.Item) value.Item { return u.targets.Apply(item) }

func (u *Update) apply(item value.Item, exists bool) (value.Item, error) {
	edits := make([]edit, 0, len(u.actions))
	written := 0
	for _, a := range u.actions {
		if a.takesAway() && !exists && len(a.target) > 1 && !item.Has(a.target[0].name) {
			continue
		}
		e, err := a.edit(item)
		if err != nil {
			return value.Item{}, err
		}
		edits = append(edits, e)
		if written += e.value.Size(); written > maxItemBytes {
			return value.Item{}, &Error{msgItemSize}
		}
	}
	return editEntries(item, edits, 0)
}

// takesAway reports whether the action can only remove. Where nothing is, that changes nothing, but its path must lead
// there all the same.
func (a action) takesAway() bool { return a.verb == verbRemove || a.verb == verbDelete }

// edit works out what the action does to the item.
func (a action) edit(item value.Item) (edit, error) {
	e := edit{target: a.target}
	if a.verb == verbRemove {
		return e, nil
	}
	v, err := a.source.from(item)
	if err != nil {
		return edit{}, err
	}
	if a.verb == verbSet {
		e.value = v
		return e, checkDepth(e)
	}
	old, exists := a.target.resolve(item)
	switch {
	case !exists && a.verb == verbDelete:
		return e, nil
	case !exists:
		e.value = v
		return e, checkDepth(e)
	case a.verb == verbAdd && v.Kind() == value.N:
		e.value, err = sum(old, v, false)
		return e, err
	}
	combine := value.Union
	if a.verb == verbDelete {
		combine = value.Difference
	}
	rest, ok := combine(old, v)
	if !ok {
		return edit{}, &Error{msgWrongType}
	}
	e.value = rest // a set that has nothing left is removed
	return e, nil
}

func checkDepth(e edit) error {
	if len(e.target)-1+e.value.Depth() > value.MaxDepth {
		return &Error{msgNesting}
	}
	return nil
}
