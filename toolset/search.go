package toolset

import (
	"context"
	"slices"
	"strings"

	"assay/internal/lexical"
	"assay/qaoa"
	"assay/vector"
)

// A Match is a tool that a search found.
type Match struct {
	Tool       qaoa.Tool
	Similarity float64 // cosine: in (0,1] with words, in [-1,1] with vectors; of [BM25] a score above 0
}

// A Ranking is how [Pool.Rank] compares a text with the tools.
type Ranking string

const (
	// Cosine compares words and n-grams as vectors of length 1.
	Cosine Ranking = "cosine"
	// BM25 adds up what the words in common weigh, as search engines do. It
	// knows no n-grams: a misspelt word, or one of a compound, is another word.
	BM25 Ranking = "bm25"
)

// Rankings are the known ones, the default first. Cosine is it since it finds
// more: over the questions of seven public benchmarks and a pool of all of their
// tools, more of the tools that are called are among the first 1, 5 and 20
// (bench/rank measures it).
func Rankings() []Ranking { return []Ranking{Cosine, BM25} }

// Rank returns the k tools that rank highest for text by the words of their
// names and descriptions, best first and equals in the order of the pool. Tools
// that have nothing in common with it are left out. An unknown ranking is
// Cosine.
func (p *Pool) Rank(by Ranking, text string, k int) []Match {
	if k <= 0 || p.Len() == 0 {
		return nil
	}
	var hits []lexical.Hit
	if by == BM25 {
		p.onceBM25.Do(func() { p.bm25 = lexical.NewBM25(p.texts) })
		hits = p.bm25.Search(text, k)
	} else {
		hits = p.lexical().Search(text, k)
	}
	out := make([]Match, len(hits))
	for i, h := range hits {
		out[i] = Match{p.tools[h.Doc], h.Score}
	}
	return out
}

// Search returns the k tools whose name and description are most similar to
// text, best first and equals in the order of the pool; with words, only those
// that have something in common with it. A nil embed compares words and
// n-grams, as [Pool.Rank] does by [Cosine]. The search is exact. An error is one of embed, or of ctx.
func (p *Pool) Search(ctx context.Context, text string, k int, embed Embedder) ([]Match, error) {
	if k <= 0 || p.Len() == 0 {
		return nil, nil
	}
	if embed == nil {
		return p.Rank(Cosine, text, k), nil
	}
	pool, err := embed.Vectors(ctx, p.texts)
	if err != nil {
		return nil, err
	}
	query, err := embed.Vectors(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	hits, err := pool.Top(ctx, query, k, vector.Options{})
	if err != nil {
		return nil, err
	}
	out := make([]Match, len(hits[0]))
	for i, h := range hits[0] {
		out[i] = Match{p.tools[h.Row], float64(h.Score)}
	}
	return out, nil
}

// maxListed is how many values of an enumeration a signature shows.
const maxListed = 4

// Signature returns the tool as people write functions:
//
//	book_flight(from: string, to: string, seat?: "aisle"|"window", tags?: [string])
//
// with a question mark behind what need not be given.
func Signature(t qaoa.Tool) string {
	var b strings.Builder
	b.WriteString(t.Name)
	b.WriteByte('(')
	schema, err := t.Parameters.Value()
	if err != nil {
		return t.Name + "(?)"
	}
	props, _ := schema.Get("properties")
	required, _ := schema.Get("required")
	for i, p := range props.Members {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.Name)
		if !slices.ContainsFunc(required.Items, func(r qaoa.Value) bool { return r.Kind == qaoa.String && r.Text == p.Name }) {
			b.WriteByte('?')
		}
		b.WriteString(": ")
		b.WriteString(shortType(p.Value))
	}
	b.WriteByte(')')
	return b.String()
}

// shortType returns what values a parameter takes, in short.
func shortType(schema qaoa.Value) string {
	if enum, _ := schema.Get("enum"); len(enum.Items) > 0 {
		values := make([]string, 0, maxListed+1)
		for _, v := range enum.Items[:min(len(enum.Items), maxListed)] {
			values = append(values, string(v.JSON()))
		}
		if len(enum.Items) > maxListed {
			values = append(values, "…")
		}
		return strings.Join(values, "|")
	}
	name := typeName(schema)
	if items, ok := schema.Get("items"); ok && name == "array" && items.Kind == qaoa.Object {
		return "[" + typeName(items) + "]"
	}
	return name
}
