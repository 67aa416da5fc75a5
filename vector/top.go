package vector

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

// Options are the options of a search. No option changes a result.
type Options struct {
	Workers int // how many processors to use; 0 is all of them
}

func (o Options) workers(tasks int) int {
	n := o.Workers
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	return max(min(n, tasks), 1)
}

// Sizes of blocks, in bytes. A block of queries and one of rows stay together
// in the second level of the cache, while the rows of the whole matrix come by.
const (
	queryBytes = 512 << 10
	rowBytes   = 192 << 10
	// maxBlock bounds the rows of a block: their products are kept as well.
	maxBlock = 16 * tileRows
)

// blockRows returns how many rows make a block of about so many bytes: a
// multiple of what kernels take at once.
func blockRows(bytes, stride int) int {
	rows := bytes / (4 * max(stride, 1))
	return min(max(rows/tileRows*tileRows, tileRows), maxBlock)
}

// Top returns, for every row of queries, the k rows of m with the largest inner
// products, best first and equals by row: k hits, or one per row of m if it has
// fewer. The scores and the order are those of the plain loop with [Dot]; see
// the package comment. A k of 0 or less finds nothing.
//
// It needs memory for the result and a fixed amount per worker. An error is
// that the dimensions differ, that a row of either matrix holds something not
// finite, or that of ctx.
func (m *Matrix) Top(ctx context.Context, queries *Matrix, k int, opt Options) ([][]Hit, error) {
	if m.dim != queries.dim {
		return nil, fmt.Errorf("vector: queries of %d numbers for a matrix of %d: want vectors of the same model", queries.dim, m.dim)
	}
	out := make([][]Hit, queries.rows)
	k = min(k, m.rows)
	if k <= 0 {
		return out, ctx.Err()
	}
	step := blockRows(queryBytes, m.stride)
	for from := 0; from < queries.rows; from += step {
		s := search{m: m, queries: queries, from: from, to: min(from+step, queries.rows), k: k}
		if err := s.run(ctx, opt, out[from:min(from+step, queries.rows)]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// A search looks for a block of queries in all of m.
type search struct {
	m, queries *Matrix
	from, to   int // rows of queries
	k          int
	lengths    []float64 // of these queries
}

func (s *search) run(ctx context.Context, opt Options, out [][]Hit) error {
	s.lengths = make([]float64, s.to-s.from)
	for i := range s.lengths {
		length, err := s.queries.length(s.from+i, "query")
		if err != nil {
			return err
		}
		s.lengths[i] = length
	}
	step := blockRows(rowBytes, s.m.stride)
	tasks := (s.m.rows + step - 1) / step
	parts := make([]part, opt.workers(tasks))
	var next atomic.Int64
	err := parallel(len(parts), func(w int) error {
		p := &parts[w]
		p.start(s, step)
		for ctx.Err() == nil {
			from := (int(next.Add(1)) - 1) * step
			if from >= s.m.rows {
				return nil
			}
			if err := p.block(from, min(from+step, s.m.rows)); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	return s.merge(opt, parts, out)
}

// merge makes the results out of what the workers selected.
func (s *search) merge(opt Options, parts []part, out [][]Hit) error {
	var largest float64
	for _, p := range parts {
		largest = max(largest, p.largest)
	}
	var next atomic.Int64
	return parallel(opt.workers(len(out)), func(int) error {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(out) {
				return nil
			}
			if s.lengths[i] == 0 {
				out[i] = firstRows(s.k, -1)
				continue
			}
			first := &parts[0].best[i]
			first.widen(slack(s.m.dim, s.lengths[i], largest))
			for _, p := range parts[1:] {
				first.join(&p.best[i])
			}
			out[i] = first.hits()
		}
	})
}

// firstRows is the result for a vector of zeros: all products are 0, so the
// first k rows win, leaving one out.
func firstRows(k, without int) []Hit {
	out := make([]Hit, 0, k)
	for row := 0; len(out) < k; row++ {
		if row != without {
			out = append(out, Hit{Row: row})
		}
	}
	return out
}

// A part is one worker's share of a search.
type part struct {
	s       *search
	a       block
	ld      int
	out     []float32
	floors  []float32 // of best, in step; padded by what nothing reaches
	best    []selection
	largest float64 // length of the longest row so far
}

func (p *part) start(s *search, step int) {
	n := s.to - s.from
	p.s, p.a = s, s.queries.rowsOf(s.from, s.to)
	p.ld = padded(n)
	p.out = make([]float32, step*p.ld)
	p.floors = make([]float32, p.ld)
	p.best = make([]selection, n)
	heaps := make([]key, n*s.k)
	for i := range p.floors {
		p.floors[i] = float32(math.Inf(1))
		if i >= n || s.lengths[i] == 0 {
			continue
		}
		query := s.queries.wholeRow(s.from + i)
		p.best[i] = newSelection(s.k, 0, heaps[i*s.k:(i+1)*s.k], func(row int) Hit {
			return Hit{row, float32(dot64(query, s.m.wholeRow(row)))}
		})
		p.floors[i] = p.best[i].floor
	}
}

// block offers rows [from, to) to every query.
func (p *part) block(from, to int) error {
	b := p.s.m.rowsOf(from, to)
	sum := squares(b)
	if !(sum <= maxSquare) {
		return p.s.m.badRow(from, to, "row")
	}
	if l := upper(sum, p.s.m.dim); l > p.largest {
		p.largest = l
		for i := range p.best {
			if p.s.lengths[i] > 0 {
				p.best[i].widen(slack(p.s.m.dim, p.s.lengths[i], l))
				p.floors[i] = p.best[i].floor
			}
		}
	}
	products(p.out, p.ld, p.a, b)
	for j := range b.rows {
		at := p.out[j*p.ld : (j+1)*p.ld]
		for x := 0; x < p.ld; x += lane {
			skip, mask := above(at[x:], p.floors[x:], lane)
			for x += skip; mask != 0; mask &= mask - 1 {
				q := x + trailing(mask)
				p.best[q].offer(at[q], from+j)
				p.floors[q] = p.best[q].floor
			}
		}
	}
	return nil
}

// parallel calls f n times at once, with numbers from 0, and returns the error
// of the lowest number that has one.
func parallel(n int, f func(worker int) error) error {
	if n == 1 {
		return f(0)
	}
	errs := make([]error, n)
	var wg sync.WaitGroup
	for w := range n {
		wg.Go(func() { errs[w] = f(w) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// padded returns n rounded up to whole lanes.
func padded(n int) int { return (n + lane - 1) / lane * lane }
