package dedup

// page is how many bytes of an arena are taken at once.
const page = 1 << 20

// An arena holds many small pieces of bytes in few allocations. Pieces never
// move.
type arena struct {
	pages [][]byte
	at    []uint64 // of piece i: page, offset and length in 24, 24 and 16 bits
}

// maxPiece is the longest piece; what is longer is cut.
const maxPiece = 1<<16 - 1

// add appends a piece and returns its number.
func (a *arena) add(piece []byte) int {
	piece = piece[:min(len(piece), maxPiece)]
	n := len(a.pages)
	if n == 0 || len(a.pages[n-1])+len(piece) > page {
		a.pages = append(a.pages, make([]byte, 0, page))
		n++
	}
	last := a.pages[n-1]
	a.at = append(a.at, uint64(n-1)<<40|uint64(len(last))<<16|uint64(len(piece)))
	a.pages[n-1] = append(last, piece...)
	return len(a.at) - 1
}

func (a *arena) piece(i int) []byte {
	at := a.at[i]
	start := at >> 16 & (1<<24 - 1)
	return a.pages[at>>40][start : start+at&(1<<16-1)]
}

// crowd is how many sketches may stand under one key of a band. A key with more
// is that of a phrase which everybody uses; looking at all of them would take
// quadratic time.
const crowd = 64

// An Index finds what is equal to, or resembles, something that came earlier:
// the first one wins. It is for one goroutine; make one with [NewIndex].
//
// Two sketches are compared if one of 16 bands of 5 bins agrees, which happens
// with probability 1-(1-J^5)^16: 99.8 % at J = 0.8, 40 % at 0.5; then the
// similarity itself decides. So what is found is right, and of what is there
// about one in 500 is missed at the threshold of 0.8, fewer above it.
//
// It takes under 512 bytes for each thing that is taken in, if ids have up to
// 40.
type Index struct {
	threshold float64
	seen      map[Key]uint32
	ids       arena
	sketches  arena
	named     []uint32 // of sketch i: its piece of ids
	tables    [bands]table
	crowded   int
}

// NewIndex returns an empty index that counts two sketches as near duplicates
// if their similarity is at least threshold, in (0,1].
func NewIndex(threshold float64) *Index {
	return &Index{threshold: threshold, seen: map[Key]uint32{}}
}

// A Match is what came earlier.
type Match struct {
	ID      string
	Equal   bool    // the keys are equal
	Jaccard float64 // of the sketches; 1 if the keys are equal
}

// Add looks for something with the same key, then for the sketch that s
// resembles most, the first if there are several. If there is neither, key and
// s are taken in under id. An empty sketch resembles nothing: give it to look
// for equal keys alone.
func (x *Index) Add(key Key, s Sketch, id string) (Match, bool) {
	if n, ok := x.seen[key]; ok {
		return Match{string(x.ids.piece(int(n))), true, 1}, true
	}
	if n, jaccard, ok := x.near(s); ok {
		return Match{string(x.ids.piece(int(x.named[n]))), false, jaccard}, true
	}
	name := uint32(x.ids.add([]byte(id)))
	x.seen[key] = name
	if s.Empty() {
		return Match{}, false
	}
	n := x.sketches.add(s.pack())
	x.named = append(x.named, name)
	for b := range bands {
		if !x.tables[b].add(s.keys[b], uint32(n)) {
			x.crowded++
		}
	}
	return Match{}, false
}

// near returns the sketch that s resembles most, if any does.
func (x *Index) near(s Sketch) (n int, jaccard float64, found bool) {
	if s.Empty() {
		return 0, 0, false
	}
	best := -1
	for b := range bands {
		for n := range x.tables[b].with(s.keys[b]) {
			if int(n) == best {
				continue
			}
			if j := s.Jaccard(x.sketch(int(n))); j >= x.threshold && (best < 0 || j > jaccard || j == jaccard && int(n) < best) {
				best, jaccard = int(n), j
			}
		}
	}
	return best, jaccard, best >= 0
}

// Len returns how many things were taken in.
func (x *Index) Len() int { return len(x.seen) }

// Crowded counts the sketches that were not entered under some key of a band
// because 64 others stood there. They are still found by their other keys, if
// there are any; much more than a few tell that near duplicates were missed.
func (x *Index) Crowded() int { return x.crowded }

// pack returns the bytes of s without its keys: 4 for each shingle, or Bins
// and one more, which no whole set has.
func (s Sketch) pack() []byte {
	if s.set == nil {
		return append(append(make([]byte, 0, Bins+1), s.bins...), 0)
	}
	out := make([]byte, 0, 4*len(s.set))
	for _, f := range s.set {
		out = append(out, byte(f), byte(f>>8), byte(f>>16), byte(f>>24))
	}
	return out
}

// sketch returns sketch n without its keys.
func (x *Index) sketch(n int) Sketch {
	p := x.sketches.piece(n)
	if len(p)%4 != 0 {
		return Sketch{bins: p[:Bins]}
	}
	set := make([]uint32, len(p)/4)
	for i := range set {
		q := p[4*i : 4*i+4]
		set[i] = uint32(q[0]) | uint32(q[1])<<8 | uint32(q[2])<<16 | uint32(q[3])<<24
	}
	return Sketch{set: set}
}

// A table maps keys to numbers, several to a key, with open addressing: a slot
// holds the key and the number plus one, 0 if it is free.
type table struct {
	slots []uint64
	used  int
}

// slot returns where a key belongs, for any number of slots.
func (t *table) slot(key uint32) int {
	return int(uint64(key) * uint64(len(t.slots)) >> 32)
}

// with yields the numbers under key, in no order that means anything.
func (t *table) with(key uint32) func(yield func(uint32) bool) {
	return func(yield func(uint32) bool) {
		if len(t.slots) == 0 {
			return
		}
		for i := t.slot(key); t.slots[i] != 0; i = t.next(i) {
			if uint32(t.slots[i]>>32) == key && !yield(uint32(t.slots[i])-1) {
				return
			}
		}
	}
}

func (t *table) next(i int) int {
	if i++; i == len(t.slots) {
		return 0
	}
	return i
}

// add enters a number under key, unless crowd others stand there.
func (t *table) add(key, n uint32) bool {
	if 10*(t.used+1) > 8*len(t.slots) {
		old := t.slots
		t.slots = make([]uint64, max(64, len(old)+len(old)/4))
		for _, s := range old {
			if s != 0 {
				t.put(s)
			}
		}
	}
	others := 0
	for range t.with(key) {
		others++
	}
	if others >= crowd {
		return false
	}
	t.put(uint64(key)<<32 | uint64(n+1))
	t.used++
	return true
}

func (t *table) put(s uint64) {
	i := t.slot(uint32(s >> 32))
	for t.slots[i] != 0 {
		i = t.next(i)
	}
	t.slots[i] = s
}
