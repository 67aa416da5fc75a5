package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// An Interval is a confidence interval. Low and High are NaN when the sample
// is too small to have one.
type Interval struct {
	Low, High float64
	Level     float64 // in (0,1), such as 0.95
	Method    string  // "t", "chi-square", "wilson", "percentile" or "bca"
}

// Mean returns the arithmetic mean of xs, or NaN if xs is empty or holds a
// value that is not finite. The mean of equal values is that value exactly.
func Mean(xs []float64) float64 {
	if len(xs) == 0 || !finite(xs) {
		return math.NaN()
	}
	// Deviations from the first value are summed, and not the values: three
	// times 0.1 would give 0.10000000000000002, and then an SD above 0 for
	// runs that are equal.
	var sum float64
	for _, x := range xs {
		sum += x - xs[0]
	}
	return xs[0] + sum/float64(len(xs))
}

// SD returns the sample standard deviation of xs,
//
//	sqrt(Σ(x-mean)² / (n-1)),
//
// the one that the paper prints after ± (UniToolCall, Appendix C.1). It is NaN
// if there are under two values or one is not finite.
func SD(xs []float64) float64 {
	if len(xs) < 2 {
		return math.NaN()
	}
	m := Mean(xs)
	var sum float64
	for _, x := range xs {
		sum += (x - m) * (x - m)
	}
	return math.Sqrt(sum / float64(len(xs)-1))
}

// StdErr returns the standard error of the mean of xs, SD/sqrt(n). It is NaN
// where [SD] is.
func StdErr(xs []float64) float64 { return SD(xs) / math.Sqrt(float64(len(xs))) }

// ClusterStdErr returns the standard error of the mean of xs when values of
// the same cluster, such as the turns of one conversation, are not
// independent:
//
//	sqrt(G/(G-1) · Σ_g (Σ_{i in g} (x_i - mean))²) / n
//
// over G clusters (the linearised ratio estimator; Cameron and Miller, "A
// Practitioner's Guide to Cluster-Robust Inference", 2015, with an intercept
// only). With one value in each cluster it is [StdErr]. It is NaN with under
// two clusters, and panics if the lengths differ.
func ClusterStdErr[K comparable](xs []float64, cluster []K) float64 {
	mustPair(len(xs), len(cluster))
	m := Mean(xs)
	units := clusterUnits(xs, cluster)
	if len(units) < 2 {
		return math.NaN()
	}
	var sum float64
	for _, u := range units {
		d := u.sum - u.size*m
		sum += d * d
	}
	g := float64(len(units))
	return math.Sqrt(g/(g-1)*sum) / float64(len(xs))
}

// ClusterTInterval returns the t interval of the mean of xs with the standard
// error of [ClusterStdErr] and G-1 degrees of freedom for G clusters. With one
// value in each cluster it is [TInterval]. It is NaN with under two clusters,
// and panics if the lengths differ or level is not in (0,1).
func ClusterTInterval[K comparable](xs []float64, cluster []K, level float64) Interval {
	clusters := map[K]bool{}
	for _, k := range cluster {
		clusters[k] = true
	}
	g := len(clusters)
	m, h := Mean(xs), TFactor(g, level)*math.Sqrt(float64(g))*ClusterStdErr(xs, cluster)
	return Interval{Low: m - h, High: m + h, Level: level, Method: "t"}
}

// TInterval returns the interval of Student's t for the mean of xs,
//
//	mean ± t(1-(1-level)/2; n-1) · SD/sqrt(n).
//
// It is exact for normal values. With three runs its half-width is 2.48·SD at
// level 0.95 (see [TFactor]). Its bounds may leave the range of a score. It is
// NaN where [SD] is; level must be in (0,1), else it panics.
func TInterval(xs []float64, level float64) Interval {
	m, h := Mean(xs), TFactor(len(xs), level)*SD(xs)
	return Interval{Low: m - h, High: m + h, Level: level, Method: "t"}
}

// TFactor returns the half-width of [TInterval] in units of the sample SD,
// t(1-(1-level)/2; n-1)/sqrt(n): at level 0.95 it is 8.98 for n = 2, 2.48 for
// 3, 1.24 for 5 and 0.72 for 10. It is NaN for n < 2; level must be in (0,1),
// else it panics.
func TFactor(n int, level float64) float64 {
	mustLevel(level)
	if n < 2 {
		return math.NaN()
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile((1 + level) / 2)
	return t / math.Sqrt(float64(n))
}

// SDInterval returns the chi-square interval of the standard deviation that xs
// was drawn with,
//
//	SD · sqrt((n-1)/χ²(1∓(1-level)/2; n-1)).
//
// It is exact for normal values. It is NaN where [SD] is; level must be in
// (0,1), else it panics.
func SDInterval(xs []float64, level float64) Interval {
	sd := SD(xs)
	low, high := SDFactors(len(xs), level)
	return Interval{Low: low * sd, High: high * sd, Level: level, Method: "chi-square"}
}

// SDFactors returns the bounds of [SDInterval] in units of the sample SD: 0.52
// and 6.28 for three runs at level 0.95. They are NaN for n < 2; level must be
// in (0,1), else it panics.
func SDFactors(n int, level float64) (low, high float64) {
	mustLevel(level)
	if n < 2 {
		return math.NaN(), math.NaN()
	}
	df := float64(n - 1)
	chi := distuv.ChiSquared{K: df}
	return math.Sqrt(df / chi.Quantile((1+level)/2)), math.Sqrt(df / chi.Quantile((1-level)/2))
}

// Wilson returns the score interval for a proportion of k in n (E. B. Wilson,
// 1927): the set of p for which
//
//	|k/n - p| <= z · sqrt(p(1-p)/n),  z = Φ⁻¹((1+level)/2).
//
// Its bounds stay in [0,1], and unlike the t interval it has a width at k = 0
// and k = n. It is NaN for n = 0, and panics unless 0 <= k <= n and level is
// in (0,1).
func Wilson(k, n int, level float64) Interval {
	mustLevel(level)
	if k < 0 || k > n {
		panic(fmt.Sprintf("stats: Wilson: want 0 <= k <= n, have k = %d and n = %d", k, n))
	}
	iv := Interval{Low: math.NaN(), High: math.NaN(), Level: level, Method: "wilson"}
	if n == 0 {
		return iv
	}
	z := distuv.UnitNormal.Quantile((1 + level) / 2)
	fn, p := float64(n), float64(k)/float64(n)
	centre := p + z*z/(2*fn)
	half := z * math.Sqrt(p*(1-p)/fn+z*z/(4*fn*fn))
	scale := 1 + z*z/fn
	// The bounds at the ends are 0 and 1 by algebra, but not after rounding.
	iv.Low, iv.High = max(0, (centre-half)/scale), min(1, (centre+half)/scale)
	if k == 0 {
		iv.Low = 0
	}
	if k == n {
		iv.High = 1
	}
	return iv
}

func finite(xs []float64) bool {
	for _, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

func mustLevel(level float64) {
	if !(level > 0 && level < 1) {
		panic(fmt.Sprintf("stats: want a level in (0,1), such as 0.95, have %v", level))
	}
}

func mustPair(a, b int) {
	if a != b {
		panic(fmt.Sprintf("stats: want two lists of one length, have %d and %d values", a, b))
	}
}
