package vector

import "math/bits"

// A block is a few rows next to each other: of the queries, or of what is
// searched.
type block struct {
	data   []float32 // from the first row on
	rows   int
	stride int // a multiple of lane
}

// rowsOf returns rows [from, to) of m.
func (m *Matrix) rowsOf(from, to int) block {
	return block{m.data[from*m.stride : to*m.stride], to - from, m.stride}
}

func (b block) row(i int) []float32 { return b.data[i*b.stride : (i+1)*b.stride] }

// tileRows is a multiple of the rows that a kernel takes of either side at once.
const tileRows = 12

// There are three kernels, each made once more for processors that have better:
//
//   - products sets out[j*ld+i] to the inner product of row i of a and row j of
//     b, in float32 and in whatever order; the package comment says how far off
//     it may be. Both have the same stride.
//   - square is the inner product of a row with itself, likewise.
//   - above finds the first group of lane products of which some reach their
//     floors: where it starts, and which they are. It starts at len(products)
//     if there is none. The floors of a group lie step after those of the one
//     before, so a step of 0 compares all with the same.

// slowProducts is products for every machine. It takes two rows of either side
// at a time, so that a number read is used twice.
func slowProducts(out []float32, ld int, a, b block) {
	for j := range b.rows {
		y, at := b.row(j), out[j*ld:][:a.rows]
		i := 0
		for ; i+2 <= a.rows; i += 2 {
			at[i], at[i+1] = twoProducts(a.row(i), a.row(i+1), y)
		}
		if i < a.rows {
			at[i], _ = twoProducts(a.row(i), a.row(i), y)
		}
	}
}

// twoProducts returns the inner products of a and b with y. All have the same
// length, a multiple of lane.
func twoProducts(a, b, y []float32) (float32, float32) {
	var a0, a1, a2, a3, b0, b1, b2, b3 float32
	for len(a) >= 4 && len(b) >= 4 && len(y) >= 4 {
		y0, y1, y2, y3 := y[0], y[1], y[2], y[3]
		a0 += a[0] * y0
		a1 += a[1] * y1
		a2 += a[2] * y2
		a3 += a[3] * y3
		b0 += b[0] * y0
		b1 += b[1] * y1
		b2 += b[2] * y2
		b3 += b[3] * y3
		a, b, y = a[4:], b[4:], y[4:]
	}
	return (a0 + a1) + (a2 + a3), (b0 + b1) + (b2 + b3)
}

// squares returns the largest inner product of a row of b with itself, in
// float32 like [products]. It is NaN or infinite if any is.
func squares(b block) float32 {
	var largest float32
	for i := range b.rows {
		sum := square(b.row(i))
		if sum-sum != 0 {
			return sum
		}
		largest = max(largest, sum)
	}
	return largest
}

// slowSquare is square for every machine.
func slowSquare(x []float32) float32 {
	sum, _ := twoProducts(x, x, x)
	return sum
}

// slowAbove is above for every machine.
func slowAbove(products, floors []float32, step int) (at int, mask uint) {
	for at := 0; at < len(products); at += lane {
		p, f := products[at:at+lane], floors[at/lane*step:][:lane]
		var mask uint
		for i := range p {
			if p[i] >= f[i] {
				mask |= 1 << i
			}
		}
		if mask != 0 {
			return at, mask
		}
	}
	return len(products), 0
}

// trailing returns the number of the lowest bit that is set.
func trailing(mask uint) int { return bits.TrailingZeros(mask) }
