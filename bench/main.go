// Command bench measures this library beside what people use instead, in one run, and writes docs/bench.md:
//
//	go -C bench run .
//
// Commands and outboxes run on the simulator, so that requests and units are counted in one way, whoever sends them; they and
// allocations are exact, and the same on every machine. Times are not: the sides of a comparison are taken in turns. What needs
// Node.js or the engine of the crate dynoxide-rs is measured where these are installed.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"testing"
	"time"
)

const (
	figuresFile = "testdata/figures.json"
	pageFile    = "../docs/bench.md"
	pictureFile = "../docs/bench.svg"
)

// size says how long to measure.
type size struct {
	commands, turns, rounds, round int
	histories                      []int
	span                           time.Duration
}

var (
	full  = size{commands: 2000, turns: 3, rounds: 150, round: 100, histories: []int{100, 400, 1600, 6400}, span: 20 * time.Millisecond}
	quick = size{commands: 20, turns: 1, rounds: 2, round: 10, histories: []int{50, 100}, span: time.Millisecond}
)

func main() {
	testing.Init() // defines the flag that sets how long a benchmark runs
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	figures, err := measure(ctx, full, hasNode(ctx))
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(figures, "", "  ")
	if err != nil {
		return err
	}
	page, err := os.ReadFile(pageFile)
	if err != nil {
		return err
	}
	filled, err := figures.Fill(string(page))
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(figuresFile, append(text, '\n'), 0o644), os.WriteFile(pageFile, []byte(filled), 0o644),
		os.WriteFile(pictureFile, figures.Chart().SVG(), 0o644))
}

// measure measures everything; what needs Node.js only if there is one.
func measure(ctx context.Context, s size, node bool) (f Figures, err error) {
	f.Machine = machine(node)
	if f.Commands, err = measureAllCommands(ctx, s, node); err != nil {
		return f, err
	}
	for _, history := range s.histories {
		one, err := measureRelays(ctx, history, s.round, s.turns)
		if err != nil {
			return f, err
		}
		f.Relays = append(f.Relays, one)
	}
	if f.Engines, err = measureEngines(ctx, s.turns, s.rounds); err != nil {
		return f, err
	}
	f.Amounts, err = measureAmounts(s.turns, s.span)
	return f, err
}
