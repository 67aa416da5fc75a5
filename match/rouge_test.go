package match

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRougeOfTextsIsRougeLOfTheirWords(t *testing.T) {
	var r Rouge // one for all: its buffers must be clean after each use
	text := rapid.OneOf(rapid.String(), rapid.StringMatching(`([ab]{1,2}[ ,.-]){0,90}`),
		rapid.SampledFrom([]string{"", " ", "+", "-", "東京 tower", "Straße ſ", "Ω A\u200b", " Hi, There! "}))
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		if got, want := r.F1(a, b), RougeL(Words(a), Words(b)); got != want {
			t.Errorf("F1(%q, %q) = %v, RougeL of %q and %q is %v", a, b, got, Words(a), Words(b), want)
		}
	})
}

func TestRougeAllocatesNothing(t *testing.T) {
	var r Rouge
	x, y := words(500, true)
	a, b := strings.Join(x, " "), strings.Join(y, " ")
	r.F1(a, b)
	if n := testing.AllocsPerRun(10, func() { r.F1(a, b) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Texts to a score, beside the textbook table on the same tokens.
func BenchmarkRouge(b *testing.B) {
	for _, n := range []int{5, 50, 500, 5000} {
		for _, kind := range []string{"near", "unlike"} {
			x, y := words(n, kind == "near")
			got, want := strings.Join(x, " "), strings.Join(y, " ")
			b.Run(fmt.Sprintf("text/%s/%d", kind, n), func(b *testing.B) {
				var r Rouge
				b.ReportAllocs()
				b.SetBytes(int64(len(got) + len(want)))
				for b.Loop() {
					r.F1(got, want)
				}
			})
			b.Run(fmt.Sprintf("table/%s/%d", kind, n), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(got) + len(want)))
				for b.Loop() {
					lcsByTable(Words(got), Words(want))
				}
			})
		}
	}
}
