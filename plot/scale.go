package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// NiceStep returns the smallest of 1, 2, 5, 10, 20, 50 … (and, if top asks for
// it, of the same series below 1) that reaches top in at most n steps. It is 1
// if top is not above 0 or n is below 1.
func NiceStep(top float64, n int) float64 {
	if !(top > 0) || math.IsInf(top, 0) || n < 1 {
		return 1
	}
	exp := int(math.Floor(math.Log10(top/float64(n)))) - 1
	for ; ; exp++ {
		for _, m := range []float64{1, 2, 5} {
			// Dividing by 10^-exp is exact where multiplying by 10^exp is not.
			step := m * math.Pow10(max(exp, 0)) / math.Pow10(max(-exp, 0))
			if step*float64(n) >= top {
				return step
			}
		}
	}
}

// short returns v in the form of an axis: 0.5, 20, 1.5k, 300k, 2M.
func short(v float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if math.Abs(v) >= unit.size {
			return strconv.FormatFloat(v/unit.size, 'g', 4, 64) + unit.name
		}
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// Thousands returns n with a comma after every third digit from the right.
func Thousands(n int) string {
	s := strconv.Itoa(n)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	var b strings.Builder
	for i, d := range []byte(s) {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(d)
	}
	return sign + b.String()
}

// exact returns a value for a label: whole numbers in full, others with two
// decimals.
func exact(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return Thousands(int(v))
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// percent returns the share of part in whole, "0 %" if whole is 0.
func percent(part, whole float64) string {
	if whole == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.1f %%", 100*part/whole)
}
