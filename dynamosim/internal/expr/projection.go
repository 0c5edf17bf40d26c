package expr

import "github.com/dynafin/dynafin/dynamosim/internal/value"

// Projection is a parsed projection expression.
type Projection struct{}

// ParseProjection parses the text of a ProjectionExpression.
func ParseProjection(src string, subs *Subs) (*Projection, error) { return nil, nil }

// Apply returns the parts of the item that the projection names. Paths that are not in the item are left out.
func (p *Projection) Apply(item value.Item) value.Item { return item }

// Names returns the top-level attributes the projection reads, sorted, each once.
func (p *Projection) Names() []string { return nil }
