package house

import (
	"github.com/dynafin/dynafin/reconcile"
	"github.com/dynafin/dynafin/reconcile/ready"
)

func reconcileErrors() []errorCase {
	const batch, row = "cash-1", "pay-7"
	return []errorCase{
		{&reconcile.InvalidError{Field: "Window.Cutoff", Reason: "is missing"}, reconcile.ErrInvalid, []string{"Window.Cutoff", "missing"}},
		{&reconcile.SourceError{Side: reconcile.Left, ID: row, Reason: "has no key", Err: errBelow}, reconcile.ErrSource, []string{"left", row, "no key"}},
		{&reconcile.ControlError{Batch: batch, Side: reconcile.Right, Total: "rows", Got: reconcile.Totals{Rows: 3}, Since: "the manifest"}, reconcile.ErrControl,
			[]string{batch, "right", "rows", "manifest"}},
		{&reconcile.ExistsError{Tenant: "acme", Date: "2026-11-29", Batch: batch}, reconcile.ErrExists, []string{"acme", "2026-11-29", batch}},
		{&reconcile.StateError{Batch: batch, Break: "b-1", State: "RESOLVED", Version: 4, Read: 3}, reconcile.ErrState, []string{batch, "b-1", "RESOLVED", "4", "3"}},
		{&reconcile.NotFoundError{Batch: batch, Break: "b-1"}, reconcile.ErrNotFound, []string{batch, "b-1"}},
		{&reconcile.RecordError{PK: "TEN#acme#RECON#cash-1", SK: "BREAK#b-1", Attribute: "due"}, reconcile.ErrCorrupt, []string{"cash-1", "b-1", "due"}},
		{reconcile.ErrTemporary, reconcile.ErrTemporary, nil},
		{reconcile.ErrRead, reconcile.ErrRead, nil},
		{reconcile.ErrWrite, reconcile.ErrWrite, nil},
		{&ready.CSVError{Line: 3, Column: "Amount", Reason: "is no plain decimal", Err: errBelow}, ready.ErrCSV, []string{"line 3", "Amount", "no plain decimal"}},
	}
}
