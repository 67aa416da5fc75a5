package toolset

import (
	"context"
	"slices"
	"strings"

	"assay/qaoa"
	"assay/vector"
)

// A Match is a tool that a search found.
type Match struct {
	Tool       qaoa.Tool
	Similarity float64 // cosine: in (0,1] with words, in [-1,1] with vectors
}

// Search returns the k tools whose name and description are most similar to
// text, best first and equals in the order of the pool; with words, only those
// that have something in common with it. A nil embed compares words and
// n-grams. The search is exact. An error is one of embed, or of ctx.
func (p *Pool) Search(ctx context.Context, text string, k int, embed Embedder) ([]Match, error) {
	if k <= 0 || p.Len() == 0 {
		return nil, nil
	}
	if embed == nil {
		var out []Match
		for _, h := range p.lexical().Search(text, k) {
			out = append(out, Match{p.tools[h.Doc], h.Score})
		}
		return out, nil
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
