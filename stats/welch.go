package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Difference is a mean difference with its t interval and test.
type Difference struct {
	Diff   float64
	StdErr float64
	DF     float64 // degrees of freedom, by Satterthwaite
	CI     Interval
	P      float64 // two-sided, of "no difference"
}

// newDifference fills a Difference; a standard error of 0 has no test.
func newDifference(diff, se, df, level float64) Difference {
	d := Difference{
		Diff: diff, StdErr: se, DF: df, P: math.NaN(),
		CI: Interval{Low: math.NaN(), High: math.NaN(), Level: level, Method: "t"},
	}
	if !(se > 0) || !(df > 0) {
		return d
	}
	t := distuv.StudentsT{Sigma: 1, Nu: df}
	h := t.Quantile((1+level)/2) * se
	d.CI.Low, d.CI.High = diff-h, diff+h
	d.P = 2 * t.CDF(-math.Abs(diff/se))
	return d
}

// Satterthwaite returns the degrees of freedom of a sum of independent
// variance estimates v with df degrees of freedom each,
//
//	(Σv)² / Σ(v²/df)
//
// (F. E. Satterthwaite, "An Approximate Distribution of Estimates of Variance
// Components", 1946). It is NaN if all are 0, and panics if the lengths differ.
func Satterthwaite(v, df []float64) float64 {
	mustPair(len(v), len(df))
	var sum, parts float64
	for i, x := range v {
		sum += x
		if x != 0 {
			parts += x * x / df[i]
		}
	}
	return sum * sum / parts
}

// Welch returns the difference mean(a) - mean(b) of two independent samples
// with its interval (B. L. Welch, "The Generalization of 'Student's' Problem
// when Several Different Population Variances are Involved", 1947): the
// standard error is sqrt(sa²/na + sb²/nb) with [Satterthwaite] degrees of
// freedom. Few runs of two models are such samples: another training of each.
//
// With under two values on a side, or no spread on both, there is no interval
// and no test: they are NaN. Level must be in (0,1), else it panics.
func Welch(a, b []float64, level float64) Difference {
	mustLevel(level)
	va, vb := SD(a)*SD(a)/float64(len(a)), SD(b)*SD(b)/float64(len(b))
	df := Satterthwaite([]float64{va, vb}, []float64{float64(len(a) - 1), float64(len(b) - 1)})
	return newDifference(Mean(a)-Mean(b), math.Sqrt(va+vb), df, level)
}

// A GridDifference says how far two systems are apart that were each run
// several times on the same items.
type GridDifference struct {
	RunsA, RunsB int
	N            int // values of one run
	Clusters     int
	// Items is about these runs and other items of the same kind, Runs about
	// these items and other trainings, and Both about other trainings on
	// other items: the widest claim.
	Items, Runs, Both Difference
	Warnings          []string
}

// CompareGrids compares two systems by the scores of their runs: a[r][i] is
// run r of A on item i, and b likewise; runs of a side are independent
// trainings. With d_i the difference of the means over runs on item i,
//
//	items: ClusterStdErr(d), clusters-1 degrees of freedom
//	runs:  sqrt(sa²/ra + sb²/rb) over means of runs, as in Welch
//	both:  sqrt(items² + runs² - overlap²)
//
// The overlap is what items and runs both contain, the variance of an item
// over the runs of a side beyond the mean of each run: MS·G/(r·N²) with G
// clusters, N values and r runs of the side, where MS is the interaction mean
// square of runs × cluster sums. Where its estimate would leave less than the
// larger of the parts, that part stands. Degrees of freedom of the sum are by
// [Satterthwaite] of its two main parts.
//
// With one run on a side Runs and Both are NaN, and nothing is said beyond
// these runs. It panics if lengths differ or level is not in (0,1).
func CompareGrids[K comparable](a, b [][]float64, cluster []K, level float64) GridDifference {
	mustLevel(level)
	n := len(cluster)
	g := GridDifference{RunsA: len(a), RunsB: len(b), N: n}
	diffs := make([]float64, n)
	for i := range diffs {
		diffs[i] = meanAt(a, i, n) - meanAt(b, i, n)
	}
	nan := newDifference(Mean(diffs), math.NaN(), math.NaN(), level)
	g.Items, g.Runs, g.Both = nan, nan, nan
	g.Clusters = len(clusterUnits(diffs, cluster))
	itemDF := float64(g.Clusters - 1)
	g.Items = newDifference(Mean(diffs), ClusterStdErr(diffs, cluster), itemDF, level)
	if len(a) < 2 || len(b) < 2 {
		g.Warnings = append(g.Warnings, fmt.Sprintf(
			"%d and %d runs: with one run on a side nothing is known about other trainings", len(a), len(b)))
		return g
	}
	ma, mb := runMeans(a), runMeans(b)
	g.Runs = Welch(ma, mb, level)
	vi, vr := square(g.Items.StdErr), square(g.Runs.StdErr)
	overlap := interaction(a, cluster) + interaction(b, cluster)
	se := math.Sqrt(max(vi+vr-overlap, vi, vr))
	df := g.Runs.DF
	if vi > 0 {
		df = Satterthwaite([]float64{vi, vr}, []float64{itemDF, g.Runs.DF})
	}
	if vr == 0 {
		df = itemDF
		g.Warnings = append(g.Warnings, "the runs of both sides have equal means: that shows no spread of trainings, it does not prove that there is none")
	}
	g.Both = newDifference(g.Items.Diff, se, df, level)
	return g
}

func square(x float64) float64 { return x * x }

func meanAt(runs [][]float64, i, n int) float64 {
	xs := make([]float64, len(runs))
	for r, run := range runs {
		mustPair(len(run), n)
		xs[r] = run[i]
	}
	return Mean(xs)
}

func runMeans(runs [][]float64) []float64 {
	out := make([]float64, len(runs))
	for r, run := range runs {
		out[r] = Mean(run)
	}
	return out
}

// interaction returns the variance that runs × clusters give to the mean of
// all runs.
func interaction[K comparable](runs [][]float64, cluster []K) float64 {
	var sums [][]float64 // by run and cluster
	for _, run := range runs {
		var of []float64
		for _, u := range clusterUnits(run, cluster) {
			of = append(of, u.sum)
		}
		sums = append(sums, of)
	}
	r, g, n := float64(len(runs)), float64(len(sums[0])), float64(len(cluster))
	if r < 2 || g < 2 {
		return 0
	}
	rows, grand := runMeans(sums), 0.0
	for _, m := range rows {
		grand += m / r
	}
	var ss float64
	for j := range sums[0] {
		column := meanAt(sums, j, len(sums[0]))
		for i := range sums {
			ss += square(sums[i][j] - rows[i] - column + grand)
		}
	}
	return ss / ((r - 1) * (g - 1)) * g / (r * n * n)
}
