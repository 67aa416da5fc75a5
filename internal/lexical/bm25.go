package lexical

import "math"

// A BM25 ranks texts for a query by the words in common, as search engines do:
// no n-grams, no vectors of length 1, and a query of few words loses nothing to
// one of many. It does not change and is safe for concurrent use.
//
// The score of text d for query q is
//
//	Σ over the words w of q, repeated ones included, of
//	ln(1 + (N-n(w)+½)/(n(w)+½)) · tf·(k1+1) / (tf + k1·(1-b+b·|d|/avg))
//
// with N texts, n(w) of them holding w, tf occurrences of w in d, |d| words in
// d and avg on average, k1 = 1.2 and b = 0.75 (Robertson and Zaragoza, The
// Probabilistic Relevance Framework, section 3; the logarithm is Lucene's,
// which is never negative). Words are those of [Words], but that stop words
// are not stemmed; they count, and weigh little by themselves.
//
// Each summand is rounded to a multiple of 1/1024 before it is added, so a sum
// does not depend on its order and a tie is a tie on every machine.
type BM25 struct {
	lists
	ids map[uint64]int32 // hash of a word to its number
}

// unit is the number of steps between two scores that are 1 apart. No summand
// exceeds 2.2 · ln(2N), so it fits 16 bits for any N that fits a machine.
const unit = 1 << 10

// maxQuery is how many words of a query count. Then no sum exceeds 32 bits.
const maxQuery = 1<<16 - 1

// NewBM25 returns the index of docs. Any number of texts of any content is
// fine, texts without a word are never found.
func NewBM25(docs []string) *BM25 {
	b := builder{whole: true}
	avg := b.all(docs)
	weights := make([]uint16, len(b.terms))
	for d := range docs {
		terms, tfs := b.text(d)
		for i, f := range terms {
			w := idf(len(docs), int(b.df[f])) * saturate(int(tfs[i]), b.lens[d], avg)
			weights[b.start[d]+i] = uint16(min(math.Round(w*unit), math.MaxUint16))
		}
	}
	x := &BM25{ids: b.ids}
	x.fill(&b, weights)
	return x
}

// Len returns the number of texts.
func (x *BM25) Len() int { return len(x.docs) }

// Search returns the k texts with the highest scores for query, best first,
// equals in order of their index. Texts without a word of the query are left
// out, so there may be fewer than k. Words after the 65,535th do not count.
func (x *BM25) Search(query string, k int) []Hit {
	if k <= 0 || len(x.docs) == 0 {
		return nil
	}
	best := x.best(x.query(query), k)
	hits := make([]Hit, len(best))
	for i, f := range best {
		hits[i] = Hit{int(f.doc), float64(f.sum) / unit}
	}
	return hits
}

// query returns how often each known word is in text.
func (x *BM25) query(text string) Vector {
	var v Vector
	at := make(map[int32]int)
	n := 0
	for w := range split(text) {
		if n++; n > maxQuery {
			break
		}
		id, ok := x.ids[wordFeature(w).hash]
		if !ok {
			continue
		}
		i, ok := at[id]
		if !ok {
			i = len(v.terms)
			at[id] = i
			v.terms, v.weights = append(v.terms, id), append(v.weights, 0)
		}
		v.weights[i]++
	}
	return v
}
