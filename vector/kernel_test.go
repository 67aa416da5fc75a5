package vector

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestProductsStayWithinTheirBound compares each set of kernels with exact
// sums, for blocks of all shapes that leave rows over.
func TestProductsStayWithinTheirBound(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			dim := rapid.IntRange(0, 70).Draw(t, "dim")
			a, b := noise(t, "a", dim), noise(t, "b", dim)
			ld := padded(a.rows)
			out := make([]float32, ld*b.rows)
			const untouched = 12345
			for i := range out {
				out[i] = untouched
			}
			products(out, ld, a.rowsOf(0, a.rows), b.rowsOf(0, b.rows))
			for j := range b.rows {
				largest := upper(squares(b.rowsOf(j, j+1)), dim)
				for i := range a.rows {
					want := dot64(a.Row(i), b.Row(j))
					length := math.Sqrt(dot64(a.Row(i), a.Row(i)))
					if off := math.Abs(float64(out[j*ld+i]) - want); off > slack(dim, length, largest) {
						t.Fatalf("row %d of %d with %d of %d: %v is %g off %v", i, a.rows, j, b.rows, out[j*ld+i], off, want)
					}
				}
				for i := a.rows; i < ld; i++ {
					if out[j*ld+i] != untouched {
						t.Fatalf("products of %d and %d rows wrote beyond the %d of row %d", a.rows, b.rows, a.rows, j)
					}
				}
			}
		})
	})
}

// noise draws 1 to 30 rows whose numbers differ widely in size.
func noise(t *rapid.T, name string, dim int) *Matrix {
	m := NewMatrix(rapid.IntRange(1, 30).Draw(t, name+" rows"), dim)
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, name+" seed"), 3))
	for i := range m.rows {
		row := m.Row(i)
		for j := range row {
			row[j] = float32(math.Ldexp(rng.NormFloat64(), rng.IntN(60)-50))
		}
	}
	return m
}

func TestDotIsTheSameNumberByAnyKernel(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			n := rapid.IntRange(0, 100).Draw(t, "numbers")
			number := rapid.Float32Range(-1e18, 1e18)
			x, y := rapid.SliceOfN(number, n, n).Draw(t, "x"), rapid.SliceOfN(number, n, n).Draw(t, "y")
			if got, want := dot64(x, y), slowDot(x, y); got != want {
				t.Fatalf("dot64(%v, %v) = %v, portable %v", x, y, got, want)
			}
		})
	})
}

func TestAboveFindsTheFirst(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			few := rapid.SampledFrom([]float32{-1, 0, 0, 0, 0, 0, 0, 0, 1, float32(math.NaN())})
			n := lane * rapid.IntRange(0, 6).Draw(t, "groups")
			products := rapid.SliceOfN(few, n, n).Draw(t, "products")
			step := rapid.SampledFrom([]int{0, lane}).Draw(t, "step")
			floors := make([]float32, max(n, lane))
			for i := range floors {
				floors[i] = rapid.SampledFrom([]float32{0.5, 1, 2, float32(math.Inf(1))}).Draw(t, "floor")
			}
			at, mask := above(products, floors, step)
			wantAt, wantMask := slowAbove(products, floors, step)
			if at != wantAt || mask != wantMask {
				t.Fatalf("above(%v, %v, %d) = %d, %b; want %d, %b", products, floors, step, at, mask, wantAt, wantMask)
			}
		})
	})
}

func TestKeysKeepOrderAndContent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, q := rapid.Float32().Draw(t, "p"), rapid.Float32().Draw(t, "q")
		r, s := rapid.IntRange(0, math.MaxInt32).Draw(t, "r"), rapid.IntRange(0, math.MaxInt32).Draw(t, "s")
		a, b := keyOf(p, r), keyOf(q, s)
		if a.product() != p || a.row() != r {
			t.Fatalf("key of %v, %d holds %v, %d", p, r, a.product(), a.row())
		}
		if better := p > q || p == q && r < s; better && math.Signbit(float64(p)) == math.Signbit(float64(q)) && a <= b {
			t.Fatalf("the key of %v, %d is not above that of %v, %d", p, r, q, s)
		}
	})
}
