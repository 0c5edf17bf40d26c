package export

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/md5"
	"encoding/base64"
	"errors"
	"hash"
	"io"
	"io/fs"
)

// fileRead is how a file is read.
type fileRead struct {
	// emit takes the records behind the line skip, with the length of their lines. If there is none, lines are only checked.
	emit func(r Record, bytes int) error
	skip int64
	// progress is told what was read.
	progress func(files int, items, bytes int64)
}

// errStopped ends the reading of a file because another one failed. It never leaves the package.
var errStopped = errors.New("another file failed")

// rawFile is a compressed file: it sums up what is read of it and remembers its own error, which gzip would hide.
type rawFile struct {
	file fs.File
	sum  hash.Hash
	err  error
}

func (f *rawFile) Read(p []byte) (int, error) {
	n, err := f.file.Read(p)
	f.sum.Write(p[:n])
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}

// readFile reads a data file to its end and holds it against what the manifest says of it. A file that cannot be read is
// summed up all the same, so that a damaged one is told from one that was made so.
func (e *Export) readFile(ctx context.Context, index int, how fileRead) error {
	f := e.files[index]
	file, err := e.fsys.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return &MissingError{File: f.path}
	}
	if err != nil {
		return &ReadError{File: f.path, Err: err}
	}
	defer file.Close()
	raw := &rawFile{file: file, sum: md5.New()}
	l := lineReader{name: f.path, raw: raw, want: f.Items}
	err = l.open()
	if err == nil {
		err = e.readLines(ctx, &l, index, how)
	}
	if !ofTheFile(err) {
		return err // the caller's, the context's, or the file system's
	}
	if _, copyErr := io.Copy(io.Discard, raw); copyErr != nil {
		return &ReadError{File: f.path, Line: l.number + 1, Err: copyErr}
	}
	if got := base64.StdEncoding.EncodeToString(raw.sum.Sum(nil)); got != f.MD5 {
		return &ChecksumError{File: f.path, Want: f.MD5, Got: got, Err: err}
	}
	if err == nil {
		how.progress(1, 0, 0)
	}
	return err
}

// ofTheFile says whether an error, or none, is about what is in a file.
func ofTheFile(err error) bool {
	switch err.(type) {
	case nil, *DamagedError, *LineError, *CountError:
		return true
	}
	return false
}

// readLines decodes the lines of a file.
func (e *Export) readLines(ctx context.Context, l *lineReader, index int, how fileRead) error {
	d := newDecoder(false)
	items, bytes := int64(0), int64(0)
	for {
		line, err := l.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		d.build = how.emit != nil && l.number > how.skip
		r, ok := d.record(line, &e.manifest)
		if !ok {
			return &LineError{File: l.name, Line: l.number, Offset: d.at, Reason: d.reason}
		}
		items++
		bytes += int64(len(line)) + 1
		if items == ProgressEvery {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			how.progress(0, items, bytes)
			items, bytes = 0, 0
		}
		if !d.build {
			continue
		}
		r.At = Position{Source: e.source(), File: index, Line: l.number}
		if err := how.emit(r, len(line)); err != nil {
			return err
		}
	}
	how.progress(0, items, bytes)
	if l.number != l.want {
		return &CountError{File: l.name, Want: l.want, Got: l.number}
	}
	return ctx.Err()
}

// lineReader cuts a compressed file into lines.
type lineReader struct {
	name   string
	raw    *rawFile
	want   int64
	buf    *bufio.Reader
	long   []byte // a line that is longer than the buffer
	number int64  // of the line that was returned last, from 1
}

const readBytes = 64 << 10

func (l *lineReader) open() error {
	unpacked, err := gzip.NewReader(bufio.NewReaderSize(l.raw, readBytes))
	if err != nil {
		return l.fault(err)
	}
	l.buf = bufio.NewReaderSize(unpacked, readBytes)
	return nil
}

// next returns the next line without its end; it is good until the next call. At the end of the file the error is io.EOF.
func (l *lineReader) next() ([]byte, error) {
	line, err := l.buf.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		l.long = append(l.long[:0], line...)
		for err == bufio.ErrBufferFull {
			if len(l.long) > MaxLineBytes {
				return nil, &LineError{File: l.name, Line: l.number + 1, Offset: MaxLineBytes, Reason: "is too long"}
			}
			line, err = l.buf.ReadSlice('\n')
			l.long = append(l.long, line...)
		}
		line = l.long
	}
	switch {
	case err == io.EOF && len(line) == 0:
		return nil, io.EOF
	case err != nil && err != io.EOF:
		return nil, l.fault(err)
	}
	l.number++
	if l.number > l.want {
		return nil, &CountError{File: l.name, Want: l.want, Got: l.number}
	}
	if n := len(line); line[n-1] == '\n' {
		line = line[:n-1]
	}
	return line, nil
}

// fault says what keeps a file from being unpacked.
func (l *lineReader) fault(err error) error {
	switch {
	case l.raw.err != nil:
		return &ReadError{File: l.name, Line: l.number + 1, Err: l.raw.err}
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		return &DamagedError{File: l.name, Line: l.number + 1, Reason: "ends early"}
	}
	return &DamagedError{File: l.name, Line: l.number + 1, Reason: "is not what gzip makes"}
}
