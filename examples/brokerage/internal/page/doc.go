// Package page writes the report of a brokerage day: one HTML document that stands alone. It has no script and asks no other
// host for anything; style and pictures are in it. It is legible in light and dark, wide and narrow, on paper, and to a screen
// reader, and the same [Data] give the same bytes.
//
// Parts of the page, in their order: the verdict; four tiles; what went wrong on purpose; one order step by step; money
// conserved; trial balance; events on their way; what requests got; reconciliation; capacity and cost; what is stored;
// invariants; how to run it again.
//
// The verdict follows from the invariants, the differences and the books, and from nothing that the caller says.
package page
