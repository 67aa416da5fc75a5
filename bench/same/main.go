package main

import (
	"bufio"
	"encoding/json" // on purpose another reader than the one under test
	"errors"
	"fmt"
	"io"
	"os"
)

// shown is how many differences are told; the rest are only counted.
const shown = 5

func main() { os.Exit(run(os.Stdout, os.Stderr, os.Args[1:])) }

func run(stdout, stderr io.Writer, args []string) int {
	if len(args) != 2 {
		fmt.Fprintf(stderr, "usage: same PEER OURS: want two files, have %d arguments\n", len(args))
		return 2
	}
	peer, err := os.Open(args[0])
	if err != nil {
		fmt.Fprintf(stderr, "same: %v\n", err)
		return 2
	}
	defer func() { _ = peer.Close() }() // it was only read
	ours, err := os.Open(args[1])
	if err != nil {
		fmt.Fprintf(stderr, "same: %v\n", err)
		return 2
	}
	defer func() { _ = ours.Close() }() // it was only read

	t, err := compareFiles(peer, ours)
	for _, d := range t.first {
		fmt.Fprintln(stderr, d)
	}
	if err != nil {
		fmt.Fprintf(stderr, "same: %v\n", err)
		return 2
	}
	fmt.Fprintln(stdout, t)
	if t.different > 0 || t.elements == 0 {
		return 1
	}
	return 0
}

// A tally is what a comparison found.
type tally struct {
	elements  int // compared
	different int // of these
	messages  int
	calls     int
	tools     int
	params    int
	ruled     int      // parameters that are optional only by our rule on defaults
	first     []string // the first few differences
}

// String returns the counts as one line.
func (t tally) String() string {
	s := fmt.Sprintf("%d elements: %d mean the same, %d differ (%d messages, %d of them calls; %d tools, %d parameters",
		t.elements, t.elements-t.different, t.different, t.messages, t.calls, t.tools, t.params)
	if t.ruled > 0 {
		s += fmt.Sprintf("; %d with a default, which are required for the peer and optional for us", t.ruled)
	}
	return s + ")"
}

// compareFiles compares the elements of two streams in order. The error is of
// a stream that cannot be read, or that is shorter than the other.
func compareFiles(peer, ours io.Reader) (tally, error) {
	var t tally
	a, b := newReader(peer), newReader(ours)
	for {
		x, errX := a.next()
		y, errY := b.next()
		switch {
		case errors.Is(errX, io.EOF) && errors.Is(errY, io.EOF):
			return t, nil
		case errors.Is(errX, io.EOF):
			return t, fmt.Errorf("the peer ends after %d elements, ours does not", t.elements)
		case errors.Is(errY, io.EOF):
			return t, fmt.Errorf("ours ends after %d elements, the peer does not", t.elements)
		case errX != nil:
			return t, fmt.Errorf("peer: element %d: %w", t.elements, errX)
		case errY != nil:
			return t, fmt.Errorf("ours: element %d: %w", t.elements, errY)
		}
		if d := t.compare(x, y); d != "" {
			t.different++
			if len(t.first) < shown {
				t.first = append(t.first, fmt.Sprintf("element %d: %s", t.elements, d))
			}
		}
		t.elements++
	}
}

// A reader reads the elements of one file.
type reader struct{ dec *json.Decoder }

func newReader(r io.Reader) reader {
	dec := json.NewDecoder(bufio.NewReaderSize(r, 1<<20))
	dec.UseNumber()
	return reader{dec}
}

func (r reader) next() (element, error) {
	var e element
	err := r.dec.Decode(&e)
	return e, err
}
