// Package export reads every item of a table, for what needs all of them: the rebuild of a projection, a reconciliation, an
// audit. It reads DynamoDB's own point-in-time exports, full and incremental, from any [fs.FS], and gives nothing of one
// that is cut, changed, incomplete or malformed anywhere.
//
//	e, err := export.Open(os.DirFS("bucket"), "ledger/AWSDynamoDB/01795961880000-0bc40761", export.Config{})
//	for r, err := range e.Records(ctx, export.Position{}) {
//		// r.New is the item, r.At where it was read
//	}
//
// # Layout
//
// An export is what DynamoDB writes to S3. Data files of an incremental export lie with those of all others of its prefix, so
// they are never listed: the manifest names them.
//
//	prefix/AWSDynamoDB/ID/manifest-summary.json   what it is: version, table, times, count of items, form
//	                      manifest-summary.md5    its MD5 in base64; documents call it .checksum, both are read
//	                      manifest-files.json     a line for each data file: key, count of items, MD5
//	                      manifest-files.md5
//	                      data/NAME.json.gz       full: {"Item":{...}} in each line
//	prefix/AWSDynamoDB/data/NAME.json.gz          incremental: {"Metadata":...,"Keys":...,"OldImage":...,"NewImage":...}
//
// A key that a manifest names is looked for as it is, below the prefix, and beside the manifest. The summary's version must be
// 2020-06-30 for a full export and 2023-08-01 for an incremental one, and its form DYNAMODB_JSON; Ion is refused.
//
// # What is verified, and when
//
// [Open] holds the manifests against their checksums, the files' counts against the total, and looks whether every file is there.
// Then, before the first record is given, everything is read once ([Export.Verify]): each file must have its checksum, unpack to
// its end, and have as many lines as its manifest says, each of them an item, name by name and value by value. Nothing is kept of
// that pass, and a line that is only checked costs no memory. A file that changes afterwards is found when it is read again, after records
// before it were given. [Config.Trusted] leaves the first pass out.
//
//	missing file             MissingError     file               nothing is given
//	cut, changed, replaced   ChecksumError    file, and the line from which on it cannot be read
//	not gzip, made short     DamagedError     file, line
//	not an item              LineError        file, line, byte
//	too many, too few        CountError       file, both counts
//	unknown version or form  FormatError      file, field
//
// # Order
//
// DynamoDB puts an export in no order. [Export.Records] gives it in the order of the manifest and of the lines, the same for every run and
// any number of workers, so a [Position] is where a later run goes on. [Export.ForEach] calls concurrently, once for each file at a
// time, and is faster.
//
// # Without an export
//
// [Scan] reads the table itself: offline, for an emergency, never for what serves a request. It is throttled to
// [ScanConfig.UnitsPerSecond] and gives way to a table that is short of capacity. A run with a name can be broken off anywhere and goes on under that name:
//
//	Scan a page ──► give it ──► write down the position, if the segment is where it was ──► the next page
//	      ▲                                      │
//	      └──── a crash: the page is given again ┘
//
// No position is ahead of what was handled, so nothing is left out; what was handled and not written down is given again, at most
// a page of each segment.
//
//	SCAN#name / RUN             v N, format version 1; table S, segments N, startedAt S
//	SCAN#name / SEGMENT#number  v N; state S, READING or DONE; position M, the key behind which to go on; revision N, which rises
//	                            with each page; items N, handled so far; owner S, updatedAt S
//
// Unlike an export a Scan sees no one moment. Whoever needs one catches up with everything that changed since [ScanRun].StartedAt.
//
// # Sources
//
// [Export.Records], [Scan.Records] and any other iter.Seq2[Record, error] are interchangeable. [Map] makes of them what others read:
//
//	export.Map(records, event)                     the events of package projection; its runbook takes an Export whole
//	book.VerifyAll(export.Items(records), nil)     every balance of a ledger, proved without reading its table
//	export.Map(records, line)                      lines, balances, rows for package reconcile
//
// # Boundaries
//
// A transaction reaches an export item by item. An export that was made at that moment may have some of its items and not the others:
// books that do not balance there are no proof of a fault. [Export.Torn] finds those transactions, by the marks that package txn
// leaves on items and by the export that follows; [Manifest.AtBoundary] tells what is too close to tell.
//
// An incremental export is no log: of an item that changed three times in the window it has the first state and the last.
//
// # Memory and speed
//
// Reading keeps a few hundred KiB for each worker, and about 300 bytes for each data file. Numbers stay text, exact as they were
// exported. A line is decoded by a decoder of its own, which is fuzzed against encoding/json and accepts less: no name twice in an object, no
// text that is not UTF-8, no value of more than [MaxDepth] levels.
//
// # Limits
//
// A line has at most [MaxLineBytes]; manifest-files.json at most [Config.MaxManifestBytes].
//
// # What it does not do
//
// It starts no export and speaks to no S3: mount, copy, or wrap the bucket in an fs.FS. It cannot know that an export was made with a filter;
// DescribeExport does. It does not put incremental exports together.
package export
