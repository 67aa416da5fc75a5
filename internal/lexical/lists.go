package lexical

import (
	"cmp"
	"slices"
	"sync"
)

// lists are sparse vectors of whole numbers and their inverse: for each term,
// the texts that hold it.
type lists struct {
	docs  []Vector
	start []int // postings of term t: [start[t], start[t+1])
	post  []posting

	accs sync.Pool // *[]uint32, one sum per text, all zero
}

type posting struct {
	doc    int32
	weight uint16
}

// fill makes both sides out of what b counted, given weights in step with
// b.terms. Postings come out in order of texts, and vectors filled from them in
// order of terms, so nothing has to be sorted.
func (x *lists) fill(b *builder, weights []uint16) {
	x.docs = make([]Vector, len(b.start))
	x.start = make([]int, len(b.df)+1)
	sizes := make([]int, len(x.docs))
	for d := range x.docs {
		terms, _ := b.text(d)
		for i, f := range terms {
			if weights[b.start[d]+i] > 0 {
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

// best returns the k ≥ 1 texts with the largest sums of products with v, best
// first, equals by index, none with a sum of 0.
//
// It walks all lists of v. To leave out those that cannot matter any more
// (max-score) was tried and cost more than it saved: lists of a pool of tools
// are short, and half of the time would go into finding out.
func (x *lists) best(v Vector, k int) []found {
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
	best := top(sums, k)
	clear(sums)
	x.accs.Put(acc)
	return best
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
func top(sums []uint32, k int) []found {
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
	return best[:min(k, len(best))]
}
