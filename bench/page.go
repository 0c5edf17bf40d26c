package main

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/dynafin/dynafin/internal/plot"
)

// Figures is everything that was measured.
type Figures struct {
	Machine  []string
	Commands []CommandFigure
	Relays   []RelayFigure
	Engines  []EngineFigure
	Amounts  []AmountFigure
}

// Fill writes the tables into the page.
func (f Figures) Fill(page string) (string, error) {
	var err error
	for _, part := range []struct {
		name  string
		words int
		table plot.Table
	}{{"machine", 1, f.machine()}, {"commands", 1, f.commands()}, {"relays", 0, f.relays()}, {"engines", 1, f.engines()}, {"amounts", 1, f.amounts()}} {
		if page, err = plot.Fill(page, part.name, part.words, part.table); err != nil {
			return "", err
		}
	}
	return page, nil
}

func (f Figures) machine() (t plot.Table) {
	t.Row("measured on")
	for _, line := range f.Machine {
		t.Row(line)
	}
	return t
}

func (f Figures) commands() (t plot.Table) {
	t.Row("way", "requests", "write units", "read units", "time", "allocations", "repeat: requests", "write units", "read units", "time", "balance after 100 with lost answers")
	for _, c := range f.Commands {
		allocations := "-"
		if c.Allocations >= 0 {
			allocations = plot.Thousands(c.Allocations)
		}
		t.Row(c.Name, fmt.Sprint(c.First.Requests), halves(c.First.Writes), halves(c.First.Reads), micros(c.First.Nanoseconds), allocations,
			fmt.Sprint(c.Repeat.Requests), halves(c.Repeat.Writes), halves(c.Repeat.Reads), micros(c.Repeat.Nanoseconds), fmt.Sprint(c.Balance))
	}
	return t
}

func (f Figures) relays() (t plot.Table) {
	t.Row("published before", "new", "relay: requests", "read units", "write units", "time", "poll: requests", "read units", "write units", "time")
	for _, r := range f.Relays {
		row := []string{plot.Thousands(r.History), fmt.Sprint(r.Round)}
		for _, c := range []RoundCost{r.Relay, r.Poll} {
			row = append(row, plot.Thousands(c.Requests), halves(c.Reads), halves(c.Writes), fmt.Sprintf("%d ms", c.Microseconds/1000))
		}
		t.Row(row...)
	}
	return t
}

func (f Figures) engines() (t plot.Table) {
	t.Row("engine", "callers", "single operations a second", "transactions of four a second")
	for _, e := range f.Engines {
		transactional := "has none"
		if e.Transactional > 0 {
			transactional = plot.Thousands(e.Transactional)
		}
		t.Row(e.Name, fmt.Sprint(e.Workers), plot.Thousands(e.Plain), transactional)
	}
	return t
}

func (f Figures) amounts() (t plot.Table) {
	t.Row(append([]string{"operation", "digits"}, libraries...)...)
	for _, a := range f.Amounts {
		row := []string{a.Operation, fmt.Sprint(a.Digits)}
		for i, took := range a.Picoseconds {
			if took < 0 {
				row = append(row, "-")
				continue
			}
			row = append(row, fmt.Sprintf("%s ns, %d", plot.Thousands(int(took+500)/1000), a.Allocations[i]))
		}
		t.Row(row...)
	}
	return t
}

// Chart shows what a round reads against what was published before it.
func (f Figures) Chart() plot.Chart {
	c := plot.Chart{Title: "Read units to find 100 new events", XTitle: "events published before", Floor: 1}
	relay, poll := plot.Curve{Name: "relay"}, plot.Curve{Name: "poll with filter"}
	for _, r := range f.Relays {
		c.X = append(c.X, r.History)
		relay.Y, poll.Y = append(relay.Y, r.Relay.Reads/2), append(poll.Y, r.Poll.Reads/2)
	}
	c.Curves = []plot.Curve{relay, poll}
	return c
}

func halves(units int) string { return plot.Thousands(units/2) + []string{"", ".5"}[units%2] }

func micros(nanoseconds int) string {
	return fmt.Sprintf("%s µs", plot.Thousands((nanoseconds+500)/1000))
}

// machine says what was measured on, and which versions.
func machine(node bool) []string {
	lines := []string{fmt.Sprintf("%s, %d processors, %s/%s", processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH), runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			for _, name := range []string{"bojanz/currency", "Rhymond/go-money", "govalues/money", "aws-sdk-go-v2/service/dynamodb"} {
				if strings.HasSuffix(m.Path, name) {
					lines = append(lines, name+" "+m.Version)
				}
			}
		}
	}
	if program, ok := dynoxideProgram(); ok {
		lines = append(lines, versionOf(program, "--version"))
	}
	if node {
		lines = append(lines, "Node.js "+versionOf("node", "--version"))
		lines = append(lines, packages()...)
	}
	return lines
}

// processor is the name that Linux has for it.
func processor() string {
	file, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "a processor"
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if name, value, _ := strings.Cut(lines.Text(), ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "a processor"
}

var pinned = regexp.MustCompile(`"(@?[a-z-]+(?:/[a-z-]+)?)": "(\d[\d.]*)"`)

// packages are those of package.json.
func packages() (lines []string) {
	text, err := os.ReadFile(sources + "/package.json")
	if err != nil {
		return nil
	}
	for _, m := range pinned.FindAllStringSubmatch(string(text), -1) {
		lines = append(lines, m[1]+" "+m[2])
	}
	return lines
}
