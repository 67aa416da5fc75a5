package match

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func drawGrid(t *rapid.T, most int) grid {
	g := newGrid(rapid.IntRange(1, most).Draw(t, "golds"), rapid.IntRange(1, most).Draw(t, "preds"))
	for i := range g.golds {
		for j := range g.preds {
			if rapid.Bool().Draw(t, "edge") {
				g.set(i, j)
			}
		}
	}
	return g
}

// eachPairing calls visit with every way to pair rows with columns, -1 for
// none. visit must not keep the slice.
func eachPairing(golds, preds int, visit func([]int)) {
	partner := make([]int, golds)
	used := make([]bool, preds)
	var from func(i int)
	from = func(i int) {
		if i == golds {
			visit(partner)
			return
		}
		for j := range preds {
			if !used[j] {
				used[j], partner[i] = true, j
				from(i + 1)
				used[j] = false
			}
		}
		partner[i] = -1
		from(i + 1)
	}
	from(0)
}

func edgesOf(g grid, partner []int) (n int) {
	for i, j := range partner {
		if j >= 0 && g.has(i, j) {
			n++
		}
	}
	return n
}

func pairsOf(partner []int) (n int) {
	for _, j := range partner {
		if j >= 0 {
			n++
		}
	}
	return n
}

func TestMaximumIsTheBestOfAllPairings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGrid(t, 6)
		want := 0
		eachPairing(g.golds, g.preds, func(partner []int) { want = max(want, edgesOf(g, partner)) })
		if got := maximum(g); got != want {
			t.Errorf("maximum = %d, want %d: %+v", got, want, g)
		}
	})
}

// better compares two pairings as assign ranks them.
func better(first, second grid, a, b []int) bool {
	for _, rank := range []func([]int) int{
		func(p []int) int { return edgesOf(first, p) },
		func(p []int) int { return edgesOf(second, p) },
		pairsOf,
	} {
		if x, y := rank(a), rank(b); x != y {
			return x > y
		}
	}
	last := func(p []int) []int { // none comes after every column
		p = slices.Clone(p)
		for i := range p {
			if p[i] < 0 {
				p[i] = first.preds
			}
		}
		return p
	}
	return slices.Compare(last(a), last(b)) < 0
}

func TestAssignIsTheBestOfAllPairings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := drawGrid(t, 5)
		second := newGrid(first.golds, first.preds)
		for i := range first.golds {
			for j := range first.preds {
				if first.has(i, j) && rapid.Bool().Draw(t, "second") {
					second.set(i, j)
				}
			}
		}
		var want []int
		eachPairing(first.golds, first.preds, func(partner []int) {
			if want == nil || better(first, second, partner, want) {
				want = slices.Clone(partner)
			}
		})
		if got := assign(first, second); !slices.Equal(got, want) {
			t.Errorf("assign = %v, want %v\nfirst %+v\nsecond %+v", got, want, first, second)
		}
	})
}

func TestAssignOfManyCalls(t *testing.T) {
	for _, size := range [][2]int{{maxExact, maxExact}, {maxExact + 1, 40}, {40, 1000}, {1000, 1000}} {
		rnd := rand.New(rand.NewPCG(3, 4))
		first, second := newGrid(size[0], size[1]), newGrid(size[0], size[1])
		for i := range size[0] {
			for j := range size[1] {
				if rnd.IntN(size[1]) < 2 {
					first.set(i, j)
					if rnd.IntN(2) == 0 {
						second.set(i, j)
					}
				}
			}
		}
		got := assign(first, second)
		seen := make(map[int]bool)
		for _, j := range got {
			if j >= 0 && seen[j] {
				t.Fatalf("%v: prediction %d is paired twice", size, j)
			}
			seen[j] = true
		}
		if n, want := edgesOf(first, got), maximum(first); n != want {
			t.Errorf("%v: %d edges, want %d", size, n, want)
		}
		if n, want := pairsOf(got), min(size[0], size[1]); n != want {
			t.Errorf("%v: %d pairs, want %d", size, n, want)
		}
	}
}
