package invariant

import (
	"slices"

	"github.com/dynafin/dynafin/dynamosim"
)

// trouble is what befalls a request: a fate, and possibly the end of its worker. A crash with LoseRequest is one before
// sending, with Deliver one before the answer arrives, with LateCommit one whose request is still on its way.
type trouble struct {
	fate  dynamosim.Fate
	crash bool
	delay bool // nothing is released: time passes
}

func (k trouble) String() string {
	switch {
	case k.delay:
		return "delayed"
	case !k.crash:
		return k.fate.String()
	case k.fate == dynamosim.LoseRequest:
		return "crash before sending"
	case k.fate == dynamosim.Deliver:
		return "crash after commit"
	default:
		return "crash, request on its way"
	}
}

// troubles lists what may befall a request under a configuration; delivery is not in it. What leaves a client in doubt is
// in it more than once: such faults break most, and only a write can meet them.
func (w *World) troubles(p *dynamosim.Pending) []trouble {
	if p.Late {
		return []trouble{{fate: dynamosim.LoseRequest}}
	}
	var doubtful, common []trouble
	for _, fate := range w.config.Fates {
		switch {
		case !p.Takes(fate):
		case fate == dynamosim.LoseAnswer, fate == dynamosim.LateCommit:
			doubtful = append(doubtful, trouble{fate: fate})
		default:
			common = append(common, trouble{fate: fate})
		}
	}
	if w.crashes < w.config.Crashes {
		doubtful = append(doubtful, crashes(p)...)
	}
	if p.Writes() {
		doubtful = slices.Concat(doubtful, doubtful, doubtful)
	}
	return append(append(doubtful, common...), trouble{delay: true})
}

// crashes lists the ways to die at a request.
func crashes(p *dynamosim.Pending) []trouble {
	all := []trouble{{fate: dynamosim.LoseRequest, crash: true}}
	if p.Writes() {
		all = append(all, trouble{fate: dynamosim.Deliver, crash: true}, trouble{fate: dynamosim.LateCommit, crash: true})
	}
	return all
}

// counters count, over many histories, what happened and what could have.
type counters struct {
	happened map[string]int
	possible map[string]bool
}

func newCounters() *counters {
	return &counters{happened: map[string]int{}, possible: map[string]bool{}}
}

// sometimes notes that something could happen, and whether it did.
func (c *counters) sometimes(name string, happened bool) {
	c.possible[name] = true
	if happened {
		c.happened[name]++
	}
}

func (c *counters) add(other *counters) {
	for name := range other.possible {
		c.possible[name] = true
	}
	for name, n := range other.happened {
		c.happened[name] += n
	}
}

// never lists what could have happened and never did.
func (c *counters) never() []string {
	var names []string
	for name := range c.possible {
		if c.happened[name] == 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
