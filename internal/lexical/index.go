package lexical

import (
	"cmp"
	"math"
	"slices"
	"sync"
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
	Score float64 // cosine, in (0,1]
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
	ids   map[uint64]int32 // hash of a feature to its number
	idf   []float64        // by feature; 0 if it is too common
	unkn  float64          // idf of a feature that no text holds
	avg   float64          // features of a text, on average
	docs  []Vector
	start []int32 // postings of feature f: [start[f], start[f+1])
	post  []posting

	accs sync.Pool // *[]uint32, one sum per text, all zero
}

type posting struct {
	doc    int32
	weight uint16
}

// NewIndex returns the index of docs. Any number of texts of any content is
// fine, empty texts are never found.
func NewIndex(docs []string) *Index {
	x := &Index{ids: make(map[uint64]int32), docs: make([]Vector, len(docs))}
	var (
		df      []int32
		grams   []bool
		factors []float32
		tf      = make([][]uint16, len(docs))
		lens    = make([]int, len(docs))
		scratch []feature
		buf     []byte
		total   int
	)
	for d, text := range docs {
		var fs []counted
		fs, scratch, buf = count(text, scratch, buf)
		terms, tfs := make([]int32, len(fs)), make([]uint16, len(fs))
		for i, f := range fs {
			id, ok := x.ids[f.hash]
			if !ok {
				id = int32(len(df))
				x.ids[f.hash] = id
				df, grams, factors = append(df, 0), append(grams, f.hash&1 == 1), append(factors, f.factor)
			}
			df[id]++
			terms[i], tfs[i] = id, uint16(min(f.n, math.MaxUint16))
			lens[d] += f.n
		}
		total += lens[d]
		x.docs[d].terms, tf[d] = terms, tfs
	}
	x.avg = max(float64(total)/float64(max(len(docs), 1)), 1)
	x.unkn = idf(len(docs), 0)
	x.idf = make([]float64, len(df))
	for f, n := range df {
		if grams[f] && n > commonMin && int(n)*commonShare > len(docs) {
			continue
		}
		x.idf[f] = idf(len(docs), int(n)) * float64(factors[f])
	}
	for d := range docs {
		v := &x.docs[d]
		ws := make([]float64, len(v.terms))
		for i, f := range v.terms {
			ws[i] = x.idf[f] * x.saturate(int(tf[d][i]), lens[d])
		}
		*v = quantised(v.terms, ws, norm(ws))
		tf[d] = nil
	}
	x.invert(len(df))
	return x
}

// idf is the inverse document frequency of BM25, positive for every n in [0,N].
func idf(total, n int) float64 {
	return math.Log1p((float64(total-n) + 0.5) / (float64(n) + 0.5))
}

func (x *Index) saturate(tf, length int) float64 {
	t := float64(tf)
	return t * (bm25K1 + 1) / (t + bm25K1*(1-bm25B+bm25B*float64(length)/x.avg))
}

func norm(ws []float64) float64 {
	var sum float64
	for _, w := range ws {
		sum += float64(w * w) // the conversion forbids a fused multiply-add
	}
	return math.Sqrt(sum)
}

// quantised returns the vector of ws scaled by 1/length, in order of terms,
// without what rounds to nothing.
func quantised(terms []int32, ws []float64, length float64) Vector {
	type tw struct {
		t int32
		w uint16
	}
	kept := make([]tw, 0, len(terms))
	for i, t := range terms {
		if length == 0 {
			break
		}
		if w := uint16(math.Round(ws[i] / length * one)); w > 0 {
			kept = append(kept, tw{t, w})
		}
	}
	slices.SortFunc(kept, func(a, b tw) int { return cmp.Compare(a.t, b.t) })
	v := Vector{make([]int32, len(kept)), make([]uint16, len(kept))}
	for i, k := range kept {
		v.terms[i], v.weights[i] = k.t, k.w
	}
	return v
}

// invert fills the postings from the vectors.
func (x *Index) invert(features int) {
	x.start = make([]int32, features+1)
	for _, v := range x.docs {
		for _, t := range v.terms {
			x.start[t+1]++
		}
	}
	for f := range features {
		x.start[f+1] += x.start[f]
	}
	x.post = make([]posting, x.start[features])
	next := slices.Clone(x.start[:features])
	for d, v := range x.docs {
		for i, t := range v.terms {
			x.post[next[t]] = posting{int32(d), v.weights[i]}
			next[t]++
		}
	}
}

// Len returns the number of texts.
func (x *Index) Len() int { return len(x.docs) }

// Vector returns text as a vector of x. Features that no text of x holds
// count for its length, so a score tells how much of the text was found.
func (x *Index) Vector(text string) Vector {
	fs, _, _ := count(text, nil, nil)
	var length int
	for _, f := range fs {
		length += f.n
	}
	terms, known := make([]int32, 0, len(fs)), make([]float64, 0, len(fs))
	all := make([]float64, 0, len(fs))
	for _, f := range fs {
		id, ok := x.ids[f.hash]
		if !ok {
			all = append(all, x.unkn*float64(f.factor)*x.saturate(f.n, length))
			continue
		}
		w := x.idf[id] * x.saturate(f.n, length)
		all = append(all, w)
		terms, known = append(terms, id), append(known, w)
	}
	return quantised(terms, known, norm(all))
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

// Nearest is [Index.Search] for a vector.
func (x *Index) Nearest(v Vector, k int) []Hit {
	if k <= 0 || len(x.docs) == 0 {
		return nil
	}
	acc, ok := x.accs.Get().(*[]uint32)
	if !ok {
		acc = new(make([]uint32, len(x.docs)))
	}
	sums := *acc
	for i, t := range v.terms {
		w := uint32(v.weights[i])
		for _, p := range x.post[x.start[t]:x.start[t+1]] {
			sums[p.doc] += w * uint32(p.weight)
		}
	}
	hits := top(sums, k)
	clear(sums)
	x.accs.Put(acc)
	return hits
}

// found is a text and its sum. The sum decides, not the score: two sums over
// one*one are both 1, but not equal.
type found struct {
	sum uint32
	doc int32
}

// better orders by sum, then by index.
func better(a, b found) int {
	return cmp.Or(cmp.Compare(b.sum, a.sum), cmp.Compare(a.doc, b.doc))
}

// top returns the k best of sums. It collects up to 2k of them and cuts back
// to k whenever it has that many.
func top(sums []uint32, k int) []Hit {
	k = min(k, len(sums))
	best := make([]found, 0, 2*k)
	floor := uint32(0) // what a text has to exceed, since ties go to the first
	for d, s := range sums {
		if s <= floor {
			continue
		}
		best = append(best, found{s, int32(d)})
		if len(best) == cap(best) && len(best) > k {
			slices.SortFunc(best, better)
			best = best[:k]
			floor = best[k-1].sum
		}
	}
	slices.SortFunc(best, better)
	hits := make([]Hit, min(k, len(best)))
	for i := range hits {
		hits[i] = Hit{int(best[i].doc), score(best[i].sum)}
	}
	return hits
}
