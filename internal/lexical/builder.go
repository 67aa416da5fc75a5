package lexical

import (
	"math"
	"strings"
)

// builder counts the features of texts. The features of a word are found once,
// since a few thousand words make most of a pool of tools.
type builder struct {
	whole   bool // only words, no n-grams
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

// all counts the features of docs and returns how many a text has on average,
// but at least 1.
func (b *builder) all(docs []string) float64 {
	b.ids, b.words = make(map[uint64]int32), make(map[string][]int32)
	var total int
	for _, text := range docs {
		total += b.add(text)
	}
	return max(float64(total)/float64(max(len(docs), 1)), 1)
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
	add := func(f feature) {
		id, ok := b.ids[f.hash]
		if !ok {
			id = int32(len(b.df))
			b.ids[f.hash] = id
			b.df, b.counts = append(b.df, 0), append(b.counts, 0)
			b.grams, b.factors = append(b.grams, f.hash&1 == 1), append(b.factors, f.factor)
		}
		fs = append(fs, id)
	}
	if b.whole {
		add(wordFeature(w))
	} else {
		b.buf = wordFeatures(w, b.buf, add)
	}
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
