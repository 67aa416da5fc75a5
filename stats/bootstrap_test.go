package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// The sampler's binomials against the probability function: both algorithms
// and the mirrored side, by a χ² test at a level no seed should fail.
func TestBinomialsFollowTheirDistribution(t *testing.T) {
	tests := []struct {
		n int
		p float64
	}{{1, 0.3}, {7, 0.5}, {40, 0.1}, {40, 0.9}, {100, 0.4}, {6163, 0.001}, {6163, 0.01}, {6163, 0.7}}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("n=%d p=%v", tt.n, tt.p), func(t *testing.T) {
			const draws = 100_000
			b, g := newBinomials(tt.n), rand.NewPCG(3, 4)
			seen := make([]float64, tt.n+1)
			for range draws {
				seen[b.draw(g, tt.n, tt.p)]++
			}
			dist := distuv.Binomial{N: float64(tt.n), P: tt.p}
			var chi2, df, expect, have float64
			for k := range seen { // cells are joined until they expect 20
				expect += draws * dist.Prob(float64(k))
				have += seen[k]
				if expect >= 20 {
					chi2 += (have - expect) * (have - expect) / expect
					df++
					expect, have = 0, 0
				}
			}
			if p := 1 - (distuv.ChiSquared{K: df - 1}).CDF(chi2); p < 1e-4 {
				t.Errorf("χ² = %.1f over %v cells, p = %.2g", chi2, df, p)
			}
		})
	}
}

func TestBinomialEdges(t *testing.T) {
	b, g := newBinomials(10), rand.NewPCG(1, 1)
	for _, tt := range []struct {
		n    int
		p    float64
		want int
	}{{0, 0.5, 0}, {10, 0, 0}, {10, 1, 10}} {
		if got := b.draw(g, tt.n, tt.p); got != tt.want {
			t.Errorf("draw(%d, %v) = %d, want %d", tt.n, tt.p, got, tt.want)
		}
	}
}

// sample returns n scores of a kind that instances have: sixths.
func sample(n int, seed uint64) []float64 {
	g := rand.New(rand.NewPCG(seed, 0))
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = float64(max(g.IntN(7), g.IntN(7))) / 6
	}
	return xs
}

// With n = 5 all 5^5 resamples can be listed: the exact bootstrap distribution.
func TestBootstrapAgainstAllResamples(t *testing.T) {
	xs := []float64{0, 0.25, 0.5, 0.5, 1}
	var all []float64
	positive := 0.0
	for _, idx := range cartesian(len(xs), len(xs)) {
		m := 0.0
		for _, i := range idx {
			m += xs[i]
		}
		all = append(all, m/5)
		if m > 0 {
			positive++
		} else {
			positive += 0.5
		}
	}
	mean, sd := stat.PopMeanStdDev(all, nil)
	res := Bootstrap(xs, BootstrapOptions{Resamples: 200_000, Seed: 1})
	if !near(res.Mean, mean, 1e-12) || !near(res.StdErr, sd, 0.001) {
		t.Errorf("mean %v, standard error %v, over all resamples %v, %v", res.Mean, res.StdErr, mean, sd)
	}
	if want := positive / float64(len(all)); !near(res.Positive, want, 0.0005) {
		t.Errorf("Positive = %v, over all resamples %v", res.Positive, want)
	}
}

func cartesian(base, n int) [][]int {
	dims := make([]int, n)
	for i := range dims {
		dims[i] = base
	}
	return combin.Cartesian(dims)
}

// For many values the interval is the normal one, and the two samplers (the
// multinomial chain and single draws) agree.
func TestBootstrapAgainstTheNormalInterval(t *testing.T) {
	xs := sample(700, 7)
	se := stat.PopStdDev(xs, nil) / math.Sqrt(float64(len(xs)))
	z := distuv.UnitNormal.Quantile(0.975)
	for name, jitter := range map[string]float64{"chain": 0, "draws": 1e-9} {
		ys := make([]float64, len(xs))
		for i, x := range xs {
			ys[i] = x + jitter*float64(i) // tells all values apart, and no more
		}
		s := newSampler(unitsOf(ys))
		if (s.of != nil) != (name == "draws") {
			t.Fatalf("%s: wrong sampler for %d classes", name, len(s.classes))
		}
		res := Bootstrap(ys, BootstrapOptions{Resamples: 20_000, Seed: 5})
		if !near(res.StdErr/se, 1, 0.02) {
			t.Errorf("%s: standard error %v, want %v", name, res.StdErr, se)
		}
		for _, iv := range []Interval{res.Percentile, res.BCa} {
			if !near(iv.Low, res.Mean-z*se, 0.1*se) || !near(iv.High, res.Mean+z*se, 0.1*se) {
				t.Errorf("%s: %s interval [%v, %v], normal [%v, %v]", name, iv.Method, iv.Low, iv.High, res.Mean-z*se, res.Mean+z*se)
			}
		}
	}
}

func unitsOf(xs []float64) []unit {
	units := make([]unit, len(xs))
	for i, x := range xs {
		units[i] = unit{x, 1}
	}
	return units
}

// For the mean, the jackknife's acceleration has a closed form: a sixth of the
// skewness over root n.
func TestAccelerationIsASixthOfTheSkewness(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(0, 1), 2, 60).Draw(t, "xs")
		m := Mean(xs)
		var d2, d3 float64
		for _, x := range xs {
			d2 += (x - m) * (x - m)
			d3 += (x - m) * (x - m) * (x - m)
		}
		want := 0.0
		if d2 > 1e-9 {
			want = d3 / (6 * math.Pow(d2, 1.5))
		} else if d2 > 0 {
			return
		}
		if got := newSampler(unitsOf(xs)).acceleration(); !near(got, want, 1e-6) {
			t.Fatalf("acceleration %v, want %v", got, want)
		}
	})
}

// BCa's orders for a skewed sample, with z0 and a taken by hand.
func TestBCaShiftsTowardsTheLongTail(t *testing.T) {
	xs := make([]float64, 60) // 54 zeros and 6 ones: a long tail to the right
	for i := range 6 {
		xs[i] = 1
	}
	res := Bootstrap(xs, BootstrapOptions{Seed: 9, Resamples: 50_000})
	if res.BCa.High < res.Percentile.High || res.BCa.Low < res.Percentile.Low {
		t.Errorf("BCa [%v, %v] does not lie above percentile [%v, %v]", res.BCa.Low, res.BCa.High, res.Percentile.Low, res.Percentile.High)
	}
	// The resample mean is Binomial(60, 0.1)/60, so all is known exactly.
	d := distuv.Binomial{N: 60, P: 0.1}
	z0 := distuv.UnitNormal.Quantile(d.CDF(5) + d.Prob(6)/2)
	a := (0.8 / 0.3) / math.Sqrt(60) / 6 // skewness of a coin of 0.1
	z := distuv.UnitNormal.Quantile(0.975)
	for _, tt := range []struct{ got, z float64 }{{res.BCa.Low, -z}, {res.BCa.High, z}} {
		order := distuv.UnitNormal.CDF(z0 + (z0+tt.z)/(1-a*(z0+tt.z)))
		k := 0.0
		for d.CDF(k) < order {
			k++
		}
		if !near(tt.got, k/60, 1e-12) {
			t.Errorf("bound %v, want %v (order %.4f)", tt.got, k/60, order)
		}
	}
}

func TestBootstrapDoesNotDependOnWorkersOrOrder(t *testing.T) {
	for _, n := range []int{2, 30, 500} {
		xs := sample(n, 11)
		want := Bootstrap(xs, BootstrapOptions{Seed: 42, Resamples: 997, Workers: 1})
		reversed := make([]float64, n)
		for i, x := range xs {
			reversed[n-1-i] = x
		}
		for _, workers := range []int{0, 2, 3, 16, 5000} {
			got := Bootstrap(reversed, BootstrapOptions{Seed: 42, Resamples: 997, Workers: workers})
			if got.BCa != want.BCa || got.Percentile != want.Percentile || got.StdErr != want.StdErr {
				t.Errorf("n = %d, %d workers: %+v, one worker %+v", n, workers, got, want)
			}
		}
		if other := Bootstrap(xs, BootstrapOptions{Seed: 43, Resamples: 997}); other.StdErr == want.StdErr {
			t.Errorf("n = %d: seeds 42 and 43 give the same standard error", n)
		}
	}
}

func TestBootstrapClusters(t *testing.T) {
	// 400 conversations of one to five turns that agree among themselves.
	g := rand.New(rand.NewPCG(6, 6))
	var xs []float64
	var of []string
	for c := range 400 {
		p := g.Float64()
		for range 1 + g.IntN(5) {
			x := 0.0
			if g.Float64() < p {
				x = 1
			}
			xs, of = append(xs, x), append(of, fmt.Sprint(c))
		}
	}
	res := BootstrapClusters(xs, of, BootstrapOptions{Seed: 1})
	if res.Units != 400 || res.N != len(xs) {
		t.Errorf("%d units of %d values, want 400 of %d", res.Units, res.N, len(xs))
	}
	if want := ClusterStdErr(xs, of); !near(res.StdErr/want, 1, 0.05) {
		t.Errorf("standard error %v, by the formula %v", res.StdErr, want)
	}
	if plain := Bootstrap(xs, BootstrapOptions{Seed: 1}); plain.StdErr > 0.9*res.StdErr {
		t.Errorf("ignoring clusters gives %v against %v, want clearly less", plain.StdErr, res.StdErr)
	}
	single := make([]int, len(xs))
	for i := range single {
		single[i] = i
	}
	if a, b := BootstrapClusters(xs, single, BootstrapOptions{Seed: 1}), Bootstrap(xs, BootstrapOptions{Seed: 1}); a.BCa != b.BCa {
		t.Errorf("clusters of one: %+v, plain %+v", a.BCa, b.BCa)
	}
}

func TestBootstrapEdges(t *testing.T) {
	tests := []struct {
		name      string
		xs        []float64
		mean, low float64
		warning   string
	}{
		{"nothing", nil, nan, nan, "no value: nothing to resample"},
		{"a NaN", []float64{1, nan}, nan, nan, "a value is not a finite number: no interval"},
		{"one value", []float64{0.5}, 0.5, nan, "one unit: resampling it shows no spread, so there is no interval"},
		{"few values", []float64{0, 1}, 0.5, 0, "2 units: bootstrap intervals of so few are too narrow"},
		{"equal values", sampleOfOnes(30), 1, 1, "all resamples have one mean: the data show no spread"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := Bootstrap(tt.xs, BootstrapOptions{})
			if !near(res.Mean, tt.mean, 0) || !near(res.Percentile.Low, tt.low, 0) || !near(res.BCa.Low, tt.low, 0) {
				t.Errorf("%+v, want mean %v and low %v", res, tt.mean, tt.low)
			}
			if len(res.Warnings) != 1 || res.Warnings[0] != tt.warning {
				t.Errorf("warnings %q, want %q", res.Warnings, tt.warning)
			}
			if res.Resamples != DefaultResamples || res.BCa.Level != 0.95 {
				t.Errorf("defaults: %+v", res)
			}
		})
	}
}

func sampleOfOnes(n int) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = 1
	}
	return xs
}

func TestBootstrapIntervalsHoldTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := scores(rapid.IntRange(2, 80).Draw(t, "n")).Draw(t, "xs")
		res := Bootstrap(xs, BootstrapOptions{Resamples: 200, Seed: rapid.Uint64().Draw(t, "seed")})
		for _, iv := range []Interval{res.Percentile, res.BCa} {
			if !(0 <= iv.Low && iv.Low <= iv.High && iv.High <= 1) {
				t.Fatalf("%s interval [%v, %v] of scores in [0,1]", iv.Method, iv.Low, iv.High)
			}
		}
		if res.Positive < 0 || res.Positive > 1 {
			t.Fatalf("Positive = %v", res.Positive)
		}
	})
}

func TestQuantile(t *testing.T) {
	sorted := []float64{10, 20, 30, 40}
	for _, tt := range []struct{ q, want float64 }{{0, 10}, {0.1, 10}, {0.2, 10}, {0.3, 15}, {0.5, 25}, {0.8, 40}, {1, 40}} {
		if got := quantile(sorted, tt.q); !near(got, tt.want, 1e-12) {
			t.Errorf("quantile(%v) = %v, want %v", tt.q, got, tt.want)
		}
	}
}

// The size of the paper's test set, and four metrics with few values each.
func BenchmarkBootstrap(b *testing.B) {
	for _, bb := range []struct {
		name   string
		jitter float64
	}{{"scores", 0}, {"distinct", 1e-9}} {
		b.Run(bb.name, func(b *testing.B) {
			var metrics [4][]float64
			for m := range metrics {
				metrics[m] = sample(6163, uint64(m))
				for i := range metrics[m] {
					metrics[m][i] += bb.jitter * float64(i)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				for _, xs := range metrics {
					Bootstrap(xs, BootstrapOptions{Workers: 1})
				}
			}
		})
	}
}
