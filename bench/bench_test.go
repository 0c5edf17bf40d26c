package main

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

// The page shows the figures that are kept, and nothing else.
func TestBenchPageIsCurrent(t *testing.T) {
	t.Parallel()
	figures, page := kept(t), string(read(t, pageFile))
	filled, err := figures.Fill(page)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{pageFile: []byte(filled), pictureFile: figures.Chart().SVG()} {
		if !bytes.Equal(read(t, name), want) {
			t.Errorf("%s does not show %s; run: make bench-docs", name, figuresFile)
		}
	}
}

// What is exact comes out the same in a short run, without anything that is not written in Go: requests, units, and what
// became of the balance.
func TestExactFiguresComeOutTheSame(t *testing.T) {
	again, err := measureAllCommands(t.Context(), quick, false)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range kept(t).Commands[:len(again)] {
		f.First.Nanoseconds, f.Repeat.Nanoseconds, f.Allocations = 0, 0, 0
		now := again[i]
		now.First.Nanoseconds, now.Repeat.Nanoseconds, now.Allocations = 0, 0, 0
		if f != now {
			t.Errorf("%+v, kept is %+v", now, f)
		}
	}
	if ours, hand := again[0].Allocations, again[1].Allocations; ours > hand+hand/4 {
		t.Errorf("Once makes %d allocations, the same transaction by hand %d: more than a quarter above", ours, hand)
	}
	first := quick.histories[0]
	r, err := measureRelays(t.Context(), first, quick.round, 1)
	if err != nil || r.Relay.Writes == 0 || r.Poll.Writes != 2*2*quick.round || r.Poll.Reads <= r.Relay.Reads {
		t.Errorf("%+v, %v", r, err)
	}
}

// The mixes run on the simulator; the other engines take part where they are installed, in make bench-docs.
func TestMixesRun(t *testing.T) {
	t.Parallel()
	m, err := newMeter()
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	e := engine{"dynamosim", m.client(), true, nil}
	if _, err := e.client.CreateTable(t.Context(), keyed("Mix")); err != nil {
		t.Fatal(err)
	}
	for _, mix := range []func() (int, error){
		func() (int, error) { return e.rate(t.Context(), "p", 2, 2, e.plain) },
		func() (int, error) { return e.rate(t.Context(), "t", 2, 2, e.transact) },
	} {
		if n, err := mix(); n == 0 || err != nil {
			t.Errorf("%d a second, %v", n, err)
		}
	}
}

// Every operation that a library takes part in works on its input.
func TestOperationsWork(t *testing.T) {
	t.Parallel()
	all, err := operations()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		for i, do := range o.do {
			if do == nil {
				continue
			}
			if err := do(); err != nil {
				t.Errorf("%s of %d digits in %s: %v", o.name, o.digits, libraries[i], err)
			}
		}
	}
}

func kept(t *testing.T) (f Figures) {
	t.Helper()
	if err := json.Unmarshal(read(t, figuresFile), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
