package stats

import (
	"cmp"
	"slices"
)

// Holm returns p-values adjusted for the size of their family, so that to call
// a difference real where the adjusted value is at most α keeps the chance of
// even one false call at α (S. Holm, "A Simple Sequentially Rejective Multiple
// Test Procedure", 1979). Of m values in rising order,
//
//	adjusted(i) = min(1, max over j <= i of (m-j+1)·p(j)).
//
// It holds whatever the tests have in common. NaN is no test: it stays NaN and
// is not counted in m. Equal values have equal results.
func Holm(ps []float64) []float64 {
	return adjusted(ps, func(sorted []float64) {
		m := len(sorted)
		worst := 0.0
		for i, p := range sorted {
			worst = max(worst, float64(m-i)*p)
			sorted[i] = min(1, worst)
		}
	})
}

// BenjaminiHochberg returns p-values adjusted so that to call the differences
// real where the adjusted value is at most q makes the expected share of false
// ones among them q at most (Y. Benjamini and Y. Hochberg, "Controlling the
// False Discovery Rate", 1995). Of m values in rising order,
//
//	adjusted(i) = min over j >= i of min(1, m·p(j)/j).
//
// It holds for independent and positively dependent tests, such as metrics of
// one set of answers. NaN stays NaN and is not counted in m.
func BenjaminiHochberg(ps []float64) []float64 {
	return adjusted(ps, func(sorted []float64) {
		m := len(sorted)
		best := 1.0
		for i := m - 1; i >= 0; i-- {
			best = min(best, float64(m)*sorted[i]/float64(i+1))
			sorted[i] = best
		}
	})
}

// adjusted hands the known values of ps to adjust in rising order, and returns
// what it makes of them in the order of ps.
func adjusted(ps []float64, adjust func(sorted []float64)) []float64 {
	out := slices.Clone(ps)
	var order []int
	for i, p := range ps {
		if p == p {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	sorted := make([]float64, len(order))
	for i, at := range order {
		sorted[i] = ps[at]
	}
	adjust(sorted)
	for i, at := range order {
		out[at] = sorted[i]
	}
	return out
}
