package toolset

import (
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
	// HardSimilarities and EasySimilarities are the cosines of the negatives,
	// in step with Hard and Easy, with what they were compared with: the
	// nearest gold tool or query. They are in [0,1] with words, in [-1,1] with
	// the vectors of a model. A list without gold compares with nothing.
	HardSimilarities []float64 `json:"hard_similarities,omitempty"`
	EasySimilarities []float64 `json:"easy_similarities,omitempty"`
	// Twins are the distractors that are near-duplicates of a gold tool: see
	// Options.NearDuplicate.
	Twins []Twin `json:"twins,omitempty"`
}

// A Twin is a distractor that is nearly the same text as a gold tool, so that
// to call it may not even be wrong.
type Twin struct {
	ID         string  `json:"id"` // of the record
	Tool       string  `json:"tool"`
	Gold       string  `json:"gold"`
	Similarity float64 `json:"similarity"`
}

// Build yields each record with its candidate list instead of its tools, in
// the order of recs. The records themselves are not changed.
//
// GT keeps the tools that the gold calls name, in the order of the record.
//
// Hybrid takes the gold tools, then up to K-Easy tools with hard negatives,
// then up to K with tools drawn from the pool. Hard negatives come from the
// 1,024 nearest of each gold tool (or query), with words those that have nothing
// in common with it left out. They are taken in turn, so that one gold tool
// cannot supply all of them; under Compat Reference the rankings are one, sorted
// by similarity, as in the released script. A tool of the pool with the
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
// The vectors of the pool are made once, and neighbours are looked up once for
// each distinct text, many at a time.
//
// An option out of range, an error of recs or of Embed is yielded last.
func Build(ctx context.Context, recs iter.Seq2[qaoa.Record, error], pool *Pool, opt Options) iter.Seq2[Listed, error] {
	return func(yield func(Listed, error) bool) {
		if err := opt.check(pool); err != nil {
			yield(Listed{}, err)
			return
		}
		b := &lister{opt: opt, pool: pool}
		if err := b.prepare(ctx); err != nil {
			yield(Listed{}, err)
			return
		}
		for l, err := range ordered.Map(ctx, b.jobs(ctx, recs), opt.workers(), b.list) {
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
	near space // nil for GT
}

// prepare makes what lists need of the pool.
func (b *lister) prepare(ctx context.Context) (err error) {
	switch {
	case b.opt.Setting != Hybrid:
	case b.opt.Embed == nil:
		b.near = newLexicalSpace(b.pool.lexical())
	default:
		b.near, err = newDenseSpace(ctx, b.pool, b.opt.Embed, b.opt.workers())
	}
	return err
}

// A job is a record that a list is to be made for.
type job struct {
	rec     qaoa.Record
	gold    []int    // indexes of the gold tools
	missing []string // names of gold calls that no tool has
	golds   []*profile
	seeds   []*profile // that negatives are compared with
}

// chunk is how many records are prepared together: enough for a search of dense
// vectors to be fast, and little memory.
const chunk = 256

// jobs yields the records with what is known of their texts.
func (b *lister) jobs(ctx context.Context, recs iter.Seq2[qaoa.Record, error]) iter.Seq2[job, error] {
	return func(yield func(job, error) bool) {
		var jobs []job
		flush := func() bool {
			if err := b.look(ctx, jobs); err != nil {
				yield(job{}, err)
				return false
			}
			for _, j := range jobs {
				if !yield(j, nil) {
					return false
				}
			}
			clear(jobs)
			jobs = jobs[:0]
			return true
		}
		size := chunk
		if b.opt.Embed == nil { // there is nothing to do together
			size = 1
		}
		for rec, err := range recs {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				if flush() {
					yield(job{}, err)
				}
				return
			}
			if jobs = append(jobs, job{rec: rec}); len(jobs) == size && !flush() {
				return
			}
		}
		flush()
	}
}

// look finds the gold tools of jobs and looks up their texts.
func (b *lister) look(ctx context.Context, jobs []job) error {
	var texts []string
	for i := range jobs {
		j := &jobs[i]
		j.gold, j.missing = b.goldOf(j.rec)
		if b.near == nil {
			continue
		}
		for _, g := range j.gold {
			texts = append(texts, Key(j.rec.Tools[g]))
		}
		if b.byQuery(j) {
			for _, t := range j.rec.Turns {
				texts = append(texts, t.Query)
			}
		}
	}
	if len(texts) == 0 {
		return nil
	}
	profiles, err := b.near.open(ctx, texts)
	if err != nil {
		return err
	}
	var seeds []*profile
	for i := range jobs {
		j := &jobs[i]
		take := func(n int) (out []*profile) {
			out, profiles = profiles[:n], profiles[n:]
			return out
		}
		j.golds = take(len(j.gold))
		if j.seeds = j.golds; b.byQuery(j) {
			j.seeds = take(len(j.rec.Turns))
		}
		seeds = append(seeds, j.seeds...)
	}
	return b.near.rank(ctx, seeds)
}

// byQuery reports whether negatives of a job are compared with its queries.
func (b *lister) byQuery(j *job) bool {
	return b.opt.Negatives == ToQuery && len(j.gold) > 0
}

func (b *lister) list(j job) Listed {
	rec := j.rec
	info := Info{ID: rec.ID, Missing: j.missing}
	info.NoGold = len(j.gold)+len(j.missing) == 0
	if b.opt.Setting == GT {
		rec.Tools = b.goldOnly(rec, j.gold, &info)
		return Listed{rec, info}
	}
	d := b.newDraft(j)
	hard := b.opt.K - b.opt.Easy
	switch {
	case info.NoGold:
		for _, t := range rec.Tools[:min(len(rec.Tools), max(hard, 0))] {
			d.add(t, easyNegative, 0)
		}
	case b.opt.Compat == Reference:
		d.addPooled(hard)
	default:
		d.addHard(hard)
	}
	d.addEasy(b.opt.K)
	info.Widened = len(j.gold) > b.opt.K
	info.Short = len(d.picks) < b.opt.K
	d.similarities(&info)
	if b.opt.Compat == Shuffled {
		d.rng.Shuffle(len(d.picks), func(i, j int) { d.picks[i], d.picks[j] = d.picks[j], d.picks[i] })
	}
	rec.Tools = d.finish(&info)
	return Listed{rec, info}
}

// goldOf returns the indexes of the tools of rec that its calls name, in order
// of their first call, and the names that no tool has.
func (b *lister) goldOf(rec qaoa.Record) (tools []int, missing []string) {
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
	job
	picks []pick
	names map[string]bool // normalised
	keys  map[string]bool
	rng   *rand.Rand
}

func (b *lister) newDraft(j job) *draft {
	h := xxh3.HashString128Seed(j.rec.ID, b.opt.Seed)
	d := &draft{
		lister: b, job: j,
		names: make(map[string]bool, b.opt.K),
		keys:  make(map[string]bool, b.opt.K),
		rng:   rand.New(rand.NewPCG(h.Hi, h.Lo)),
	}
	for _, i := range j.gold {
		d.add(j.rec.Tools[i], goldTool, 1)
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
		for s, seed := range d.seeds {
			if len(d.picks) >= n {
				return
			}
			for {
				hit, ok := d.near.at(seed, next[s])
				if !ok {
					break
				}
				next[s]++
				if d.allowed(hit.at) {
					d.add(d.pool.tools[hit.at], hardNegative, d.nearest(d.seeds, hit.at))
					open++
					break
				}
			}
		}
	}
}

// addPooled adds neighbours of all seeds, the most similar first and of equals
// those of the earlier seed, until the list has n tools or nothing similar is
// left. So one seed may supply all of them.
func (d *draft) addPooled(n int) {
	next := make([]int, len(d.seeds))
	for len(d.picks) < n {
		from := -1
		var best near
		for s, seed := range d.seeds {
			if hit, ok := d.near.at(seed, next[s]); ok && (from < 0 || hit.similarity > best.similarity) {
				from, best = s, hit
			}
		}
		if from < 0 {
			return
		}
		next[from]++
		if d.allowed(best.at) {
			d.add(d.pool.tools[best.at], hardNegative, best.similarity)
		}
	}
}

// nearest returns the similarity of tool i of the pool to the nearest of some
// texts, 0 if there are none.
func (d *draft) nearest(texts []*profile, i int) float64 {
	_, best := d.nearestOf(texts, i)
	return best
}

// nearestOf returns which of some texts is the nearest to tool i of the pool,
// and their similarity.
func (d *draft) nearestOf(texts []*profile, i int) (at int, best float64) {
	for n, p := range texts {
		if c := d.near.cosine(p, i); n == 0 || c > best {
			at, best = n, c
		}
	}
	return at, best
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

// finish returns the list and fills in where everything is on it.
func (d *draft) finish(info *Info) []qaoa.Tool {
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
// have been, and all of them with the gold tools.
func (d *draft) similarities(info *Info) {
	if len(d.seeds) == 0 {
		return
	}
	for _, p := range d.picks {
		if p.role == goldTool {
			continue
		}
		doc := d.pool.keys[Key(p.tool)] // all negatives are of the pool if there are seeds
		if p.role == hardNegative {
			info.HardSimilarities = append(info.HardSimilarities, p.similarity)
		} else {
			info.EasySimilarities = append(info.EasySimilarities, d.nearest(d.seeds, doc))
		}
		if g, s := d.nearestOf(d.golds, doc); s > d.opt.NearDuplicate {
			info.Twins = append(info.Twins, Twin{info.ID, p.tool.Name, d.rec.Tools[d.gold[g]].Name, s})
		}
	}
}
