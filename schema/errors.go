package schema

import "github.com/dynafin/dynafin/internal/fault"

var (
	// ErrInvalid is the kind of a table, deployment or role that cannot be turned into anything. Every error of it is an
	// *InvalidError.
	ErrInvalid error = fault.New(fault.SchemaInvalid, "schema: invalid schema")
	// ErrRead is the kind of a description that could not be read.
	ErrRead error = errRead
	// ErrEnsure is the kind of a table that could not be made.
	ErrEnsure error = errEnsure
	// ErrRegion is the kind of a request that was not sent because it would go to another Region than home. Every error of it
	// is a *RegionError.
	ErrRegion error = fault.New(fault.SchemaRegion, "schema: not the home Region")

	errRead   = fault.New(fault.SchemaRead, "schema: not read")
	errEnsure = fault.New(fault.SchemaEnsure, "schema: not made")
)

// InvalidError says what is wrong with a table, a deployment or a role.
type InvalidError struct {
	// Table is the table's name, "" for the deployment as a whole.
	Table string
	// Field is what is wrong, Reason why.
	Field, Reason string
}

func (e *InvalidError) Error() string {
	where := e.Field
	if e.Table != "" {
		where = "table " + e.Table + ": " + e.Field
	}
	return fault.SchemaInvalid.Text("schema: %s %s", where, e.Reason)
}

// Unwrap returns ErrInvalid.
func (e *InvalidError) Unwrap() error { return ErrInvalid }

// RegionError says which request was held back by [HomeRegion].
type RegionError struct {
	// Operation is the request, for example "TransactWriteItems".
	Operation string
	// Home is where it may go, Region where it would have gone.
	Home, Region string
}

func (e *RegionError) Error() string {
	return fault.SchemaRegion.Text("schema: %s is meant for Region %q, the home Region is %q", e.Operation, e.Region, e.Home)
}

// Unwrap returns ErrRegion.
func (e *RegionError) Unwrap() error { return ErrRegion }
