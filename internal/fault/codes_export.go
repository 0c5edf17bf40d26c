package fault

// Codes of package export.
var (
	ExportInvalid = Code{"DFN-1601", "export.ErrInvalid",
		"A configuration or a call breaks a rule that is checked before anything is read: a limit, a path, a position of another export.",
		"Fix the field that the error names.", RetryNever}
	ExportFormat = Code{"DFN-1602", "export.ErrFormat",
		"The export is of a version or a form that this version of the library does not read, Ion for example; nothing was given.",
		"Export in DYNAMODB_JSON, or use a newer version of this library.", RetryNever}
	ExportManifest = Code{"DFN-1603", "export.ErrManifest",
		"A manifest has the right checksum and cannot be read all the same; nothing was given.",
		"Look at the file and line that the error names, and make the export again.", RetryNever}
	ExportMissing = Code{"DFN-1604", "export.ErrMissing",
		"A file that belongs to the export is not there; nothing was given.",
		"Copy the export again, whole; one without manifests has not ended, or has failed.", RetryNever}
	ExportChecksum = Code{"DFN-1605", "export.ErrChecksum",
		"A file is not the one that was exported: cut, changed, or another one.",
		"Copy the file that the error names again; if it differs in the bucket too, make the export again.", RetryNever}
	ExportDamaged = Code{"DFN-1606", "export.ErrDamaged",
		"A compressed file ends early, or is not what gzip makes, though its checksum may be right.",
		"Copy the file that the error names again, or make the export again.", RetryNever}
	ExportLine = Code{"DFN-1607", "export.ErrLine",
		"A line of a data file is not an item in DynamoDB's JSON.",
		"Look at the file, line and byte that the error names; the export was not made by DynamoDB, or its form is newer.", RetryNever}
	ExportCount = Code{"DFN-1608", "export.ErrCount",
		"A file, or all files together, have more or fewer items than the manifest says.",
		"Make the export again.", RetryNever}
	ExportRead = Code{"DFN-1609", "export.ErrRead",
		"The file system that holds the export failed.",
		"Look at its error inside; reading again is harmless.", RetrySafe}
	ExportLimit = Code{"DFN-1610", "export.ErrLimit",
		"More items were written within the margin of the boundary than may be kept in memory.",
		"Raise MaxTorn, or lower Margin.", RetryNever}
	ExportScan = Code{"DFN-1611", "export.ErrScan",
		"A page of a table could not be read; what was handled before is written down.",
		"Look at the AWS error inside; a run of the same name goes on where this one was.", RetrySafe}
	ExportCheckpoint = Code{"DFN-1612", "export.ErrCheckpoint",
		"A record of a Scan's run could not be read or written, or the answer was lost; the page before it was handled.",
		"Run again under the same name: a page that was handled may be given once more, none is left out.", RetrySafe}
	ExportRun = Code{"DFN-1613", "export.ErrRun",
		"The run of a Scan was started with other parameters, was not started, or another runner has taken it over.",
		"Leave it to the other runner, and run again if that one has ended, too; with other parameters use another name.", RetryNever}
	ExportRecord = Code{"DFN-1614", "export.ErrRecord",
		"A record of a Scan's run cannot be read: another program wrote it, or a newer version of this library.",
		"Inspect the item that the error names; use another name to begin anew.", RetryNever}
)

// Export lists the codes of package export.
var Export = []Code{ExportInvalid, ExportFormat, ExportManifest, ExportMissing, ExportChecksum, ExportDamaged, ExportLine, ExportCount,
	ExportRead, ExportLimit, ExportScan, ExportCheckpoint, ExportRun, ExportRecord}
