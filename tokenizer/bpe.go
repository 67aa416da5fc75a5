package tokenizer

import (
	"hash/maphash"
	"math"
)

// longWord is the length in bytes from which a word is merged with a heap: the
// plain way takes time in the square of the length.
const longWord = 96

// An encoder is the memory of one Encode at a time. Encoders are reused, so
// that the words they have seen stay known.
type encoder struct {
	slots []cacheSlot
	ids   []uint32
	ranks []uint32
	made  []uint32 // by the merge of the pair that ranks speaks of
	heap  pairHeap
	one   [1]uint32
}

// The cache holds words of several tokens, each at one place only: a word that
// comes to an occupied place takes it. That bounds the memory whatever the text.
const (
	cacheSlots = 1 << 14 // of 88 bytes
	cacheWord  = 39
	cacheIDs   = 9
)

type cacheSlot struct {
	hash uint64
	ids  [cacheIDs]uint32
	n    uint8 // ids; 0 for empty
	size uint8 // bytes of word
	word [cacheWord]byte
}

func newEncoder() *encoder { return &encoder{slots: make([]cacheSlot, cacheSlots)} }

// word returns the ids of a word. They are valid until the next call.
func (e *encoder) word(t *Tokenizer, word string) []uint32 {
	if len(word) == 1 {
		e.one[0] = t.byteIDs[word[0]]
		return e.one[:]
	}
	h := maphash.String(t.words.seed, word)
	if id, ok := t.find(word, h); ok && (t.ignoreMerges || e.isWhole(t, id)) {
		e.one[0] = id
		return e.one[:]
	}
	slot := &e.slots[h%cacheSlots]
	if slot.n > 0 && slot.hash == h && string(slot.word[:slot.size]) == word {
		return slot.ids[:slot.n]
	}
	ids := e.merge(t, word)
	if len(word) <= cacheWord && len(ids) <= cacheIDs {
		slot.hash, slot.n, slot.size = h, uint8(len(ids)), uint8(len(word))
		copy(slot.word[:], word)
		copy(slot.ids[:], ids)
	}
	return ids
}

// isWhole reports whether merging the bytes of a token gives that token.
func (e *encoder) isWhole(t *Tokenizer, id uint32) bool {
	state := &t.words.whole[id]
	if known := state.Load(); known != wholeUnknown {
		return known == wholeYes
	}
	ids := e.merge(t, t.tokens[id].bytes)
	if len(ids) == 1 && ids[0] == id {
		state.Store(wholeYes)
		return true
	}
	state.Store(wholeNo)
	return false
}

// noMerge is the rank of a pair that does not merge.
const noMerge = math.MaxUint32

// merge returns the tokens of word: its bytes, of which the pair of the lowest
// rank is merged, the leftmost of equals, until no pair merges.
func (e *encoder) merge(t *Tokenizer, word string) []uint32 {
	if len(word) >= longWord {
		return e.mergeLong(t, e.bytes(t, word))
	}
	return e.mergeShort(t, e.bytes(t, word))
}

// bytes returns the tokens of the bytes of word.
func (e *encoder) bytes(t *Tokenizer, word string) []uint32 {
	e.ids = e.ids[:0]
	for i := range len(word) {
		e.ids = append(e.ids, t.byteIDs[word[i]])
	}
	return e.ids
}

// mergeShort is merge by looking at all pairs each time.
func (e *encoder) mergeShort(t *Tokenizer, ids []uint32) []uint32 {
	ranks, made := e.ranks[:0], e.made[:0]
	for i := 0; i+1 < len(ids); i++ {
		m := t.mergeOf(ids[i], ids[i+1])
		ranks, made = append(ranks, m.rank), append(made, m.id)
	}
	e.ranks, e.made = ranks, made
	for {
		best, at := uint32(noMerge), -1
		for i, r := range ranks {
			if r < best {
				best, at = r, i
			}
		}
		if at < 0 {
			return ids
		}
		ids[at] = made[at]
		ids = append(ids[:at+1], ids[at+2:]...)
		ranks = append(ranks[:at], ranks[at+1:]...)
		made = append(made[:at], made[at+1:]...)
		if at > 0 {
			m := t.mergeOf(ids[at-1], ids[at])
			ranks[at-1], made[at-1] = m.rank, m.id
		}
		if at < len(ranks) {
			m := t.mergeOf(ids[at], ids[at+1])
			ranks[at], made[at] = m.rank, m.id
		}
	}
}

func (t *Tokenizer) mergeOf(a, b uint32) merge {
	if m, ok := t.merges.get(a, b); ok {
		return m
	}
	return merge{rank: noMerge}
}

// A pair is two neighbours that merge, at the place of the left one.
type pair struct {
	rank, at    uint32
	left, right uint32 // ids when the pair was found; it is stale if they changed
	id          uint32
}

// before reports whether p is merged before q.
func (p pair) before(q pair) bool { return p.rank < q.rank || p.rank == q.rank && p.at < q.at }

// A pairHeap has the pair that is merged first at its top. Package container/heap
// would put every pair into memory of its own.
type pairHeap []pair

func (h *pairHeap) push(p pair) {
	s := append(*h, p)
	*h = s
	i := len(s) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !p.before(s[up]) {
			break
		}
		s[i] = s[up]
		i = up
	}
	s[i] = p
}

func (h *pairHeap) pop() pair {
	s := *h
	top, p := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	i := 0
	for {
		down := 2*i + 1
		if down >= len(s) {
			break
		}
		if down+1 < len(s) && s[down+1].before(s[down]) {
			down++
		}
		if !s[down].before(p) {
			break
		}
		s[i] = s[down]
		i = down
	}
	if len(s) > 0 {
		s[i] = p
	}
	return top
}

// gone marks the place of a token that was merged into the one on its left.
const gone = math.MaxUint32

// mergeLong is merge for long words, in n log n. ids become a linked list in
// place.
func (e *encoder) mergeLong(t *Tokenizer, ids []uint32) []uint32 {
	n := len(ids)
	next, prev := e.links(n)
	for i := range ids {
		next[i], prev[i] = uint32(i+1), uint32(i-1) // the first has no prev: it wraps, and is beyond n
	}
	e.heap = e.heap[:0]
	offer := func(i, j uint32) {
		if int(i) < n && int(j) < n {
			if m := t.mergeOf(ids[i], ids[j]); m.rank != noMerge {
				e.heap.push(pair{rank: m.rank, at: i, left: ids[i], right: ids[j], id: m.id})
			}
		}
	}
	for i := range n - 1 {
		offer(uint32(i), uint32(i+1))
	}
	for len(e.heap) > 0 {
		p := e.heap.pop()
		i := p.at
		j := next[i]
		if int(j) >= n || ids[i] != p.left || ids[j] != p.right {
			continue
		}
		ids[i], ids[j] = p.id, gone
		next[i] = next[j]
		if int(next[i]) < n {
			prev[next[i]] = i
		}
		next[j] = uint32(n)
		offer(prev[i], i)
		offer(i, next[i])
	}
	out := ids[:0]
	for _, id := range ids {
		if id != gone {
			out = append(out, id)
		}
	}
	return out
}

// links returns two lists of n places.
func (e *encoder) links(n int) (next, prev []uint32) {
	if cap(e.ranks) < n {
		e.ranks = make([]uint32, n)
	}
	if cap(e.made) < n {
		e.made = make([]uint32, n)
	}
	return e.ranks[:n], e.made[:n]
}

// maxScratch is how many places an encoder that is kept may have: one huge word
// must not hold its memory for good.
const maxScratch = 1 << 16

// trim drops memory that is larger than an encoder may keep.
func (e *encoder) trim() {
	if cap(e.ids) > maxScratch {
		e.ids, e.ranks, e.made = nil, nil, nil
	}
	if cap(e.heap) > maxScratch {
		e.heap = nil
	}
}
