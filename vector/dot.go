package vector

import "fmt"

// Dot returns the inner product of two vectors, the score of a [Hit]:
//
//	s(j) = x(j)·y(j) + x(j+8)·y(j+8) + x(j+16)·y(j+16) + …    for j = 0…7
//	Dot  = ((s0+s4) + (s2+s6)) + ((s1+s5) + (s3+s7))
//
// summed from left to right in float64 and rounded once to float32. It is the
// same number on every machine, and Dot(x, y) = Dot(y, x). It panics if the
// lengths differ.
func Dot(x, y []float32) float32 {
	if len(x) != len(y) {
		panic(fmt.Sprintf("vector: Dot of %d and %d numbers", len(x), len(y)))
	}
	return float32(dot64(x, y))
}

// slowDot is dot64, which is Dot before it is rounded, for every machine. Zeros
// at the end of both change nothing.
func slowDot(x, y []float32) float64 {
	var s [8]float64
	for len(x) >= 8 && len(y) >= 8 {
		a, b := x[:8:8], y[:8:8]
		s[0] += float64(a[0]) * float64(b[0])
		s[1] += float64(a[1]) * float64(b[1])
		s[2] += float64(a[2]) * float64(b[2])
		s[3] += float64(a[3]) * float64(b[3])
		s[4] += float64(a[4]) * float64(b[4])
		s[5] += float64(a[5]) * float64(b[5])
		s[6] += float64(a[6]) * float64(b[6])
		s[7] += float64(a[7]) * float64(b[7])
		x, y = x[8:], y[8:]
	}
	return finishDot(&s, x, y)
}

// finishDot adds the products of the last numbers, fewer than 8, and then all
// sums.
func finishDot(s *[8]float64, x, y []float32) float64 {
	for j := range min(len(x), len(y)) {
		s[j] += float64(x[j]) * float64(y[j])
	}
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}
