//go:build unix

// Command dense is the side of this project in the races of search.py. It reads
// a request a line from standard input, JSON, and answers each with a line:
//
//	{"do": "top", "pool": FILE, "queries": FILE, "dim": 1024, "batch": 64, "k": 32, "reps": 5, "out": FILE}
//	{"do": "neighbours", "pool": FILE, "dim": 1024, "k": 32, "workers": 2}
//	{"do": "words", "pool": FILE, "queries": FILE, "k": 32, "reps": 5}
//	{"cpu": 0.04, "wall": 0.04}
//
// Times are seconds of one repetition; cpu is what the whole process used.
// Matrices are files of float32, texts are files of one a line. The rows that
// were found go to out, as int64.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/goccy/go-json"

	"assay/internal/lexical"
	"assay/vector"
)

type request struct {
	Do      string `json:"do"`
	Pool    string `json:"pool"`
	Queries string `json:"queries"`
	Out     string `json:"out"`
	Dim     int    `json:"dim"`
	Batch   int    `json:"batch"`
	K       int    `json:"k"`
	Reps    int    `json:"reps"`
	Workers int    `json:"workers"`
}

// loaded keeps what was read last, since requests repeat it.
type loaded struct {
	matrices map[string]*vector.Matrix
	words    map[string]*lexical.BM25
}

func main() {
	have := loaded{map[string]*vector.Matrix{}, map[string]*lexical.BM25{}}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var r request
		err := json.Unmarshal(in.Bytes(), &r)
		var cpu, wall float64
		if err == nil {
			cpu, wall, err = have.answer(context.Background(), r)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "dense:", err)
			os.Exit(1)
		}
		fmt.Printf("{\"cpu\": %g, \"wall\": %g}\n", cpu, wall)
	}
}

func (l *loaded) answer(ctx context.Context, r request) (cpu, wall float64, err error) {
	var work func() error
	switch r.Do {
	case "top":
		work, err = l.top(ctx, r)
	case "neighbours":
		work, err = l.neighbours(ctx, r)
	case "words":
		work, err = l.search(r)
	default:
		err = fmt.Errorf("request %q: want top, neighbours or words", r.Do)
	}
	if err != nil {
		return 0, 0, err
	}
	reps := max(r.Reps, 1)
	start, clock := used(), time.Now()
	for range reps {
		if err := work(); err != nil {
			return 0, 0, err
		}
	}
	return (used() - start) / float64(reps), time.Since(clock).Seconds() / float64(reps), nil
}

// used returns the seconds of processor time that this process took so far.
func used() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return math.NaN()
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

func (l *loaded) top(ctx context.Context, r request) (func() error, error) {
	pool, err := l.matrix(r.Pool, r.Dim, -1)
	if err != nil {
		return nil, err
	}
	queries, err := l.matrix(r.Queries, r.Dim, r.Batch)
	if err != nil {
		return nil, err
	}
	find := func() ([][]vector.Hit, error) {
		return pool.Top(ctx, queries, r.K, vector.Options{Workers: max(r.Workers, 1)})
	}
	// The first time is not measured: it touches the memory, and its result is
	// what the others are compared with.
	hits, err := find()
	if err != nil {
		return nil, err
	}
	if r.Out != "" {
		var rows []byte
		for _, list := range hits {
			for _, h := range list {
				rows = binary.LittleEndian.AppendUint64(rows, uint64(h.Row))
			}
		}
		if err := os.WriteFile(r.Out, rows, 0o644); err != nil {
			return nil, err
		}
	}
	return func() error {
		_, err := find()
		return err
	}, nil
}

func (l *loaded) neighbours(ctx context.Context, r request) (func() error, error) {
	pool, err := l.matrix(r.Pool, r.Dim, -1)
	return func() error {
		_, err := pool.Neighbours(ctx, r.K, vector.Options{Workers: r.Workers})
		return err
	}, err
}

func (l *loaded) search(r request) (func() error, error) {
	x, ok := l.words[r.Pool]
	if !ok {
		docs, err := lines(r.Pool)
		if err != nil {
			return nil, err
		}
		x = lexical.NewBM25(docs)
		l.words[r.Pool] = x
	}
	queries, err := lines(r.Queries)
	return func() error {
		for _, q := range queries {
			x.Search(q, r.K)
		}
		return nil
	}, err
}

func lines(path string) ([]string, error) {
	data, err := os.ReadFile(path)
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n"), err
}

// matrix returns the first rows of a file, or all if rows is negative.
func (l *loaded) matrix(path string, dim, rows int) (*vector.Matrix, error) {
	key := fmt.Sprint(path, " ", dim, " ", rows)
	if m, ok := l.matrices[key]; ok {
		return m, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if rows < 0 {
		rows = len(data) / 4 / dim
	}
	if len(data) < 4*rows*dim {
		return nil, fmt.Errorf("%s has %d bytes, want %d rows of %d numbers of 4", path, len(data), rows, dim)
	}
	m := vector.NewMatrix(rows, dim)
	for i := range rows {
		row := m.Row(i)
		for j := range row {
			row[j] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*(i*dim+j):]))
		}
	}
	l.matrices[key] = m
	return m, nil
}
