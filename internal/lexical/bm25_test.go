package lexical_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"assay/internal/lexical"
)

// naiveBM25 ranks by the formula of the doc comment, word by word. Stop words
// must be such as stemming leaves alone.
func naiveBM25(docs []string, query string, k int) []lexical.Hit {
	words := make([][]string, len(docs))
	var total float64
	for i, d := range docs {
		words[i] = slices.Collect(lexical.Words(d))
		total += float64(len(words[i]))
	}
	avg := max(total/float64(len(docs)), 1)
	count := func(in []string, w string) (n float64) {
		for _, v := range in {
			if v == w {
				n++
			}
		}
		return n
	}
	hits := []lexical.Hit{}
	for i := range docs {
		var sum float64
		for w := range lexical.Words(query) {
			var holds float64
			for _, ws := range words {
				holds += min(count(ws, w), 1)
			}
			tf := count(words[i], w)
			idf := math.Log(1 + (float64(len(docs))-holds+0.5)/(holds+0.5))
			weight := idf * tf * 2.2 / (tf + 1.2*(0.25+0.75*float64(len(words[i]))/avg))
			sum += math.Round(weight*1024) / 1024
		}
		if sum > 0 {
			hits = append(hits, lexical.Hit{Doc: i, Score: sum})
		}
	}
	slices.SortStableFunc(hits, func(a, b lexical.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:min(k, len(hits))]
}

func TestBM25IsItsFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := genTexts(t)
		x := lexical.NewBM25(texts)
		k := rapid.IntRange(1, 20).Draw(t, "k")
		query := rapid.SampledFrom(append([]string{"email forecast email unheard-of"}, texts...)).Draw(t, "query")
		var want []lexical.Hit
		if len(texts) > 0 {
			want = naiveBM25(texts, query, k)
		}
		if d := gocmp.Diff(want, x.Search(query, k)); d != "" {
			t.Fatalf("Search(%q, %d): -naive +got\n%s", query, k, d)
		}
	})
}

func TestBM25ByHand(t *testing.T) {
	// Two texts of two words, so |d| = avg; "tea" is in one, "pot" in both:
	// ln(1 + 1.5/1.5) = 0.6931 and ln(1 + 0.5/2.5) = 0.1823, each times
	// 1·2.2/(1+1.2) = 1; in 1024ths 710 and 187.
	x := lexical.NewBM25([]string{"tea pot", "coffee pot"})
	tests := []struct {
		name, query string
		want        []lexical.Hit
	}{
		{"one word", "tea", []lexical.Hit{{Doc: 0, Score: 710. / 1024}}},
		{"both words", "a pot of tea", []lexical.Hit{{Doc: 0, Score: 897. / 1024}, {Doc: 1, Score: 187. / 1024}}},
		{"a repeated word counts again", "tea tea", []lexical.Hit{{Doc: 0, Score: 1420. / 1024}}},
		{"equals in order of index", "pots", []lexical.Hit{{Doc: 0, Score: 187. / 1024}, {Doc: 1, Score: 187. / 1024}}},
		{"nothing in common", "milk", []lexical.Hit{}},
		{"no words", "42", []lexical.Hit{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := gocmp.Diff(tt.want, x.Search(tt.query, 9)); d != "" {
				t.Errorf("Search(%q): -want +got\n%s", tt.query, d)
			}
		})
	}
	if hits := x.Search("pot", 0); hits != nil {
		t.Errorf("the best 0 are %v", hits)
	}
	if hits := lexical.NewBM25(nil).Search("pot", 3); hits != nil {
		t.Errorf("an index of nothing found %v", hits)
	}
	if x.Len() != 2 {
		t.Errorf("Len = %d, want 2", x.Len())
	}
}

// However long a query is, sums stay within their 32 bits.
func TestBM25OfAnEndlessQuery(t *testing.T) {
	docs := make([]string, 3000)
	docs[0] = strings.Repeat("tea ", 300)
	hits := lexical.NewBM25(docs).Search(strings.Repeat("tea ", 200_000), 3)
	want := lexical.NewBM25(docs).Search("tea", 3)[0].Score * 65_535
	if len(hits) != 1 || hits[0].Score != want {
		t.Errorf("found %v, want text 0 with %v", hits, want)
	}
}

func TestAllNeighboursAreNeighbours(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := genTexts(t)
		x := lexical.NewIndex(texts)
		k := rapid.IntRange(-1, 20).Draw(t, "k")
		got, err := x.AllNeighbours(t.Context(), k, rapid.IntRange(0, 4).Draw(t, "workers"))
		if err != nil || len(got) != len(texts) {
			t.Fatalf("AllNeighbours: %d lists, error %v", len(got), err)
		}
		for doc, hits := range got {
			if d := gocmp.Diff(x.Neighbours(doc, k), hits); d != "" {
				t.Fatalf("text %d: -Neighbours +AllNeighbours\n%s", doc, d)
			}
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lexical.NewIndex(tools).AllNeighbours(ctx, 3, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("AllNeighbours with a context that is done: error %v", err)
	}
}

// FuzzSearch compares both searches with comparing every text.
func FuzzSearch(f *testing.F) {
	f.Add("get weather\nsend email\nget email", "email get", 2)
	f.Add("天气 tea\n\xff\n\ntea tea", "tea 天气", 9)
	f.Fuzz(func(t *testing.T, pool, query string, k int) {
		docs := strings.Split(pool, "\n")
		if len(docs) > 50 || len(pool) > 2000 || len(query) > 500 || k < 1 {
			return
		}
		x := lexical.NewIndex(docs)
		got, want := x.Search(query, k), bruteForce(x, x.Vector(query), k)
		if len(got) != len(want) {
			t.Fatalf("Search(%q, %d) in %q = %v, by brute force %v", query, k, docs, got, want)
		}
		for i := range got {
			if got[i].Score != want[i].Score {
				t.Fatalf("Search(%q, %d) in %q = %v, by brute force %v", query, k, docs, got, want)
			}
		}
		y := lexical.NewBM25(docs)
		all := y.Search(query, len(docs))
		if !slices.IsSortedFunc(all, func(a, b lexical.Hit) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc))
		}) {
			t.Fatalf("BM25 of %q in %q is not in order: %v", query, docs, all)
		}
		if d := gocmp.Diff(all[:min(k, len(all))], y.Search(query, k)); d != "" {
			t.Fatalf("the best %d of %q in %q are not the first of all: -want +got\n%s", k, query, docs, d)
		}
	})
}

// questions are texts of a few words, as users type them.
func questions(texts []string) []string {
	out := make([]string, 0, 500)
	for i := range cap(out) {
		words := strings.Fields(texts[i])
		out = append(out, strings.Join(words[:min(len(words), 15)], " "))
	}
	return out
}

func BenchmarkBM25Search(b *testing.B) {
	texts := poolTexts(22_606)
	x := lexical.NewBM25(texts)
	queries := questions(texts)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		x.Search(queries[i%len(queries)], 32)
		i++
	}
}

func BenchmarkNewBM25(b *testing.B) {
	texts := poolTexts(22_606)
	b.ReportAllocs()
	for b.Loop() {
		lexical.NewBM25(texts)
	}
}

func BenchmarkAllNeighbours(b *testing.B) {
	x := lexical.NewIndex(poolTexts(22_606))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := x.AllNeighbours(b.Context(), 64, 0); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleBM25_Search() {
	x := lexical.NewBM25([]string{
		"get_current_weather\nReturns the current weather of a city",
		"send_email\nSends an e-mail to a recipient",
	})
	for _, hit := range x.Search("What is the weather in Oslo?", 1) {
		fmt.Printf("%d %.2f\n", hit.Doc, hit.Score)
	}
	// Output: 0 1.62
}
