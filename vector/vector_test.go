package vector_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"assay/vector"
)

// matrix makes a matrix of rows.
func matrix(dim int, rows ...[]float32) *vector.Matrix {
	m := vector.NewMatrix(len(rows), dim)
	for i, row := range rows {
		copy(m.Row(i), row)
	}
	return m
}

// naive is the loop that a search must agree with; without leaves out the row
// of the query's own number.
func naive(m, queries *vector.Matrix, k int, without bool) [][]vector.Hit {
	out := make([][]vector.Hit, queries.Rows())
	if k <= 0 || m.Rows() == 0 || without && m.Rows() == 1 {
		return out
	}
	for q := range out {
		hits := []vector.Hit{}
		for i := range m.Rows() {
			if !without || i != q {
				hits = append(hits, vector.Hit{Row: i, Score: vector.Dot(queries.Row(q), m.Row(i))})
			}
		}
		slices.SortStableFunc(hits, func(a, b vector.Hit) int { return cmp.Compare(b.Score, a.Score) })
		out[q] = hits[:min(k, len(hits))]
	}
	return out
}

// genMatrix draws rows out of a few numbers, so that ties are common, or of any
// size, or close to each other, so that float32 cannot tell them apart.
func genMatrix(t *rapid.T, name string, dim, most int) *vector.Matrix {
	rows := rapid.IntRange(0, most).Draw(t, name+" rows")
	kind := rapid.SampledFrom([]string{"ties", "wide", "close", "equal", "sparse"}).Draw(t, name+" kind")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, name+" seed"), 1))
	m := vector.NewMatrix(rows, dim)
	for i := range rows {
		row := m.Row(i)
		for j := range row {
			switch kind {
			case "ties":
				row[j] = float32(rng.IntN(3) - 1)
			case "wide":
				row[j] = float32(math.Ldexp(rng.Float64()-0.5, rng.IntN(160)-120))
			case "close":
				row[j] = 1 + float32(rng.IntN(8))*0x1p-23
			case "equal":
				row[j] = 0.1
			case "sparse":
				if rng.IntN(8) == 0 {
					row[j] = float32(rng.NormFloat64())
				}
			}
		}
	}
	return m
}

func genDim(t *rapid.T) int {
	return rapid.OneOf(rapid.IntRange(0, 40), rapid.SampledFrom([]int{64, 100, 255, 256, 1000, 1024})).Draw(t, "dim")
}

func TestTopIsTheNaiveLoop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := genDim(t)
		m, queries := genMatrix(t, "matrix", dim, 250), genMatrix(t, "queries", dim, 40)
		k := rapid.OneOf(rapid.IntRange(-1, 10), rapid.IntRange(0, 300)).Draw(t, "k")
		workers := rapid.IntRange(0, 4).Draw(t, "workers")
		got, err := m.Top(t.Context(), queries, k, vector.Options{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		if d := gocmp.Diff(naive(m, queries, k, false), got); d != "" {
			t.Fatalf("Top(k = %d) of %d × %d: -naive +got\n%s", k, m.Rows(), dim, d)
		}
	})
}

func TestNeighboursIsTheNaiveLoop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := genDim(t)
		m := genMatrix(t, "matrix", dim, 200)
		k := rapid.OneOf(rapid.IntRange(-1, 10), rapid.IntRange(0, 300)).Draw(t, "k")
		workers := rapid.IntRange(0, 4).Draw(t, "workers")
		got, err := m.Neighbours(t.Context(), k, vector.Options{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		if d := gocmp.Diff(naive(m, m, k, true), got); d != "" {
			t.Fatalf("Neighbours(%d) of %d × %d: -naive +got\n%s", k, m.Rows(), dim, d)
		}
	})
}

func TestEdges(t *testing.T) {
	ctx := t.Context()
	three := matrix(1, []float32{2}, []float32{-1}, []float32{2})
	hits := func(rows ...int) []vector.Hit {
		var out []vector.Hit
		for _, r := range rows {
			out = append(out, vector.Hit{Row: r, Score: three.Row(r)[0]})
		}
		return out
	}
	one := matrix(1, []float32{1})
	tests := []struct {
		name       string
		m, queries *vector.Matrix
		k          int
		want       [][]vector.Hit
	}{
		{"equals by row", three, one, 2, [][]vector.Hit{hits(0, 2)}},
		{"k of more than there are", three, one, 9, [][]vector.Hit{hits(0, 2, 1)}},
		{"k of nothing", three, one, 0, [][]vector.Hit{nil}},
		{"negative k", three, one, -3, [][]vector.Hit{nil}},
		{"no rows", vector.NewMatrix(0, 1), one, 3, [][]vector.Hit{nil}},
		{"no queries", three, vector.NewMatrix(0, 1), 3, [][]vector.Hit{}},
		{"no numbers: all are equal", vector.NewMatrix(3, 0), vector.NewMatrix(1, 0), 2, [][]vector.Hit{{{Row: 0}, {Row: 1}}}},
		{"the zero value", new(vector.Matrix), new(vector.Matrix), 2, [][]vector.Hit{}},
		{"a query of zeros finds the first rows", three, matrix(1, []float32{0}), 2, [][]vector.Hit{{{Row: 0}, {Row: 1}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.m.Top(ctx, tt.queries, tt.k, vector.Options{})
			if d := gocmp.Diff(tt.want, got); d != "" || err != nil {
				t.Errorf("Top: error %v, -want +got\n%s", err, d)
			}
		})
	}
	got, err := three.Neighbours(ctx, 1, vector.Options{})
	want := [][]vector.Hit{{{Row: 2, Score: 4}}, {{Row: 0, Score: -2}}, {{Row: 0, Score: 4}}}
	if d := gocmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("Neighbours: error %v, -want +got\n%s", err, d)
	}
}

func TestErrors(t *testing.T) {
	good := matrix(2, []float32{1, 2}, []float32{3, 4})
	nan := matrix(2, []float32{1, 2}, []float32{3, float32(math.NaN())})
	inf := matrix(2, []float32{float32(math.Inf(-1)), 1})
	long := matrix(2, []float32{1, 2}, []float32{1e19, 1})
	tests := []struct {
		name       string
		m, queries *vector.Matrix
		want       string
	}{
		{"NaN in the matrix", nan, good, "row 1, number 1 is NaN: want finite numbers"},
		{"NaN in the queries", good, nan, "query 1, number 1 is NaN"},
		{"an infinity", good, inf, "query 0, number 0 is -Inf"},
		{"squares overflow", long, good, "row 1 is too long for float32"},
		{"dimensions differ", good, vector.NewMatrix(1, 3), "queries of 3 numbers for a matrix of 2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := tt.m.Top(t.Context(), tt.queries, 1, vector.Options{}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Top: error %v, want one with %q", err, tt.want)
			}
		})
	}
	if _, err := nan.Neighbours(t.Context(), 1, vector.Options{}); err == nil || !strings.Contains(err.Error(), "row 1, number 1 is NaN") {
		t.Errorf("Neighbours of a matrix with NaN: error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := good.Top(ctx, good, 1, vector.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Top with a context that is done: error %v", err)
	}
	if _, err := good.Neighbours(ctx, 1, vector.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Neighbours with a context that is done: error %v", err)
	}
}

func TestPanics(t *testing.T) {
	m := vector.NewMatrix(2, 3)
	for name, f := range map[string]func(){
		"a row before the first":     func() { m.Row(-1) },
		"a row after the last":       func() { m.Row(2) },
		"negative rows":              func() { vector.NewMatrix(-1, 2) },
		"a negative dimension":       func() { vector.NewMatrix(1, -2) },
		"more than addresses":        func() { vector.NewMatrix(math.MaxInt32+1, 1) },
		"Dot of different lengths":   func() { vector.Dot(make([]float32, 1), make([]float32, 2)) },
		"writing beyond a row's end": func() { m.Row(0)[3] = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}

func TestNormalize(t *testing.T) {
	m := matrix(2, []float32{3, 4}, []float32{0, 0}, []float32{1e-30, 0}, []float32{-3e38, 3e38}, []float32{float32(math.NaN()), 1})
	m.Normalize()
	half := float32(math.Sqrt(0.5))
	for i, want := range [][]float32{{0.6, 0.8}, {0, 0}, {1, 0}, {-half, half}} {
		if !slices.Equal(m.Row(i), want) {
			t.Errorf("row %d is %v, want %v", i, m.Row(i), want)
		}
	}
	if row := m.Row(4); row[0] == row[0] || row[1] != 1 {
		t.Errorf("a row with NaN became %v", row)
	}
}

func ExampleMatrix_Top() {
	m := matrix(2, []float32{3, 4}, []float32{1, 0}, []float32{5, 1})
	m.Normalize()
	hits, err := m.Top(context.Background(), matrix(2, []float32{1, 0}), 2, vector.Options{})
	if err != nil {
		panic(err)
	}
	for _, hit := range hits[0] {
		fmt.Printf("row %d, cosine %.3f\n", hit.Row, hit.Score)
	}
	// Output:
	// row 1, cosine 1.000
	// row 2, cosine 0.981
}
