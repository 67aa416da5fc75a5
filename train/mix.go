package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/zeebo/xxh3"

	"assay/qaoa"
)

// A Scheme is a way of sharing rows out.
type Scheme string

const (
	// ByGroups is as the shares and counts say.
	ByGroups Scheme = ""
	// PublicMixed takes from each source in proportion to its size, rounded
	// down, and the remainder from the last one, as the paper's released
	// script does with its files: 979 of the sizes 122, 2429, 7, 28666 and
	// 5214 are 3, 65, 0, 770 and 141. The last one may have too few.
	PublicMixed Scheme = "public-mixed"
)

// PublicMixedTotal is how many rows the paper's script draws.
const PublicMixedTotal = 979

// Rest is the name of all sources, or all shapes, that no other term names.
const Rest = "*"

// A Mixture says how many records are drawn of which kind. The zero value takes
// all.
//
// A group of sources or shapes has a count, or a share of what counts leave of
// Total. Shares need not add up to anything. What no group holds is left out.
// Records are drawn by a hash of (Seed, ID), least first: to draw more only adds
// some, and records of other groups have no influence.
type Mixture struct {
	Scheme Scheme
	// Total is how many rows to make; 0 is as many as shares and counts allow,
	// and PublicMixedTotal under PublicMixed.
	Total int
	// By name of the source, or Rest.
	SourceShares map[string]float64
	SourceCounts map[string]int
	// By term, see [ShapeTerms], or Rest. No two terms may share a shape.
	ShapeShares map[string]float64
	ShapeCounts map[string]int
	// MaxRepeat is how often a record may be drawn, on average over its group,
	// to make up for too few; at least 1, and 0 is 1.
	MaxRepeat float64
	Seed      uint64
}

// Empty reports whether the mixture takes all records once.
func (m Mixture) Empty() bool {
	return m.Scheme == ByGroups && m.Total == 0 && len(m.SourceShares)+len(m.SourceCounts)+len(m.ShapeShares)+len(m.ShapeCounts) == 0
}

// Check returns an error that says what is wrong with the mixture, or nil.
func (m Mixture) Check() error {
	_, err := m.complete()
	return err
}

func (m Mixture) complete() (Mixture, error) {
	if m.MaxRepeat == 0 {
		m.MaxRepeat = 1
	}
	if m.Scheme == PublicMixed && m.Total == 0 {
		m.Total = PublicMixedTotal
	}
	grouped := len(m.SourceShares)+len(m.SourceCounts)+len(m.ShapeShares)+len(m.ShapeCounts) > 0
	switch {
	case m.Scheme != ByGroups && m.Scheme != PublicMixed:
		return m, fmt.Errorf("mixture %q: want %s, or shares and counts", m.Scheme, PublicMixed)
	case m.Scheme == PublicMixed && grouped:
		return m, fmt.Errorf("mixture %s: want no shares and counts beside it", PublicMixed)
	case m.Scheme == PublicMixed && m.MaxRepeat != 1:
		return m, fmt.Errorf("mixture %s: want no repetition", PublicMixed)
	case m.Total < 0:
		return m, fmt.Errorf("%d rows in all: want 0 (as many as can be) or more", m.Total)
	case m.MaxRepeat < 1 || m.MaxRepeat > 1000:
		return m, fmt.Errorf("up to %v repetitions: want 1 to 1000", m.MaxRepeat)
	}
	if err := checkMargin("source", m.SourceShares, m.SourceCounts); err != nil {
		return m, err
	}
	if err := checkMargin("shape", m.ShapeShares, m.ShapeCounts); err != nil {
		return m, err
	}
	return m, m.checkShapes()
}

func checkMargin(kind string, shares map[string]float64, counts map[string]int) error {
	for name, share := range shares {
		if !(share > 0 && share < 1e9) {
			return fmt.Errorf("share %v of the %s %q: want a number above 0", share, kind, name)
		}
		if _, ok := counts[name]; ok {
			return fmt.Errorf("the %s %q has a share and a count: want one of the two", kind, name)
		}
	}
	for name, n := range counts {
		if n < 0 {
			return fmt.Errorf("%d rows of the %s %q: want 0 or more", n, kind, name)
		}
	}
	return nil
}

// checkShapes returns an error if a term is none, or two terms overlap.
func (m Mixture) checkShapes() error {
	terms := names(m.ShapeShares, m.ShapeCounts)
	for _, t := range terms {
		if t != Rest {
			if err := checkTerm(t); err != nil {
				return err
			}
		}
	}
	for _, s := range shapes() {
		var has []string
		for _, t := range terms {
			if t != Rest && matchesTerm(t, s) {
				has = append(has, t)
			}
		}
		if len(has) > 1 {
			return fmt.Errorf("%s is part of both %q and %q: want shapes that do not overlap", s, has[0], has[1])
		}
	}
	return nil
}

// names returns the names of a margin: sorted, Rest last.
func names(shares map[string]float64, counts map[string]int) []string {
	var out []string
	for name := range shares {
		out = append(out, name)
	}
	for name := range counts {
		out = append(out, name)
	}
	slices.SortFunc(out, func(a, b string) int {
		if (a == Rest) != (b == Rest) {
			if a == Rest {
				return 1
			}
			return -1
		}
		return cmp.Compare(a, b)
	})
	return out
}

// An Opener opens the records from the start, each time the same ones.
type Opener func(ctx context.Context) iter.Seq2[qaoa.Record, error]

// A Choice is what [Choose] chose.
type Choice struct {
	Selected Selected
	Plan     Plan
	in       Opener
	entries  []entry
	onDrop   func(Decision)
}

// An entry is what is kept of one record between the passes: 16 bytes.
type entry struct {
	id    uint64 // hash of the ID, to notice inputs that changed
	cell  uint16 // of the plan, 0 is not taken
	draws uint16 // how many rows it is to make
}

// ErrChanged is returned when the second pass over the input met other records
// than the first.
var ErrChanged = errors.New("the input changed while it was read for the second time: run it again when nobody writes to it")

// Choose reads the input once, applies the selection and plans the mixture.
// [Choice.Records] reads it again and yields what was chosen. A record that the
// mixture does not draw is told to sel.OnDecision in that second pass.
func Choose(ctx context.Context, in Opener, sel Selection, mix Mixture) (*Choice, error) {
	mix, err := mix.complete()
	if err != nil {
		return nil, err
	}
	s, err := newSelector(sel)
	if err != nil {
		return nil, err
	}
	c := &Choice{in: in, onDrop: sel.OnDecision}
	var cells cellIndex
	s.passed = func(id string) { c.entries = append(c.entries, entry{id: xxh3.HashString(id)}) }
	for rec, err := range s.records(ctx, in(ctx)) {
		if err != nil {
			return nil, err
		}
		c.entries[len(c.entries)-1].cell = cells.of(rec)
	}
	c.Selected = s.count
	if c.Plan, err = mix.plan(cells.counts()); err != nil {
		return nil, err
	}
	c.draw(mix, &cells)
	return c, nil
}

// draw says for each record how many rows it makes.
func (c *Choice) draw(mix Mixture, cells *cellIndex) {
	type ticket struct {
		hash uint64
		at   int
	}
	groups := make([][]ticket, len(c.Plan.Groups))
	groupOf := make([]int, len(cells.list))
	for i, cell := range cells.list {
		groupOf[i] = c.Plan.groupOf(cell)
	}
	for i, e := range c.entries {
		if e.cell == 0 {
			continue
		}
		if g := groupOf[e.cell-1]; g >= 0 {
			groups[g] = append(groups[g], ticket{keyed(mix.Seed, e.id), i})
		}
	}
	for g, tickets := range groups {
		slices.SortFunc(tickets, func(a, b ticket) int {
			return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.at, b.at))
		})
		rows := c.Plan.Groups[g].Rows
		for i, t := range tickets {
			c.entries[t.at].draws = uint16(rows / len(tickets))
			if i < rows%len(tickets) {
				c.entries[t.at].draws++
			}
		}
	}
}

// keyed returns the hash by which a record is drawn.
func keyed(seed, id uint64) uint64 {
	var buf [8]byte
	for i := range buf {
		buf[i] = byte(id >> (8 * i))
	}
	return xxh3.HashSeed(buf[:], seed)
}

// Records reads the input again and yields the records that were chosen, in its
// order; one that is drawn several times with ~repeat2 and so on behind its ID.
func (c *Choice) Records(ctx context.Context) iter.Seq2[qaoa.Record, error] {
	return func(yield func(qaoa.Record, error) bool) {
		at := 0
		for rec, err := range c.in(ctx) {
			if err != nil {
				yield(qaoa.Record{}, err)
				return
			}
			if at >= len(c.entries) || c.entries[at].id != xxh3.HashString(rec.ID) {
				yield(qaoa.Record{}, fmt.Errorf("record %d (%.80s): %w", at, rec.ID, ErrChanged))
				return
			}
			e := c.entries[at]
			at++
			if e.cell != 0 && e.draws == 0 && c.onDrop != nil {
				c.onDrop(Decision{Reject: Reject{rec.ID, NotInMixture, "", "not drawn", rec.Source}, Dropped: true})
			}
			for n := range int(e.draws) {
				out := rec
				if n > 0 {
					out.ID = fmt.Sprintf("%s~repeat%d", rec.ID, n+1)
				}
				if !yield(out, nil) {
					return
				}
			}
		}
		if at < len(c.entries) {
			yield(qaoa.Record{}, fmt.Errorf("%d of %d records: %w", at, len(c.entries), ErrChanged))
		}
	}
}

// Select yields the records of recs that a selection takes, as they are read.
// The counts are complete when the loop over the records has ended.
func Select(ctx context.Context, recs iter.Seq2[qaoa.Record, error], sel Selection) (taken iter.Seq2[qaoa.Record, error], counts *Selected, err error) {
	s, err := newSelector(sel)
	if err != nil {
		return nil, nil, err
	}
	return s.records(ctx, recs), &s.count, nil
}
