package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Correlation is a rank correlation with its test against "no association".
type Correlation struct {
	N     int
	Value float64 // in [-1,1], or NaN: see [Spearman] and [KendallTest]
	// P is the two-sided p-value; NaN where Value is.
	P        float64
	Method   string // of P: "exact", "t" or "normal"
	Warnings []string
}

// ExactN is the largest sample whose p-values are exact: all n! orders of one
// side are counted, 362,880 for nine values.
const ExactN = 9

// Ranks returns the ranks of xs from 1 for the smallest; equal values share
// the mean of their ranks. A NaN has no place in the order, so with one in xs
// every rank is NaN.
func Ranks(xs []float64) []float64 {
	ranks := make([]float64, len(xs))
	doubled, ok := doubledRanks(xs)
	for i := range ranks {
		ranks[i] = math.NaN()
		if ok {
			ranks[i] = float64(doubled[i]) / 2
		}
	}
	return ranks
}

// doubledRanks returns twice the ranks of xs, which are integers, and whether
// xs has an order.
func doubledRanks(xs []float64) ([]int, bool) {
	if slices.ContainsFunc(xs, math.IsNaN) {
		return nil, false
	}
	order := make([]int, len(xs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(xs[a], xs[b]) })
	ranks := make([]int, len(xs))
	for lo := 0; lo < len(order); {
		hi := lo + 1
		for hi < len(order) && xs[order[hi]] == xs[order[lo]] {
			hi++
		}
		for _, i := range order[lo:hi] {
			ranks[i] = lo + 1 + hi // twice the mean of lo+1 … hi
		}
		lo = hi
	}
	return ranks, true
}

// Spearman returns the rank correlation of x and y (C. Spearman, 1904): the
// Pearson correlation of their ranks, where ties share the mean of their
// ranks. The short cut 1-6Σd²/(n³-n) is wrong with ties, and equal scores are
// common among few models.
//
// The result is in [-1,1], or NaN if a side is constant, holds a NaN or has
// under two values. Spearman panics if the lengths differ.
func Spearman(x, y []float64) float64 {
	dx, dy, ok := centredRanks(x, y)
	if !ok {
		return math.NaN()
	}
	return pearson(dx, dy)
}

// SpearmanTest returns [Spearman] with a two-sided p-value. Up to [ExactN]
// values it is the share of the n! orders of y whose coefficient is at least
// as far from 0; above, it is that of t = ρ·sqrt((n-2)/(1-ρ²)) with n-2
// degrees of freedom, and never under 2/n!.
func SpearmanTest(x, y []float64) Correlation {
	c := Correlation{N: len(x), Value: math.NaN(), P: math.NaN(), Method: "exact"}
	if c.N > ExactN {
		c.Method = "t"
	}
	dx, dy, ok := centredRanks(x, y)
	if !ok {
		c.Warnings = noCorrelation(x, y)
		return c
	}
	c.Value = pearson(dx, dy)
	if c.N <= ExactN {
		c.P = exactSpearman(dx, dy)
		c.Warnings = fewPairs(c.N)
		return c
	}
	t := c.Value * math.Sqrt(float64(c.N-2)/(1-c.Value*c.Value))
	p := 2 * distuv.StudentsT{Sigma: 1, Nu: float64(c.N - 2)}.CDF(-math.Abs(t))
	c.P = max(p, smallestP(c.N))
	return c
}

// centredRanks returns twice the deviations of the ranks from their mean, as
// integers, and whether both sides have an order and a spread.
func centredRanks(x, y []float64) (dx, dy []int, ok bool) {
	mustPair(len(x), len(y))
	dx, okx := doubledRanks(x)
	dy, oky := doubledRanks(y)
	if !okx || !oky {
		return nil, nil, false
	}
	var sx, sy bool
	for i := range dx {
		dx[i] -= len(x) + 1
		dy[i] -= len(y) + 1
		sx, sy = sx || dx[i] != 0, sy || dy[i] != 0
	}
	return dx, dy, sx && sy
}

func pearson(dx, dy []int) float64 {
	var xy, xx, yy float64
	for i := range dx {
		a, b := float64(dx[i]), float64(dy[i])
		xy += a * b
		xx += a * a
		yy += b * b
	}
	// One root of the product: for equal sides it is exact, so they give 1.
	return max(-1, min(1, xy/math.Sqrt(xx*yy)))
}

// Kendall returns the coefficient of [KendallTest] alone. It takes time
// quadratic in n, and panics if the lengths differ.
func Kendall(x, y []float64) float64 {
	dx, dy, ok := centredRanks(x, y)
	if !ok {
		return math.NaN()
	}
	return tauB(dx, dy)
}

// KendallTest returns the rank correlation tau-b of x and y (M. G. Kendall,
// 1945),
//
//	(C - D) / sqrt((n0 - n1)(n0 - n2)),
//
// with C concordant and D discordant pairs, n0 = n(n-1)/2, and n1 and n2 the
// pairs tied in x and in y. Without ties it is the share of concordant minus
// that of discordant pairs. It is in [-1,1], or NaN if a side is constant,
// holds a NaN or has under two values.
//
// Up to [ExactN] values the two-sided p-value is the share of the n! orders of y
// whose |C-D| is at least as large; above, it is the normal approximation of
// C-D with its variance under ties (M. G. Kendall, Rank Correlation Methods,
// 1970, section 4.9), and never under 2/n!. KendallTest panics if the lengths
// differ. It takes time quadratic in n.
func KendallTest(x, y []float64) Correlation {
	c := Correlation{N: len(x), Value: math.NaN(), P: math.NaN(), Method: "exact"}
	if c.N > ExactN {
		c.Method = "normal"
	}
	dx, dy, ok := centredRanks(x, y)
	if !ok {
		c.Warnings = noCorrelation(x, y)
		return c
	}
	c.Value = tauB(dx, dy)
	if c.N <= ExactN {
		c.P = exactKendall(dx, dy)
		c.Warnings = fewPairs(c.N)
		return c
	}
	z := float64(concordance(dx, dy)) / math.Sqrt(concordanceVariance(dx, dy))
	c.P = max(2*distuv.UnitNormal.CDF(-math.Abs(z)), smallestP(c.N))
	return c
}

// concordance returns concordant minus discordant pairs.
func concordance(x, y []int) int {
	sum := 0
	for i := range x {
		for j := range i {
			sum += cmp.Compare(x[i], x[j]) * cmp.Compare(y[i], y[j])
		}
	}
	return sum
}

func tauB(x, y []int) float64 {
	// A side against itself has as many concordant pairs as untied ones.
	return max(-1, min(1, float64(concordance(x, y))/math.Sqrt(float64(concordance(x, x))*float64(concordance(y, y)))))
}

// concordanceVariance returns the variance of C-D over random orders, where
// ties in x and y stay ties.
func concordanceVariance(x, y []int) float64 {
	n := float64(len(x))
	var t, u [3]float64 // Σ of t(t-1)(2t+5), t(t-1)(t-2), t(t-1) over tie groups
	for sums, side := range map[*[3]float64][]int{&t: x, &u: y} {
		groups := map[int]float64{}
		for _, v := range side {
			groups[v]++
		}
		for _, g := range groups { // sums of integers: order does not matter
			sums[0] += g * (g - 1) * (2*g + 5)
			sums[1] += g * (g - 1) * (g - 2)
			sums[2] += g * (g - 1)
		}
	}
	return (n*(n-1)*(2*n+5)-t[0]-u[0])/18 +
		t[1]*u[1]/(9*n*(n-1)*(n-2)) +
		t[2]*u[2]/(2*n*(n-1))
}

// smallestP returns 2/n!, the p-value of a perfect correlation without ties.
// An approximation that falls below it promises more than n values can.
func smallestP(n int) float64 { return 2 / math.Gamma(float64(n)+1) }

// fewPairs warns where even a perfect correlation is not significant.
func fewPairs(n int) []string {
	if p := min(1, smallestP(n)); p > 0.05 {
		return []string{fmt.Sprintf("%d values: the smallest possible p-value is %.2g, so no order can be significant", n, p)}
	}
	return nil
}

func noCorrelation(x, y []float64) []string {
	switch {
	case len(x) < 2:
		return []string{"under two values: no correlation"}
	case slices.ContainsFunc(x, math.IsNaN) || slices.ContainsFunc(y, math.IsNaN):
		return []string{"a value is not a number: no correlation"}
	}
	return []string{"all values of one side are equal: no correlation"}
}

func abs(i int) int { return max(i, -i) }
