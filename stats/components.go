package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Component is a part of the variance of scores.
type Component struct {
	// Variance is the estimate, not below 0; Raw is it before that cut, and
	// negative where the data show less spread than the other parts bring
	// about. NaN: the grid cannot tell this part.
	Variance, Raw float64
	SD            float64 // sqrt(Variance)
	Share         float64 // of the sum of all parts, in [0,1]
	CI            Interval
}

// Components is the variance of scores split by where it comes from.
type Components struct {
	Seeds, Repeats, Items int // size of the grid
	Mean                  float64
	// Seed is what another training moves a whole run by, Repeat another
	// decoding of the same training, Item how hard items are, SeedItem what a
	// training changes on single items, Residual what a decoding changes there.
	// With one repeat Repeat is NaN and contained in Seed, and Residual is NaN
	// and contained in SeedItem. With one seed Seed and SeedItem are NaN, the
	// second contained in Item.
	Seed, Repeat, Item, SeedItem, Residual Component
	// BetweenSeeds is the SD of the mean score of a training, and
	// BetweenRepeats that of the decodings of one training, both over the same
	// items; ItemStdErr is what the choice of items adds to the mean.
	BetweenSeeds, BetweenRepeats, ItemStdErr float64
	Warnings                                 []string
}

// SplitVariance splits the variance of scores[seed][repeat][item], a full
// grid: item i is the same everywhere, repeat r of one seed has nothing to do
// with repeat r of another. The model is
//
//	score(s,r,i) = mean + seed(s) + repeat(s,r) + item(i) + seedItem(s,i) + residual(s,r,i)
//
// with independent random effects, and the estimates are those of the method
// of moments (S. R. Searle, G. Casella and C. E. McCulloch, Variance
// Components, 1992, chapter 4): mean squares are set equal to what they
// expect. For a seeds, b repeats and n items,
//
//	E[MS seed]      = residual + b·seedItem + n·repeat + n·b·seed
//	E[MS repeat]    = residual + n·repeat
//	E[MS item]      = residual + b·seedItem + a·b·item
//	E[MS seed×item] = residual + b·seedItem
//	E[MS residual]  = residual
//
// Intervals are those of the modified large-sample method for sums and
// differences of mean squares (R. K. Burdick and F. A. Graybill, Confidence
// Intervals on Variance Components, 1992, section 3.3; N. Ting et al., 1990),
// cut at 0. They suppose normal effects: what they say of few seeds is right
// because means over items are near normal, what they say of Item and
// Residual is rough for scores of 0 and 1.
//
// It panics if the grid has holes or level is not in (0,1).
func SplitVariance(scores [][][]float64, level float64) Components {
	mustLevel(level)
	g := newVarianceGrid(scores)
	c := Components{Seeds: g.a, Repeats: g.b, Items: g.n, Mean: g.mean}
	nan := math.NaN()
	none := Component{Variance: nan, Raw: nan, SD: nan, Share: nan, CI: Interval{nan, nan, level, "modified large sample"}}
	c.Seed, c.Repeat, c.Item, c.SeedItem, c.Residual = none, none, none, none, none
	c.BetweenSeeds, c.BetweenRepeats, c.ItemStdErr = nan, nan, nan
	if g.n < 2 || !isFinite(g.mean) {
		c.Warnings = append(c.Warnings, "under two items, or a value that is not finite: no split of variance")
		return c
	}
	a, b, n := float64(g.a), float64(g.b), float64(g.n)
	seed, repeat, item, inter, rest := g.seed, g.repeat, g.item, g.interaction, g.residual
	switch {
	case g.a > 1 && g.b > 1:
		c.Seed = estimate(level, term{seed, 1 / (n * b)}, term{repeat, -1 / (n * b)}, term{inter, -1 / (n * b)}, term{rest, 1 / (n * b)})
		c.SeedItem = estimate(level, term{inter, 1 / b}, term{rest, -1 / b})
		c.Item = estimate(level, term{item, 1 / (a * b)}, term{inter, -1 / (a * b)})
	case g.a > 1: // one repeat
		c.Seed = estimate(level, term{seed, 1 / n}, term{inter, -1 / n})
		c.SeedItem = estimate(level, term{inter, 1})
		c.Item = estimate(level, term{item, 1 / a}, term{inter, -1 / a})
		c.Warnings = append(c.Warnings, "one repeat: what decoding moves cannot be told from what training moves")
	case g.b > 1: // one seed
		c.Item = estimate(level, term{item, 1 / b}, term{rest, -1 / b})
		c.Warnings = append(c.Warnings, "one training seed: nothing is known about other trainings")
	default:
		c.Item = estimate(level, term{item, 1})
		c.Warnings = append(c.Warnings, "one run: items, training and decoding cannot be told apart")
	}
	if g.b > 1 {
		c.Repeat = estimate(level, term{repeat, 1 / n}, term{rest, -1 / n})
		c.Residual = estimate(level, term{rest, 1})
		c.BetweenRepeats = math.Sqrt(repeat.ms / n)
	}
	if g.a > 1 {
		c.BetweenSeeds = math.Sqrt(seed.ms / (n * b))
	}
	c.ItemStdErr = math.Sqrt(c.Item.Variance / n)
	c.shares()
	if g.a > 1 && g.a < fewRuns {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%d seeds: their part is known only within its interval", g.a))
	}
	return c
}

// shares fills the share of each part in the sum of the known ones.
func (c *Components) shares() {
	parts := []*Component{&c.Seed, &c.Repeat, &c.Item, &c.SeedItem, &c.Residual}
	var sum float64
	for _, p := range parts {
		if isFinite(p.Variance) {
			sum += p.Variance
		}
	}
	for _, p := range parts {
		p.Share = p.Variance / sum // NaN at no variance: there is nothing to share
	}
}

func isFinite(x float64) bool { return finite([]float64{x}) }

// A meanSquare is a sum of squares over its degrees of freedom.
type meanSquare struct{ ms, df float64 }

// A varianceGrid holds the mean squares of a grid.
type varianceGrid struct {
	a, b, n                                   int
	mean                                      float64
	seed, repeat, item, interaction, residual meanSquare
}

func newVarianceGrid(scores [][][]float64) varianceGrid {
	if len(scores) == 0 || len(scores[0]) == 0 {
		panic("stats: SplitVariance: want at least one seed with one repeat")
	}
	g := varianceGrid{a: len(scores), b: len(scores[0]), n: len(scores[0][0])}
	var all []float64
	bySeed := make([]float64, g.a)
	byRun := make([][]float64, g.a)
	byItem := make([]float64, g.n)
	cell := make([][]float64, g.a) // mean over repeats, by seed and item
	for s := range scores {
		mustPair(len(scores[s]), g.b)
		cell[s] = make([]float64, g.n)
		for _, run := range scores[s] {
			mustPair(len(run), g.n)
			all = append(all, run...)
			byRun[s] = append(byRun[s], Mean(run))
			for i, x := range run {
				cell[s][i] += x / float64(g.b)
			}
		}
		bySeed[s] = Mean(byRun[s])
	}
	g.mean = Mean(all)
	for i := range byItem {
		byItem[i] = meanAt(cell, i, g.n)
	}
	a, b, n := float64(g.a), float64(g.b), float64(g.n)
	var seed, repeat, item, inter, rest float64
	for s := range scores {
		seed += n * b * square(bySeed[s]-g.mean)
		for r, run := range scores[s] {
			repeat += n * square(byRun[s][r]-bySeed[s])
			for i, x := range run {
				rest += square(x - cell[s][i] - byRun[s][r] + bySeed[s])
			}
		}
		for i := range byItem {
			inter += b * square(cell[s][i]-bySeed[s]-byItem[i]+g.mean)
		}
	}
	for _, m := range byItem {
		item += a * b * square(m-g.mean)
	}
	of := func(ss, df float64) meanSquare { return meanSquare{ss / df, df} }
	g.seed, g.repeat = of(seed, a-1), of(repeat, a*(b-1))
	g.item, g.interaction, g.residual = of(item, n-1), of(inter, (a-1)*(n-1)), of(rest, a*(b-1)*(n-1))
	return g
}

// A term is a mean square times a factor.
type term struct {
	meanSquare
	factor float64
}

// estimate returns the sum of terms as a component.
func estimate(level float64, terms ...term) Component {
	var c Component
	for _, t := range terms {
		c.Raw += t.factor * t.ms
	}
	c.Variance = max(0, c.Raw)
	c.SD = math.Sqrt(c.Variance)
	low, high := largeSample(terms, (1-level)/2)
	c.CI = Interval{Low: max(0, low), High: max(0, high), Level: level, Method: "modified large sample"}
	return c
}

// largeSample returns the bounds of a sum of mean squares, each missing with
// probability alpha.
func largeSample(terms []term, alpha float64) (low, high float64) {
	var plus, minus []term
	var sum float64
	for _, t := range terms {
		sum += t.factor * t.ms
		if t.factor > 0 {
			plus = append(plus, t)
		} else {
			t.factor = -t.factor
			minus = append(minus, t)
		}
	}
	// The upper bound is the lower bound of the negative sum.
	return sum - math.Sqrt(slack(plus, minus, alpha)), sum + math.Sqrt(slack(minus, plus, alpha))
}

// slack returns the square of the distance from the estimate Σplus - Σminus
// down to its lower bound: V_L of Ting et al.
func slack(plus, minus []term, alpha float64) float64 {
	var v float64
	for _, p := range plus {
		v += square(shrink(p.df, alpha) * p.factor * p.ms)
	}
	for _, m := range minus {
		v += square(stretch(m.df, alpha) * m.factor * m.ms)
	}
	for _, p := range plus {
		for _, m := range minus {
			f := distuv.F{D1: p.df, D2: m.df}.Quantile(1 - alpha)
			cross := (square(f-1) - square(shrink(p.df, alpha)*f) - square(stretch(m.df, alpha))) / f
			v += cross * p.factor * p.ms * m.factor * m.ms
		}
	}
	for i, p := range plus {
		for _, q := range plus[i+1:] {
			both := p.df + q.df
			cross := (square(shrink(both, alpha)*both)/(p.df*q.df) -
				square(shrink(p.df, alpha))*p.df/q.df - square(shrink(q.df, alpha))*q.df/p.df) / float64(len(plus)-1)
			v += cross * p.factor * p.ms * q.factor * q.ms
		}
	}
	return max(0, v)
}

// shrink and stretch are how far a mean square may lie above and below what it
// expects, 1 - df/χ²(1-α) and df/χ²(α) - 1.
func shrink(df, alpha float64) float64 {
	return 1 - df/distuv.ChiSquared{K: df}.Quantile(1-alpha)
}

func stretch(df, alpha float64) float64 {
	return df/distuv.ChiSquared{K: df}.Quantile(alpha) - 1
}
