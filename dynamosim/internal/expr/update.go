package expr

import "github.com/dynafin/dynafin/dynamosim/internal/value"

// Update is a parsed update expression.
type Update struct{}

// ParseUpdate parses the text of an UpdateExpression.
func ParseUpdate(src string, subs *Subs) (*Update, error) { return nil, nil }

// Apply returns the item after the update. Every right-hand side reads the item as it was before. For an item that does
// not exist yet, give the item that holds just its key.
func (u *Update) Apply(item value.Item) (value.Item, error) { return item, nil }

// Names returns the top-level attributes the update writes or removes, sorted, each once.
func (u *Update) Names() []string { return nil }

// Updated returns the parts of an item that the update writes: for UPDATED_OLD give the item before, for UPDATED_NEW
// the item after.
func (u *Update) Updated(item value.Item) value.Item { return item }
