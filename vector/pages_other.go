//go:build !linux

package vector

// alloc returns n zeros.
func alloc(n int) []float32 { return make([]float32, n) }
