package toolset

import (
	"context"
	"sync"

	"assay/internal/lexical"
	"assay/vector"
)

const (
	// firstHits is how many neighbours of a text are looked up at first. A
	// Hybrid-20 list takes at most 14 of one text; the rest is for those that
	// are left out because of their names.
	firstHits = 64
	// maxHits is how far down a ranking goes at most. Only in a pool full of
	// equal names is more than firstHits ever looked at.
	maxHits = 1024
	// maxTexts is for how many texts neighbours are remembered, those of the
	// pool with dense vectors aside: some 30 MB with words, and ten times as
	// much in the worst case.
	maxTexts = 1 << 14
	// maxDense is maxTexts for dense vectors, which are larger: 64 MB if they
	// have 4,096 numbers.
	maxDense = 1 << 12
)

// A space says how similar texts are to the tools of a pool. It remembers what
// it looked up: a few thousand tools are the gold tools of many times more
// records. It is safe for concurrent use, but for open and rank.
type space interface {
	// open returns the profiles of texts, in their order.
	open(ctx context.Context, texts []string) ([]*profile, error)
	// rank looks up the neighbours of profiles at once, where that is faster
	// than one by one.
	rank(ctx context.Context, profiles []*profile) error
	// at returns the tool at place i in the ranking of the pool by similarity
	// to a text, 0 being the nearest, and whether there is one. A tool of the
	// pool with that text counts as well.
	at(p *profile, i int) (near, bool)
	// cosine returns the similarity of a text to tool doc of the pool.
	cosine(p *profile, doc int) float64
}

// A profile is what a space knows of one text.
type profile struct {
	mu    sync.Mutex
	text  string
	words lexical.Vector // of a lexical space
	row   []float32      // of a dense one
	hits  []near
	all   bool // there are no others, or none are looked at
	known bool // words and the first hits are set
}

// hit returns the hit at place i, after deepen has looked for more of them as
// far as needed.
func (p *profile) hit(i int, deepen func(k int)) (near, bool) {
	for i >= len(p.hits) && !p.all {
		deepen(min(max(4*len(p.hits), firstHits), maxHits))
	}
	if i >= len(p.hits) {
		return near{}, false
	}
	return p.hits[i], true
}

// A lexicalSpace compares words and n-grams.
type lexicalSpace struct {
	index *lexical.Index

	mu    sync.Mutex
	texts map[string]*profile
}

func newLexicalSpace(x *lexical.Index) *lexicalSpace {
	return &lexicalSpace{index: x, texts: make(map[string]*profile)}
}

func (s *lexicalSpace) open(_ context.Context, texts []string) ([]*profile, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*profile, len(texts))
	for i, text := range texts {
		p, ok := s.texts[text]
		if !ok {
			// To forget everything now and then costs little and keeps memory
			// bounded; what is found again is the same.
			if len(s.texts) >= maxTexts {
				clear(s.texts)
			}
			p = &profile{text: text}
			s.texts[text] = p
		}
		out[i] = p
	}
	return out, nil
}

// rank leaves it to those who need a ranking, who work in parallel.
func (s *lexicalSpace) rank(context.Context, []*profile) error { return nil }

// vector sets the words of p, which is locked.
func (s *lexicalSpace) vector(p *profile) {
	if !p.known {
		p.words = s.index.Vector(p.text)
		p.known = true
	}
}

func (s *lexicalSpace) at(p *profile, i int) (near, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.vector(p)
	return p.hit(i, func(k int) {
		hits := s.index.Nearest(p.words, k)
		p.hits = p.hits[:0]
		for _, h := range hits {
			p.hits = append(p.hits, near{h.Doc, h.Score})
		}
		p.all = len(hits) < k || k >= maxHits
	})
}

func (s *lexicalSpace) cosine(p *profile, doc int) float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.vector(p)
	return lexical.Cosine(p.words, s.index.Doc(doc))
}

// A denseSpace compares the vectors of a model.
type denseSpace struct {
	embed   Embedder
	matrix  *vector.Matrix // of the pool
	docs    map[string]int // Key to the row
	ofDocs  []*profile     // by row; nil before it is asked for
	others  map[string]*profile
	workers int
}

func newDenseSpace(ctx context.Context, pool *Pool, embed Embedder, workers int) (*denseSpace, error) {
	m, err := embed.Vectors(ctx, pool.texts)
	if err != nil {
		return nil, err
	}
	return &denseSpace{
		embed: embed, matrix: m, docs: pool.keys, ofDocs: make([]*profile, pool.Len()),
		others: make(map[string]*profile), workers: workers,
	}, nil
}

func (s *denseSpace) open(ctx context.Context, texts []string) ([]*profile, error) {
	out := make([]*profile, len(texts))
	var ask []string
	asked := map[string]bool{}
	for i, text := range texts {
		if doc, ok := s.docs[text]; ok {
			if s.ofDocs[doc] == nil {
				s.ofDocs[doc] = &profile{text: text, row: s.matrix.Row(doc)}
			}
			out[i] = s.ofDocs[doc]
		} else if out[i] = s.others[text]; out[i] == nil && !asked[text] {
			asked[text] = true
			ask = append(ask, text)
		}
	}
	if len(ask) == 0 {
		return out, nil
	}
	m, err := s.embed.Vectors(ctx, ask)
	if err != nil {
		return nil, err
	}
	if len(s.others)+len(ask) > maxDense {
		clear(s.others) // those in use stay with who uses them
	}
	for i, text := range ask {
		s.others[text] = &profile{text: text, row: m.Row(i)}
	}
	for i, text := range texts {
		if out[i] == nil {
			out[i] = s.others[text]
		}
	}
	return out, nil
}

func (s *denseSpace) rank(ctx context.Context, profiles []*profile) error {
	var ask []*profile
	asked := map[*profile]bool{}
	for _, p := range profiles {
		if !p.known && !asked[p] {
			asked[p] = true
			ask = append(ask, p)
		}
	}
	if len(ask) == 0 {
		return nil
	}
	queries := vector.NewMatrix(len(ask), s.matrix.Dim())
	for i, p := range ask {
		copy(queries.Row(i), p.row)
	}
	found, err := s.matrix.Top(ctx, queries, firstHits, vector.Options{Workers: s.workers})
	if err != nil {
		return err
	}
	for i, p := range ask {
		p.set(found[i], firstHits)
	}
	return nil
}

// set takes the hits of a search for k.
func (p *profile) set(hits []vector.Hit, k int) {
	p.hits = make([]near, len(hits))
	for i, h := range hits {
		p.hits[i] = near{h.Row, float64(h.Score)}
	}
	p.all = len(hits) < k || k >= maxHits
	p.known = true
}

func (s *denseSpace) at(p *profile, i int) (near, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hit(i, func(k int) {
		query := vector.NewMatrix(1, len(p.row))
		copy(query.Row(0), p.row)
		found, err := s.matrix.Top(context.Background(), query, k, vector.Options{Workers: 1})
		if err != nil { // not after rank, which has checked both sides
			p.all = true
			return
		}
		p.set(found[0], k)
	})
}

func (s *denseSpace) cosine(p *profile, doc int) float64 {
	return float64(vector.Dot(p.row, s.matrix.Row(doc)))
}
