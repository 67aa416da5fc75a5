package census

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"assay/plot"
	"assay/qaoa"
)

// exact is the value below which a [Dist] counts each value apart.
const exact = 10_000

// A Dist is the distribution of a whole number of at least 0. Values below
// 10,000 are counted apart; larger ones are counted by their first three
// digits, so quantiles above that are low by less than 1 %. N, Sum, Min and
// Max are exact. Its memory is bounded: 10,000 counts, and 900 for each power
// of ten above. The zero value is empty.
type Dist struct {
	N, Min, Max int
	Sum         int
	low         []int       // low[x] is how often x was added
	high        map[int]int // the same from exact on, by three digits
}

// Add counts x, which is at least 0.
func (d *Dist) Add(x int) {
	if d.N == 0 {
		d.Min, d.Max = x, x
	}
	d.N++
	d.Sum += x
	d.Min, d.Max = min(d.Min, x), max(d.Max, x)
	if x < exact {
		if x >= len(d.low) {
			d.low = append(d.low, make([]int, x+1-len(d.low))...)
		}
		d.low[x]++
		return
	}
	if d.high == nil {
		d.high = map[int]int{}
	}
	scale := grain(x)
	d.high[x/scale*scale]++
}

// grain returns the distance between the values near x that are told apart: 1
// below 10,000, else the value of the third digit of x.
func grain(x int) int {
	if x < exact {
		return 1
	}
	scale := 1
	for x/scale >= 1_000 {
		scale *= 10
	}
	return scale
}

// counted yields the values that occur and how often, in ascending order.
func (d *Dist) counted() iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for x, n := range d.low {
			if n > 0 && !yield(x, n) {
				return
			}
		}
		for _, x := range slices.Sorted(maps.Keys(d.high)) {
			if !yield(x, d.high[x]) {
				return
			}
		}
	}
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
	for x, n := range d.counted() {
		seen += n
		if float64(seen) >= need {
			return max(x, d.Min)
		}
	}
	return 0
}

// Histogram returns the distribution in at most bins bins of equal width, and
// a tail where it has one; nil if there is no value or bins is below 1. The
// counts add up to N.
//
// The bins reach from the minimum to the 99th percentile. Their width is the
// smallest of 1, 2, 5, 10, 20, 50 … that makes do with that many bins (and is
// not finer than the values are told apart), and they start at multiples of
// it: so the same values always give the same bins, in whatever order they
// were added. What is above falls into one more bin that is marked as a tail,
// or, if it fits, into the bins that are left.
func (d *Dist) Histogram(bins int) []plot.Bin { return d.histogram(bins, 1) }

// histogram is Histogram with bins of a width of at least least.
func (d *Dist) histogram(bins, least int) []plot.Bin {
	if d.N == 0 || bins < 1 {
		return nil
	}
	last := d.Quantile(.99)
	if d.Max-d.Min < bins {
		last = d.Max
	}
	width := max(int(plot.NiceStep(float64(last-d.Min+1), bins)), grain(last), least)
	// Starting at a multiple of the width may cost one bin more.
	for last/width-d.Min/width+1 > bins {
		width = int(plot.NiceStep(float64(width)+1, 1))
	}
	first := d.Min / width
	n := d.Max/width - first + 1
	if n > bins || width < grain(d.Max) {
		n = last/width - first + 1
	}
	out := make([]plot.Bin, n, n+1)
	for i := range out {
		out[i].From = (first + i) * width
		out[i].To = out[i].From + width - 1
	}
	tail := plot.Bin{From: (first + n) * width, To: d.Max, Tail: true}
	for x, count := range d.counted() {
		if i := x/width - first; i < n {
			out[i].Count += count
		} else {
			tail.Count += count
		}
	}
	if tail.Count > 0 {
		out = append(out, tail)
	}
	return out
}

// steps are the values at which bins of a logarithmic histogram start, in
// tenths of a power of ten.
var steps = []int{10, 15, 20, 30, 50, 70}

// LogHistogram returns the distribution in bins that grow as on a logarithmic
// scale, for values that spread over several powers of ten; nil if there is no
// value. Bins start at 0, 1, 2, 3, 5, 7, and then at 1, 1.5, 2, 3, 5 and 7 times
// each power of ten, from the bin of the minimum to that of the maximum: at
// most 6 for a power of ten. The counts add up to N, and there is no tail.
func (d *Dist) LogHistogram() []plot.Bin {
	if d.N == 0 {
		return nil
	}
	var out []plot.Bin
	from := 0
	for next := range edges() {
		if d.Min < next {
			out = append(out, plot.Bin{From: from, To: next - 1})
		}
		if d.Max < next {
			break
		}
		from = next
	}
	if len(out) == 0 || out[len(out)-1].To < d.Max { // beyond the last edge
		out = append(out, plot.Bin{From: from, To: math.MaxInt})
	}
	at := 0
	for x, n := range d.counted() {
		// Values are cut to three digits and edges have two: none is cut out of
		// its bin.
		for x > out[at].To {
			at++
		}
		out[at].Count += n
	}
	return out
}

// edges yields the values above 0 at which bins start, as far as an int
// reaches.
func edges() iter.Seq[int] {
	return func(yield func(int) bool) {
		for power := 1; ; power *= 10 {
			for _, s := range steps {
				if power == 1 && s%10 != 0 {
					continue // 1.5 is no whole number
				}
				if power > math.MaxInt/s || !yield(power*s/10) {
					return
				}
			}
		}
	}
}

// String returns the distribution for a person to read.
func (d *Dist) String() string {
	if d.N == 0 {
		return "n/a"
	}
	return fmt.Sprintf("mean %.2f, min %d, median %d, p90 %d, p99 %d, max %d",
		d.Mean(), d.Min, d.Quantile(.5), d.Quantile(.9), d.Quantile(.99), d.Max)
}

// jsonBins is how many bins a histogram has in the JSON form, and in a figure.
const jsonBins = 20

// value returns the JSON form, with bins that grow if log is set.
func (d *Dist) value(log bool) qaoa.Value {
	if d.N == 0 {
		return qaoa.NullValue()
	}
	v := qaoa.ObjectValue(
		member("n", number(d.N)), member("mean", qaoa.NumberValue(fmt.Sprintf("%.4f", d.Mean()))),
		member("min", number(d.Min)), member("p50", number(d.Quantile(.5))),
		member("p90", number(d.Quantile(.9))), member("p99", number(d.Quantile(.99))), member("max", number(d.Max)),
	)
	if d.Max < 100 {
		counts := qaoa.ObjectValue()
		for x, n := range d.counted() {
			counts.Members = append(counts.Members, member(fmt.Sprint(x), number(n)))
		}
		v.Members = append(v.Members, member("counts", counts))
	}
	bins := qaoa.ArrayValue()
	h := d.Histogram(jsonBins)
	if log {
		h = d.LogHistogram()
	}
	for _, b := range h {
		bins.Items = append(bins.Items, qaoa.ObjectValue(member("from", number(b.From)), member("to", number(b.To)), member("n", number(b.Count))))
	}
	v.Members = append(v.Members, member("histogram", bins))
	return v
}

// ratio returns the serial:parallel ratio of multi-hop turns as 1:x.xx, 0:1 if
// all are parallel, n/a if there is none.
func ratio(serial, parallel int) string {
	switch {
	case serial > 0:
		return fmt.Sprintf("1:%.2f", float64(parallel)/float64(serial))
	case parallel > 0:
		return "0:1"
	}
	return "n/a"
}
