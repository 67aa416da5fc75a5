package lexical

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// The parameters of BM25: saturation of repeated features, and how much the
// length of a text counts. The usual values.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// one is the whole number that stands for the weight 1. Weights are rounded to
// 1/one, so the squares of a vector of length 1 sum up to about one*one, which
// leaves four bits of a uint32 for rounding.
const one = 1 << 14

// An n-gram in more than 1/commonShare of the texts weighs nothing, if these
// are more than commonMin texts: "tio" tells nothing apart, and its list is
// what a search would spend its time on.
const (
	commonShare = 16
	commonMin   = 64
)

// A Hit is a text found by a search.
type Hit struct {
	Doc   int     // index of the text
	Score float64 // of an Index a cosine, in (0,1]; of a BM25 its sum, above 0
}

// A Vector is a text as seen by one [Index]. Vectors of different indexes
// must not be compared.
type Vector struct {
	terms   []int32  // known features, ascending
	weights []uint16 // in units of 1/one
}

// An Index holds texts for exact similarity search. It does not change and is
// safe for concurrent use.
//
// The weight of feature f in text d is
//
//	factor(f) · ln(1 + (N-n(f)+½)/(n(f)+½)) · tf·(k1+1) / (tf + k1·(1-b+b·|d|/avg))
//
// with N texts, n(f) of them holding f, tf occurrences of f in d, |d| features
// in d and avg on average; vectors are then scaled to length 1.
type Index struct {
	lists
	ids  map[uint64]int32 // hash of a feature to its number
	idf  []float64        // by feature; 0 if it is too common
	unkn float64          // idf of a feature that no text holds
	avg  float64          // features of a text, on average
}

// NewIndex returns the index of docs. Any number of texts of any content is
// fine, empty texts are never found.
func NewIndex(docs []string) *Index {
	var b builder
	avg := b.all(docs)
	x := &Index{ids: b.ids, avg: avg}
	x.unkn = idf(len(docs), 0)
	x.idf = make([]float64, len(b.df))
	for f, n := range b.df {
		if b.grams[f] && n > commonMin && int(n)*commonShare > len(docs) {
			continue
		}
		x.idf[f] = idf(len(docs), int(n)) * float64(b.factors[f])
	}
	weights := make([]uint16, len(b.terms))
	var ws []float64
	for d := range docs {
		terms, tfs := b.text(d)
		ws = ws[:0]
		for i, f := range terms {
			ws = append(ws, x.idf[f]*saturate(int(tfs[i]), b.lens[d], avg))
		}
		length := norm(ws)
		for i, w := range ws {
			weights[b.start[d]+i] = quantise(w, length)
		}
	}
	x.fill(&b, weights)
	return x
}

// idf is the inverse document frequency of BM25, positive for every n in [0,N].
func idf(total, n int) float64 {
	return math.Log1p((float64(total-n) + 0.5) / (float64(n) + 0.5))
}

// saturate is the part of BM25 that grows with tf, up to k1+1.
func saturate(tf, length int, avg float64) float64 {
	t := float64(tf)
	return t * (bm25K1 + 1) / (t + bm25K1*(1-bm25B+bm25B*float64(length)/avg))
}

func norm(ws []float64) float64 {
	var sum float64
	for _, w := range ws {
		sum += float64(w * w) // the conversion forbids a fused multiply-add
	}
	return math.Sqrt(sum)
}

// quantise returns w/length in units of 1/one.
func quantise(w, length float64) uint16 {
	if length == 0 {
		return 0
	}
	return uint16(math.Round(w / length * one))
}

// Len returns the number of texts.
func (x *Index) Len() int { return len(x.docs) }

// Vector returns text as a vector of x. Features that no text of x holds
// count for its length, so a score tells how much of the text was found.
func (x *Index) Vector(text string) Vector {
	fs := count(text)
	var length int
	for _, f := range fs {
		length += f.n
	}
	ids, ws := make([]int32, len(fs)), make([]float64, len(fs))
	for i, f := range fs {
		id, ok := x.ids[f.hash]
		ids[i], ws[i] = id, x.unkn*float64(f.factor)
		if ok {
			ws[i] = x.idf[id]
		} else {
			ids[i] = -1
		}
		ws[i] *= saturate(f.n, length, x.avg)
	}
	type term struct {
		id int32
		w  uint16
	}
	kept := make([]term, 0, len(fs))
	total := norm(ws)
	for i, id := range ids {
		if w := quantise(ws[i], total); w > 0 && id >= 0 {
			kept = append(kept, term{id, w})
		}
	}
	slices.SortFunc(kept, func(a, b term) int { return cmp.Compare(a.id, b.id) })
	v := Vector{make([]int32, len(kept)), make([]uint16, len(kept))}
	for i, k := range kept {
		v.terms[i], v.weights[i] = k.id, k.w
	}
	return v
}

// Doc returns the vector of text doc. It panics if there is no such text.
func (x *Index) Doc(doc int) Vector { return x.docs[doc] }

// Cosine returns how similar two vectors of one index are, in [0,1].
func Cosine(a, b Vector) float64 {
	var sum uint32
	for i, j := 0, 0; i < len(a.terms) && j < len(b.terms); {
		switch {
		case a.terms[i] < b.terms[j]:
			i++
		case a.terms[i] > b.terms[j]:
			j++
		default:
			sum += uint32(a.weights[i]) * uint32(b.weights[j])
			i, j = i+1, j+1
		}
	}
	return score(sum)
}

// score turns a sum of products of weights into a cosine; rounding may carry
// the sum of two equal vectors a little over one.
func score(sum uint32) float64 { return min(float64(sum)/(one*one), 1) }

// Search returns the k texts most similar to query, best first, equals in
// order of their index. Texts that have nothing in common with it are left
// out, so there may be fewer than k.
func (x *Index) Search(query string, k int) []Hit { return x.Nearest(x.Vector(query), k) }

// Neighbours returns the k texts most similar to text doc, without doc itself,
// in the order of [Index.Search]. It panics if there is no such text.
func (x *Index) Neighbours(doc, k int) []Hit {
	hits := x.Nearest(x.docs[doc], k+min(k, 1))
	hits = slices.DeleteFunc(hits, func(h Hit) bool { return h.Doc == doc })
	return hits[:min(len(hits), max(k, 0))]
}

// AllNeighbours returns [Index.Neighbours] of every text, by its index, on up
// to workers processors, 0 being all of them. The result is the same for any
// number of workers, and takes 16 bytes a hit. The error is that of ctx.
func (x *Index) AllNeighbours(ctx context.Context, k, workers int) ([][]Hit, error) {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	out := make([][]Hit, len(x.docs))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, len(out)) {
		wg.Go(func() {
			for ctx.Err() == nil {
				doc := int(next.Add(1)) - 1
				if doc >= len(out) {
					return
				}
				out[doc] = x.Neighbours(doc, k)
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return out, nil
}

// Nearest is [Index.Search] for a vector.
func (x *Index) Nearest(v Vector, k int) []Hit {
	if k <= 0 || len(x.docs) == 0 {
		return nil
	}
	best := x.best(v, k)
	hits := make([]Hit, len(best))
	for i, f := range best {
		hits[i] = Hit{int(f.doc), score(f.sum)}
	}
	return hits
}
