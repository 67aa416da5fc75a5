package vector

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
)

// Neighbours returns, for every row of m, the k other rows with the largest
// inner products, as [Matrix.Top] would with m as its own queries and the row
// itself left out: rows-1 hits if k is larger.
//
// Every pair is computed once and counts for both of its rows. Memory is that
// of the result and 8 bytes a hit. Errors are those of Top.
func (m *Matrix) Neighbours(ctx context.Context, k int, opt Options) ([][]Hit, error) {
	out := make([][]Hit, m.rows)
	k = min(k, m.rows-1)
	if k <= 0 {
		return out, ctx.Err()
	}
	a := &allPairs{m: m, k: k, step: blockRows(pairBytes, m.stride)}
	a.ld = padded(a.step)
	if err := a.prepare(); err != nil {
		return nil, err
	}
	n := len(a.locks)
	strips := (n + strip - 1) / strip
	workers := opt.workers(n * strips)
	var next atomic.Int64
	err := parallel(workers, func(int) error {
		scores := make([]float32, a.step*a.ld)
		for ctx.Err() == nil {
			t := int(next.Add(1)) - 1
			if t >= n*strips {
				return nil
			}
			a.strip(scores, t%n, t/n*strip)
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	next.Store(0)
	err = parallel(workers, func(int) error {
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= m.rows {
				return nil
			}
			if a.lengths[i] == 0 {
				out[i] = firstRows(k, i)
				continue
			}
			out[i] = a.best[i].hits()
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

const (
	// pairBytes is the size of the blocks that are compared with each other.
	pairBytes = 256 << 10
	// strip is how many blocks a task compares one with.
	strip = 8
)

// allPairs is a search of all rows in all rows.
type allPairs struct {
	m       *Matrix
	k       int
	step    int // rows of a block
	ld      int // room for a block in floors, and for its products with a row
	lengths []float64
	floors  []float32 // of best; padded by what nothing reaches
	best    []selection
	locks   []sync.Mutex // a block's floors and selections
}

// prepare checks the rows and makes their selections.
func (a *allPairs) prepare() error {
	m := a.m
	a.lengths = make([]float64, m.rows)
	var largest float64
	for i := range m.rows {
		length, err := m.length(i, "row")
		if err != nil {
			return err
		}
		a.lengths[i] = length
		largest = max(largest, length)
	}
	a.best = make([]selection, m.rows)
	a.locks = make([]sync.Mutex, (m.rows+a.step-1)/a.step)
	a.floors = make([]float32, len(a.locks)*a.ld)
	for i := range a.floors {
		a.floors[i] = float32(math.Inf(1))
	}
	heaps := make([]key, m.rows*a.k)
	for i := range m.rows {
		if a.lengths[i] == 0 {
			continue
		}
		row := m.wholeRow(i)
		a.best[i] = newSelection(a.k, slack(m.dim, a.lengths[i], largest*(1+1e-9)), heaps[i*a.k:(i+1)*a.k], func(other int) Hit {
			return Hit{other, float32(dot64(row, m.wholeRow(other)))}
		})
		a.floors[i/a.step*a.ld+i%a.step] = a.best[i].floor
	}
	return nil
}

// strip compares block i with those from first on that do not come before it.
// Where it starts differs from block to block, so that workers on one strip do
// not queue at the same locks.
func (a *allPairs) strip(scores []float32, i, first int) {
	for t := range strip {
		if j := first + (i+t)%strip; j >= i && j < len(a.locks) {
			a.pair(scores, i, j)
		}
	}
}

// pair compares two blocks: what is above the floors of either is offered.
func (a *allPairs) pair(scores []float32, i, j int) {
	m := a.m
	iFrom, iTo := i*a.step, min((i+1)*a.step, m.rows)
	jFrom, jTo := j*a.step, min((j+1)*a.step, m.rows)
	products(scores, a.ld, m.rowsOf(iFrom, iTo), m.rowsOf(jFrom, jTo))

	a.locks[i].Lock()
	floors := a.floors[i*a.ld:][:a.ld]
	for y := jFrom; y < jTo; y++ {
		at := scores[(y-jFrom)*a.ld:][:a.ld]
		for x := 0; x < a.ld; x += lane {
			skip, mask := above(at[x:], floors[x:], lane)
			for x += skip; mask != 0; mask &= mask - 1 {
				row := x + trailing(mask)
				if iFrom+row != y {
					a.best[iFrom+row].offer(at[row], y)
					floors[row] = a.best[iFrom+row].floor
				}
			}
		}
	}
	a.locks[i].Unlock()
	if i == j {
		return
	}

	a.locks[j].Lock()
	defer a.locks[j].Unlock()
	floors = a.floors[j*a.ld:][:a.ld]
	var same [lane]float32
	for y := range jTo - jFrom {
		at := scores[y*a.ld:][:a.ld]
		fill(&same, floors[y])
		for x := 0; x < a.ld; x += lane {
			skip, mask := above(at[x:], same[:], 0)
			x += skip
			for mask &= within(iTo - iFrom - x); mask != 0; mask &= mask - 1 {
				row := x + trailing(mask)
				if at[row] >= floors[y] {
					a.best[jFrom+y].offer(at[row], iFrom+row)
					floors[y] = a.best[jFrom+y].floor
				}
			}
		}
	}
}

func fill(floors *[lane]float32, v float32) {
	for i := range floors {
		floors[i] = v
	}
}

// within is a mask of the first n of lane.
func within(n int) uint {
	return 1<<max(min(n, lane), 0) - 1
}
