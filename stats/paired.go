package stats

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// A TestResult is a two-sided test of "no difference".
type TestResult struct {
	N         int     // units that can speak: differences that are not 0
	Statistic float64 // as the test defines it
	P         float64 // in (0,1]; NaN if nothing could be tested
	Method    string  // "mcnemar exact", "sign flips exact" or "sign flips"
	Draws     int     // random draws behind P; 0 for exact tests
	Warnings  []string
}

// McNemar tests whether two systems are right equally often on the same items:
// gained of them only the first got right, lost only the second. Under "no
// difference" each of the n = gained+lost is a fair coin, so
//
//	p = min(1, 2·P(X <= min(gained, lost))),  X ~ Binomial(n, 1/2)
//
// (Q. McNemar, "Note on the sampling error of the difference between
// correlated proportions", 1947, with the exact binomial in place of his χ²).
// The statistic is gained - lost. Items must be independent of each other.
// With n = 0 p is 1. McNemar panics at a negative count.
func McNemar(gained, lost int) TestResult {
	if gained < 0 || lost < 0 {
		panic(fmt.Sprintf("stats: McNemar: want counts of 0 or more, have %d and %d", gained, lost))
	}
	r := TestResult{N: gained + lost, Statistic: float64(gained - lost), P: 1, Method: "mcnemar exact"}
	if r.N > 0 {
		r.P = min(1, 2*distuv.Binomial{N: float64(r.N), P: 0.5}.CDF(float64(min(gained, lost))))
	}
	r.Warnings = fewFlips(r.N)
	return r
}

// fewFlips warns where even units that all agree are not significant.
func fewFlips(n int) []string {
	if p := math.Exp2(1 - float64(n)); n > 0 && p > 0.05 {
		return []string{fmt.Sprintf("%d units differ: the smallest possible p-value is %.2g, so no difference can be significant", n, min(1, p))}
	}
	return nil
}

// exactOutcomes is the number of distinct outcomes up to which [SignFlips]
// counts all of them: a hundredth of a second.
const exactOutcomes = 1 << 20

// SignFlips tests by permutation whether the mean of paired differences is 0.
// Under "no difference" the two systems may change places on every cluster of
// values, so the sum of each cluster keeps its size and has either sign
// (R. A. Fisher, The Design of Experiments, 1935, section 21):
//
//	p = P(|Σ ±s_g| >= |Σ s_g|)   over all 2^m signs of the m sums that are not 0.
//
// A cluster is what is flipped as one: the turns of a conversation are not
// independent, and neither are the runs of one item. Two runs a side, seeds as
// blocks, are therefore given as one difference for each item, the mean over
// blocks: each block then exchanges A and B only within itself, and an item
// that one system solves in every run counts once and not as many times as
// there are seeds. Flips of single runs would take the agreement of seeds on
// an item for evidence, and be too sure.
//
// Equal sizes are one class, of which k of n are positive in C(n,k) ways. If
// that makes at most 2^20 distinct outcomes they are all counted ("sign flips
// exact"; for differences of -1, 0 and 1 this is [McNemar]). Else opt.Resamples
// random signs are drawn and p = (hits+1)/(draws+1), which is never 0 (B.
// Phipson and G. K. Smyth, "Permutation P-values Should Never Be Zero", 2010);
// the draws depend on Seed only and not on Workers. Level is not used.
//
// The statistic is the mean of diffs. It panics if the lengths differ.
func SignFlips[K comparable](diffs []float64, cluster []K, opt BootstrapOptions) TestResult {
	mustPair(len(diffs), len(cluster))
	r := TestResult{Statistic: Mean(diffs), P: math.NaN(), Method: "sign flips exact"}
	switch {
	case len(diffs) == 0:
		r.Warnings = []string{"no value: nothing to test"}
		return r
	case !finite(diffs):
		r.Warnings = []string{"a value is not a finite number: no test"}
		return r
	}
	var sum float64
	units := clusterUnits(diffs, cluster)
	classes := flipClasses(units)
	for _, u := range units {
		sum += u.sum
	}
	for _, c := range classes {
		r.N += c.count
	}
	f := flips{classes: classes}
	f.edge = math.Abs(sum) - 1e-9*f.span()
	if f.outcomes() <= exactOutcomes {
		r.P = min(1, f.exact())
		r.Warnings = fewFlips(r.N)
		return r
	}
	r.Method, r.Draws = "sign flips", cmp.Or(opt.Resamples, DefaultResamples)
	r.P = float64(f.hits(r.Draws, opt)+1) / float64(r.Draws+1)
	return r
}

// flipClasses groups the sums of units by size, zeros left out. Sizes that
// differ by rounding only are one.
func flipClasses(units []unit) []class {
	var sizes []float64
	for _, u := range units {
		if u.sum != 0 {
			sizes = append(sizes, math.Abs(u.sum))
		}
	}
	slices.Sort(sizes)
	var classes []class
	for i, s := range sizes {
		if i == 0 || s-classes[len(classes)-1].sum > 1e-12*sizes[len(sizes)-1] {
			classes = append(classes, class{unit: unit{sum: s, size: 1}})
		}
		classes[len(classes)-1].count++
	}
	if n := len(classes); n > 0 && classes[0].sum <= 1e-12*sizes[len(sizes)-1] {
		return classes[1:] // 0.3 - 0.1 - 0.2 is none
	}
	return classes
}

// flips counts sums of random signs that lie at or beyond an edge.
type flips struct {
	classes []class
	edge    float64
}

// span returns the sum with all signs positive.
func (f flips) span() float64 {
	var s float64
	for _, c := range f.classes {
		s += float64(c.count) * c.sum
	}
	return s
}

// outcomes returns how many combinations of counts there are.
func (f flips) outcomes() float64 {
	n := 1.0
	for _, c := range f.classes {
		n *= float64(c.count + 1)
	}
	return n
}

// exact returns the probability of the sums at or beyond the edge.
func (f flips) exact() float64 {
	pmf := make([][]float64, len(f.classes))
	for i, c := range f.classes {
		pmf[i] = fairCoins(c.count)
	}
	var walk func(i int, sum, weight float64) float64
	walk = func(i int, sum, weight float64) float64 {
		if i == len(f.classes) {
			if math.Abs(sum) >= f.edge {
				return weight
			}
			return 0
		}
		var p float64
		c := f.classes[i]
		for k, w := range pmf[i] {
			p += walk(i+1, sum+float64(2*k-c.count)*c.sum, weight*w)
		}
		return p
	}
	return walk(0, 0, 1)
}

// fairCoins returns the probabilities of 0 … n heads of n fair coins.
func fairCoins(n int) []float64 {
	p := make([]float64, n+1)
	all, _ := math.Lgamma(float64(n) + 1)
	for k := range p {
		a, _ := math.Lgamma(float64(k) + 1)
		b, _ := math.Lgamma(float64(n-k) + 1)
		p[k] = math.Exp(all - a - b - float64(n)*math.Ln2)
	}
	return p
}

// hits returns how many of the draws lie at or beyond the edge.
func (f flips) hits(draws int, opt BootstrapOptions) int {
	largest := 0
	for _, c := range f.classes {
		largest = max(largest, c.count)
	}
	bin := newBinomials(largest)
	beyond := make([]bool, draws)
	eachDraw(draws, opt, func() func(r int, g *rand.PCG) {
		return func(r int, g *rand.PCG) {
			var sum float64
			coins := coins{g: g}
			for _, c := range f.classes {
				heads := 0
				if c.count <= manyCoins {
					heads = coins.heads(c.count)
				} else {
					heads = bin.draw(g, c.count, 0.5)
				}
				sum += float64(2*heads-c.count) * c.sum
			}
			beyond[r] = math.Abs(sum) >= f.edge
		}
	})
	n := 0
	for _, b := range beyond {
		if b {
			n++
		}
	}
	return n
}

// manyCoins is the number of coins above which a binomial variate is cheaper
// than tossing them, by measurement.
const manyCoins = 512

// coins tosses fair coins, 64 to a random word.
type coins struct {
	g    *rand.PCG
	word uint64
	left int // bits of word that are not used yet
}

// heads returns how many of n coins show heads.
func (c *coins) heads(n int) int {
	heads := 0
	for n > 0 {
		if c.left == 0 {
			c.word, c.left = c.g.Uint64(), 64
		}
		take := min(n, c.left)
		heads += bits.OnesCount64(c.word << (64 - take))
		c.word >>= take
		c.left -= take
		n -= take
	}
	return heads
}
