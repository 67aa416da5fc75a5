package ordered_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"assay/internal/ordered"
)

// count yields 0 to n-1, and then err if it is not nil.
func count(n int, err error) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i := range n {
			if !yield(i, nil) {
				return
			}
		}
		if err != nil {
			yield(0, err)
		}
	}
}

func TestMapKeepsOrderAndBound(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var running, most atomic.Int64
				f := func(i int) int {
					most.Store(max(most.Load(), running.Add(1)))
					time.Sleep(time.Duration(100-i) * time.Second) // later ones are faster
					running.Add(-1)
					return i * i
				}
				var got []int
				for v, err := range ordered.Map(t.Context(), count(50, nil), workers, f) {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, v)
				}
				if len(got) != 50 || !slices.IsSorted(got) {
					t.Errorf("got %v, want 50 squares in order", got)
				}
				if n := most.Load(); n > int64(workers) || (workers > 1 && n < 2) {
					t.Errorf("%d calls at a time with %d workers", n, workers)
				}
			})
		})
	}
}

func TestMapEnds(t *testing.T) {
	boom := errors.New("boom")
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	tests := []struct {
		name string
		done bool // the context is
		in   iter.Seq2[int, error]
		stop int // break after that many
		n    int
		want error
	}{
		{"an error of the input comes last", false, count(5, boom), 100, 5, boom},
		{"nothing starts once the context is done", true, count(5, nil), 100, 0, context.Canceled},
		{"an early break leaves no goroutine", false, count(1000, nil), 3, 3, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // fails if a goroutine is left
				n := 0
				var last error
				ctx := t.Context()
				if tt.done {
					ctx = canceled
				}
				for _, err := range ordered.Map(ctx, tt.in, 4, func(i int) int { return i }) {
					if last = err; err != nil {
						break
					}
					if n++; n == tt.stop {
						break
					}
				}
				if n != tt.n || !errors.Is(last, tt.want) {
					t.Errorf("%d elements, then %v; want %d, then %v", n, last, tt.n, tt.want)
				}
			})
		})
	}
}
