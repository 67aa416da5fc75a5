package match

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// lcsByTable is the textbook dynamic program.
func lcsByTable[T comparable](a, b []T) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diag := 0
		for j, y := range b {
			up := row[j+1]
			if x == y {
				row[j+1] = diag + 1
			} else {
				row[j+1] = max(up, row[j])
			}
			diag = up
		}
	}
	return row[len(b)]
}

func drawTokens(t *rapid.T, label string) []int32 {
	// Few tokens give long subsequences and long carries.
	vocab := rapid.SampledFrom([]int32{1, 2, 5, 400}).Draw(t, "vocabulary")
	most := rapid.SampledFrom([]int{3, 70, 400}).Draw(t, "length")
	return rapid.SliceOfN(rapid.Int32Range(0, vocab-1), 0, most).Draw(t, label)
}

func TestBitParallelIsTheTable(t *testing.T) {
	var s lcsScratch // one for all: buffers must be clean after each use
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawTokens(t, "a"), drawTokens(t, "b")
		for i := range b {
			if b[i]%7 == 3 {
				b[i] = unknown
			}
		}
		want := lcsByTable(a, b)
		const vocab = 400
		if got := s.length(a, b, vocab, 0); got != want {
			t.Fatalf("length(%v, %v) = %d, want %d", a, b, got, want)
		}
		least := rapid.IntRange(0, len(a)+1).Draw(t, "least")
		if got := s.reaches(a, b, vocab, least); got != (want >= least) {
			t.Fatalf("reaches(%v, %v, %d) = %t, LCS is %d", a, b, least, got, want)
		}
	})
}

func TestBitParallelOnLongSequences(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var s lcsScratch
	for _, vocab := range []int32{2, 30, 3000} {
		a, b := make([]int32, 3000), make([]int32, 2500)
		for i := range a {
			a[i] = rnd.Int32N(vocab)
		}
		for i := range b {
			b[i] = rnd.Int32N(vocab)
		}
		want := lcsByTable(a, b)
		if got := s.length(a, b, int(vocab), 0); got != want {
			t.Errorf("vocabulary %d: LCS %d, want %d", vocab, got, want)
		}
		for _, least := range []int{1, want - 1, want, want + 1, 2400} {
			if got := s.reaches(a, b, int(vocab), least); got != (want >= least) {
				t.Errorf("vocabulary %d: reaches(%d) = %t, LCS is %d", vocab, least, got, want)
			}
		}
	}
}

func TestRougeL(t *testing.T) {
	for _, tt := range []struct {
		got, want string
		f1        float64
	}{
		{"", "", 1},
		{"a", "", 0},
		{"a b c", "a b c", 1},
		{"a b c", "c b a", 1. / 3},
		{"hotels near the old town", "cheap hotels near the old town", 10. / 11},
		{"a a", "a", 2. / 3},
		{"x y", "a b", 0},
	} {
		if got := RougeL(strings.Fields(tt.got), strings.Fields(tt.want)); got != tt.f1 {
			t.Errorf("RougeL(%q, %q) = %v, want %v", tt.got, tt.want, got, tt.f1)
		}
	}
}

func TestRougeLIsSymmetricAndInRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tokens := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "", "dd"}), 0, 80)
		a, b := tokens.Draw(t, "a"), tokens.Draw(t, "b")
		f := RougeL(a, b)
		if f < 0 || f > 1 || f != RougeL(b, a) {
			t.Errorf("RougeL(%q, %q) = %v, the other way round %v", a, b, f, RougeL(b, a))
		}
		if RougeL(a, a) != 1 {
			t.Errorf("RougeL(%q, itself) = %v", a, RougeL(a, a))
		}
	})
}

// TestNeedIsTheThreshold compares the integer test with fractions.
func TestNeedIsTheThreshold(t *testing.T) {
	for m := range 40 {
		for n := range 40 {
			for l := range min(m, n) + 1 {
				for _, th := range [][2]int{{7, 10}, {1, 2}, {1, 1}, {0, 1}, {333_333, 1_000_000}} {
					f1 := big.NewRat(1, 1)
					if m+n > 0 {
						f1 = big.NewRat(int64(2*l), int64(m+n))
					}
					want := f1.Cmp(big.NewRat(int64(th[0]), int64(th[1]))) >= 0
					if got := l >= need(m, n, th[0], th[1]); got != want {
						t.Fatalf("LCS %d of %d and %d, threshold %v: %t, want %t", l, m, n, th, got, want)
					}
				}
			}
		}
	}
	// The border of 0.7: 7 of 10 and 10 tokens are enough, 6 are not.
	if need(10, 10, 7, 10) != 7 || need(2, 2, 7, 10) != 2 {
		t.Errorf("need(10, 10) = %d, need(2, 2) = %d", need(10, 10, 7, 10), need(2, 2, 7, 10))
	}
}

func ExampleRougeL() {
	got := strings.Fields("book a table for two")
	want := strings.Fields("book table for two people")
	fmt.Printf("%.2f\n", RougeL(got, want))
	// Output: 0.80
}
