// Package lanes has the lanes of the reference as load tests: the same sizes, rates from its plan, and the primitives that
// serve them. docs/load-tests.md shows what they hold.
package lanes
