package toolset

import (
	"sync"

	"assay/internal/lexical"
)

const (
	// firstHits is how many neighbours of a text are looked up at first. A
	// Hybrid-20 list takes at most 14 of one text; the rest is for those that
	// are left out because of their names.
	firstHits = 64
	// maxHits is how far down a ranking goes at most. Only in a pool full of
	// equal names is more than firstHits ever looked at.
	maxHits = 1024
	// maxTexts is for how many texts neighbours are remembered: some 30 MB,
	// and ten times as much in the worst case.
	maxTexts = 1 << 14
)

// neighbours looks up what is similar to a text and remembers it: a few
// thousand tools are the gold tools of many times more records. It is safe for
// concurrent use.
type neighbours struct {
	index *lexical.Index

	mu    sync.Mutex
	texts map[string]*ranking
}

// A ranking is what is known about the neighbours of one text.
type ranking struct {
	mu     sync.Mutex
	vector lexical.Vector
	hits   []lexical.Hit
	all    bool // there are no others, or none are looked at
	known  bool // vector and the first hits are set
}

func newNeighbours(x *lexical.Index) *neighbours {
	return &neighbours{index: x, texts: make(map[string]*ranking)}
}

// ranking returns the locked ranking of text.
func (n *neighbours) ranking(text string) *ranking {
	n.mu.Lock()
	r, ok := n.texts[text]
	if !ok {
		// To forget everything now and then costs little and keeps memory
		// bounded; what is found again is the same.
		if len(n.texts) >= maxTexts {
			clear(n.texts)
		}
		r = new(ranking)
		n.texts[text] = r
	}
	n.mu.Unlock()
	r.mu.Lock()
	if !r.known {
		r.vector = n.index.Vector(text)
		r.search(n.index, firstHits)
		r.known = true
	}
	return r
}

func (r *ranking) search(x *lexical.Index, k int) {
	r.hits = x.Nearest(r.vector, k)
	r.all = len(r.hits) < k || k >= maxHits
}

// at returns the neighbour of text at position i, 0 being the nearest, and
// whether there is one. A tool of the pool with that text counts as well.
func (n *neighbours) at(text string, i int) (lexical.Hit, bool) {
	r := n.ranking(text)
	defer r.mu.Unlock()
	for i >= len(r.hits) && !r.all {
		r.search(n.index, min(4*len(r.hits), maxHits))
	}
	if i >= len(r.hits) {
		return lexical.Hit{}, false
	}
	return r.hits[i], true
}

// cosine returns the similarity of text to tool doc of the pool, in [0,1].
func (n *neighbours) cosine(text string, doc int) float64 {
	r := n.ranking(text)
	defer r.mu.Unlock()
	return lexical.Cosine(r.vector, n.index.Doc(doc))
}
