// Package throughput keeps the figures of docs/ledger-throughput.md: what was measured, as text; and how the page shows
// it, as tables and as a picture. The same figures always make the same bytes.
package throughput
