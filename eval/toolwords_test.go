package eval

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"assay/internal/lexical"
)

func TestAlike(t *testing.T) {
	tests := []struct {
		name, a, b string
		want       float64
	}{
		{"the same words in another order", "get weather", "weather get", 1},
		{"words are stemmed", "books a flight", "booking flights", 1},
		{"words of identifiers count", "get_weather", "getWeather", 1},
		{"function words do not count", "the weather of the city", "weather by city", 1},
		{"one of two words", "get weather", "get time", 0.5},
		{"two of two and three words", "get weather", "get weather now", 0.8},
		{"nothing in common", "get weather", "open umbrella", 0},
		{"no words at all", "", "", 0},
		{"digits are no words", "f1", "f2", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := alike(wordsOf(tt.a, ""), wordsOf("", tt.b)); got != tt.want {
				t.Errorf("%q and %q are %g alike; want %g", tt.a, tt.b, got, tt.want)
			}
		})
	}
}

// TestAlikeSets computes Dice's coefficient a second way, with maps of words.
func TestAlikeSets(t *testing.T) {
	text := rapid.StringMatching(`(get|the|weather|city|cities|of|now| |_){0,12}`)
	rapid.Check(t, func(rt *rapid.T) {
		a, b := text.Draw(rt, "a"), text.Draw(rt, "b")
		set := func(s string) map[string]bool {
			m := map[string]bool{}
			for w := range lexical.Words(s) {
				if !slices.Contains([]string{"the", "of"}, w) {
					m[w] = true
				}
			}
			return m
		}
		x, y := set(a), set(b)
		common := 0
		for w := range x {
			if y[w] {
				common++
			}
		}
		want := 0.0
		if len(x)+len(y) > 0 {
			want = 2 * float64(common) / float64(len(x)+len(y))
		}
		got, back := alike(wordsOf(a, ""), wordsOf(b, "")), alike(wordsOf(b, ""), wordsOf(a, ""))
		if got != want || back != want {
			rt.Fatalf("%q and %q are %g alike, the other way round %g; want %g", a, b, got, back, want)
		}
	})
}

func TestRepeatSet(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var set repeatSet
		model := map[int]bool{}
		for _, r := range rapid.SliceOf(rapid.OneOf(rapid.IntRange(-2, 130), rapid.IntRange(4090, 4100), rapid.Int())).Draw(rt, "repeats") {
			if set.empty() != (len(model) == 0) || set.has(r) != model[r] || set.add(r) == model[r] {
				rt.Fatalf("repeat %d: the set disagrees with a map", r)
			}
			model[r] = true
		}
		set.clear()
		if !set.empty() {
			rt.Fatal("not empty after clear")
		}
	})
}
