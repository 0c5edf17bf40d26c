// Package planted holds handlers that are wrong on purpose, each beside its correct twin, and the test that the harness
// finds every one of them and accepts every twin. Each is a mistake that public reports describe; what this library
// promises instead has the same label in its tests. The mistakes of a ledger are made in package ledger itself, by taking
// one thing out of its requests: so they are found by the very checks that guard it.
//
// There is no code outside the tests. docs/planted-bugs.md is generated from them.
package planted

//go:generate go test -count=1 -run ^TestThePageIsCurrent$ . -update
