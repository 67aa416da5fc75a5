package toolset

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"assay/qaoa"
)

// namedIDs is how many records a report names for each thing that is amiss.
const namedIDs = 10

// A Report says what the lists of a run look like.
type Report struct {
	Setting Setting  `json:"setting"`
	K       int      `json:"k,omitempty"`
	Easy    int      `json:"easy,omitempty"`
	Seed    uint64   `json:"seed"`
	Lists   int      `json:"lists"`
	Lengths []Length `json:"lengths"` // ascending
	// Gold counts the distinct names that each record calls, Covered those of
	// which the list has a tool. Coverage is their ratio, 1 without gold.
	Gold       int       `json:"gold"`
	Covered    int       `json:"covered"`
	Coverage   float64   `json:"coverage"`
	Uncovered  []Mention `json:"uncovered,omitempty"` // the first ten records
	NoGold     int       `json:"no_gold"`
	Widened    int       `json:"widened"`
	WidenedIDs []string  `json:"widened_ids,omitempty"` // the first ten
	Short      int       `json:"short"`
	ShortIDs   []string  `json:"short_ids,omitempty"` // the first ten
	// Collisions counts tools whose normalised name an earlier tool of their
	// list has, Collided the lists with any.
	Collisions int `json:"collisions"`
	Collided   int `json:"collided"`
	// Positions counts the gold tools at each 0-based position.
	Positions  []int       `json:"positions"`
	Uniformity *Uniformity `json:"uniformity,omitempty"` // of shuffled Hybrid lists
	// HardNegatives and EasyNegatives say how similar the negatives are to what they were
	// compared with. Lists without a gold tool compare with nothing.
	HardNegatives Similarities `json:"hard_negatives"`
	EasyNegatives Similarities `json:"easy_negatives"`
	// NearDuplicates counts the distractors of which a gold tool of their list
	// is more similar than NearThreshold, NearLists the lists with any.
	NearThreshold  float64 `json:"near_duplicate_threshold"`
	NearDuplicates int     `json:"near_duplicates"`
	NearLists      int     `json:"near_duplicate_lists"`
	Twins          []Twin  `json:"near_duplicate_examples,omitempty"` // the first ten
	// Vectors tells where similarities come from: "lexical" or a model.
	Vectors string `json:"vectors,omitempty"`
}

// Similarities describe the cosines of distractors: of each with the nearest
// gold tool or query of its list. N is how many there are; without any, all
// others are 0. Quantiles are to the nearest hundredth above.
type Similarities struct {
	N    int     `json:"n"`
	Mean float64 `json:"mean"`
	Min  float64 `json:"min"`
	P10  float64 `json:"p10"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	Max  float64 `json:"max"`
}

// cosines counts cosines by hundredths, which takes the same memory for any
// number of lists.
type cosines struct {
	n        int
	sum      float64
	min, max float64
	counts   [201]int // -1 to 1
}

func (c *cosines) add(values []float64) {
	for _, v := range values {
		if c.n == 0 {
			c.min, c.max = v, v
		}
		c.n++
		c.sum += v
		c.min, c.max = min(c.min, v), max(c.max, v)
		c.counts[min(max(int(math.Ceil(100*v-1e-9))+100, 0), len(c.counts)-1)]++
	}
}

// quantile returns the least hundredth that a share q of the cosines does not
// exceed, but never one outside of what there is.
func (c *cosines) quantile(q float64) float64 {
	need := int(math.Ceil(q * float64(c.n)))
	for i, n := range c.counts {
		if need -= n; need <= 0 {
			return min(max(float64(i-100)/100, c.min), c.max)
		}
	}
	return c.max
}

func (c *cosines) summary() Similarities {
	if c.n == 0 {
		return Similarities{}
	}
	return Similarities{
		N: c.n, Mean: c.sum / float64(c.n), Min: c.min, Max: c.max,
		P10: c.quantile(.1), P50: c.quantile(.5), P90: c.quantile(.9),
	}
}

// A Length counts the lists of one length.
type Length struct {
	Tools int `json:"tools"`
	Lists int `json:"lists"`
}

// A Mention is a record and the names it is about.
type Mention struct {
	ID    string   `json:"id"`
	Names []string `json:"names"`
}

// Uniformity is Pearson's chi-square test of the position of the first gold
// tool of each list:
//
//	X² = Σ (observed - n/L)² / (n/L)
//
// over the L positions of the n lists of length L, summed over the lengths,
// with Σ(L-1) degrees of freedom. Only the first gold tool of a list counts,
// for two on one list are not independent. Lists of a length that fewer than
// 5·L lists have are left out, since the approximation does not hold there.
type Uniformity struct {
	Lists     int     `json:"lists"`
	ChiSquare float64 `json:"chi_square"`
	DF        int     `json:"df"`
	// P is the probability of such an X² or a larger one if positions are
	// uniform. A small one, say under 0.001, tells of a list that gives the
	// gold away.
	P float64 `json:"p"`
}

// A Tally collects lists for a [Report].
type Tally struct {
	opt        Options
	report     Report
	lengths    map[int]int
	first      map[int][]int // by length of list: positions of the first gold tool
	hard, easy cosines
}

// NewTally returns an empty tally of lists made with opt.
func NewTally(opt Options) *Tally {
	r := Report{Setting: opt.Setting, Seed: opt.Seed}
	if opt.Setting == Hybrid {
		r.K, r.Easy = opt.K, opt.Easy
		r.NearThreshold, r.Vectors = opt.NearDuplicate, "lexical"
		if opt.Embed != nil {
			r.Vectors = opt.Embed.Name()
		}
	}
	return &Tally{opt: opt, report: r, lengths: map[int]int{}, first: map[int][]int{}}
}

// Add counts one list. Coverage is checked against the list itself and not
// taken from its Info.
func (t *Tally) Add(l Listed) {
	r, n := &t.report, len(l.Record.Tools)
	r.Lists++
	t.lengths[n]++
	t.cover(l.Record)
	if l.Info.NoGold {
		r.NoGold++
	}
	if l.Info.Widened {
		r.Widened++
		r.WidenedIDs = named(r.WidenedIDs, l.Info.ID)
	}
	if l.Info.Short {
		r.Short++
		r.ShortIDs = named(r.ShortIDs, l.Info.ID)
	}
	if l.Info.Collisions > 0 {
		r.Collided++
		r.Collisions += l.Info.Collisions
	}
	for _, p := range l.Info.Gold {
		for len(r.Positions) <= p {
			r.Positions = append(r.Positions, 0)
		}
		r.Positions[p]++
	}
	if len(l.Info.Gold) > 0 {
		if t.first[n] == nil {
			t.first[n] = make([]int, n)
		}
		t.first[n][l.Info.Gold[0]]++
	}
	t.hard.add(l.Info.HardSimilarities)
	t.easy.add(l.Info.EasySimilarities)
	if len(l.Info.Twins) > 0 {
		r.NearLists++
		r.NearDuplicates += len(l.Info.Twins)
		r.Twins = append(r.Twins, l.Info.Twins[:min(len(l.Info.Twins), namedIDs-len(r.Twins))]...)
	}
}

// cover counts the names that rec calls and those that its tools have.
func (t *Tally) cover(rec qaoa.Record) {
	var uncovered []string
	seen := map[string]bool{}
	for _, turn := range rec.Turns {
		for _, c := range turn.Calls() {
			if c.Raw != "" || seen[c.Name] {
				continue
			}
			seen[c.Name] = true
			t.report.Gold++
			want := normalised(t.opt.Normalize, c.Name)
			if slices.ContainsFunc(rec.Tools, func(tool qaoa.Tool) bool {
				return tool.Name == c.Name || normalised(t.opt.Normalize, tool.Name) == want
			}) {
				t.report.Covered++
				continue
			}
			uncovered = append(uncovered, c.Name)
		}
	}
	if len(uncovered) > 0 && len(t.report.Uncovered) < namedIDs {
		t.report.Uncovered = append(t.report.Uncovered, Mention{rec.ID, uncovered})
	}
}

func named(ids []string, id string) []string {
	if len(ids) < namedIDs {
		ids = append(ids, id)
	}
	return ids
}

// Report returns what was counted so far.
func (t *Tally) Report() Report {
	r := t.report
	r.Lengths = []Length{}
	for _, n := range slices.Sorted(maps.Keys(t.lengths)) {
		r.Lengths = append(r.Lengths, Length{n, t.lengths[n]})
	}
	r.Positions = append([]int{}, r.Positions...)
	r.Coverage = 1
	if r.Gold > 0 {
		r.Coverage = float64(r.Covered) / float64(r.Gold)
	}
	r.HardNegatives, r.EasyNegatives = t.hard.summary(), t.easy.summary()
	if t.opt.Setting == Hybrid && t.opt.Compat == Shuffled {
		r.Uniformity = uniformity(t.first)
	}
	return r
}

// uniformity tests counts of positions by length of list; nil if there are
// too few lists for a test.
func uniformity(first map[int][]int) *Uniformity {
	var u Uniformity
	for _, length := range slices.Sorted(maps.Keys(first)) {
		lists := 0
		for _, n := range first[length] {
			lists += n
		}
		if length < 2 || lists < 5*length {
			continue
		}
		want := float64(lists) / float64(length)
		for _, n := range first[length] {
			diff := float64(n) - want
			u.ChiSquare += diff * diff / want
		}
		u.Lists += lists
		u.DF += length - 1
	}
	if u.DF == 0 {
		return nil
	}
	u.P = distuv.ChiSquared{K: float64(u.DF)}.Survival(u.ChiSquare)
	return &u
}

// WriteText writes the report for people.
func (r Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "lists         %d (%s", r.Lists, r.Setting)
	if r.Setting == Hybrid {
		fmt.Fprintf(&b, "-%d, %d easy, seed %d", r.K, r.Easy, r.Seed)
	}
	b.WriteString(")\nlength        ")
	for i, l := range r.Lengths {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d tools: %d", l.Tools, l.Lists)
	}
	fmt.Fprintf(&b, "\ngold coverage %s (%d of %d names)%s\n", r.coverageText(), r.Covered, r.Gold, r.coverageFault())
	for _, m := range r.Uncovered {
		fmt.Fprintf(&b, "  not covered: %s calls %s\n", m.ID, strings.Join(m.Names, ", "))
	}
	counts := []struct {
		label string
		n     int
		ids   []string
	}{
		{"without gold ", r.NoGold, nil},
		{"widened      ", r.Widened, r.WidenedIDs},
		{"short        ", r.Short, r.ShortIDs},
	}
	for _, c := range counts {
		fmt.Fprintf(&b, "%s %d", c.label, c.n)
		if len(c.ids) > 0 {
			fmt.Fprintf(&b, " (%s%s)", strings.Join(c.ids, ", "), etc(c.n > len(c.ids)))
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "equal names   %d tools on %d lists\n", r.Collisions, r.Collided)
	if r.Setting == Hybrid {
		r.writeSimilarities(&b)
	}
	r.writePositions(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// writeSimilarities writes how hard the negatives are.
func (r Report) writeSimilarities(b *strings.Builder) {
	for _, s := range []struct {
		label string
		of    Similarities
	}{{"hard", r.HardNegatives}, {"easy", r.EasyNegatives}} {
		if s.of.N == 0 {
			fmt.Fprintf(b, "%s negatives none\n", s.label)
			continue
		}
		fmt.Fprintf(b, "%s negatives %d, cosine %.3f on average, %.2f to %.2f for the middle 80 %% (%s)\n",
			s.label, s.of.N, s.of.Mean, s.of.P10, s.of.P90, r.Vectors)
	}
	fmt.Fprintf(b, "near twins    %d distractors on %d lists have a cosine above %g with a gold tool\n", r.NearDuplicates, r.NearLists, r.NearThreshold)
	for _, t := range r.Twins[:min(len(r.Twins), 3)] {
		fmt.Fprintf(b, "  %s: %s, and gold is %s (%.3f)\n", t.ID, t.Tool, t.Gold, t.Similarity)
	}
}

// coverageText returns the coverage in percent. One below 100 % is not rounded
// up to it.
func (r Report) coverageText() string {
	s := fmt.Sprintf("%.2f %%", 100*r.Coverage)
	if r.Covered < r.Gold && s == "100.00 %" {
		return "> 99.99 %"
	}
	return s
}

// coverageFault says what to do about a coverage below 100 %.
func (r Report) coverageFault() string {
	if r.Covered == r.Gold {
		return ""
	}
	return ", NOT complete: no list can hold a tool that its record does not describe; filter these records out, or no model can answer them"
}

func etc(more bool) string {
	if more {
		return ", …"
	}
	return ""
}

func (r Report) writePositions(b *strings.Builder) {
	if len(r.Positions) > 0 {
		b.WriteString("gold position ")
		for i, n := range r.Positions {
			if i > 0 {
				b.WriteByte(' ')
			}
			fmt.Fprintf(b, "%d", n)
		}
		b.WriteByte('\n')
	}
	switch {
	case r.Uniformity != nil:
		u := r.Uniformity
		verdict := "uniform"
		if u.P < 0.001 {
			verdict = "NOT uniform"
		}
		fmt.Fprintf(b, "uniformity    chi-square %.2f, %d degrees of freedom, p = %.3f over %d lists: %s\n", u.ChiSquare, u.DF, u.P, u.Lists, verdict)
	case r.Setting == Hybrid:
		b.WriteString("uniformity    not tested (not shuffled, or fewer than 5 lists a position)\n")
	}
}
