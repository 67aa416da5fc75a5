package preflight

// maxPackable is the largest cutoff for which packing is simulated.
const maxPackable = 1 << 20

// A packer counts the lengths of rows, to pack them at the end.
type packer struct {
	limit   int
	lengths []int // rows by tokens
	tokens  int
}

func newPacker(limit int) *packer {
	if limit <= 0 || limit > maxPackable {
		return nil
	}
	return &packer{limit: limit, lengths: make([]int, limit+1)}
}

func (p *packer) add(tokens int) {
	if tokens > 0 && tokens <= p.limit {
		p.lengths[tokens]++
		p.tokens += tokens
	}
}

// pack returns how many sequences hold all rows, the longest rows first, each
// into the fullest sequence that still has room (best fit decreasing), which is
// what the trainers do in batches; they may need a few more.
func (p *packer) pack() int {
	packs := 0
	room := make([]int, p.limit+1) // sequences by the room that is left
	for length := p.limit; length > 0; length-- {
		n := p.lengths[length]
		for r := length; r < len(room) && n > 0; r++ {
			// A sequence with room r becomes the fullest one that has room, so
			// it takes rows until it has none.
			for room[r] > 0 && n > 0 {
				k := min(r/length, n)
				room[r]--
				room[r-k*length]++
				n -= k
			}
		}
		for each := p.limit / length; n > 0; {
			k := min(each, n)
			packs++
			room[p.limit-k*length]++
			n -= k
		}
	}
	return packs
}
