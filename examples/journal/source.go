package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
)

// source is a file to import. It is read twice: what comes from a pipe is kept in a temporary file.
type source struct {
	name   string
	size   int64
	open   func() (io.ReadCloser, error)
	remove func()

	sorted bool             // by date; the survey finds out
	marks  map[string]marks // of each commodity; the survey finds them
	read   atomic.Int64     // bytes of the current reading
}

// openSources returns the files that are named, "-" for standard input, or the sample that is built in.
func openSources(names []string, stdin io.Reader) (files []*source, err error) {
	if len(names) == 0 {
		return []*source{sampleSource()}, nil
	}
	for _, name := range names {
		file, err := openSource(name, stdin)
		if err != nil {
			return files, err
		}
		files = append(files, file)
	}
	return files, nil
}

func sampleSource() *source {
	return &source{name: "sample", size: int64(len(sample)), remove: func() {},
		open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(sample)), nil }}
}

func openSource(name string, stdin io.Reader) (*source, error) {
	if name == "-" {
		return spool("standard input", stdin)
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory", name)
	case !info.Mode().IsRegular():
		pipe, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer pipe.Close()
		return spool(name, pipe)
	}
	return &source{name: name, size: info.Size(), remove: func() {}, open: func() (io.ReadCloser, error) { return os.Open(name) }}, nil
}

// spool keeps a stream in a temporary file.
func spool(name string, from io.Reader) (*source, error) {
	file, err := os.CreateTemp("", "journal-*.csv")
	if err != nil {
		return nil, err
	}
	size, err := io.Copy(file, from)
	if err = errors.Join(err, file.Close()); err != nil {
		os.Remove(file.Name())
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &source{name: name, size: size, remove: func() { os.Remove(file.Name()) },
		open: func() (io.ReadCloser, error) { return os.Open(file.Name()) }}, nil
}

// reader opens the file from the beginning.
func (s *source) reader() (r *reader, done func(), err error) {
	file, err := s.open()
	if err != nil {
		return nil, nil, err
	}
	s.read.Store(0)
	return newReader(readFunc(func(p []byte) (int, error) {
		n, err := file.Read(p)
		s.read.Add(int64(n))
		return n, err
	})), func() { file.Close() }, nil
}

// percent is how much of the file the current reading has passed.
func (s *source) percent() int64 {
	if s.size == 0 {
		return 0
	}
	return min(100, s.read.Load()*100/s.size)
}

// at says in which file something went wrong, and in which line if it is about one.
func (s *source) at(err error) error {
	var bad *lineError
	if errors.As(err, &bad) {
		return fmt.Errorf("%s:%d: %w", s.name, bad.line, bad.err)
	}
	return fmt.Errorf("%s: %w", s.name, err)
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }
