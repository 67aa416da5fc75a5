package match

import "math/bits"

// A grid is a bipartite graph between golds (rows) and predictions (columns).
type grid struct {
	golds, preds int
	words        int // of a row
	edges        []uint64
}

func newGrid(golds, preds int) grid {
	words := (preds + 63) / 64
	return grid{golds, preds, words, make([]uint64, golds*words)}
}

func (g grid) row(i int) []uint64 { return g.edges[i*g.words : (i+1)*g.words] }

func (g grid) set(i, j int) { g.row(i)[j/64] |= 1 << (j % 64) }

func (g grid) has(i, j int) bool { return g.row(i)[j/64]>>(j%64)&1 != 0 }

// A matching pairs rows with columns of a grid, each at most once.
type matching struct {
	g       grid
	pred    []int // of each row, -1 if it has none
	gold    []int // of each column, -1 if it has none
	free    []uint64
	visited []uint64
}

func newMatching(g grid) *matching {
	m := &matching{
		g: g, pred: make([]int, g.golds), gold: make([]int, g.preds),
		free: make([]uint64, g.words), visited: make([]uint64, g.words),
	}
	for i := range m.pred {
		m.pred[i] = -1
	}
	for j := range m.gold {
		m.gold[j] = -1
		m.free[j/64] |= 1 << (j % 64)
	}
	return m
}

// maximise grows the matching along the edges of g until it is a maximum one,
// and returns its size. Rows and columns that are matched stay matched. It
// costs O(golds² · preds/64): a search visits no column twice, and 64 columns
// are looked at together.
func (m *matching) maximise(g grid) int {
	m.g = g
	size := 0
	for i := range m.pred {
		if m.pred[i] < 0 {
			clear(m.visited)
			m.augment(i)
		}
		if m.pred[i] >= 0 {
			size++
		}
	}
	return size
}

// augment finds a column for row i, if others can make room (Kuhn, 1955). The
// depth is at most the number of matched rows.
func (m *matching) augment(i int) bool {
	row := m.g.row(i)
	for w, edges := range row {
		if open := edges & m.free[w] &^ m.visited[w]; open != 0 {
			m.pair(i, 64*w+bits.TrailingZeros64(open))
			return true
		}
	}
	for w, edges := range row {
		// The recursion visits columns too, so what is left is asked anew.
		for left := edges &^ m.visited[w]; left != 0; left = edges &^ m.visited[w] {
			bit := left & -left
			m.visited[w] |= bit
			j := 64*w + bits.TrailingZeros64(bit)
			if m.augment(m.gold[j]) {
				m.pair(i, j)
				return true
			}
		}
	}
	return false
}

func (m *matching) pair(i, j int) {
	m.pred[i], m.gold[j] = j, i
	m.free[j/64] &^= 1 << (j % 64)
}

// maximum returns the size of a maximum matching of g.
func maximum(g grid) int { return newMatching(g).maximise(g) }
