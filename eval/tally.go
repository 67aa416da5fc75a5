package eval

import (
	"cmp"
	"maps"
	"slices"

	"assay/match"
	"assay/qaoa"
)

// A tally collects the instances of one preset.
type tally struct {
	opt    match.Options
	sets   map[string]*[4]cellTally // by data set
	noGold NoGold
}

// cellNames are the cells of a [cellTally] array, in order.
var cellNames = [4]string{CellSH, CellMH, CellST, CellMT}

// A cellTally counts instances by score. Few scores differ, since they are
// fractions with small denominators; counting instead of adding makes the mean
// independent of the order of the instances.
type cellTally struct {
	scored  map[match.Score]int
	missing map[match.Score]int // by what a right prediction would have scored
}

// turnCell returns the cell of a turn with n gold calls.
func (t *tally) turnCell(n int, surplus bool) string {
	switch {
	case surplus:
		return CellSurplus
	case n == 0 && t.opt.NoGold != match.NoGoldInCell:
		return CellNoGold
	case n <= 1:
		return CellSH
	}
	return CellMH
}

// conversationCell returns the cell of a conversation with n gold calls, ""
// if it is in none.
func (t *tally) conversationCell(n int, multiTurn bool) string {
	switch {
	case n == 0 && t.opt.NoGold != match.NoGoldInCell:
		return ""
	case multiTurn:
		return CellMT
	}
	return CellST
}

func (t *tally) countNoGold(pred []qaoa.Call, missing bool) {
	t.noGold.N++
	switch {
	case missing:
	case len(pred) == 0:
		t.noGold.Abstained++
	case slices.ContainsFunc(pred, func(c qaoa.Call) bool { return !unparsable(c) }):
		t.noGold.Called++
	default:
		t.noGold.Malformed++
	}
}

func (t *tally) add(it *Item, best match.Score) {
	i := slices.Index(cellNames[:], it.Cell)
	if i < 0 {
		return
	}
	cells := t.sets[it.Dataset]
	if cells == nil {
		cells = new([4]cellTally)
		t.sets[it.Dataset] = cells
	}
	c := &cells[i]
	if it.Missing {
		c.missing = counted(c.missing, best)
	} else {
		c.scored = counted(c.scored, it.Score)
	}
}

func counted(m map[match.Score]int, s match.Score) map[match.Score]int {
	if m == nil {
		m = map[match.Score]int{}
	}
	m[s]++
	return m
}

// scores returns means and bounds.
func (t *tally) scores(bounds bool) Scores {
	out := Scores{Preset: t.opt.Name, Datasets: map[string]Cells{}, NoGold: t.noGold}
	names := slices.Sorted(maps.Keys(t.sets))
	var all [4]cellTally
	for _, name := range names {
		set := t.sets[name]
		out.Datasets[name] = cells(set, low)
		for i := range all {
			all[i].merge(set[i])
		}
	}
	out.Cells = cells(&all, low)
	if bounds {
		out.Bounds = &Bounds{Low: out.Cells, High: cells(&all, high)}
	}
	for i := range cellNames {
		var list []Cell
		for _, name := range names {
			if c := out.Datasets[name]; cellOf(&c, i).N > 0 {
				list = append(list, *cellOf(&c, i))
			}
		}
		*cellOf(&out.MeanOfDatasets, i) = meanOfCells(list)
	}
	return out
}

func (c *cellTally) merge(d cellTally) {
	for s, n := range d.scored {
		if c.scored == nil {
			c.scored = map[match.Score]int{}
		}
		c.scored[s] += n
	}
	for s, n := range d.missing {
		if c.missing == nil {
			c.missing = map[match.Score]int{}
		}
		c.missing[s] += n
	}
}

// cellOf returns the cell of c at an index of cellNames.
func cellOf(c *Cells, i int) *Cell {
	return [4]*Cell{&c.SH, &c.MH, &c.ST, &c.MT}[i]
}

// low counts missing predictions as wrong, high as right.
func low(c *cellTally) Cell  { return c.mean(func(match.Score) match.Score { return match.Score{} }) }
func high(c *cellTally) Cell { return c.mean(func(best match.Score) match.Score { return best }) }

func cells(set *[4]cellTally, mean func(*cellTally) Cell) Cells {
	var out Cells
	for i := range set {
		*cellOf(&out, i) = mean(&set[i])
	}
	return out
}

// mean returns the plain mean over the instances of c, where missing ones
// score what missing says.
func (c *cellTally) mean(missing func(best match.Score) match.Score) Cell {
	total := maps.Clone(c.scored)
	for best, n := range c.missing {
		if total == nil {
			total = map[match.Score]int{}
		}
		total[missing(best)] += n
	}
	var sum match.Score
	n := 0
	for _, s := range slices.SortedFunc(maps.Keys(total), compareScores) {
		k := total[s]
		n += k
		w := float64(k)
		sum.SP += w * s.SP
		sum.FP += w * s.FP
		sum.SPA += w * s.SPA
		sum.FPA += w * s.FPA
		sum.FPAArg += w * s.FPAArg
	}
	return cell(sum, n)
}

// meanOfCells returns the plain mean of cells; N is how many they are.
func meanOfCells(list []Cell) Cell {
	var sum match.Score
	for _, c := range list {
		sum.SP += *c.SP
		sum.FP += *c.FP
		sum.SPA += *c.SPA
		sum.FPA += *c.FPA
		sum.FPAArg += *c.FPAArg
	}
	return cell(sum, len(list))
}

// cell returns the mean of n things that add up to sum.
func cell(sum match.Score, n int) Cell {
	if n == 0 {
		return Cell{}
	}
	mean := func(x float64) *float64 {
		x /= float64(n)
		return &x
	}
	return Cell{N: n, SP: mean(sum.SP), FP: mean(sum.FP), SPA: mean(sum.SPA), FPA: mean(sum.FPA), FPAArg: mean(sum.FPAArg)}
}

func compareScores(a, b match.Score) int {
	return cmp.Or(
		cmp.Compare(a.SP, b.SP), cmp.Compare(a.FP, b.FP), cmp.Compare(a.SPA, b.SPA),
		cmp.Compare(a.FPA, b.FPA), cmp.Compare(a.FPAArg, b.FPAArg),
	)
}
