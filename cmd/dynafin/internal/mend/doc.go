// Package mend has the commands that change data: what each of them selects, builds and reads again. How it is planned, confirmed,
// throttled, audited and resumed is package change.
package mend
