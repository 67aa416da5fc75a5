package lexical

import (
	"cmp"
	"math"
	"slices"
	"strings"
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
	start []int // postings of feature f: [start[f], start[f+1])
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
	var b builder
	b.ids, b.words = make(map[uint64]int32), make(map[string][]int32)
	var total int
	for _, text := range docs {
		total += b.add(text)
	}
	x := &Index{ids: b.ids, docs: make([]Vector, len(docs))}
	x.avg = max(float64(total)/float64(max(len(docs), 1)), 1)
	x.unkn = idf(len(docs), 0)
	x.idf = make([]float64, len(b.df))
	for f, n := range b.df {
		if b.grams[f] && n > commonMin && int(n)*commonShare > len(docs) {
			continue
		}
		x.idf[f] = idf(len(docs), int(n)) * float64(b.factors[f])
	}
	x.fill(&b)
	return x
}

// builder counts the features of texts. The features of a word are found once,
// since a few thousand words make most of a pool of tools.
type builder struct {
	ids     map[uint64]int32
	words   map[string][]int32 // features of a word as split yields it
	df      []int32            // by feature
	grams   []bool             // by feature: an n-gram
	factors []float32          // by feature

	start []int    // features of text d: [start[d], start[d+1])
	terms []int32  // distinct within a text
	tfs   []uint16 // how often, in step with terms
	lens  []int    // features of a text, repeated ones included

	counts []uint16 // by feature: tf in the text at hand; else zero
	buf    []byte
}

// add counts the features of one text and returns how many it has.
func (b *builder) add(text string) int {
	first, length := len(b.terms), 0
	for w := range split(text) {
		fs, ok := b.words[w]
		if !ok {
			fs = b.word(w)
		}
		length += len(fs)
		for _, f := range fs {
			if b.counts[f] == 0 {
				b.terms = append(b.terms, f)
			}
			b.counts[f] += min(1, math.MaxUint16-b.counts[f])
		}
	}
	b.start = append(b.start, first)
	for _, f := range b.terms[first:] {
		b.tfs = append(b.tfs, b.counts[f])
		b.counts[f] = 0
		b.df[f]++
	}
	b.lens = append(b.lens, length)
	return length
}

// word numbers the features of a word not met before.
func (b *builder) word(w string) []int32 {
	var fs []int32
	b.buf = wordFeatures(w, b.buf, func(f feature) {
		id, ok := b.ids[f.hash]
		if !ok {
			id = int32(len(b.df))
			b.ids[f.hash] = id
			b.df, b.counts = append(b.df, 0), append(b.counts, 0)
			b.grams, b.factors = append(b.grams, f.hash&1 == 1), append(b.factors, f.factor)
		}
		fs = append(fs, id)
	})
	b.words[strings.Clone(w)] = fs
	return fs
}

// text returns the features of text d and how often each occurs.
func (b *builder) text(d int) ([]int32, []uint16) {
	end := len(b.terms)
	if d+1 < len(b.start) {
		end = b.start[d+1]
	}
	return b.terms[b.start[d]:end], b.tfs[b.start[d]:end]
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

// fill makes postings and vectors of what b counted. Postings come out in order
// of texts, and vectors filled from them in order of features, so nothing has
// to be sorted.
func (x *Index) fill(b *builder) {
	x.start = make([]int, len(b.df)+1)
	weights := make([]uint16, len(b.terms)) // in step with b.terms
	sizes := make([]int, len(x.docs))
	var ws []float64
	for d := range x.docs {
		terms, tfs := b.text(d)
		ws = ws[:0]
		for i, f := range terms {
			ws = append(ws, x.idf[f]*x.saturate(int(tfs[i]), b.lens[d]))
		}
		length := norm(ws)
		for i, f := range terms {
			if w := quantise(ws[i], length); w > 0 {
				weights[b.start[d]+i] = w
				sizes[d]++
				x.start[f+1]++
			}
		}
	}
	for f := range b.df {
		x.start[f+1] += x.start[f]
	}
	x.post = make([]posting, x.start[len(b.df)])
	next := slices.Clone(x.start)
	for d := range x.docs {
		terms, _ := b.text(d)
		for i, f := range terms {
			if w := weights[b.start[d]+i]; w > 0 {
				x.post[next[f]] = posting{int32(d), w}
				next[f]++
			}
		}
	}
	allTerms, allWeights := make([]int32, len(x.post)), make([]uint16, len(x.post))
	from := 0
	for d, n := range sizes {
		x.docs[d] = Vector{allTerms[from : from : from+n], allWeights[from : from : from+n]}
		from += n
	}
	for f := range b.df {
		for _, p := range x.post[x.start[f]:x.start[f+1]] {
			v := &x.docs[p.doc]
			v.terms, v.weights = append(v.terms, int32(f)), append(v.weights, p.weight)
		}
	}
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
		ws[i] *= x.saturate(f.n, length)
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
