.PHONY: help test race lint fuzz soak mutants bench generate ci plots brokerage
.DEFAULT_GOAL := help

FUZZTIME ?= 30s

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: ## run all tests
	go test ./...

race: ## run all tests in random order with the race detector
	go test -race -shuffle=on ./...

endpoint: ## run the tests of the store at another engine (needs cargo)
	.ci/endpoint

lint: ## check formatting, go vet, staticcheck
	.ci/lint

fuzz: ## run every fuzz target for FUZZTIME (30s)
	.ci/fuzz $(FUZZTIME)

soak: ## run ten thousand histories of each property of the harness, all faults on (hours)
	go test ./invariant -count=1 -timeout 12h -rapid.checks=10000

mutants: ## make known mistakes in the ledger's code, one by one, and see that its tests find each
	go test ./ledger -run EveryMutantIsFound -count=1 -timeout 30m -mutants

bench: ## run the benchmarks; compare ratios within one run
	go test -run '^$$' -bench . -benchmem ./...

bench-docs: ## measure the library beside what people use instead and write docs/bench.md anew (minutes, on a quiet machine)
	go -C bench run .

generate: ## rewrite the generated files
	go generate ./...

ci: ## everything that a change must pass
	.ci/run

plots: ## measure what the docs plot, in virtual time, and write tables and pictures anew
	go test ./ledger -run ThroughputPageIsCurrent -count=1 -plots
	go test ./loadtest/internal/lanes -run LoadTestsPageIsCurrent -count=1 -timeout 30m -plots

brokerage: ## accept the sample day of orders on the embedded engine
	go run ./examples/brokerage
