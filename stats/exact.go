package stats

import (
	"cmp"
	"math/bits"
	"slices"
)

// exactSpearman returns the share of the orders of y whose Σ dx·dy is at least
// as far from 0 as the observed one.
func exactSpearman(dx, dy []int) float64 {
	x, y := sortedPairs(dx, dy)
	observed, bound := 0, 0
	for i := range x {
		observed += x[i] * y[i]
		bound += x[i] * x[i]
	}
	// By Cauchy and Schwarz |Σ dx·dy| is at most the larger of the squares.
	other := 0
	for _, d := range y {
		other += d * d
	}
	return exactP(x, observed, max(bound, other), func(xi int, _, subset uint) int {
		sum := 0
		for s := subset; s != 0; s &= s - 1 {
			sum += y[bits.TrailingZeros(s)]
		}
		return xi * sum
	})
}

// exactKendall returns the share of the orders of y with |C-D| at least as
// large as the observed one.
func exactKendall(dx, dy []int) float64 {
	x, y := sortedPairs(dx, dy)
	return exactP(x, concordance(x, y), len(x)*(len(x)-1)/2, func(_ int, before, subset uint) int {
		sum := 0
		for s := subset; s != 0; s &= s - 1 {
			for b := before; b != 0; b &= b - 1 {
				sum += cmp.Compare(y[bits.TrailingZeros(s)], y[bits.TrailingZeros(b)])
			}
		}
		return sum
	})
}

// sortedPairs returns x and y in the order of x.
func sortedPairs(x, y []int) (xs, ys []int) {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	for _, i := range order {
		xs, ys = append(xs, x[i]), append(ys, y[i])
	}
	return xs, ys
}

// exactP returns the share of the n! ways to hand the values of y to the
// places x, whose statistic is at least as far from 0 as observed.
//
// x is sorted. The statistic is a sum over its groups of equal values: gain
// says what a group of value xi adds when the y of subset go to it, and those
// of before to the places before it. So the sums reachable depend only on
// which y are placed, and n! orders shrink to 3^n steps. No partial sum may
// exceed bound in either direction.
func exactP(x []int, observed, bound int, gain func(xi int, before, subset uint) int) float64 {
	all := uint(1)<<len(x) - 1
	width := 2*bound + 1
	ways := make([]int, (int(all)+1)*width) // ways[mask*width+bound+sum]
	ways[bound] = 1
	for mask := range all {
		start := bits.OnesCount(mask)
		from := ways[int(mask)*width:][:width]
		if start > 0 && x[start] == x[start-1] {
			continue // inside a group
		}
		end := start + 1
		for end < len(x) && x[end] == x[start] {
			end++
		}
		within := 1 // orders of the group among itself
		for k := 2; k <= end-start; k++ {
			within *= k
		}
		free := all &^ mask
		for subset := free; subset != 0; subset = (subset - 1) & free {
			if bits.OnesCount(subset) != end-start {
				continue
			}
			g := gain(x[start], mask, subset)
			to := ways[int(mask|subset)*width:][:width]
			for sum := max(0, -g); sum < min(width, width-g); sum++ {
				to[sum+g] += from[sum] * within
			}
		}
	}
	hits, total := 0, 0
	for i, n := range ways[int(all)*width:] {
		total += n
		if abs(i-bound) >= abs(observed) {
			hits += n
		}
	}
	return float64(hits) / float64(total)
}
