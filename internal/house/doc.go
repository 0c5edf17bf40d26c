// Package house holds the tests that keep the whole tree in order; it has no code of its own.
//
// Each file is one rule book: a table of what is allowed, a check that takes plain data and returns findings, a
// test that runs the check over the checkout, and a test that feeds it bad input, so that a check which can no
// longer fail is itself a failure.
//
//	tree_test.go        reads the checkout once, for all of them
//	floors_test.go      who may import whom
//	links_test.go       what importing a package links, and the go line
//	tidy_test.go        sizes, words and calls that do not belong here
//	ambient_test.go     where the clock and chance may be read
//	exact_test.go       where no binary float may stand
//	godoc_test.go       package docs, doc comments, runnable examples
//	errors_test.go      every exported error has a stable code
//	errorspage_test.go  docs/errors.md is what the tables of codes say
//	markdown_test.go    fragments, links and commands in the documents hold true
//	quotes_test.go      other Go code in the documents is quoted from what is compiled
//	names_test.go       the tests and exported names that documents point to exist
//	programs_test.go    programs in the documents print what the documents say
//
// The rules are explained in docs/decisions. docs/errors.md is generated from the tables of internal/fault by
// go generate.
package house

//go:generate go test -count=1 -run ^TestErrorsPageIsCurrent$ . -update
