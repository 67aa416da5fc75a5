package vector

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// The kernels are assembly because the compiler leaves half of the processor
// idle here: it knows no wide registers by itself, and its experiment with them
// uses 15 of the 32 and copies before each multiply-add. Both sides are read as
// they lie in their matrices, since a copy in another layout would take as long
// as a search of 64 queries.

// set is the best set of kernels that the processor has.
var set = func() *kernels {
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasFMA && cpu.X86.HasAVX2:
		return &kernels512
	case cpu.X86.HasFMA && cpu.X86.HasAVX2:
		return &kernels256
	}
	return nil
}()

// kernels work on rows of the same stride, see kernel_amd64.s. None of them
// keeps or writes beyond what it is given.
type kernels struct {
	tile     func(a, b *float32, stride, groups int, out *float32, ld int) // tileA × tileB products
	line     func(a, b *float32, stride, groups int, out *float32, ld int) // 1 × lineB
	above    func(products, floors *float32, groups, step int) (group int, mask uint)
	tileB    int
	perGroup int // numbers of a group
}

const (
	tileA = 4
	lineB = 6
)

var (
	kernels512 = kernels{tile512, line512, above512, 6, 16}
	kernels256 = kernels{tile256, line256, above256, 3, 8}
)

//go:noescape
func tile512(a, b *float32, stride, groups int, out *float32, ld int)

//go:noescape
func line512(a, b *float32, stride, groups int, out *float32, ld int)

//go:noescape
func above512(products, floors *float32, groups, step int) (group int, mask uint)

//go:noescape
func tile256(a, b *float32, stride, groups int, out *float32, ld int)

//go:noescape
func line256(a, b *float32, stride, groups int, out *float32, ld int)

//go:noescape
func square256(x *float32, groups int) float32

//go:noescape
func dot256(x, y *float32, groups int, sums *[8]float64)

//go:noescape
func above256(products, floors *float32, groups, step int) (group int, mask uint)

// products is described in kernel.go.
func products(out []float32, ld int, a, b block) {
	if set == nil || b.rows < lineB || a.stride == 0 {
		slowProducts(out, ld, a, b)
		return
	}
	_ = out[(b.rows-1)*ld+a.rows-1]
	// What is left over at the end is taken together with rows that have been
	// done: they come out the same. The rows of b stay in the first level of
	// the cache while those of a come by.
	kernel, tileA, tileB := set.tile, tileA, set.tileB
	if a.rows < tileA {
		kernel, tileA, tileB = set.line, 1, lineB
	}
	for j := 0; j < b.rows; j += tileB {
		j = min(j, b.rows-tileB)
		for i := 0; i < a.rows; i += tileA {
			i = min(i, a.rows-tileA)
			kernel(&a.data[i*a.stride], &b.data[j*b.stride], 4*a.stride, a.stride/set.perGroup, &out[j*ld+i], 4*ld)
		}
	}
}

// square is described in kernel.go.
func square(x []float32) float32 {
	if set == nil || len(x) == 0 {
		return slowSquare(x)
	}
	return square256(unsafe.SliceData(x), len(x)/lane)
}

// dot64 is described in dot.go. The first products are computed by assembly, in
// the same order.
func dot64(x, y []float32) float64 {
	if set == nil || len(x) < 8 || len(x) != len(y) {
		return slowDot(x, y)
	}
	var s [8]float64
	whole := len(x) / 8
	dot256(unsafe.SliceData(x), unsafe.SliceData(y), whole, &s)
	return finishDot(&s, x[8*whole:], y[8*whole:])
}

// above is described in kernel.go.
func above(products, floors []float32, step int) (at int, mask uint) {
	if set == nil || len(products) == 0 {
		return slowAbove(products, floors, step)
	}
	_ = floors[(len(products)/lane-1)*step+lane-1]
	group, mask := set.above(unsafe.SliceData(products), unsafe.SliceData(floors), len(products)/lane, 4*step)
	return group * lane, mask
}
