package lexical_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"assay/internal/lexical"
)

func TestWords(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"camel case is cut", "getUserEmail", "get user email"},
		{"capitals before a word stay together", "HTTPServerURL", "http server url"},
		{"a plural s of capitals starts no word", "listIDs URLs", "list ids url"},
		{"snake, dots and digits are cut", "get_user.by2name3", "get user by nam"},
		{"only digits and marks", "12_34 !?", ""},
		{"endings go", "creates created creating create", "creat creat creat creat"},
		{"doubled consonants go", "planned running", "plan run"},
		{"but not where the word has them", "calling class process", "call class process"},
		{"plurals", "queries boxes searches buses", "query box search bus"},
		{"short words stay", "is us bed ring", "is us bed ring"},
		{"accents are letters", "Éclairs à Genève", "éclair à genèv"},
		{"no blanks: pairs of characters", "查询天气 天", "查询 询天 天气 天"},
		{"scripts next to each other", "天气API", "天气 api"},
		{"not UTF-8", "ab\xffcd\xc3", "ab cd"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(slices.Collect(lexical.Words(tt.in)), " "); got != tt.want {
				t.Errorf("Words(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestWordsStop(t *testing.T) {
	for _, in := range []string{"one two", "天气预报 x"} {
		n := 0
		for range lexical.Words(in) {
			n++
			break
		}
		if n != 1 {
			t.Errorf("Words(%q) yielded %d words to a loop that breaks", in, n)
		}
	}
}

// tools are small, with pairs that a reader would call alike.
var tools = []string{
	"get_current_weather\nReturns the current weather of a city",
	"getWeatherForecast\nForecast of the weather for the next days in a city",
	"book_flight\nBooks a flight between two airports",
	"search_flights\nSearches flights by date and airport",
	"send_email\nSends an e-mail to a recipient",
	"deleteEmail\nDeletes an email from the mailbox",
	"convert_currency\nConverts an amount from one currency to another",
	"exchange_rate\nGets the exchange rate of two currencies",
	"play_movie\nStreams a movie with subtitles",
	"calculate_triangle_area\nArea of a triangle from base and height",
}

func TestSearchFindsWhatIsMeant(t *testing.T) {
	x := lexical.NewIndex(tools)
	tests := []struct {
		query string
		want  int
	}{
		{"What is the weather like in Paris right now? current weather", 0},
		{"I need a forecast for the coming days", 1},
		{"flights to Rome on Friday, search please", 3},
		{"booking a flight", 2},
		{"sending emails", 4},
		{"convrt curency", 6}, // misspelt: only n-grams can find it
		{"area of triangles", 9},
	}
	for _, tt := range tests {
		hits := x.Search(tt.query, 3)
		if len(hits) == 0 || hits[0].Doc != tt.want {
			t.Errorf("Search(%q) = %v, want text %d first", tt.query, hits, tt.want)
		}
	}
}

func TestNeighboursLookAlike(t *testing.T) {
	x := lexical.NewIndex(tools)
	for doc, want := range map[int]int{0: 1, 1: 0, 2: 3, 3: 2, 4: 5, 5: 4, 6: 7, 7: 6} {
		hits := x.Neighbours(doc, 3)
		if len(hits) == 0 || hits[0].Doc != want {
			t.Errorf("Neighbours(%q) = %v, want %q first", tools[doc], hits, tools[want])
		}
	}
}

func TestEdges(t *testing.T) {
	if hits := lexical.NewIndex(nil).Search("weather", 5); hits != nil {
		t.Errorf("an empty index found %v", hits)
	}
	x := lexical.NewIndex([]string{"", "weather", "weather", "42"})
	if x.Len() != 4 {
		t.Errorf("Len = %d, want 4", x.Len())
	}
	tests := []struct {
		name  string
		query string
		k     int
		want  []lexical.Hit
	}{
		{"equal texts in order of index, score 1", "weather", 5, []lexical.Hit{{1, 1}, {2, 1}}},
		{"k cuts", "weather", 1, []lexical.Hit{{1, 1}}},
		{"k of nothing", "weather", 0, nil},
		{"negative k", "weather", -1, nil},
		{"nothing in common", "zyx", 5, []lexical.Hit{}},
		{"empty query", "", 5, []lexical.Hit{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := gocmp.Diff(tt.want, x.Search(tt.query, tt.k)); d != "" {
				t.Errorf("Search(%q, %d): -want +got\n%s", tt.query, tt.k, d)
			}
		})
	}
	if hits := x.Neighbours(0, 3); len(hits) != 0 {
		t.Errorf("an empty text has neighbours %v", hits)
	}
	if hits := x.Neighbours(1, -1); len(hits) != 0 {
		t.Errorf("Neighbours(1, -1) = %v", hits)
	}
	if d := gocmp.Diff([]lexical.Hit{{2, 1}}, x.Neighbours(1, 3)); d != "" {
		t.Errorf("Neighbours(1, 3): -want +got\n%s", d)
	}
}

// An unknown word in the query lowers the score and changes no order.
func TestUnknownWordsCount(t *testing.T) {
	x := lexical.NewIndex(tools)
	short, long := x.Search("weather", 9), x.Search("weather zzyzx", 9)
	if short[0].Doc != long[0].Doc || short[0].Score <= long[0].Score {
		t.Errorf("best hit %v, with an unknown word %v; want the same text and a lower score", short[0], long[0])
	}
}

func genTexts(t *rapid.T) []string {
	word := rapid.SampledFrom(strings.Fields("get set weather Weather forecast user_id UserID email flights flight the of 天气 天気 a ID x2"))
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(word, 0, 8).Draw(t, "words"), " ")
	})
	return rapid.SliceOfN(text, 0, 120).Draw(t, "texts")
}

// bruteForce ranks by comparing every pair of vectors.
func bruteForce(x *lexical.Index, v lexical.Vector, k int) []lexical.Hit {
	var hits []lexical.Hit
	for d := range x.Len() {
		if s := lexical.Cosine(v, x.Doc(d)); s > 0 {
			hits = append(hits, lexical.Hit{Doc: d, Score: s})
		}
	}
	slices.SortStableFunc(hits, func(a, b lexical.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:min(k, len(hits))]
}

func TestSearchEqualsBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := genTexts(t)
		x := lexical.NewIndex(texts)
		k := rapid.IntRange(1, 20).Draw(t, "k")
		query := rapid.SampledFrom(append([]string{"email forecast"}, texts...)).Draw(t, "query")
		got, want := x.Search(query, k), bruteForce(x, x.Vector(query), k)
		// Sums that differ above 1 are one score; only the scores must agree
		// there.
		if len(got) != len(want) {
			t.Fatalf("Search(%q, %d) = %v, by brute force %v", query, k, got, want)
		}
		for i := range got {
			if got[i].Score != want[i].Score || got[i].Score < 1 && got[i] != want[i] {
				t.Fatalf("Search(%q, %d) = %v, by brute force %v", query, k, got, want)
			}
		}
	})
}

func TestVectors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := genTexts(t)
		x := lexical.NewIndex(texts)
		for i, s := range texts {
			v := x.Vector(s)
			if d := lexical.Cosine(v, x.Doc(i)); d != 0 && d < 0.999 {
				t.Fatalf("text %q compares with itself as %v", s, d)
			}
			for j := range texts[:i] {
				a, b := lexical.Cosine(v, x.Doc(j)), lexical.Cosine(x.Doc(j), v)
				if a != b || a < 0 || a > 1 {
					t.Fatalf("Cosine of %q and %q = %v and %v, want equal and in [0,1]", s, texts[j], a, b)
				}
			}
		}
	})
}

func TestConcurrentSearches(t *testing.T) {
	x := lexical.NewIndex(tools)
	want := x.Search("weather flights email", 5)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if d := gocmp.Diff(want, x.Search("weather flights email", 5)); d != "" {
					t.Errorf("a concurrent search differs: %s", d)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzWords(f *testing.F) {
	for _, s := range append(tools, "查询天气", "a\xff\xfeB", "HTTPSServers", strings.Repeat("aB", 100)) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n := 0
		for w := range lexical.Words(s) {
			if w == "" {
				t.Fatalf("Words(%q) yields an empty word", s)
			}
			n++
		}
		if n > len(s) {
			t.Fatalf("Words(%q) yields %d words", s, n)
		}
		x := lexical.NewIndex([]string{s, "weather"})
		if hits := x.Search(s, 2); n > 0 && (len(hits) == 0 || hits[0].Score < 0.99) {
			t.Fatalf("Search(%q) in itself = %v", s, hits)
		}
	})
}

// poolTexts makes n texts that look like names and descriptions of tools:
// about thirty words, frequent ones more often.
func poolTexts(n int) []string {
	rng := rand.New(rand.NewPCG(1, 2))
	syllables := strings.Fields("get set con ver ter mail list user da ta fo re cast wea thor pri ce sto ck mo vie boo king al pha be ta in fo re port time sta tus")
	words := make([]string, 4000)
	for i := range words {
		for range 2 + rng.IntN(3) {
			words[i] += syllables[rng.IntN(len(syllables))]
		}
	}
	texts := make([]string, n)
	for i := range texts {
		var b strings.Builder
		fmt.Fprintf(&b, "%s_%s\n", words[rng.IntN(len(words))], words[rng.IntN(len(words))])
		for range 15 + rng.IntN(20) {
			if rng.IntN(3) == 0 {
				b.WriteString([]string{"the ", "of ", "a ", "for ", "and "}[rng.IntN(5)])
				continue
			}
			f := rng.Float64()
			b.WriteString(words[int(f*f*f*float64(len(words)))] + " ")
		}
		texts[i] = b.String()
	}
	return texts
}

func BenchmarkNewIndex(b *testing.B) {
	texts := poolTexts(22_606)
	var size int
	for _, s := range texts {
		size += len(s)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		lexical.NewIndex(texts)
	}
}

func BenchmarkSearch(b *testing.B) {
	texts := poolTexts(22_606)
	x := lexical.NewIndex(texts)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		x.Search(texts[i%len(texts)], 64)
		i++
	}
}

func BenchmarkNewIndexOfOneList(b *testing.B) {
	texts := poolTexts(20)
	b.ReportAllocs()
	for b.Loop() {
		lexical.NewIndex(texts)
	}
}

func ExampleIndex_Search() {
	x := lexical.NewIndex([]string{
		"get_current_weather\nReturns the current weather of a city",
		"send_email\nSends an e-mail to a recipient",
		"getWeatherForecast\nForecast of the weather for the next days",
	})
	for _, hit := range x.Search("weather forecast for Oslo", 2) {
		fmt.Println(hit.Doc)
	}
	// Output:
	// 2
	// 0
}
