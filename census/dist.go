package census

import (
	"fmt"
	"maps"
	"slices"

	"assay/qaoa"
)

// exact is the value below which a [Dist] counts each value apart.
const exact = 10_000

// A Dist is the distribution of a whole number of at least 0. Values below
// 10,000 are counted apart; larger ones are counted by their first three
// digits, so quantiles above that are low by less than 1 %. N, Sum, Min and
// Max are exact. The zero value is empty.
type Dist struct {
	N, Min, Max int
	Sum         int
	counts      map[int]int
}

// Add counts x.
func (d *Dist) Add(x int) {
	if d.N == 0 {
		d.Min, d.Max = x, x
		d.counts = map[int]int{}
	}
	d.N++
	d.Sum += x
	d.Min, d.Max = min(d.Min, x), max(d.Max, x)
	scale := 1
	for x/scale >= exact {
		scale *= 10
	}
	if scale > 1 {
		scale *= 10 // three digits left
		x = x / scale * scale
	}
	d.counts[x]++
}

// Mean returns the arithmetic mean, 0 if there is no value.
func (d *Dist) Mean() float64 {
	if d.N == 0 {
		return 0
	}
	return float64(d.Sum) / float64(d.N)
}

// Quantile returns the smallest counted value v such that at least the share q
// of all values are at most v (the inverse of the empirical distribution
// function), 0 if there is no value. q is in (0,1].
func (d *Dist) Quantile(q float64) int {
	need := q * float64(d.N)
	seen := 0
	for _, x := range slices.Sorted(maps.Keys(d.counts)) {
		seen += d.counts[x]
		if float64(seen) >= need {
			return max(x, d.Min)
		}
	}
	return 0
}

// String returns the distribution for a person to read.
func (d *Dist) String() string {
	if d.N == 0 {
		return "n/a"
	}
	return fmt.Sprintf("mean %.2f, min %d, median %d, p90 %d, p99 %d, max %d",
		d.Mean(), d.Min, d.Quantile(.5), d.Quantile(.9), d.Quantile(.99), d.Max)
}

func (d *Dist) value() qaoa.Value {
	member := func(name, text string) qaoa.Member {
		return qaoa.Member{Name: name, Value: qaoa.NumberValue(text)}
	}
	if d.N == 0 {
		return qaoa.NullValue()
	}
	v := qaoa.ObjectValue(
		member("n", fmt.Sprint(d.N)), member("mean", fmt.Sprintf("%.4f", d.Mean())),
		member("min", fmt.Sprint(d.Min)), member("p50", fmt.Sprint(d.Quantile(.5))),
		member("p90", fmt.Sprint(d.Quantile(.9))), member("p99", fmt.Sprint(d.Quantile(.99))), member("max", fmt.Sprint(d.Max)),
	)
	if d.Max < 100 {
		counts := qaoa.ObjectValue()
		for _, x := range slices.Sorted(maps.Keys(d.counts)) {
			counts.Members = append(counts.Members, member(fmt.Sprint(x), fmt.Sprint(d.counts[x])))
		}
		v.Members = append(v.Members, qaoa.Member{Name: "counts", Value: counts})
	}
	return v
}
