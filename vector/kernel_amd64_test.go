package vector

import (
	"testing"

	"golang.org/x/sys/cpu"
)

// eachSet runs f with each set of kernels that this processor can run.
func eachSet(t *testing.T, f func(t *testing.T)) {
	best := set
	defer func() { set = best }()
	for _, s := range []struct {
		name string
		set  *kernels
		have bool
	}{
		{"portable", nil, true},
		{"AVX2", &kernels256, cpu.X86.HasAVX2 && cpu.X86.HasFMA},
		{"AVX-512", &kernels512, cpu.X86.HasAVX512F && cpu.X86.HasAVX2 && cpu.X86.HasFMA},
	} {
		t.Run(s.name, func(t *testing.T) {
			if !s.have {
				t.Skip("this processor has no " + s.name)
			}
			set = s.set
			f(t)
		})
	}
}

// TestSearchesAgreeOnAnyProcessor: what is found, and its scores, do not depend
// on the kernels.
func TestSearchesAgreeOnAnyProcessor(t *testing.T) {
	m, queries := NewMatrix(700, 200), NewMatrix(37, 200)
	for x, m := range []*Matrix{m, queries} {
		for i := range m.rows {
			row := m.Row(i)
			for j := range row {
				// Close to each other: products in float32 cannot order them.
				row[j] = 1 + float32((i*7919+j*104729+x)%11)*0x1p-22
			}
		}
	}
	var top, all [][]Hit
	eachSet(t, func(t *testing.T) {
		gotTop, err := m.Top(t.Context(), queries, 20, Options{})
		if err != nil {
			t.Fatal(err)
		}
		gotAll, err := m.Neighbours(t.Context(), 20, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if top == nil {
			top, all = gotTop, gotAll
		}
		for name, pair := range map[string][2][][]Hit{"Top": {top, gotTop}, "Neighbours": {all, gotAll}} {
			for i, want := range pair[0] {
				for j, hit := range want {
					if pair[1][i][j] != hit {
						t.Fatalf("%s, list %d: hit %d is %v, portable kernels find %v", name, i, j, pair[1][i][j], hit)
					}
				}
			}
		}
	})
}
