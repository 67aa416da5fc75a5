package stats

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"
)

// Published bootstrap intervals are from a few thousand resamples, so their
// bounds are known to some percent; ours are from many more.

// resampled runs the code behind [Bootstrap] on another statistic of n units,
// given how often each of them is taken.
func resampled(n int, level float64, statistic func(counts []int) float64) (res BootstrapResult, z0, a float64) {
	opt := BootstrapOptions{Resamples: 50_000, Seed: 1}
	values := make([]float64, opt.Resamples)
	Resample(n, opt, func() func(int, []int) {
		return func(r int, counts []int) { values[r] = statistic(counts) }
	})
	slices.Sort(values)
	once := make([]int, n)
	for i := range once {
		once[i] = 1
	}
	observed, without := statistic(once), make([]float64, n)
	for i := range without {
		one := slices.Clone(once)
		one[i] = 0
		without[i] = statistic(one)
	}
	a = acceleration(without, once)
	res.Percentile.Level, res.BCa.Level = level, level
	res.Mean, res.StdErr = observed, SD(values)
	res.fillIntervals(values, observed, a)
	return res, biasCorrection(values, observed), a
}

func weights(counts []int) []float64 {
	w := make([]float64, len(counts))
	for i, c := range counts {
		w[i] = float64(c)
	}
	return w
}

// B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, tables
// 14.1 and 14.2: the variance of 26 values, z0 = 0.146 and a = 0.061.
func TestBCaOfTheSpatialTestData(t *testing.T) {
	a := []float64{48, 36, 20, 29, 42, 42, 20, 42, 22, 41, 45, 14, 6, 0, 33, 28, 34, 4, 32, 24, 47, 41, 24, 26, 30, 41}
	res, z0, accel := resampled(len(a), .9, func(counts []int) float64 { return stat.PopVariance(a, weights(counts)) })
	// The book's z0 is from 2,000 resamples: its standard error is
	// sqrt(p(1-p)/2000)/φ(z0) = 0.028, of which two are granted.
	for _, row := range []struct {
		what            string
		got, want, near float64
	}{
		{"variance", res.Mean, 171.5, .05},
		{"acceleration", accel, .061, .0005},
		{"z0", z0, .146, .056},
		{"percentile low", res.Percentile.Low, 100.8, 4},
		{"percentile high", res.Percentile.High, 233.9, 4},
		{"BCa low", res.BCa.Low, 115.8, 4},
		{"BCa high", res.BCa.High, 259.6, 4},
	} {
		if !near(row.got, row.want, row.near) {
			t.Errorf("%s = %.4f, published %v", row.what, row.got, row.want)
		}
	}
}

// The same book, table 3.1 and page 266: the correlation of LSAT and GPA over
// 15 law schools, which is skewed the other way.
func TestBCaOfTheLawSchools(t *testing.T) {
	lsat := []float64{576, 635, 558, 578, 666, 580, 555, 661, 651, 605, 653, 575, 545, 572, 594}
	gpa := []float64{3.39, 3.30, 2.81, 3.03, 3.44, 3.07, 3.00, 3.43, 3.36, 3.13, 3.12, 2.74, 2.76, 2.88, 2.96}
	res, _, _ := resampled(len(lsat), .9, func(counts []int) float64 { return stat.Correlation(lsat, gpa, weights(counts)) })
	for _, row := range []struct {
		what            string
		got, want, near float64
	}{
		{"correlation", res.Mean, .776, .0005},
		{"standard error", res.StdErr, .132, .006}, // of 3,200 resamples, table 6.1
		{"BCa low", res.BCa.Low, .410, .03},
		{"BCa high", res.BCa.High, .923, .01},
		// Of 500,000 resamples by a program of a few lines of numpy.
		{"percentile low, again", res.Percentile.Low, .523, .006},
		{"percentile high, again", res.Percentile.High, .947, .002},
		{"BCa low, again", res.BCa.Low, .430, .008},
		{"BCa high, again", res.BCa.High, .927, .002},
	} {
		if !near(row.got, row.want, row.near) {
			t.Errorf("%s = %.4f, published %v", row.what, row.got, row.want)
		}
	}
}

// A. C. Davison and D. V. Hinkley, Bootstrap Methods and their Application,
// 1997, examples 5.4 and 5.8: the mean of 12 times between failures. Over sets of
// 999 resamples, as they took, the high BCa bound has an SD of 8.6.
func TestBootstrapOfTheAirConditioners(t *testing.T) {
	hours := []float64{3, 5, 7, 18, 43, 85, 91, 98, 100, 130, 230, 487}
	res := Bootstrap(hours, BootstrapOptions{Resamples: 50_000, Seed: 1})
	for _, row := range []struct {
		what            string
		got, want, near float64
	}{
		{"mean", res.Mean, 108.083, .001},
		{"percentile low", res.Percentile.Low, 43.9, 4},
		{"percentile high", res.Percentile.High, 192.1, 6},
		{"BCa low", res.BCa.Low, 55.33, 4},
		{"BCa high", res.BCa.High, 243.5, 20},
		// Of 1,000,000 resamples by a program of a few lines of numpy.
		{"BCa low, again", res.BCa.Low, 57.0, 1},
		{"BCa high, again", res.BCa.High, 225.8, 2},
	} {
		if !near(row.got, row.want, row.near) {
			t.Errorf("%s = %.3f, published %v", row.what, row.got, row.want)
		}
	}
}

// Each unit is drawn once on average, n units make a resample, and how often
// one is drawn has the variance 1 - 1/n of a binomial count.
func TestResampleDrawsWithReplacement(t *testing.T) {
	const n, resamples = 7, 20_000
	for _, workers := range []int{1, 3} {
		drawn := make([][]int, resamples)
		Resample(n, BootstrapOptions{Resamples: resamples, Seed: 4, Workers: workers}, func() func(int, []int) {
			return func(r int, counts []int) { drawn[r] = slices.Clone(counts) }
		})
		var first []float64
		for r, counts := range drawn {
			sum := 0
			for _, c := range counts {
				sum += c
			}
			if sum != n {
				t.Fatalf("resample %d has %d units, want %d", r, sum, n)
			}
			first = append(first, float64(counts[0]))
		}
		// Five standard errors of the mean, and about five of the variance.
		if m, v := Mean(first), SD(first)*SD(first); !near(m, 1, 5*math.Sqrt(1./resamples)) || !near(v, 1-1./n, .06) {
			t.Errorf("a unit is drawn %v times on average with a variance of %v, want 1 and %v", m, v, 1-1./n)
		}
		if other := drawn[resamples/2]; !slices.Equal(other, resampleAt(n, resamples/2)) {
			t.Errorf("%d workers: resample %d is %v, want %v", workers, resamples/2, other, resampleAt(n, resamples/2))
		}
	}
}

// resampleAt returns one resample as a single worker draws it.
func resampleAt(n, at int) []int {
	var out []int
	Resample(n, BootstrapOptions{Resamples: at + 1, Seed: 4, Workers: 1}, func() func(int, []int) {
		return func(r int, counts []int) {
			if r == at {
				out = slices.Clone(counts)
			}
		}
	})
	return out
}

// A tally of values has the quantiles of the list of them.
func TestPercentileOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.SampledFrom([]float64{-1, -.5, 0, .25, 1}), 1, 60).Draw(t, "values")
		level := rapid.Float64Range(.5, .99).Draw(t, "level")
		tally := map[float64]int{}
		for _, v := range values {
			tally[v]++
		}
		slices.Sort(values)
		iv := PercentileOf(tally, level)
		if low, high := quantile(values, (1-level)/2), quantile(values, (1+level)/2); !near(iv.Low, low, 1e-9) || !near(iv.High, high, 1e-9) {
			t.Fatalf("[%v, %v], want [%v, %v]", iv.Low, iv.High, low, high)
		}
	})
	if iv := PercentileOf(nil, .9); !math.IsNaN(iv.Low) || !math.IsNaN(iv.High) {
		t.Errorf("the interval of no values is %v", iv)
	}
}
