package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/stats"
)

// A Bold is a rule that says which values of a table are bold and underlined.
type Bold string

// The rules. Values compare within one setting, column by column, as they are
// printed.
//
// With BoldPaired the best value is bold where the paired test of the best
// against the second best model is significant: McNemar's exact test where
// both have one run without repeats, each score is 0 or 1 and each record has
// one instance; else the permutation test [stats.SignFlips] with whole records
// as units and seeds as blocks, as in [Compare]. Its p-value is corrected by
// Holm for all the columns and settings of the table that could be tested, and
// compared with 1 - level. So a bold value claims that the model would be ahead
// of the second one on other records of this kind too, for these very runs. It
// claims nothing about the third: that one is further behind, but the
// difference from it may be less sure.
//
// Of several that print alike in the second place the one with the highest mean
// is tested, the first named where the means are equal. A value that two models
// share, one without items behind it, and one whose items are not those of the
// second best is never bold. The second best is underlined in any case: it is a
// place and not a claim.
//
// With BoldBest the best value is bold and the second underlined, as most
// papers have it, and models that share the first place are all bold.
const (
	BoldNone   Bold = "none" // as "" does
	BoldPaired Bold = "paired"
	BoldBest   Bold = "best"
)

// Bolds are the rules.
func Bolds() []Bold { return []Bold{BoldPaired, BoldBest, BoldNone} }

// A Bolding is what a rule makes of a table: a contest for each setting and
// column in which two models differ.
type Bolding struct {
	Rule  Bold    `json:"rule"`
	Level float64 `json:"level"`
	// Family is how many tests the p-values are corrected for.
	Family   int       `json:"family"`
	Contests []Contest `json:"contests"`
}

// A Contest is the first two places of a column in a setting.
type Contest struct {
	Setting string `json:"setting"`
	Column
	// Best and Second are the models in these places: several share one where
	// their values are printed alike.
	Best   []string `json:"best"`
	Second []string `json:"second"`
	// Test is that of the one against the other, and Holm its p-value
	// corrected for the family; nil where there was none, and Why says why.
	Test *Test    `json:"test"`
	Holm *float64 `json:"p_holm"`
	Bold bool     `json:"bold"`
	Why  string   `json:"why,omitempty"` // why the best is not bold
}

// Reasons why the best is not bold.
const (
	whyTie       = "two models share the first place"
	whyChance    = "the test is not significant"
	whyDraws     = "no random exchange reached the difference, but they are too few for so many comparisons: raise --resamples"
	whyStale     = "the items of a model do not fit its scores: score it again"
	whyUntested  = "the paired test has no p-value"
	whyUnpaired  = "the two do not compare item by item"
	whyItemsGone = "a model has no items: score it again"
)

// newBolding applies the rule of opt to groups of one preset; nil if none is
// asked for.
func newBolding(gs []group, cols []Column, opt Options) *Bolding {
	if opt.Bold == "" || opt.Bold == BoldNone {
		return nil
	}
	b := &Bolding{Rule: opt.Bold, Level: opt.level(), Contests: []Contest{}}
	for _, block := range blocksOf(gs) {
		grids := map[[2]int]pairedGroups{}
		for _, col := range cols {
			values := make([]*float64, len(block))
			for i, g := range block {
				if xs := overRuns(cellsOf(g), col); len(xs) > 0 {
					values[i] = known(stats.Mean(xs))
				}
			}
			first, second := places(values)
			if len(second) == 0 {
				continue
			}
			c := Contest{Setting: block[0].setting, Column: col, Best: modelsAt(block, first), Second: modelsAt(block, second)}
			switch {
			case opt.Bold == BoldBest:
				c.Bold = true
			case len(first) > 1:
				c.Why = whyTie
			default:
				// Of several in the second place, the nearest by value.
				other := slices.MaxFunc(second, func(i, j int) int { return cmp.Compare(*values[i], *values[j]) })
				pair := [2]int{first[0], other}
				if _, ok := grids[pair]; !ok {
					grids[pair] = pairGroups(block[pair[0]], block[pair[1]], opt)
				}
				c.contest(grids[pair], *values[pair[0]]-*values[pair[1]], opt)
			}
			b.Contests = append(b.Contests, c)
		}
	}
	b.decide()
	return b
}

// pairedGroups are two models item by item, or why they are not.
type pairedGroups struct {
	grid *pairGrid
	why  string
}

func pairGroups(a, b group, opt Options) pairedGroups {
	for _, r := range slices.Concat(a.runs, b.runs) {
		if len(r.Items) == 0 {
			return pairedGroups{why: whyItemsGone}
		}
	}
	grid, err := newGrid(a.runs, b.runs, PairOptions{Options: opt})
	if err != nil {
		return pairedGroups{why: whyUnpaired}
	}
	return pairedGroups{grid: grid}
}

// contest tests the first place against the second; difference is that of the
// printed scores.
func (c *Contest) contest(pair pairedGroups, difference float64, opt Options) {
	if c.Why = pair.why; c.Why != "" {
		return
	}
	t, d, ok := pair.grid.test(c.Column, opt)
	switch {
	case !ok || math.Abs(d-difference) > 1e-6:
		c.Why = whyStale
	case t.P == nil:
		c.Why = whyUntested
	default:
		c.Test = &t
	}
}

// decide corrects the p-values and sets what is bold.
func (b *Bolding) decide() {
	if b.Rule != BoldPaired {
		return
	}
	ps := make([]float64, len(b.Contests))
	for i, c := range b.Contests {
		ps[i] = math.NaN()
		if c.Test != nil {
			ps[i] = *c.Test.P
			b.Family++
		}
	}
	for i, p := range stats.Holm(ps) {
		c := &b.Contests[i]
		if c.Holm = known(p); c.Holm == nil {
			continue
		}
		// 1 - 0.95 is above 0.05 by a rounding, and 0.05 is to be at it.
		switch c.Bold = p <= 1-b.Level+1e-12; {
		case c.Bold:
		case c.Test.Draws > 0 && *c.Test.P < 1.5/float64(c.Test.Draws+1): // the least that there is
			c.Why = whyDraws
		default:
			c.Why = whyChance
		}
	}
}

// places returns who has the largest value and who the second, as they are
// printed; none where all look alike.
func places(values []*float64) (first, second []int) {
	var order []int
	for i, v := range values {
		if v != nil {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(*values[j], *values[i]) })
	for _, i := range order {
		switch p := percent(values[i]); {
		case len(first) == 0 || p == percent(values[first[0]]):
			first = append(first, i)
		case len(second) == 0 || p == percent(values[second[0]]):
			second = append(second, i)
		}
	}
	slices.Sort(first)
	slices.Sort(second)
	return first, second
}

func modelsAt(block []group, at []int) []string {
	names := make([]string, len(at))
	for i, k := range at {
		names[i] = block[k].model
	}
	return names
}

// mark returns how a value stands out. Models that share the first place leave
// no second.
func (b *Bolding) mark(setting, model string, col Column) Mark {
	if b == nil {
		return Plain
	}
	for _, c := range b.Contests {
		if c.Setting != setting || c.Column != col {
			continue
		}
		switch {
		case c.Bold && slices.Contains(c.Best, model):
			return Best
		case len(c.Best) == 1 && slices.Contains(c.Second, model):
			return Second
		}
	}
	return Plain
}

// legend says what the marks of a table of those columns mean, "" if there
// are none.
func (b *Bolding) legend() string {
	switch {
	case b == nil || len(b.Contests) == 0:
		return ""
	case b.Rule == BoldBest:
		return "Bold is the best value of a setting and underlined the second, whether or not the difference is more than chance."
	case b.Family == 0:
		return "Underlined is the second best value of a setting. The best is not bold: no paired test of the two was possible."
	}
	return fmt.Sprintf("Bold is the best value of a setting where the paired test against the second best, which is underlined, is significant at %s (%s; Holm over %d comparison%s: all metrics, cells and settings).",
		strings.TrimSpace(percentOf(1-b.Level)), strings.Join(b.methods(), " or "), b.Family, plural(b.Family))
}

// percentOf writes a fraction as "5 %".
func percentOf(f float64) string { return fmt.Sprintf("%g %%", math.Round(1e6*f)/1e4) }

// methods words the tests that were used.
func (b *Bolding) methods() []string {
	var out []string
	for _, c := range b.Contests {
		if c.Test == nil {
			continue
		}
		word := "permutation of signs by record"
		if strings.HasPrefix(c.Test.Method, "mcnemar") {
			word = "exact McNemar"
		}
		out = appendNew(out, word)
	}
	slices.Sort(out)
	return out
}

// notes says which columns have no bold value, and why.
func (b *Bolding) notes() []string {
	if b == nil || b.Rule != BoldPaired {
		return nil
	}
	var notes []string
	for _, why := range []string{whyChance, whyDraws, whyTie, whyItemsGone, whyUnpaired, whyStale, whyUntested} {
		settings := []string{}
		columns := map[string][]string{}
		for _, c := range b.Contests {
			if c.Why == why {
				settings = appendNew(settings, c.Setting)
				columns[c.Setting] = append(columns[c.Setting], c.String())
			}
		}
		for _, s := range settings {
			notes = append(notes, fmt.Sprintf("%s, %s: the best is not bold: %s", s, joinColumns(columns[s]), why))
		}
	}
	return notes
}

// of returns the contests of some columns, with the family they were corrected
// for.
func (b *Bolding) of(cells []string) *Bolding {
	if b == nil {
		return nil
	}
	out := *b
	out.Contests = slices.DeleteFunc(slices.Clone(b.Contests), func(c Contest) bool { return !slices.Contains(cells, c.Cell) })
	return &out
}
