package vector

import (
	"fmt"
	"math"
)

// maxSquare is how large the inner product of a row with itself may be. Then
// no product of two rows leaves the range of float32, whatever its sums are.
const maxSquare = math.MaxFloat32 / 4

// gamma is the bound on the relative error of a sum of n products in float32,
// relative to the sum of their absolute values: nu/(1-nu) with u = 2^-24. It is
// infinite if n is too large to say anything.
func gamma(n int) float64 {
	nu := float64(n+2) / (1 << 24)
	if nu >= 0.5 {
		return math.Inf(1)
	}
	return nu / (1 - nu)
}

// underflow is how far products of n numbers may be off because they are too
// small for float32, on top of gamma.
func underflow(n int) float64 { return float64(n+2) * math.SmallestNonzeroFloat32 }

// upper returns a bound on the length of a row whose product with itself is sum
// in float32.
func upper(sum float32, dim int) float64 {
	g := gamma(padded(dim))
	if g >= 0.5 {
		return math.Inf(1)
	}
	// The computed sum s of a true one t is at least t(1-g) less underflow.
	return math.Sqrt((float64(sum) + underflow(padded(dim))) / (1 - g))
}

// slack returns how far the float32 product of a vector of a length with a row
// of at most another may be off its score.
func slack(dim int, length, largest float64) float64 {
	n := padded(dim)
	g := gamma(n)
	if math.IsInf(g, 1) || math.IsInf(largest, 1) {
		return math.Inf(1)
	}
	// The score itself is rounded to float32: 2^-24 of it, which is one of the
	// two that gamma adds to n.
	return g*length*largest*(1+1e-9) + underflow(n)
}

// length returns the length of row i, or an error that names the row, which is
// a what.
func (m *Matrix) length(i int, what string) (float64, error) {
	row := m.wholeRow(i)
	if sum := square(row); !(sum <= maxSquare) {
		return 0, m.badRow(i, i+1, what)
	}
	return math.Sqrt(dot64(row, row)), nil
}

// badRow returns the error of the first row in [from, to) that cannot be
// searched.
func (m *Matrix) badRow(from, to int, what string) error {
	for i := from; i < to; i++ {
		for j, v := range m.Row(i) {
			if v-v != 0 {
				return fmt.Errorf("vector: %s %d, number %d is %v: want finite numbers", what, i, j, v)
			}
		}
	}
	for i := from; i < to; i++ {
		if sum := square(m.wholeRow(i)); !(sum <= maxSquare) {
			return fmt.Errorf("vector: %s %d is too long for float32: its inner product with itself exceeds %g; normalise the rows", what, i, float64(maxSquare))
		}
	}
	return fmt.Errorf("vector: %ss %d to %d changed while they were searched", what, from, to-1)
}
