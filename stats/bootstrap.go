package stats

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"
)

// BootstrapOptions are the settings of a bootstrap. The zero value is usable.
type BootstrapOptions struct {
	Resamples int     // 0 means 10,000
	Level     float64 // of the intervals, in (0,1); 0 means 0.95
	Seed      uint64
	// Workers is how many goroutines share the work, 0 means one per
	// processor. The result does not depend on it.
	Workers int
}

// DefaultResamples is the number of resamples that is taken unless another is
// asked for. With it, the bounds of a 95 % interval are each estimated from
// some 250 resamples beyond them.
const DefaultResamples = 10_000

// A BootstrapResult is what resampling says of a mean.
type BootstrapResult struct {
	N         int     // values
	Units     int     // what was resampled: values, or clusters of them
	Distinct  int     // units that differ in sum or size
	Resamples int     // as taken
	Mean      float64 // of the values; NaN if there are none
	StdErr    float64 // sample SD of the resample means
	// Percentile is the interval between quantiles of the resample means; BCa
	// corrects it for bias and skewness.
	Percentile, BCa Interval
	// Positive is the share of resamples with a mean above 0, where a mean of
	// 0 counts one half. For differences A-B of paired instances it is the
	// bootstrap's probability that A is above B.
	Positive float64
	Warnings []string
}

// fewUnits is the number of units below which bootstrap intervals are flagged:
// against the t interval, the percentile interval is too narrow by sqrt((n-1)/n)
// times the ratio of the normal to the t quantile, which is 9 % at 20.
const fewUnits = 20

// Bootstrap resamples xs with replacement and returns intervals for its mean.
//
// The percentile interval has as bounds the quantiles of order α and 1-α of
// the resample means, α = (1-level)/2; the quantile of order q of B sorted
// values is interpolated at position q(B+1). BCa (B. Efron, "Better Bootstrap
// Confidence Intervals", 1987) takes the orders
//
//	Φ(z0 + (z0±z)/(1 - a(z0±z))),  z = Φ⁻¹(1-α),
//
// where z0 = Φ⁻¹(share of resample means below the mean, ties counted half)
// and the acceleration a comes from the jackknife: with d_i the mean of the
// leave-one-out means minus the i-th of them, a = Σd³ / (6(Σd²)^1.5).
//
// Equal values are one class, so a resample is one draw from a multinomial
// distribution over the classes; scores take few values, which makes this
// exact short cut some fifty times faster than drawing instances one by one.
// Each resample has its own generator, seeded by Seed and its number.
//
// Bootstrap panics at a level outside (0,1) or a negative number of resamples.
func Bootstrap(xs []float64, opt BootstrapOptions) BootstrapResult {
	units := make([]unit, len(xs))
	for i, x := range xs {
		units[i] = unit{sum: x, size: 1}
	}
	return bootstrap(xs, units, opt)
}

// BootstrapClusters is [Bootstrap] with whole clusters resampled: values with
// equal keys, such as the turns of one conversation, are drawn together or
// not at all. The statistic is still the mean over values, so the means of
// clusters are weighed by their sizes. It panics if the lengths differ.
func BootstrapClusters[K comparable](xs []float64, cluster []K, opt BootstrapOptions) BootstrapResult {
	mustPair(len(xs), len(cluster))
	return bootstrap(xs, clusterUnits(xs, cluster), opt)
}

// A unit is what is resampled: the sum and number of the values in it.
type unit struct{ sum, size float64 }

func clusterUnits[K comparable](xs []float64, cluster []K) []unit {
	var units []unit
	index := map[K]int{}
	for i, x := range xs {
		at, ok := index[cluster[i]]
		if !ok {
			at = len(units)
			index[cluster[i]] = at
			units = append(units, unit{})
		}
		units[at].sum += x
		units[at].size++
	}
	return units
}

func bootstrap(xs []float64, units []unit, opt BootstrapOptions) BootstrapResult {
	if opt.Resamples == 0 {
		opt.Resamples = DefaultResamples
	}
	if opt.Level == 0 {
		opt.Level = 0.95
	}
	mustLevel(opt.Level)
	if opt.Resamples < 0 {
		panic(fmt.Sprintf("stats: want a number of resamples above 0, have %d", opt.Resamples))
	}
	nan := math.NaN()
	res := BootstrapResult{
		N: len(xs), Units: len(units), Resamples: opt.Resamples,
		Mean: Mean(xs), StdErr: nan, Positive: nan,
		Percentile: Interval{nan, nan, opt.Level, "percentile"},
		BCa:        Interval{nan, nan, opt.Level, "bca"},
	}
	switch {
	case len(xs) == 0:
		res.Warnings = append(res.Warnings, "no value: nothing to resample")
		return res
	case !finite(xs):
		res.Warnings = append(res.Warnings, "a value is not a finite number: no interval")
		return res
	case len(units) == 1:
		res.Distinct = 1
		res.Warnings = append(res.Warnings, "one unit: resampling it shows no spread, so there is no interval")
		return res
	case len(units) < fewUnits:
		res.Warnings = append(res.Warnings, fmt.Sprintf("%d units: bootstrap intervals of so few are too narrow", len(units)))
	}
	s := newSampler(units)
	res.Distinct = len(s.classes)
	means := s.means(opt)
	res.StdErr = SD(means)
	slices.Sort(means)
	res.Positive = shareBelow(means, 0, true)
	res.fillIntervals(means, s.mean, s.acceleration())
	return res
}

// fillIntervals sets both intervals of a statistic from its sorted resample
// values, its value in the sample, and its acceleration.
func (res *BootstrapResult) fillIntervals(values []float64, observed, a float64) {
	alpha := (1 - res.Percentile.Level) / 2
	res.Percentile.Low, res.Percentile.High = quantile(values, alpha), quantile(values, 1-alpha)
	res.BCa.Low, res.BCa.High = res.Percentile.Low, res.Percentile.High
	if values[0] == values[len(values)-1] {
		res.Warnings = append(res.Warnings, "all resamples have one mean: the data show no spread")
		return
	}
	low, high, ok := bcaOrders(biasCorrection(values, observed), a, alpha)
	if !ok {
		res.Warnings = append(res.Warnings, "BCa cannot correct so skewed a sample: its interval is the percentile one")
		return
	}
	res.BCa.Low, res.BCa.High = quantile(values, low), quantile(values, high)
}

// biasCorrection returns the z0 of BCa from sorted resample values.
func biasCorrection(values []float64, observed float64) float64 {
	return distuv.UnitNormal.Quantile(shareBelow(values, observed, false))
}

// bcaOrders returns the orders of the quantiles that BCa takes as bounds, and
// whether z0 and a leave any.
func bcaOrders(z0, a, alpha float64) (low, high float64, ok bool) {
	z := distuv.UnitNormal.Quantile(1 - alpha)
	order := func(z float64) float64 {
		if d := 1 - a*(z0+z); d > 0 {
			return distuv.UnitNormal.CDF(z0 + (z0+z)/d)
		}
		return math.NaN()
	}
	low, high = order(-z), order(z)
	return low, high, !math.IsNaN(low) && !math.IsNaN(high)
}

// quantile returns the quantile of order q of sorted values: the value at
// position q(B+1), counted from 1, interpolated and clamped.
func quantile(sorted []float64, q float64) float64 {
	pos := q*float64(len(sorted)+1) - 1
	if pos <= 0 {
		return sorted[0]
	}
	i := int(pos)
	if i >= len(sorted)-1 {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (pos-float64(i))*(sorted[i+1]-sorted[i])
}

// shareBelow returns the share of sorted values below x, or above it, where
// values equal to x count one half.
func shareBelow(sorted []float64, x float64, above bool) float64 {
	below, _ := slices.BinarySearch(sorted, x)
	upTo := below
	for upTo < len(sorted) && sorted[upTo] == x {
		upTo++
	}
	share := (float64(below) + float64(upTo-below)/2) / float64(len(sorted))
	if above {
		return 1 - share
	}
	return share
}

// A class is a set of units with one outcome.
type class struct {
	unit
	count int
}

// A sampler draws resample means.
type sampler struct {
	classes []class // by falling count: the multinomial chain ends early
	of      []int32 // class of each unit; nil when the chain is used
	units   int
	mean    float64 // of the sample itself, computed as those of resamples
	bin     *binomials
}

// chainCost is how many single draws cost as much as one binomial variate, by
// measurement. It decides between two exact methods, so it changes speed only.
const chainCost = 12

func newSampler(units []unit) *sampler {
	sorted := slices.Clone(units)
	slices.SortFunc(sorted, func(a, b unit) int {
		return cmp.Or(cmp.Compare(a.sum, b.sum), cmp.Compare(a.size, b.size))
	})
	s := &sampler{units: len(units)}
	for i, u := range sorted {
		if i == 0 || u != sorted[i-1] {
			s.classes = append(s.classes, class{unit: u})
		}
		s.classes[len(s.classes)-1].count++
	}
	slices.SortStableFunc(s.classes, func(a, b class) int { return cmp.Compare(b.count, a.count) })
	counts := make([]int, len(s.classes))
	for i, c := range s.classes {
		counts[i] = c.count
	}
	s.mean = s.meanOf(counts)
	if len(s.classes)*chainCost <= len(units) {
		s.bin = newBinomials(len(units))
		return s
	}
	s.of = make([]int32, 0, len(units))
	for i, c := range s.classes {
		for range c.count {
			s.of = append(s.of, int32(i))
		}
	}
	return s
}

// meanOf returns the mean of a resample that holds counts[i] units of class i.
// All means go through it, so that equal ones are equal to the last bit.
func (s *sampler) meanOf(counts []int) float64 {
	var sum, size float64
	for i, n := range counts {
		sum += float64(n) * s.classes[i].sum
		size += float64(n) * s.classes[i].size
	}
	return sum / size
}

// means returns the means of all resamples, in their order.
func (s *sampler) means(opt BootstrapOptions) []float64 {
	out := make([]float64, opt.Resamples)
	eachDraw(opt.Resamples, opt, func() func(int, *rand.PCG) {
		counts := make([]int, len(s.classes))
		return func(r int, g *rand.PCG) {
			s.draw(g, counts)
			out[r] = s.meanOf(counts)
		}
	})
	return out
}

// eachDraw calls a function for each of n random draws, with a generator that
// is seeded by the number of the draw, so that results do not depend on how
// many goroutines share the work. Each of them gets its own function.
func eachDraw(n int, opt BootstrapOptions, worker func() func(r int, g *rand.PCG)) {
	workers := opt.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = min(workers, n)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			draw := worker()
			var g rand.PCG
			for r := n * w / workers; r < n*(w+1)/workers; r++ {
				g.Seed(mix(opt.Seed, uint64(2*r)), mix(opt.Seed, uint64(2*r+1)))
				draw(r, &g)
			}
		})
	}
	wg.Wait()
}

// Resample calls a function for each of opt.Resamples bootstrap resamples of
// units numbered from 0: counts[i] says how often unit i was drawn, and their
// sum is units. It is for statistics that are no mean, such as rank
// correlations over models whose scores are means over the same records.
//
// Resample r is the same for any number of workers, each of which calls worker
// once, in a goroutine of its own, for a function of its own. counts is valid
// until that function returns. Level is not used. Resample panics at less than
// one unit and at a negative number of resamples.
func Resample(units int, opt BootstrapOptions, worker func() func(r int, counts []int)) {
	if units < 1 || opt.Resamples < 0 {
		panic(fmt.Sprintf("stats: Resample: want at least one unit and no negative number of resamples, have %d and %d", units, opt.Resamples))
	}
	eachDraw(cmp.Or(opt.Resamples, DefaultResamples), opt, func() func(int, *rand.PCG) {
		counts, use := make([]int, units), worker()
		return func(r int, g *rand.PCG) {
			clear(counts)
			for range counts {
				counts[below(g, uint64(units))]++
			}
			use(r, counts)
		}
	})
}

// PercentileOf returns the percentile interval of resampled values, given how
// often each occurred: the quantiles of order (1-level)/2 and (1+level)/2,
// interpolated at position q(B+1) of B values. A tally is small where a
// statistic takes few values, as rank correlations do. Of no values the bounds
// are NaN. It panics at a level outside (0,1).
func PercentileOf(tally map[float64]int, level float64) Interval {
	mustLevel(level)
	iv := Interval{math.NaN(), math.NaN(), level, "percentile"}
	values := slices.Sorted(maps.Keys(tally))
	upTo := make([]int, len(values)) // how many values are at most this one
	n := 0
	for i, v := range values {
		n += tally[v]
		upTo[i] = n
	}
	if n == 0 {
		return iv
	}
	at := func(k int) float64 { // the value in place k, from 1
		i, _ := slices.BinarySearch(upTo, max(1, min(k, n)))
		return values[i]
	}
	order := func(q float64) float64 {
		pos := q * float64(n+1)
		k := int(pos)
		return at(k) + (pos-float64(k))*(at(k+1)-at(k))
	}
	iv.Low, iv.High = order((1-level)/2), order((1+level)/2)
	return iv
}

// draw sets counts to a resample of as many units as the sample has.
func (s *sampler) draw(g *rand.PCG, counts []int) {
	clear(counts)
	if s.of != nil {
		for range s.units {
			counts[s.of[below(g, uint64(s.units))]]++
		}
		return
	}
	// Class by class: given the earlier counts, the next one is binomial.
	left, mass := s.units, s.units
	for i, c := range s.classes {
		if left == 0 {
			return
		}
		n := s.bin.draw(g, left, float64(c.count)/float64(mass))
		counts[i] = n
		left -= n
		mass -= c.count
	}
}

// acceleration returns the a of BCa for the mean.
func (s *sampler) acceleration() float64 {
	var sum, size float64
	for _, c := range s.classes {
		sum += float64(c.count) * c.sum
		size += float64(c.count) * c.size
	}
	without, counts := make([]float64, len(s.classes)), make([]int, len(s.classes))
	for i, c := range s.classes {
		without[i], counts[i] = (sum-c.sum)/(size-c.size), c.count
	}
	return acceleration(without, counts)
}

// acceleration returns the a of BCa by the jackknife: without[i] is the
// statistic of the sample less one unit of class i, of which there are
// counts[i].
func acceleration(without []float64, counts []int) float64 {
	var centre, units float64
	for i, w := range without {
		centre += float64(counts[i]) * w
		units += float64(counts[i])
	}
	centre /= units
	var d2, d3 float64
	for i, w := range without {
		d := centre - w
		d2 += float64(counts[i]) * d * d
		d3 += float64(counts[i]) * d * d * d
	}
	if d2 == 0 {
		return 0
	}
	return d3 / (6 * d2 * math.Sqrt(d2))
}

// below returns a uniform number in [0,n) (D. Lemire, "Fast Random Integer
// Generation in an Interval", 2019).
func below(g *rand.PCG, n uint64) uint64 {
	hi, lo := bits.Mul64(g.Uint64(), n)
	if lo < n {
		for threshold := -n % n; lo < threshold; {
			hi, lo = bits.Mul64(g.Uint64(), n)
		}
	}
	return hi
}

// mix spreads seed and number over 64 bits (the finaliser of SplitMix64), so
// that the generators of neighbouring resamples have nothing in common.
func mix(seed, i uint64) uint64 {
	z := seed + (i+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
