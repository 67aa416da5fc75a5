package contam

import (
	"fmt"

	"assay/dedup"
	"assay/qaoa"
)

// A Level is how a record is compared with a benchmark.
type Level string

// The levels, see the package comment.
const (
	Query Level = "query"
	NGram Level = "ngram"
	Tool  Level = "tool"
	Calls Level = "calls"
)

// Levels returns the levels in the order in which hits are reported.
func Levels() []Level { return []Level{Query, NGram, Tool, Calls} }

const (
	// Gram is how many words in a row count as the same text.
	Gram = 13
	// minGram is the least number of words of a benchmark query that counts
	// as a gram by itself.
	minGram = 8
	// minQuery is the least number of words by which one query of several
	// tells a conversation; "yes, please" does not.
	minQuery = 5
)

// A Hit is something that a record shares with a benchmark.
type Hit struct {
	Level     Level  `json:"level"`
	Benchmark string `json:"benchmark"` // name of the item's source
	Item      string `json:"item"`      // ID of the first such item
	Path      string `json:"path"`      // JSON Pointer to what is shared; "" is the record
	Detail    string `json:"detail"`
}

// An Index holds the items of benchmarks. Fill it with [Index.Add]; after that
// several goroutines may call [Index.Check] at once. Its memory grows with the
// benchmarks, not with what is checked.
type Index struct {
	items      []item
	benchmarks []string
	names      map[string]uint16
	asked      map[dedup.Key][]int32 // conversations, by their queries
	queries    map[dedup.Key][]int32 // single queries
	grams      [Gram + 1]map[uint64][]int32
	tools      map[dedup.Key][]int32
	calls      map[dedup.Key][]int32
}

type item struct {
	id        string
	benchmark uint16
}

// New returns an empty index.
func New() *Index {
	return &Index{
		names: map[string]uint16{}, asked: map[dedup.Key][]int32{}, queries: map[dedup.Key][]int32{},
		tools: map[dedup.Key][]int32{}, calls: map[dedup.Key][]int32{},
	}
}

// Len returns how many items were added.
func (x *Index) Len() int { return len(x.items) }

// Benchmarks returns the names of the sources of the items, in the order in
// which they were first added.
func (x *Index) Benchmarks() []string { return append([]string(nil), x.benchmarks...) }

// Add adds an item of a benchmark. The first item of each benchmark with
// something is the one that hits name.
func (x *Index) Add(rec qaoa.Record) {
	b, ok := x.names[rec.Source.Name]
	if !ok {
		b = uint16(len(x.benchmarks))
		x.names[rec.Source.Name] = b
		x.benchmarks = append(x.benchmarks, rec.Source.Name)
	}
	n := int32(len(x.items))
	x.items = append(x.items, item{rec.ID, b})
	enter(x, x.asked, dedup.QueryKey(rec), n)
	var words, grams []uint64
	for _, t := range rec.Turns {
		words = dedup.AppendWords(words[:0], t.Query)
		if len(words) >= minQuery {
			enter(x, x.queries, dedup.TextKey(t.Query), n)
		}
		length := min(len(words), Gram)
		if length < minGram {
			continue
		}
		if x.grams[length] == nil {
			x.grams[length] = map[uint64][]int32{}
		}
		grams = dedup.AppendGrams(grams[:0], words, length)
		for _, g := range grams {
			enter(x, x.grams[length], g, n)
		}
	}
	for _, t := range rec.Tools {
		if key, ok := dedup.ToolKey(t); ok {
			enter(x, x.tools, key, n)
		}
	}
	if key, ok := dedup.CallsKey(rec); ok {
		enter(x, x.calls, key, n)
	}
}

// enter notes item n under key, unless another item of its benchmark is there.
func enter[K comparable](x *Index, m map[K][]int32, key K, n int32) {
	for _, other := range m[key] {
		if x.items[other].benchmark == x.items[n].benchmark {
			return
		}
	}
	m[key] = append(m[key], n)
}

// Check returns what rec shares with the items: for each level and benchmark
// the first place of rec, in the order of levels and places.
func (x *Index) Check(rec qaoa.Record) []Hit {
	c := checker{x: x, seen: map[seen]bool{}}
	var words, grams []uint64
	for i, t := range rec.Turns {
		words = dedup.AppendWords(words[:0], t.Query)
		if len(words) >= minQuery {
			if items := x.queries[dedup.TextKey(t.Query)]; items != nil {
				c.found(Query, items, fmt.Sprintf("/turns/%d/query", i), "the query")
			}
		}
	}
	c.found(Query, x.asked[dedup.QueryKey(rec)], "", "the queries of the conversation")
	for i, t := range rec.Turns {
		words = dedup.AppendWords(words[:0], t.Query)
		for n := Gram; n >= minGram; n-- {
			if x.grams[n] == nil {
				continue
			}
			grams = dedup.AppendGrams(grams[:0], words, n)
			for at, g := range grams {
				if items := x.grams[n][g]; items != nil {
					c.found(NGram, items, fmt.Sprintf("/turns/%d/query", i), fmt.Sprintf("%d words in a row, from word %d on", n, at+1))
				}
			}
		}
	}
	for i, t := range rec.Tools {
		if key, ok := dedup.ToolKey(t); ok {
			if items := x.tools[key]; items != nil {
				c.found(Tool, items, fmt.Sprintf("/tools/%d", i), fmt.Sprintf("name, description and parameters of %.60q", t.Name))
			}
		}
	}
	if key, ok := dedup.CallsKey(rec); ok {
		c.found(Calls, x.calls[key], "", "all calls with their arguments")
	}
	return c.hits
}

type seen struct {
	level     Level
	benchmark uint16
}

type checker struct {
	x    *Index
	seen map[seen]bool
	hits []Hit
}

func (c *checker) found(level Level, items []int32, path, detail string) {
	for _, n := range items {
		it := c.x.items[n]
		if at := (seen{level, it.benchmark}); !c.seen[at] {
			c.seen[at] = true
			c.hits = append(c.hits, Hit{level, c.x.benchmarks[it.benchmark], it.id, path, "shared: " + detail})
		}
	}
}
