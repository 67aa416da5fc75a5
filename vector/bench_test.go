package vector_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"assay/vector"
)

// toolRows is the size of the pool of tools of the paper, UniToolCall.
const toolRows = 22_606

// random makes normalised rows of normally distributed numbers.
func random(rows, dim int, seed uint64) *vector.Matrix {
	rng := rand.New(rand.NewPCG(seed, 2))
	m := vector.NewMatrix(rows, dim)
	for i := range rows {
		row := m.Row(i)
		for j := range row {
			row[j] = float32(rng.NormFloat64())
		}
	}
	m.Normalize()
	return m
}

func BenchmarkTop(b *testing.B) {
	for _, dim := range []int{384, 1024} {
		m := random(toolRows, dim, 1)
		for _, batch := range []int{1, 64, 256} {
			queries := random(batch, dim, 2)
			for _, workers := range []int{1, 2} {
				b.Run(fmt.Sprintf("dim=%d/batch=%d/workers=%d", dim, batch, workers), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if _, err := m.Top(b.Context(), queries, 32, vector.Options{Workers: workers}); err != nil {
							b.Fatal(err)
						}
					}
					products := float64(toolRows) * float64(batch) * float64(b.N)
					b.ReportMetric(2*float64(dim)*products/b.Elapsed().Seconds()/1e9, "GFLOP/s")
				})
			}
		}
	}
}

func BenchmarkNeighbours(b *testing.B) {
	m := random(toolRows, 1024, 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Neighbours(b.Context(), 32, vector.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
