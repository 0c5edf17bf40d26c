// Package ready makes rows for package reconcile out of this library's own records and of bank statements. Each comparison is a
// pair of sources:
//
//	left                right             a break means
//	[Authorities]       [Postings]        a balance is not what its postings add up to
//	[Lines]             [CSV]             the books and an external statement differ
//	[Completed]         [Receipts]        an event is called published and the broker does not have it, or the reverse
//	[Sources]           [Checkpoints]     a projection is behind its sources, or ahead of them
//	[Names]             [Owners]          a name belongs to nobody, or an owner has a name that is not his
//
// A source reads nothing before it is ranged over, and what it is given may come from queries or from a table export.
package ready
