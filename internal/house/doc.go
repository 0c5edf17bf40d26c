// Package house holds the tests that keep the whole tree in order; it has no code of its own.
//
// Each file is one rule book: a table of what is allowed, a check that takes plain data and returns findings, a
// test that runs the check over the checkout, and a test that feeds it bad input, so that a check which can no
// longer fail is itself a failure.
//
//	floors_test.go    who may import whom
//	links_test.go     what importing a package links, and the go line
//	tidy_test.go      sizes, words and calls that do not belong here
//	ambient_test.go   where the clock and chance may be read
//	exact_test.go     where no binary float may stand
//	godoc_test.go     package docs, doc comments, runnable examples
//	errors_test.go    every exported error has a stable code and a line in docs/errors.md
//	errorspage_test.go
//	                  docs/errors.md is what the tables of codes say
//	markdown_test.go  programs and commands in the documents run as printed
//
// The rules are explained in docs/decisions. docs/errors.md is generated from the tables of internal/fault:
package house

//go:generate go test -count=1 -run ^TestErrorsPageIsCurrent$ . -update
