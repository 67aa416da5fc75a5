package contam_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"assay/contam"
	"assay/qaoa"
)

func record(id, source, query string, tool qaoa.Tool, args string) qaoa.Record {
	return qaoa.Record{
		ID: id, Source: qaoa.Source{Name: source}, Tools: []qaoa.Tool{tool},
		Turns: []qaoa.Turn{{Query: query, Steps: []qaoa.Step{{Calls: []qaoa.Call{{Name: tool.Name, Arguments: qaoa.JSON(args)}}}}}},
	}
}

const long = "Could you please tell me what the weather will be like in Oslo on the first day of May this year?"

var weather = qaoa.Tool{Name: "get_weather", Description: "Tells the weather of a city.", Parameters: `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`}

func TestLevels(t *testing.T) {
	x := contam.New()
	x.Add(record("bench/1", "bench", long, weather, `{"city":"Oslo","days":1}`))
	x.Add(record("bench/2", "bench", "Find all trains to Rome that leave before noon", qaoa.Tool{Name: "trains"}, `{"to":"Rome"}`))
	multi := record("bench/3", "bench", "Book the cheapest room now", qaoa.Tool{Name: "rooms"}, `{"room":17}`)
	multi.Turns = append(multi.Turns, qaoa.Turn{Query: "Yes, please"})
	x.Add(multi)
	x.Add(record("bench/4", "bench", "Wake up", qaoa.Tool{Name: "wake"}, `{}`))
	other := qaoa.Tool{Name: "other", Description: "Another."}
	tests := []struct {
		name string
		rec  qaoa.Record
		want string
	}{
		{"the query in other case", record("a", "c", strings.ToUpper(long), other, `{"a":1}`), "query bench/1 /turns/0/query, ngram bench/1 /turns/0/query"},
		{"a prefix and another end", record("a", "c", "Hi. "+strings.Replace(long, "this year", "2026", 1), other, `{"a":1}`), "ngram bench/1 /turns/0/query"},
		{"twelve words in a row", record("a", "c", "tell me what the weather will be like in Oslo on the", other, `{"a":1}`), ""},
		{"thirteen words in a row", record("a", "c", "tell me what the weather will be like in Oslo on the first", other, `{"a":1}`), "ngram bench/1 /turns/0/query"},
		{"a short query inside of another", record("a", "c", "Hello! find all trains to Rome, that leave before noon, for me", other, `{"a":1}`), "ngram bench/2 /turns/0/query"},
		{"part of a short query", record("a", "c", "Find all trains to Rome that leave", other, `{"a":1}`), ""},
		{"the tool, with members in another order", record("a", "c", "q", qaoa.Tool{Name: "get_weather", Description: "tells the weather of a city", Parameters: `{"properties":{"city":{"type":"string"}},"type":"object","required":["city"]}`}, `{"city":"Rome"}`), "tool bench/1 /tools/0"},
		{"the tool with another description", record("a", "c", "q", qaoa.Tool{Name: "get_weather", Description: "tells weather", Parameters: weather.Parameters}, `{"city":"Rome"}`), ""},
		{"the call with arguments in another order", record("a", "c", "q", qaoa.Tool{Name: "get_weather"}, `{"days":1.0,"city":"oslo"}`), "calls bench/1 "},
		{"the call with one argument more", record("a", "c", "q", qaoa.Tool{Name: "get_weather"}, `{"days":1,"city":"Oslo","x":1}`), ""},
		{"a call without arguments", record("a", "c", "q", qaoa.Tool{Name: "wake"}, `{}`), ""},
		{"a short query of one turn", record("a", "c", "wake up!", other, `{"a":1}`), "query bench/4 "},
		{"a query of five words of another conversation", record("a", "c", "book the cheapest room NOW", other, `{"a":1}`), "query bench/3 /turns/0/query"},
		{"a short query of another conversation", record("a", "c", "yes please", other, `{"a":1}`), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, h := range x.Check(tt.rec) {
				if h.Benchmark != "bench" || h.Detail == "" {
					t.Errorf("hit %+v", h)
				}
				got = append(got, fmt.Sprintf("%s %s %s", h.Level, h.Item, h.Path))
			}
			if s := strings.Join(got, ", "); s != tt.want {
				t.Errorf("hits %q, want %q", s, tt.want)
			}
		})
	}
}

func TestEachBenchmarkIsNamed(t *testing.T) {
	x := contam.New()
	for _, id := range []string{"one/1", "one/2", "two/1"} {
		source, _, _ := strings.Cut(id, "/")
		x.Add(record(id, source, long, weather, `{"city":"Oslo"}`))
	}
	if got := x.Benchmarks(); !slices.Equal(got, []string{"one", "two"}) || x.Len() != 3 {
		t.Errorf("benchmarks %v, %d items", got, x.Len())
	}
	var got []string
	for _, h := range x.Check(record("a", "c", long, weather, `{"city":"Oslo"}`)) {
		got = append(got, string(h.Level)+" "+h.Item)
	}
	want := []string{"query one/1", "query two/1", "ngram one/1", "ngram two/1", "tool one/1", "tool two/1", "calls one/1", "calls two/1"}
	if !slices.Equal(got, want) {
		t.Errorf("hits %q, want %q", got, want)
	}
}

// A made-up language, so that two queries share words but no long phrase.
func sentence(r *rand.Rand, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint([]string{"find", "the", "a", "flight", "hotel", "city", "for", "date", "price", "w"}[r.IntN(10)], r.IntN(40))
	}
	return out
}

func bench(r *rand.Rand, i int) qaoa.Record {
	tool := qaoa.Tool{
		Name: fmt.Sprint("tool_", i), Description: strings.Join(sentence(r, 8), " "),
		Parameters: qaoa.JSON(fmt.Sprintf(`{"type":"object","properties":{"x":{"type":"integer","description":"%s"},"y":{"type":"string"}},"required":["x","y"]}`, strings.Join(sentence(r, 4), " "))),
	}
	return record(fmt.Sprint("bench/", i), "bench", strings.Join(sentence(r, 14+r.IntN(20)), " "), tool, fmt.Sprintf(`{"x":%d,"y":"Street %d, Oslo"}`, i, r.IntN(1e6)))
}

// lightly changes case, punctuation and blanks.
func lightly(r *rand.Rand, text string) string {
	var b strings.Builder
	for w := range strings.FieldsSeq(text) {
		if r.IntN(3) == 0 {
			w = strings.ToUpper(w)
		}
		b.WriteString(w + []string{" ", ", ", "  ", "! ", "\n"}[r.IntN(5)])
	}
	return b.String()
}

// Planted contamination of each level with light edits is found, completely at
// levels 1, 3 and 4 and to at least 95 % at level 2, and nothing is found among
// 10,000 clean rows at levels 1, 3 and 4.
func TestPlanted(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	x := contam.New()
	var items []qaoa.Record
	for i := range 1000 {
		items = append(items, bench(r, i))
		x.Add(items[i])
	}
	hit := func(rec qaoa.Record, level contam.Level, item string) bool {
		return slices.ContainsFunc(x.Check(rec), func(h contam.Hit) bool { return h.Level == level && h.Item == item })
	}
	found := map[contam.Level]int{}
	for i, item := range items {
		own := bench(r, 5000+i)
		own.ID = fmt.Sprint("corpus/", i)
		query := own
		query.Turns = slices.Clone(own.Turns)
		query.Turns[0].Query = lightly(r, item.Turns[0].Query)
		gram := query
		gram.Turns = slices.Clone(own.Turns)
		w := strings.Fields(item.Turns[0].Query)
		if len(w) > 13 { // a word at either end is another
			w[r.IntN(2)*(len(w)-1)] = "changed"
		}
		gram.Turns[0].Query = "Please help: " + lightly(r, strings.Join(w, " ")) + " thanks"
		tool := own
		shared := item.Tools[0]
		shared.Description = lightly(r, shared.Description)
		shared.Parameters = qaoa.JSON(strings.Replace(string(shared.Parameters), `["x","y"]`, `["y","x"]`, 1))
		tool.Tools = append(slices.Clone(own.Tools), shared)
		calls := own
		calls.Turns = slices.Clone(own.Turns)
		v, err := item.Turns[0].Steps[0].Calls[0].Arguments.Value()
		if err != nil {
			t.Fatal(err)
		}
		slices.Reverse(v.Members)
		v.Members[0].Value = qaoa.StringValue(lightly(r, v.Members[0].Value.Text))
		calls.Turns[0].Steps = []qaoa.Step{{Calls: []qaoa.Call{{Name: item.Turns[0].Steps[0].Calls[0].Name, Arguments: v.JSON()}}}}
		for level, rec := range map[contam.Level]qaoa.Record{contam.Query: query, contam.NGram: gram, contam.Tool: tool, contam.Calls: calls} {
			if hit(rec, level, item.ID) {
				found[level]++
			}
		}
	}
	clean := map[contam.Level]int{}
	for i := range 10_000 {
		for _, h := range x.Check(bench(r, 10_000+i)) {
			clean[h.Level]++
		}
	}
	t.Logf("found of 1,000 planted at each level: %v; hits among 10,000 clean rows: %v", found, clean)
	for _, level := range contam.Levels() {
		least := 1000
		if level == contam.NGram {
			least = 950
		}
		if found[level] < least || level != contam.NGram && clean[level] > 0 {
			t.Errorf("%s: found %d of 1,000, want at least %d; %d false hits", level, found[level], least, clean[level])
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	x := contam.New()
	for i := range 2000 {
		x.Add(bench(r, i))
	}
	rec := bench(r, 9999)
	b.ReportAllocs()
	for b.Loop() {
		x.Check(rec)
	}
}

func ExampleIndex() {
	x := contam.New()
	x.Add(qaoa.Record{ID: "bench/7", Source: qaoa.Source{Name: "bench"}, Turns: []qaoa.Turn{{Query: "What is the weather in Oslo?"}}})
	for _, h := range x.Check(qaoa.Record{ID: "corpus/1", Turns: []qaoa.Turn{{Query: "what is the weather, in oslo"}}}) {
		fmt.Println(h.Level, h.Benchmark, h.Item, h.Path)
	}
	// Output: query bench bench/7 /turns/0/query
}
