package match

import "math"

// maxExact is the number of calls of one name, on the larger side, up to which
// the pairing for display is the best one. It costs the cube of that number.
const maxExact = 256

// assign pairs golds with predictions for display and returns the prediction
// of each gold, -1 for none. It takes as many edges of first as it can, then as
// many of these as it can from second, a part of first, then as many pairs at
// all as there can be. Among equals, the first gold has the first prediction
// that it can have, then the second gold, and so on.
//
// With more than [maxExact] on a side, first is still used as often as it can
// be, but second and the order of equals are best effort.
func assign(first, second grid) []int {
	n := max(first.golds, first.preds)
	switch {
	case first.golds == 1 && first.preds == 1:
		return []int{0}
	case n > maxExact:
		return assignMany(first, second)
	}
	// A square of costs; rows and columns past the calls stand for "none".
	// One edge of first outweighs all edges of second.
	cost := make([][]int, n)
	for i := range cost {
		cost[i] = make([]int, n)
		for j := range cost[i] {
			if i < first.golds && j < first.preds && first.has(i, j) {
				cost[i][j] = -(n + 1)
				if second.has(i, j) {
					cost[i][j]--
				}
			}
		}
	}
	partner, rowPrice, colPrice := cheapest(cost)
	// A full pairing is cheapest if and only if all its pairs are tight.
	tight := newGrid(n, n)
	for i := range n {
		for j := range n {
			if cost[i][j] == rowPrice[i]+colPrice[j] {
				tight.set(i, j)
			}
		}
	}
	partner = earliest(tight, partner, first.golds)
	out := partner[:first.golds]
	for i, j := range out {
		if j >= first.preds {
			out[i] = -1
		}
	}
	return out
}

// cheapest returns a full pairing of least total cost of a square matrix, the
// column of each row, and prices with cost[i][j] >= rowPrice[i]+colPrice[j]
// that are equal for its pairs (the Hungarian method with shortest paths,
// Jonker and Volgenant, 1987).
func cheapest(cost [][]int) (partner, rowPrice, colPrice []int) {
	n := len(cost)
	rowPrice, colPrice = make([]int, n), make([]int, n+1)
	owner := make([]int, n+1) // of each column; column n is where a path starts
	for j := range owner {
		owner[j] = -1
	}
	for i := range n {
		owner[n] = i
		at := n
		slack, from, done := make([]int, n), make([]int, n), make([]bool, n+1)
		for j := range slack {
			slack[j] = math.MaxInt
		}
		for owner[at] >= 0 {
			done[at] = true
			row := owner[at]
			next, delta := -1, math.MaxInt
			for j := range n {
				if done[j] {
					continue
				}
				if d := cost[row][j] - rowPrice[row] - colPrice[j]; d < slack[j] {
					slack[j], from[j] = d, at
				}
				if slack[j] < delta {
					next, delta = j, slack[j]
				}
			}
			for j := range done {
				if done[j] {
					rowPrice[owner[j]] += delta
					colPrice[j] -= delta
				} else if j < n {
					slack[j] -= delta
				}
			}
			at = next
		}
		for at != n {
			owner[at] = owner[from[at]]
			at = from[at]
		}
	}
	partner = make([]int, n)
	for j := range n {
		partner[owner[j]] = j
	}
	return partner, rowPrice, colPrice[:n]
}

// earliest turns a full pairing along the edges of g into the one that gives
// the first of the first rows its earliest possible column, then the second,
// and so on.
func earliest(g grid, partner []int, rows int) []int {
	n := g.golds
	owner := make([]int, n)
	for i, j := range partner {
		owner[j] = i
	}
	via := make([]int, n)
	queue := make([]int, 0, n)
	for i := range rows {
		// Which later rows could give up their column and take, each from the
		// next, the column that row i would leave?
		for r := range via {
			via[r] = -1
		}
		via[i] = i
		queue = append(queue[:0], i)
		for len(queue) > 0 {
			to := queue[0]
			queue = queue[1:]
			for r := i + 1; r < n; r++ {
				if via[r] < 0 && g.has(r, partner[to]) {
					via[r] = to
					queue = append(queue, r)
				}
			}
		}
		for j := range n {
			if !g.has(i, j) || via[owner[j]] < 0 {
				continue
			}
			// Row i takes j; each row on the way takes the column of the next.
			for r, take := owner[j], 0; r != i; r = take {
				take = via[r]
				partner[r] = partner[take]
				owner[partner[r]] = r
			}
			partner[i], owner[j] = j, i
			break
		}
	}
	return partner
}

// assignMany is assign for sets too large for it.
func assignMany(first, second grid) []int {
	m := newMatching(second)
	m.maximise(second)
	m.maximise(first) // keeps every call that is paired, not every pair
	next := 0
	for i := range m.pred {
		for m.pred[i] < 0 && next < len(m.gold) {
			if m.gold[next] < 0 {
				m.pair(i, next)
			}
			next++
		}
	}
	return m.pred
}
