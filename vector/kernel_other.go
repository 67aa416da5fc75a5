//go:build !amd64

package vector

func fastProducts([]float32, int, block, block) bool { return false }

func square(x []float32) float32 {
	s, _ := twoProducts(x, x, x)
	return s
}
