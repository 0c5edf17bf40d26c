// Package change is how every command of the tool changes data: with a plan first, a confirmation, a throttle, one audit item in
// the transaction of each change, and a run that can be broken off anywhere and gone on with.
//
// # A run
//
//	select    every item that the selection names, by keyed queries; nothing is cut off
//	plan      how many match, how many change, how many are skipped and why, and for how many write units
//	confirm   --yes, or the count typed on a terminal; a reason where more than one item changes
//	header    the run is written down: the command, the selection, who, why, and when it was planned
//	change    item by item: commit the change of what was planned with its audit item, and read again; what moved is skipped
//	end       the header gets what came out
//
// A dry run stops after the plan and prints every write that would be sent. It is no estimate: the items are copied into
// an embedded DynamoDB and the very transactions are committed there.
//
// # Interrupted
//
// The audit item of an item stands under the run and the item's ID, and is created in the transaction of the change on
// condition that it is absent. So a run acts at most once on an item, however often it is resumed and whatever answer was lost.
// A run that is resumed makes its selection again as of the time of its plan, and leaves out what it has done.
//
// One command changes more than a transaction can hold: recon run. Its batch has a restart of its own, and its audit item is written when the
// batch is COMPLETED.
//
// # Records
//
//	OPERATOR#RUNS#month / RUN#run   header: v, command, selection M, by, reason, plannedAt, planned, state OPEN or DONE,
//	                                and once it has ended endedAt, changed, skipped
//	OPERATOR#RUN#run / ITEM#item    audit: v, command, by, reason, at, before, item S; txnMark S
//
// The ID of a run begins with its time, so that runs of a month are listed in the order in which they were planned. Nothing is
// ever deleted and nothing has a time to live.
//
// # Cost
//
//	audit item   2 write units a change, beside those of the change
//	header       2 write units a run
//	plan         that of the selection, and the strong read of up to 25 items that are rehearsed
//	change       one strong read after it
package change
