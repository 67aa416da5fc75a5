package dedup

import (
	"math"
	"slices"

	"github.com/zeebo/xxh3"
)

const (
	// Shingle is how many words in a row make a shingle.
	Shingle = 5
	// Bins is how many minima a sketch has.
	Bins = 128
	// Kept is up to how many shingles a sketch holds the whole set.
	Kept = 40

	bands   = 16 // of the index
	perBand = 5  // bins; the other bins serve the estimate only
)

// A Sketch stands for the set of shingles of a text. Sketches do not change
// and can be compared by several goroutines at once. The zero value is that of
// a text without words, which resembles nothing.
type Sketch struct {
	set  []uint32 // ascending and whole, or nil
	bins []uint8  // if set is nil: a byte of the minimum of each bin
	keys [bands]uint32
}

// A Sketcher makes sketches and reuses its memory. It is for one goroutine; the
// zero value is ready for use.
type Sketcher struct {
	words, grams []uint64
	set          []uint32
	mins         [Bins]uint32
}

// Sketch returns the sketch of the texts read as one, one after the other.
func (k *Sketcher) Sketch(texts ...string) Sketch {
	k.words = k.words[:0]
	for _, t := range texts {
		k.words = AppendWords(k.words, t)
	}
	if len(k.words) == 0 {
		return Sketch{}
	}
	k.grams = AppendGrams(k.grams[:0], k.words, min(Shingle, len(k.words)))
	k.set = k.set[:0]
	for _, g := range k.grams {
		k.set = append(k.set, uint32(g))
	}
	small := len(k.set) <= 4*Kept
	if small {
		slices.Sort(k.set)
		k.set = slices.Compact(k.set)
		small = len(k.set) <= Kept
	}
	minima(&k.mins, k.set)
	var s Sketch
	for b := range s.keys {
		s.keys[b] = bandKey(k.mins[b*perBand : (b+1)*perBand])
	}
	if small {
		s.set = slices.Clone(k.set)
		return s
	}
	s.bins = make([]uint8, Bins)
	for b, m := range k.mins {
		s.bins[b] = uint8(m)
	}
	return s
}

// none marks a bin without a minimum.
const none = math.MaxUint32

// rounds is how many times shingles are thrown at the bins at random, before
// each bin that is still empty looks through all of them.
const rounds = 16

// minima sets mins to the least hash of set in each bin. The bin is the first 7
// bits of a hash, so one look at each shingle serves all bins; those that stay
// empty are filled by further hashes of the same shingles, so that equal sets
// have equal minima and each bin of two sets agrees with probability J.
func minima(mins *[Bins]uint32, set []uint32) {
	for b := range mins {
		mins[b] = none
	}
	for _, f := range set {
		b := f >> 25
		mins[b] = min(mins[b], f)
	}
	var filled [Bins]bool
	for round := uint64(1); round <= rounds; round++ {
		empty := false
		for b, m := range mins {
			filled[b] = m != none
			empty = empty || m == none
		}
		if !empty {
			return
		}
		for _, f := range set {
			h := uint32(mix(uint64(f) + round<<32))
			if b := h >> 25; !filled[b] {
				mins[b] = min(mins[b], h)
			}
		}
	}
	for b, m := range mins {
		if m != none {
			continue
		}
		for _, f := range set {
			m = min(m, uint32(mix(uint64(f)+uint64(rounds+1+b)<<32)))
		}
		mins[b] = m
	}
}

func bandKey(mins []uint32) uint32 {
	var buf [4 * perBand]byte
	for i, m := range mins {
		buf[4*i], buf[4*i+1], buf[4*i+2], buf[4*i+3] = byte(m), byte(m>>8), byte(m>>16), byte(m>>24)
	}
	return uint32(xxh3.Hash(buf[:]))
}

// Empty reports whether the text had no words.
func (s Sketch) Empty() bool { return s.set == nil && s.bins == nil }

// Jaccard returns the similarity of two texts in [0,1]: exactly, up to
// collisions of 32-bit hashes, if both have at most Kept shingles, else an
// estimate from the bins. It is 0 if either is empty.
func (s Sketch) Jaccard(t Sketch) float64 {
	if s.Empty() || t.Empty() {
		return 0
	}
	if s.set != nil && t.set != nil {
		both := 0
		for i, j := 0, 0; i < len(s.set) && j < len(t.set); {
			switch a, b := s.set[i], t.set[j]; {
			case a < b:
				i++
			case a > b:
				j++
			default:
				both, i, j = both+1, i+1, j+1
			}
		}
		return float64(both) / float64(len(s.set)+len(t.set)-both)
	}
	equal := 0
	x, y := s.binned(), t.binned()
	for b := range Bins {
		if x[b] == y[b] {
			equal++
		}
	}
	// Of 256 bytes one is equal by chance.
	const chance = 1.0 / 256
	return max(0, (float64(equal)/Bins-chance)/(1-chance))
}

// binned returns the bins of s.
func (s Sketch) binned() []uint8 {
	if s.bins != nil {
		return s.bins
	}
	var mins [Bins]uint32
	minima(&mins, s.set)
	bins := make([]uint8, Bins)
	for b, m := range mins {
		bins[b] = uint8(m)
	}
	return bins
}
