package main

import (
	"fmt"
	"io"
	"os"
	"sync"
)

// console is what people see while the import runs: complaints and, on a terminal only, one line of progress that is
// rewritten in place.
type console struct {
	mu    sync.Mutex
	w     io.Writer
	live  bool // w is a terminal
	shown bool // a progress line stands there
}

func newConsole(w io.Writer) *console {
	c := &console{w: w}
	if file, ok := w.(*os.File); ok {
		info, err := file.Stat()
		c.live = err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
	}
	return c
}

// say prints a line of its own.
func (c *console) say(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wipe()
	fmt.Fprintf(c.w, format+"\n", args...)
}

// progress replaces the line of progress.
func (c *console) progress(format string, args ...any) {
	if !c.live {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wipe()
	fmt.Fprintf(c.w, format, args...)
	c.shown = true
}

func (c *console) wipe() {
	if c.shown {
		fmt.Fprint(c.w, "\r\x1b[K")
		c.shown = false
	}
}
