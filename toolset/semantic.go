package toolset

import (
	"context"
	"fmt"

	"assay/internal/lexical"
	"assay/internal/ordered"
	"assay/vector"
)

// An Embedder is a source of dense vectors.
type Embedder interface {
	// Name tells the model.
	Name() string
	// Vectors returns a vector of length 1 for each text, in their order.
	Vectors(ctx context.Context, texts []string) (*vector.Matrix, error)
}

// similarHits is how many neighbours of a tool are looked up at first: few tools
// have more that are nearly the same text.
const similarHits = 16

// A near is a text and how similar it is.
type near struct {
	at         int
	similarity float64
}

// semantic runs the semantic stage.
func (a *assembler) semantic(ctx context.Context) error {
	texts := make([]string, len(a.pool))
	for i, e := range a.pool {
		texts[i] = Key(e.Tool)
	}
	similar, err := a.above(ctx, texts)
	if err != nil {
		return err
	}
	kept := make([]Entry, 0, len(a.pool))
	gone := make([]bool, len(a.pool))
	for i, e := range a.pool {
		best := near{at: -1}
		for _, n := range similar[i] {
			// Only those that come before and stay can cost it its place.
			if n.at < i && !gone[n.at] && (best.at < 0 || n.similarity > best.similarity) {
				best = n
			}
		}
		if best.at < 0 || a.protected(e) {
			kept = append(kept, e)
			continue
		}
		gone[i] = true
		detail := fmt.Sprintf("cosine %.4f, the threshold is %g", best.similarity, a.opt.Threshold)
		if err := a.remove(removal(StageSemantic, fault{SimilarTool, detail}, e, rival(a.pool[best.at], best.similarity))); err != nil {
			return err
		}
	}
	a.pool = kept
	return nil
}

// above returns for each text those with a cosine above the threshold.
func (a *assembler) above(ctx context.Context, texts []string) ([][]near, error) {
	if a.opt.Embed == nil {
		return a.lexicalAbove(ctx, texts)
	}
	m, err := a.opt.Embed.Vectors(ctx, texts)
	if err != nil {
		return nil, err
	}
	return denseAbove(ctx, m, a.opt.Threshold, a.opt.workers())
}

func (a *assembler) lexicalAbove(ctx context.Context, texts []string) ([][]near, error) {
	x := lexical.NewIndex(texts)
	docs := func(yield func(int, error) bool) {
		for i := range texts {
			if !yield(i, nil) {
				return
			}
		}
	}
	out := make([][]near, 0, len(texts))
	for near, err := range ordered.Map(ctx, docs, a.opt.workers(), func(doc int) []near { return lexicalNear(x, doc, a.opt.Threshold) }) {
		if err != nil {
			return nil, err
		}
		out = append(out, near)
	}
	return out, nil
}

// lexicalNear returns the texts of x whose cosine with doc is above threshold.
func lexicalNear(x *lexical.Index, doc int, threshold float64) []near {
	for k := similarHits; ; k *= 4 {
		hits := x.Neighbours(doc, k)
		if len(hits) == k && k < x.Len() && hits[k-1].Score > threshold {
			continue // there may be more
		}
		var out []near
		for _, h := range hits {
			if h.Score > threshold {
				out = append(out, near{h.Doc, h.Score})
			}
		}
		return out
	}
}

// denseAbove returns for each row of m the others whose cosine with it is above
// threshold.
func denseAbove(ctx context.Context, m *vector.Matrix, threshold float64, workers int) ([][]near, error) {
	opt := vector.Options{Workers: workers}
	all, err := m.Neighbours(ctx, similarHits, opt)
	if err != nil {
		return nil, err
	}
	out := make([][]near, m.Rows())
	var deep []int // rows that may have more than were asked for
	for i, hits := range all {
		if len(hits) == similarHits && float64(hits[similarHits-1].Score) > threshold {
			deep = append(deep, i)
			continue
		}
		out[i] = nearOf(hits, i, threshold)
	}
	for k := 4 * similarHits; len(deep) > 0; k *= 4 {
		queries := vector.NewMatrix(len(deep), m.Dim())
		for q, i := range deep {
			copy(queries.Row(q), m.Row(i))
		}
		found, err := m.Top(ctx, queries, k, opt)
		if err != nil {
			return nil, err
		}
		var still []int
		for q, i := range deep {
			if hits := found[q]; len(hits) == k && float64(hits[k-1].Score) > threshold {
				still = append(still, i)
				continue
			}
			out[i] = nearOf(found[q], i, threshold)
		}
		deep = still
	}
	return out, nil
}

// nearOf returns the hits above threshold, without row i itself.
func nearOf(hits []vector.Hit, i int, threshold float64) []near {
	var out []near
	for _, h := range hits {
		if h.Row != i && float64(h.Score) > threshold {
			out = append(out, near{h.Row, float64(h.Score)})
		}
	}
	return out
}
