package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"assay/convert"
)

// An output is where the data of a command go: stdout, or a file that appears
// whole under its name when the command is done.
type output struct {
	w    io.Writer
	file *convert.Output // nil for stdout
	buf  *bufio.Writer   // nil for a file
}

// createOutput begins the output of a command: "-" is stdout.
func createOutput(std stdio, path string) (*output, error) {
	if path == "-" || path == "" {
		buf := bufio.NewWriterSize(std.out, 256<<10)
		return &output{w: buf, buf: buf}, nil
	}
	f, err := convert.NewOutput(path)
	if err != nil {
		return nil, usagef("-o: %v", err)
	}
	return &output{w: f, file: f}, nil
}

func (o *output) Write(p []byte) (int, error) { return o.w.Write(p) }

// finish completes the output, or drops the file if err is not nil, and
// returns the first error. Use it as: defer func() { err = out.finish(err) }().
func (o *output) finish(err error) error {
	switch {
	case o.file == nil:
		return errors.Join(err, o.buf.Flush())
	case err != nil:
		o.file.Abort()
		return err
	}
	return o.file.Close()
}

// keep is finish for a command that was stopped by its input: what was good is
// kept, and the error is returned.
func (o *output) keep(err error) error {
	if o.file == nil {
		return errors.Join(err, o.buf.Flush())
	}
	return errors.Join(err, o.file.Close())
}

// writeFile writes v as JSON to path, whole or not at all.
func writeFile(std stdio, path string, v any) (err error) {
	out, err := createOutput(std, path)
	if err != nil {
		return err
	}
	defer func() { err = out.finish(err) }()
	return writeJSON(out, v)
}

// terminal reports whether w is a terminal.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// A statusLine writes progress to stderr: over itself on a terminal, and a
// plain line now and then elsewhere.
type statusLine struct {
	w     io.Writer
	over  bool // w is a terminal
	every int  // plain lines: one of so many updates
	n     int
	width int
}

func newStatusLine(w io.Writer, every int) *statusLine {
	return &statusLine{w: w, over: terminal(w), every: every}
}

func (s *statusLine) update(format string, args ...any) {
	s.n++
	text := fmt.Sprintf(format, args...)
	if s.over {
		fmt.Fprintf(s.w, "\r%-*s", s.width, text)
		s.width = len(text)
		return
	}
	if s.every > 0 && s.n%s.every == 0 {
		fmt.Fprintln(s.w, text)
	}
}

// end leaves the line, so that what follows starts on a fresh one.
func (s *statusLine) end() {
	if s.over && s.width > 0 {
		fmt.Fprintf(s.w, "\r%-*s\r", s.width, "")
		s.width = 0
	}
}
