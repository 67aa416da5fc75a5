package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Design is two systems of which several runs are compared by [Welch].
type Design struct {
	SDA, SDB     float64 // of the means of runs; 0 or more, not both 0
	RunsA, RunsB int     // at least 2 each
	Alpha        float64 // of the two-sided test, in (0,1)
}

func (d Design) check() {
	if !(d.SDA >= 0 && d.SDB >= 0 && d.SDA+d.SDB > 0) || math.IsInf(d.SDA+d.SDB, 0) {
		panic(fmt.Sprintf("stats: Design: want SDs of 0 or more and one above it, have %v and %v", d.SDA, d.SDB))
	}
	if d.RunsA < 2 || d.RunsB < 2 {
		panic(fmt.Sprintf("stats: Design: want at least 2 runs a side, have %d and %d", d.RunsA, d.RunsB))
	}
	mustLevel(d.Alpha)
}

// Power returns the chance that [Welch] finds a difference of means of diff,
// in either direction, for normal means of runs. The test statistic is a
// normal over a root of two independent χ²; given those the chance is
//
//	Φ((δ - t·s)/σ) + Φ((-δ - t·s)/σ),  s² = s_a²/n_a + s_b²/n_b,
//
// and it is averaged over a grid of 160 × 160 quantiles of them, which leaves
// an error under 0.001. It panics on a design that is none.
func (d Design) Power(diff float64) float64 {
	d.check()
	return d.table().power(diff)
}

// Detectable returns the smallest difference that [Welch] finds with that
// power: with SDs 1.3 and 1.0 and three runs each it is 4.1 at α = 0.05 and
// power 0.8. Power must be in (alpha,1), else it panics.
func (d Design) Detectable(power float64) float64 {
	d.check()
	mustPower(power, d.Alpha)
	t := d.table()
	high := t.sigma
	for t.power(high) < power {
		high *= 2
	}
	return solve(0, high, func(x float64) bool { return t.power(x) >= power })
}

// RunsFor returns how many runs each side needs so that [Welch] finds diff
// with that power, or 0 if limit runs are not enough. RunsA and RunsB are not
// used. Power must be in (alpha,1), and diff not 0, else it panics.
func (d Design) RunsFor(diff, power float64, limit int) int {
	mustPower(power, d.Alpha)
	if diff == 0 {
		panic("stats: RunsFor: want a difference that is not 0")
	}
	enough := func(n int) bool {
		d.RunsA, d.RunsB = n, n
		return d.Power(diff) >= power
	}
	return smallest(2, limit, enough)
}

// smallest returns the smallest n from low to limit that is enough, 0 if none
// is; what is enough stays so for larger n.
func smallest(low, limit int, enough func(n int) bool) int {
	high := low
	for !enough(high) {
		if high >= limit {
			return 0
		}
		low, high = high+1, min(limit, 2*high)
	}
	for low < high {
		if mid := (low + high) / 2; enough(mid) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

// solve returns where yes begins to hold between low and high.
func solve(low, high float64, yes func(x float64) bool) float64 {
	for range 60 {
		if mid := (low + high) / 2; yes(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

func mustPower(power, alpha float64) {
	if !(power > alpha && power < 1) {
		panic(fmt.Sprintf("stats: want a power between alpha (%v) and 1, such as 0.8, have %v", alpha, power))
	}
}

// A welchTable holds the borders of the test, t·s, over the grid.
type welchTable struct {
	sigma   float64
	borders []float64
}

func (d Design) table() welchTable {
	const grid = 160
	va, vb := d.SDA*d.SDA/float64(d.RunsA), d.SDB*d.SDB/float64(d.RunsB)
	fa, fb := float64(d.RunsA-1), float64(d.RunsB-1)
	quantiles := func(df float64) []float64 {
		q := make([]float64, grid)
		for i := range q {
			q[i] = distuv.ChiSquared{K: df}.Quantile((float64(i)+.5)/grid) / df
		}
		return q
	}
	qa, qb := quantiles(fa), quantiles(fb)
	t := welchTable{sigma: math.Sqrt(va + vb), borders: make([]float64, 0, grid*grid)}
	crit := criticalT(fa, fb, d.Alpha)
	for _, x := range qa {
		for _, y := range qb {
			a, b := va*x, vb*y
			t.borders = append(t.borders, crit(a/(a+b))*math.Sqrt(a+b))
		}
	}
	return t
}

// criticalT returns the critical t as a function of the share that side A has
// in the variance, from a table: quantiles are slow.
func criticalT(fa, fb, alpha float64) func(share float64) float64 {
	const steps = 256
	var at [steps + 1]float64
	for i := range at {
		w := float64(i) / steps
		df := Satterthwaite([]float64{w, 1 - w}, []float64{fa, fb})
		at[i] = distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(1 - alpha/2)
	}
	return func(share float64) float64 {
		x := share * steps
		i := min(int(x), steps-1)
		return at[i] + (x-float64(i))*(at[i+1]-at[i])
	}
}

func (t welchTable) power(diff float64) float64 {
	var sum float64
	z := diff / t.sigma
	for _, border := range t.borders {
		b := border / t.sigma
		sum += normalCDF(z-b) + normalCDF(-z-b)
	}
	return sum / float64(len(t.borders))
}

func normalCDF(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

// PairedDetectable returns the smallest mean difference that a paired test of
// n items finds with that power, when the differences of items have the SD sd:
//
//	(z(1-α/2) + z(power)) · sd/√n,
//
// by the normal approximation. It is exact enough from some thirty items that
// differ. For right-or-wrong scores sd² is the share of items on which exactly
// one side is right (less the square of the difference, which is left out, so
// that the result is not too small): with 20 % of 200 items it is 8.9 points,
// of 1,000 items 4.0. It panics unless n >= 1, sd >= 0, and alpha < power are
// in (0,1).
func PairedDetectable(n int, sd, alpha, power float64) float64 {
	mustPaired(sd, alpha, power)
	if n < 1 {
		panic(fmt.Sprintf("stats: PairedDetectable: want at least 1 item, have %d", n))
	}
	return (distuv.UnitNormal.Quantile(1-alpha/2) + distuv.UnitNormal.Quantile(power)) * sd / math.Sqrt(float64(n))
}

// ItemsFor returns how many items a paired test needs to find diff with that
// power, the inverse of [PairedDetectable]. It panics where that does, and at
// a difference of 0.
func ItemsFor(diff, sd, alpha, power float64) int {
	mustPaired(sd, alpha, power)
	if diff == 0 {
		panic("stats: ItemsFor: want a difference that is not 0")
	}
	z := distuv.UnitNormal.Quantile(1-alpha/2) + distuv.UnitNormal.Quantile(power)
	return max(1, int(math.Ceil(square(z*sd/diff)-1e-9)))
}

func mustPaired(sd, alpha, power float64) {
	mustLevel(alpha)
	mustPower(power, alpha)
	if !(sd >= 0) || math.IsInf(sd, 0) {
		panic(fmt.Sprintf("stats: want an SD of 0 or more, have %v", sd))
	}
}

// McNemarPower returns the exact chance that [McNemar] rejects at alpha, for n
// independent items of which a share discordant is right on one side only, and
// diff is the share by which A is above B. It sums over the number of such
// items, and over who is right on them. It panics unless |diff| <= discordant
// <= 1, n >= 0 and alpha is in (0,1).
func McNemarPower(n int, discordant, diff, alpha float64) float64 {
	mustLevel(alpha)
	if n < 0 || !(discordant >= math.Abs(diff) && discordant <= 1) {
		panic(fmt.Sprintf("stats: McNemarPower: want |diff| <= discordant <= 1 and n >= 0, have diff %v, discordant %v, n %d", diff, discordant, n))
	}
	if discordant == 0 {
		return 0
	}
	up := (discordant + diff) / (2 * discordant)
	outer := distuv.Binomial{N: float64(n), P: discordant}
	var power float64
	for m := range n + 1 {
		weight := outer.Prob(float64(m))
		if weight < 1e-12 {
			continue
		}
		k := rejectUpTo(m, alpha)
		if k < 0 {
			continue
		}
		inner := distuv.Binomial{N: float64(m), P: up}
		power += weight * (inner.CDF(float64(k)) + 1 - inner.CDF(float64(m-k-1)))
	}
	return min(1, power)
}

// McNemarDetectable returns the smallest difference that [McNemar] finds with
// that power among n independent items, a share discordant of which is right on
// one side only: the exact counterpart of [PairedDetectable], to a tenth of a
// thousandth. It is NaN if even a difference as large as discordant (all of
// those items on one side) is not found so often. It panics where
// [McNemarPower] does, and unless alpha < power < 1.
func McNemarDetectable(n int, discordant, alpha, power float64) float64 {
	mustPower(power, alpha)
	if McNemarPower(n, discordant, discordant, alpha) < power {
		return math.NaN()
	}
	low, high := 0.0, discordant
	for high-low > 1e-4 {
		if mid := (low + high) / 2; McNemarPower(n, discordant, mid, alpha) >= power {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// McNemarItems returns how many items [McNemar] needs to find diff with that
// power, where a share discordant of them is right on one side only; 0 if more
// than limit. Power rises with the number of items but for the steps of an
// exact test, so a few fewer or more may do as well. It panics where
// [McNemarPower] does, at a difference of 0 and unless alpha < power < 1.
func McNemarItems(diff, discordant, alpha, power float64, limit int) int {
	mustPower(power, alpha)
	if diff == 0 {
		panic("stats: McNemarItems: want a difference that is not 0")
	}
	return smallest(1, limit, func(n int) bool { return McNemarPower(n, discordant, diff, alpha) >= power })
}

// rejectUpTo returns the largest k for which [McNemar] rejects k against m-k,
// -1 if none.
func rejectUpTo(m int, alpha float64) int {
	coin := distuv.Binomial{N: float64(m), P: 0.5}
	low, high := -1, m/2
	for low < high {
		mid := (low + high + 1) / 2
		if p := 2 * coin.CDF(float64(mid)); p <= alpha && 2*mid < m {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}
