//go:build !amd64

package vector

func products(out []float32, ld int, a, b block) { slowProducts(out, ld, a, b) }

func square(x []float32) float32 { return slowSquare(x) }

func above(products, floors []float32, step int) (at int, mask uint) {
	return slowAbove(products, floors, step)
}

func dot64(x, y []float32) float64 { return slowDot(x, y) }
