package vector

import (
	"cmp"
	"math"
	"slices"
)

// A Hit is a row that a search found.
type Hit struct {
	Row   int
	Score float32 // the inner product, as [Dot] defines it; finite
}

// order is the order of hits: by score, the largest first, then by row.
func order(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Row, b.Row))
}

// A key is a row and its product in float32, such that a better one is larger.
type key uint64

func keyOf(product float32, row int) key {
	bits := math.Float32bits(product)
	if bits>>31 == 0 {
		bits |= 1 << 31
	} else {
		bits = ^bits
	}
	return key(bits)<<32 | key(^uint32(row))
}

func (k key) row() int { return int(^uint32(k)) }

func (k key) product() float32 {
	bits := uint32(k >> 32)
	if bits>>31 == 0 {
		return math.Float32frombits(^bits)
	}
	return math.Float32frombits(bits &^ (1 << 31))
}

// spare is how many rows beyond k a selection holds at most before it computes
// their scores: enough that it rarely happens before the end.
const spare = 64

// A selection holds the rows that may be among the k best of those offered.
//
// Products are off by up to slack. The k largest products seen, the smallest
// of them p, prove that the score of the k-th best row is at least p-slack, so
// a row whose product is under p-2·slack cannot be among the best. The others
// are kept beside the k in near.
type selection struct {
	k     int
	slack float64
	floor float32           // products under it are out
	heap  []key             // the k largest, the smallest first
	near  []key             // others of at least floor, and some that were
	score func(row int) Hit // the exact one
}

// newSelection returns a selection of the k ≥ 1 best; heap has room for k keys.
func newSelection(k int, slack float64, heap []key, score func(row int) Hit) selection {
	return selection{k: k, slack: slack, floor: float32(math.Inf(-1)), heap: heap[:0:k], score: score}
}

// widen tells that the products of rows offered from now on, and before, are
// off by up to slack.
func (s *selection) widen(slack float64) {
	s.slack = slack
	s.lift()
}

// lift sets the floor that the heap proves.
func (s *selection) lift() {
	if len(s.heap) < s.k {
		return
	}
	// One step down makes up for the rounding of the floor itself.
	s.floor = math.Nextafter32(float32(float64(s.heap[0].product())-2*s.slack), float32(math.Inf(-1)))
}

// offer takes a row whose product is at least the floor.
func (s *selection) offer(product float32, row int) {
	k := keyOf(product, row)
	switch {
	case len(s.heap) < s.k:
		s.heap = append(s.heap, k)
		if len(s.heap) == s.k {
			slices.Sort(s.heap) // sorted is a heap
			s.lift()
		}
		return
	case k > s.heap[0]:
		k = s.replace(k)
		s.lift()
	}
	if k.product() < s.floor {
		return
	}
	s.near = append(s.near, k)
	if len(s.near) >= s.k+spare {
		s.prune()
	}
}

// replace puts k into the heap for the smallest, which it returns.
func (s *selection) replace(k key) key {
	h := s.heap
	out, i := h[0], 0
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1] < h[child] {
			child++
		}
		if k <= h[child] {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = k
	return out
}

// prune makes room in near: it drops what has come to lie under the floor, and
// if that is not half of them, all that exact scores rule out. So memory is
// bounded even if every row is the same.
func (s *selection) prune() {
	s.near = slices.DeleteFunc(s.near, func(k key) bool { return k.product() < s.floor })
	if len(s.near) <= (s.k+spare)/2 {
		return
	}
	best := s.settle()
	s.heap = s.heap[:0]
	for _, c := range best {
		s.heap = append(s.heap, c.key)
	}
	slices.Sort(s.heap)
	s.lift()
}

// scored is a candidate with its exact score.
type scored struct {
	Hit
	key key
}

// settle empties near and returns the k best rows offered so far, best first.
func (s *selection) settle() []scored {
	all := make([]scored, 0, len(s.heap)+len(s.near))
	for _, keys := range [][]key{s.heap, s.near} {
		for _, k := range keys {
			if len(s.heap) < s.k || k.product() >= s.floor {
				all = append(all, scored{s.score(k.row()), k})
			}
		}
	}
	s.near = s.near[:0]
	slices.SortFunc(all, func(a, b scored) int { return order(a.Hit, b.Hit) })
	return all[:min(s.k, len(all))]
}

// hits returns the k best rows that were offered, best first.
func (s *selection) hits() []Hit {
	best := s.settle()
	out := make([]Hit, len(best))
	for i, c := range best {
		out[i] = c.Hit
	}
	return out
}

// join offers all that o holds. Both must have the same slack.
func (s *selection) join(o *selection) {
	for _, keys := range [][]key{o.heap, o.near} {
		for _, k := range keys {
			if p := k.product(); p >= s.floor {
				s.offer(p, k.row())
			}
		}
	}
}
