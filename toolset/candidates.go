package toolset

import (
	"cmp"
	"context"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/zeebo/xxh3"

	"assay/internal/ordered"
	"assay/qaoa"
)

// A Listed is a record whose tools are its candidate list.
type Listed struct {
	Record qaoa.Record
	Info   Info
}

// Info says how a list came about.
type Info struct {
	ID string `json:"id"`
	// Gold holds the positions of the gold tools on the list, in order of
	// their first call; Hard and Easy those of the negatives, as picked.
	Gold []int `json:"gold"`
	Hard []int `json:"hard,omitempty"`
	Easy []int `json:"easy,omitempty"`
	// Missing are the names of gold calls that no tool of the record has. A
	// list cannot hold what nobody describes.
	Missing []string `json:"missing,omitempty"`
	// Collisions counts the tools whose normalised name an earlier tool of
	// the list has.
	Collisions int  `json:"collisions,omitempty"`
	Widened    bool `json:"widened,omitempty"` // more gold tools than K
	Short      bool `json:"short,omitempty"`   // the pool had too few tools
	NoGold     bool `json:"no_gold,omitempty"` // the record has no gold call
	// HardSimilarity and EasySimilarity are the mean similarities of the
	// negatives to what they were compared with (the nearest gold tool or
	// query), in [0,1]; 0 if there are none.
	HardSimilarity float64 `json:"hard_similarity,omitempty"`
	EasySimilarity float64 `json:"easy_similarity,omitempty"`
}

// Build yields each record with its candidate list instead of its tools, in
// the order of recs. The records themselves are not changed.
//
// GT keeps the tools that the gold calls name, in the order of the record.
//
// Hybrid takes the gold tools, then up to K-Easy tools with hard negatives,
// then up to K with tools drawn from the pool. Hard negatives come from the
// 1,024 nearest of each gold tool (or query), those that have nothing in common
// with it left out. A tool of the pool with the
// [Key] of a gold tool is that gold tool, and is never a distractor; nor is
// one whose normalised name is on the list already, unless SameName is set.
// All gold tools are on the list even if they are more than K. The list is
// shuffled, unless Compat says otherwise. Randomness comes from (Seed, ID).
//
// A call names the first tool of its record with exactly its name, else the
// first with its normalised name.
//
// A record without any gold call keeps its own tools under GT. Under Hybrid
// its list holds up to K-Easy of its own tools, in their order, and random
// ones up to K. Neighbours of the query would be harder, but one of them might
// well answer it, and then the gold "no call" would be wrong.
//
// An option out of range or an error of recs is yielded last.
func Build(ctx context.Context, recs iter.Seq2[qaoa.Record, error], pool *Pool, opt Options) iter.Seq2[Listed, error] {
	return func(yield func(Listed, error) bool) {
		if err := opt.check(pool); err != nil {
			yield(Listed{}, err)
			return
		}
		b := &lister{opt: opt, pool: pool}
		if opt.Setting == Hybrid {
			b.near = newNeighbours(pool.lexical())
		}
		for l, err := range ordered.Map(ctx, recs, opt.workers(), b.list) {
			if !yield(l, err) {
				return
			}
		}
	}
}

// lister makes lists. It is safe for concurrent use.
type lister struct {
	opt  Options
	pool *Pool
	near *neighbours
}

func (b *lister) list(rec qaoa.Record) Listed {
	info := Info{ID: rec.ID}
	gold, missing := b.gold(rec)
	info.Missing = missing
	info.NoGold = len(gold)+len(missing) == 0
	if b.opt.Setting == GT {
		rec.Tools = b.goldOnly(rec, gold, &info)
		return Listed{rec, info}
	}
	d := b.newDraft(rec, gold)
	hard := b.opt.K - b.opt.Easy
	if info.NoGold {
		for _, t := range rec.Tools[:min(len(rec.Tools), max(hard, 0))] {
			d.add(t, easyNegative, 0)
		}
	} else {
		d.addHard(hard)
	}
	d.addEasy(b.opt.K)
	info.Widened = len(gold) > b.opt.K
	info.Short = len(d.picks) < b.opt.K
	if b.opt.Compat == Shuffled {
		d.rng.Shuffle(len(d.picks), func(i, j int) { d.picks[i], d.picks[j] = d.picks[j], d.picks[i] })
	} else {
		d.inReferenceOrder()
	}
	rec.Tools = d.finish(&info)
	return Listed{rec, info}
}

// gold returns the indexes of the tools of rec that its calls name, in order
// of their first call, and the names that no tool has.
func (b *lister) gold(rec qaoa.Record) (tools []int, missing []string) {
	seen := map[string]bool{}
	for _, turn := range rec.Turns {
		for _, c := range turn.Calls() {
			if c.Raw != "" || seen[c.Name] {
				continue
			}
			seen[c.Name] = true
			i := slices.IndexFunc(rec.Tools, func(t qaoa.Tool) bool { return t.Name == c.Name })
			if i < 0 {
				want := normalised(b.opt.Normalize, c.Name)
				i = slices.IndexFunc(rec.Tools, func(t qaoa.Tool) bool { return normalised(b.opt.Normalize, t.Name) == want })
			}
			switch {
			case i < 0:
				missing = append(missing, c.Name)
			case !slices.Contains(tools, i):
				tools = append(tools, i)
			}
		}
	}
	return tools, missing
}

// goldOnly returns the GT list.
func (b *lister) goldOnly(rec qaoa.Record, gold []int, info *Info) []qaoa.Tool {
	if info.NoGold {
		info.Collisions = b.collisions(rec.Tools)
		return rec.Tools
	}
	order := slices.Sorted(slices.Values(gold))
	list := make([]qaoa.Tool, len(order))
	for i, t := range order {
		list[i] = rec.Tools[t]
	}
	for _, t := range gold {
		info.Gold = append(info.Gold, slices.Index(order, t))
	}
	info.Collisions = b.collisions(list)
	return list
}

func (b *lister) collisions(list []qaoa.Tool) int {
	seen := make(map[string]bool, len(list))
	n := 0
	for _, t := range list {
		name := normalised(b.opt.Normalize, t.Name)
		if seen[name] {
			n++
		}
		seen[name] = true
	}
	return n
}

// A role is why a tool is on a list.
type role uint8

const (
	goldTool role = iota
	hardNegative
	easyNegative
)

// A pick is a tool on a list in the making.
type pick struct {
	tool       qaoa.Tool
	role       role
	order      int     // within its role
	similarity float64 // to the nearest seed
}

// A draft is a list in the making.
type draft struct {
	*lister
	seeds []string // texts that negatives are compared with
	picks []pick
	names map[string]bool // normalised
	keys  map[string]bool
	rng   *rand.Rand
}

func (b *lister) newDraft(rec qaoa.Record, gold []int) *draft {
	h := xxh3.HashString128Seed(rec.ID, b.opt.Seed)
	d := &draft{
		lister: b,
		names:  make(map[string]bool, b.opt.K),
		keys:   make(map[string]bool, b.opt.K),
		rng:    rand.New(rand.NewPCG(h.Hi, h.Lo)),
	}
	for _, i := range gold {
		t := rec.Tools[i]
		d.add(t, goldTool, 1)
		if b.opt.Negatives == ToTool {
			d.seeds = append(d.seeds, Key(t))
		}
	}
	if b.opt.Negatives == ToQuery && len(gold) > 0 {
		for _, t := range rec.Turns {
			d.seeds = append(d.seeds, t.Query)
		}
	}
	return d
}

func (d *draft) add(t qaoa.Tool, r role, similarity float64) {
	d.names[normalised(d.opt.Normalize, t.Name)] = true
	d.keys[Key(t)] = true
	d.picks = append(d.picks, pick{t, r, len(d.picks), similarity})
}

// allowed reports whether tool i of the pool may be a distractor.
func (d *draft) allowed(i int) bool {
	return (d.opt.SameName || !d.names[d.pool.names[i]]) && !d.keys[d.pool.texts[i]]
}

// addHard adds neighbours of the seeds in turn until the list has n tools or
// nothing similar is left.
func (d *draft) addHard(n int) {
	next := make([]int, len(d.seeds)) // where to go on in each ranking
	for open := len(d.seeds); open > 0 && len(d.picks) < n; {
		open = 0
		for s, text := range d.seeds {
			if len(d.picks) >= n {
				return
			}
			for {
				hit, ok := d.near.at(text, next[s])
				if !ok {
					break
				}
				next[s]++
				if d.allowed(hit.Doc) {
					d.add(d.pool.tools[hit.Doc], hardNegative, d.nearest(hit.Doc))
					open++
					break
				}
			}
		}
	}
}

// nearest returns the similarity of tool i of the pool to the nearest seed.
func (d *draft) nearest(i int) float64 {
	best := 0.0
	for _, s := range d.seeds {
		best = max(best, d.near.cosine(s, i))
	}
	return best
}

// addEasy adds tools drawn at random from the pool until the list has n tools
// or the pool has no more.
func (d *draft) addEasy(n int) {
	take := func(i int) {
		if d.allowed(i) {
			d.add(d.pool.tools[i], easyNegative, 0)
		}
	}
	// Draws that hit what is on the list already are repeated. That is fast
	// as long as the pool is large; the other way is always right.
	size := d.pool.Len()
	for tries := 0; len(d.picks) < n && size > 4*n && tries < 16*n; tries++ {
		take(d.rng.IntN(size))
	}
	if len(d.picks) >= n {
		return
	}
	for _, i := range d.rng.Perm(size) {
		if len(d.picks) >= n {
			return
		}
		take(i)
	}
}

// inReferenceOrder sorts hard negatives by descending similarity; gold tools
// stand before them and easy negatives after them already.
func (d *draft) inReferenceOrder() {
	slices.SortStableFunc(d.picks, func(a, b pick) int {
		if c := cmp.Compare(a.role, b.role); c != 0 || a.role != hardNegative {
			return c
		}
		return cmp.Compare(b.similarity, a.similarity)
	})
}

// finish returns the list and fills in what info says about it.
func (d *draft) finish(info *Info) []qaoa.Tool {
	d.similarities(info)
	list := make([]qaoa.Tool, len(d.picks))
	positions := [3][]int{}
	byOrder := make([]int, len(d.picks))
	for pos, p := range d.picks {
		list[pos] = p.tool
		byOrder[p.order] = pos
	}
	for _, pos := range byOrder {
		r := d.picks[pos].role
		positions[r] = append(positions[r], pos)
	}
	info.Gold, info.Hard, info.Easy = positions[goldTool], positions[hardNegative], positions[easyNegative]
	info.Collisions = d.collisions(list)
	return list
}

// similarities compares the easy negatives with the seeds, as the hard ones
// have been, and sets the means.
func (d *draft) similarities(info *Info) {
	var sum [3]float64
	var n [3]int
	if len(d.seeds) == 0 {
		return
	}
	for _, p := range d.picks {
		if p.role == easyNegative {
			p.similarity = d.nearest(d.pool.keys[Key(p.tool)])
		}
		sum[p.role] += p.similarity
		n[p.role]++
	}
	if n[hardNegative] > 0 {
		info.HardSimilarity = sum[hardNegative] / float64(n[hardNegative])
	}
	if n[easyNegative] > 0 {
		info.EasySimilarity = sum[easyNegative] / float64(n[easyNegative])
	}
}
