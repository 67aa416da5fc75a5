package page_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"assay/page"
)

// paged is a served report on the two runs.
func paged(t *testing.T) *page.Index {
	t.Helper()
	in := two(t)
	in.Paged = true
	return build(t, in).Index()
}

func find(t *testing.T, x *page.Index, f page.Filter) (items []int) {
	t.Helper()
	found, err := x.Find(t.Context(), f)
	if err != nil {
		t.Fatalf("%+v: %v", f, err)
	}
	for at := range found.Len() {
		items = append(items, found.Item(at))
	}
	return items
}

func TestFind(t *testing.T) {
	x := paged(t)
	tests := []struct {
		name   string
		filter page.Filter
		want   []int
	}{
		{"no filter is everything", page.Filter{}, []int{0, 1, 2}},
		{"wrong", page.Filter{Status: "wrong"}, []int{0, 1}},
		{"right", page.Filter{Status: "right"}, []int{2}},
		{"a call that did not parse", page.Filter{Status: "malformed"}, []int{1}},
		{"a record without an answer", page.Filter{Run: 1, Status: "missing"}, []int{1}},
		{"flipped between the runs", page.Filter{Status: "flipped"}, []int{0, 2}},
		{"gained over the other", page.Filter{Run: 1, Against: 0, Status: "gained"}, []int{0}},
		{"lost to the other", page.Filter{Run: 1, Against: 0, Status: "lost"}, []int{2}},
		{"wrong in every run", page.Filter{Status: "allwrong"}, []int{1}},
		{"a class", page.Filter{Class: "wrong_value"}, []int{0}},
		{"a class that the run does not have", page.Filter{Run: 1, Class: "wrong_value"}, nil},
		{"a shape", page.Filter{Shape: "parallel calls"}, []int{1}},
		{"a data set", page.Filter{Dataset: "made"}, []int{0, 1, 2}},
		{"a predicted value", page.Filter{Query: "BERGEN"}, []int{0}},
		{"words of raw text and of an id", page.Filter{Query: "raw 2"}, []int{1, 2}},
		{"all words have to be there", page.Filter{Query: "raw bergen rome"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := find(t, x, tt.filter); !slices.Equal(got, tt.want) {
				t.Errorf("%+v finds %v, want %v", tt.filter, got, tt.want)
			}
			if got := find(t, x, tt.filter); !slices.Equal(got, tt.want) {
				t.Errorf("%+v finds %v the second time, want %v", tt.filter, got, tt.want)
			}
		})
	}
	for range 20 { // more filters than are remembered
		if got := find(t, x, page.Filter{Query: "oslo"}); len(got) == 0 {
			t.Fatal("a search forgets")
		}
	}
}

func TestFindRefuses(t *testing.T) {
	x := paged(t)
	for _, f := range []page.Filter{{Run: 2}, {Run: -1}, {Against: 2}, {Status: "x"}, {Class: "x"}, {Shape: "x"}, {Dataset: "x"}, {Query: strings.Repeat("x", 1201)}} {
		_, err := x.Find(t.Context(), f)
		if _, ok := errors.AsType[*page.FilterError](err); !ok {
			t.Errorf("Find(%.60v) = %v, want a FilterError", f, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Find(ctx, page.Filter{Query: "never asked before"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Find = %v after its context is done", err)
	}
}

// TestSearchFoldsAsARegularExpression compares the search with the flag (?i) of
// regular expressions, which folds case by the same rule.
func TestSearchFoldsAsARegularExpression(t *testing.T) {
	letters := rapid.SampledFrom([]rune("kK\u212asSſßẞσςΣİiIıµμΜåÅ\u212béÉЖж.東"))
	rapid.Check(t, func(rt *rapid.T) {
		text := string(rapid.SliceOfN(letters, 1, 8).Draw(rt, "text"))
		word := string(rapid.SliceOfN(letters, 1, 2).Draw(rt, "word"))
		want := regexp.MustCompile("(?i)" + regexp.QuoteMeta(word)).MatchString(text)
		if got := page.Holds(text, word); got != want {
			rt.Errorf("%q holds %q: %v, want %v", text, word, got, want)
		}
	})
}

func TestNextIsTheNearest(t *testing.T) {
	x := paged(t)
	rapid.Check(t, func(rt *rapid.T) {
		f := page.Filter{Status: rapid.SampledFrom(page.Statuses()).Draw(rt, "status"), Against: 1}
		from, back := rapid.IntRange(-1, 4).Draw(rt, "from"), rapid.Bool().Draw(rt, "back")
		found, err := x.Find(context.Background(), f)
		if err != nil {
			rt.Fatal(err)
		}
		want := -1
		for at := range found.Len() {
			item := found.Item(at)
			if back && (from < 0 || item < from) || !back && item > from && want < 0 {
				want = at
			}
		}
		at, ok := found.Next(from, back, -1)
		if !ok {
			at = -1
		}
		if at != want {
			rt.Errorf("Next(%d, %v) = %d, want %d", from, back, at, want)
		}
	})
}

func TestPagedReportIsNoFile(t *testing.T) {
	in := two(t)
	in.Paged = true
	r := build(t, in)
	if err := r.WriteHTML(new(strings.Builder)); err == nil || !strings.Contains(err.Error(), "Paged") {
		t.Errorf("WriteHTML = %v, want a refusal", err)
	}
	if item, ok, err := r.Index().Lookup("made/3", 0); item != 2 || !ok || err != nil {
		t.Errorf("Lookup = %d %v %v, want item 2", item, ok, err)
	}
	for i := range r.Index().Len() {
		if data, err := r.Index().Row(i); err != nil || !strings.HasPrefix(string(data), fmt.Sprintf(`{"item":%d,`, i)) {
			t.Errorf("row %d = %.60s %v", i, data, err)
		}
	}
}
