package fanout

import "github.com/dynafin/dynafin/internal/fault"

// The kinds of failure. Compare with errors.Is; the types below carry the facts.
var (
	// ErrInvalid: a query or a Config broke a rule that is checked before anything is sent. See [InvalidError].
	ErrInvalid error = fault.New(fault.FanoutInvalid, "fanout: invalid query")
	// ErrCursor: the cursor does not continue this query. See [CursorError].
	ErrCursor error = fault.New(fault.FanoutCursor, "fanout: cursor refused")
	// ErrRead: a branch could not be read. See [ReadError].
	ErrRead error = fault.New(fault.FanoutRead, "fanout: read failed")
	// ErrItem: an item of a branch cannot be merged. See [ItemError].
	ErrItem error = fault.New(fault.FanoutItem, "fanout: item cannot be merged")
)

// InvalidError says which field of a [Query], of a [Config] or of a call breaks which rule. Nothing was read.
type InvalidError struct {
	// Query is the name of the query; empty for a Config.
	Query string
	// Field is the field of Query or Config, or the argument.
	Field string
	// Reason says what is wrong with it.
	Reason string
}

func (e *InvalidError) Error() string {
	return fault.FanoutInvalid.Text("fanout: query %.128q: %s %s", e.Query, e.Field, e.Reason)
}

// Unwrap returns ErrInvalid.
func (e *InvalidError) Unwrap() error { return ErrInvalid }

// CursorReason says why a cursor was refused.
type CursorReason string

// The reasons, in the order in which they are looked for.
const (
	// Malformed: it is not text that this package writes.
	Malformed CursorReason = "is not a cursor"
	// Edited: it was changed, cut, or signed with no secret that the Config has.
	Edited CursorReason = "was changed, or was signed with another secret"
	// OtherTenant: it belongs to another tenant.
	OtherTenant CursorReason = "belongs to another tenant"
	// OtherQuery: it belongs to a query of another name.
	OtherQuery CursorReason = "belongs to another query"
	// OtherVersion: it belongs to another version of the query.
	OtherVersion CursorReason = "belongs to another version of the query"
	// OtherShape: it belongs to a query of this name and version that read another table, index, range or direction, or
	// other branches.
	OtherShape CursorReason = "belongs to the query with other branches, bounds or direction"
)

// CursorError says why a cursor does not continue a query. Nothing was read. The cursor is not repeated in the message.
type CursorError struct {
	// Query and Tenant are those of the query that was to be continued.
	Query, Tenant string
	// Reason says what is wrong with the cursor.
	Reason CursorReason
}

func (e *CursorError) Error() string {
	return fault.FanoutCursor.Text("fanout: query %q of tenant %q: the cursor %s", e.Query, e.Tenant, e.Reason)
}

// Unwrap returns ErrCursor.
func (e *CursorError) Unwrap() error { return ErrCursor }

// ReadError names the branch that could not be read. If several failed it is the first of them in the order of the query.
type ReadError struct {
	// Query and Tenant are those of the query.
	Query, Tenant string
	// Branch is the branch's name.
	Branch string
	// Err is the error of the AWS client.
	Err error
}

func (e *ReadError) Error() string {
	return fault.FanoutRead.Text("fanout: query %q of tenant %q: branch %q: %v", e.Query, e.Tenant, e.Branch, e.Err)
}

// Unwrap returns ErrRead and the error of the AWS client.
func (e *ReadError) Unwrap() []error { return []error{ErrRead, e.Err} }

// ItemError names the branch with an item that cannot be merged.
type ItemError struct {
	// Query and Tenant are those of the query.
	Query, Tenant string
	// Branch is the branch's name.
	Branch string
	// Reason says what is wrong with the item.
	Reason string
	// Err is the error of the caller's Order or Identity, or nil.
	Err error
}

func (e *ItemError) Error() string {
	return fault.FanoutItem.Text("fanout: query %q of tenant %q: branch %q: an item %s", e.Query, e.Tenant, e.Branch, e.Reason)
}

// Unwrap returns ErrItem and the caller's own error.
func (e *ItemError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrItem}
	}
	return []error{ErrItem, e.Err}
}
