package vector

import (
	"fmt"
	"math"
)

const (
	// lane is what rows are padded to, in numbers: 64 bytes, the widest
	// register and a line of the cache.
	lane = 16
	// page is a distance, in numbers, at which rows get into each other's way:
	// what lies whole pages of 4 KiB apart competes for the same few places of
	// a cache. Kernels read several rows side by side.
	page = 1024
)

// A Matrix is a list of vectors of one dimension, its rows. The zero value has
// no rows. Searches only read it, so any number may run at once as long as
// nobody writes to a row.
type Matrix struct {
	rows, dim int
	stride    int       // from a row to the next, in numbers: a multiple of lane
	data      []float32 // rows*stride numbers; what lies beyond dim is zero
}

// NewMatrix returns a matrix of rows vectors of dim numbers, all zero. It
// panics if either is negative or together they exceed the address space.
func NewMatrix(rows, dim int) *Matrix {
	if rows < 0 || dim < 0 {
		panic(fmt.Sprintf("vector: NewMatrix(%d, %d): want no negative size", rows, dim))
	}
	if dim > math.MaxInt32 || rows > math.MaxInt32 {
		panic(fmt.Sprintf("vector: NewMatrix(%d, %d): want at most %d rows and numbers a row", rows, dim, math.MaxInt32))
	}
	stride := padded(dim)
	if stride > 0 && stride%(page/4) == 0 {
		stride += lane
	}
	return &Matrix{rows: rows, dim: dim, stride: stride, data: alloc(rows * stride)}
}

// Rows returns the number of rows.
func (m *Matrix) Rows() int { return m.rows }

// Dim returns the length of every row, in numbers.
func (m *Matrix) Dim() int { return m.dim }

// Row returns row i itself, not a copy: to fill a matrix, write to its rows. It
// panics if there is no such row.
func (m *Matrix) Row(i int) []float32 {
	if i < 0 || i >= m.rows {
		panic(fmt.Sprintf("vector: row %d of a matrix of %d rows", i, m.rows))
	}
	at := i * m.stride
	return m.data[at : at+m.dim : at+m.dim]
}

// wholeRow returns row i with its padding.
func (m *Matrix) wholeRow(i int) []float32 {
	return m.data[i*m.stride : (i+1)*m.stride]
}

// Normalize scales every row to length 1, so that inner products are cosines.
// Rows of zeros stay as they are. Lengths are computed in float64, so numbers
// whose squares leave the range of float32 are scaled rightly; a row that holds
// NaN or infinities is left alone, for a search to name.
func (m *Matrix) Normalize() {
	for i := range m.rows {
		row := m.Row(i)
		length := math.Sqrt(dot64(row, row))
		if length == 0 || math.IsNaN(length) || math.IsInf(length, 0) {
			continue
		}
		for j, v := range row {
			row[j] = float32(float64(v) / length)
		}
	}
}
