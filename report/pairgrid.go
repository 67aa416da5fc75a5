package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"assay/eval"
	"assay/stats"
)

// A pairGrid holds the scores of two sides by run and instance.
type pairGrid struct {
	preset string
	a, b   group
	keys   []instance // of all cells, sorted
	set    map[instance]string
	runs   [2][]runScores
	notes  []string
}

// runScores are the scores of one run.
type runScores map[instance]*instanceScore

// An instanceScore is what one run made of an instance, over its repeats.
type instanceScore struct {
	sum   [5]float64 // by metric
	right [5]int     // repeats in which the metric is 1
	n     int
}

func (s *instanceScore) mean(metric int) float64 { return s.sum[metric] / float64(s.n) }

// newGrid reads both sides and refuses what does not compare.
func newGrid(runsA, runsB []Run, opt PairOptions) (*pairGrid, error) {
	if err := opt.Check(); err != nil {
		return nil, err
	}
	if len(runsA) == 0 || len(runsB) == 0 {
		return nil, fmt.Errorf("%d runs against %d: want at least one run on each side", len(runsA), len(runsB))
	}
	g := &pairGrid{set: map[instance]string{}}
	var err error
	if g.a, err = oneGroup(runsA, "first"); err != nil {
		return nil, err
	}
	if g.b, err = oneGroup(runsB, "second"); err != nil {
		return nil, err
	}
	if err := g.comparable(); err != nil {
		return nil, err
	}
	g.preset = g.a.preset
	for side, grp := range []group{g.a, g.b} {
		for _, r := range grp.runs {
			g.runs[side] = append(g.runs[side], g.read(r))
		}
	}
	g.keys = slices.SortedFunc(maps.Keys(g.runs[0][0]), func(a, b instance) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.turn, b.turn), cmp.Compare(a.cell, b.cell))
	})
	return g, g.sameItems()
}

// oneGroup returns the runs of a side, which must be of one model, setting and
// preset, with items, and repeats of one experiment.
func oneGroup(runs []Run, side string) (group, error) {
	gs := groups(runs)
	if len(gs) > 1 {
		return group{}, fmt.Errorf("the %s side mixes %s and %s: want one model under one setting and preset; --model and --setting name runs that belong together",
			side, gs[0].preset+", "+gs[0].name(), gs[1].preset+", "+gs[1].name())
	}
	for _, r := range runs {
		if len(r.Items) == 0 {
			return group{}, fmt.Errorf("run %q has no items, and a paired comparison needs them: score it again", r.Name)
		}
	}
	return gs[0], checkGroups(gs)
}

// comparable refuses sides that were not asked or scored alike.
func (g *pairGrid) comparable() error {
	a, b := g.a.runs[0], g.b.runs[0]
	var faults []string
	if g.a.preset != g.b.preset {
		faults = append(faults, fmt.Sprintf("matcher presets differ: %q and %q", g.a.preset, g.b.preset))
	}
	if a.Data != "" && b.Data != "" && a.Data != b.Data {
		faults = append(faults, fmt.Sprintf("data hashes differ: %q has %q and %q has %q", a.Name, a.Data, b.Name, b.Data))
	}
	if a.Candidates != "" && b.Candidates != "" && a.Candidates != b.Candidates {
		text := fmt.Sprintf("candidate hashes differ: %q has %q and %q has %q", a.Name, a.Candidates, b.Name, b.Candidates)
		if g.a.setting == g.b.setting {
			faults = append(faults, text)
		} else {
			g.notes = append(g.notes, fmt.Sprintf("the sides stand under %s and %s, so the difference is that of settings as well", g.a.setting, g.b.setting))
		}
	}
	if len(faults) > 0 {
		return fmt.Errorf("these runs do not compare: %w", &stats.Refusal{Reasons: faults})
	}
	for _, x := range g.a.runs {
		for _, y := range g.b.runs {
			if x.Predictions != "" && x.Predictions == y.Predictions {
				g.notes = append(g.notes, fmt.Sprintf("%q and %q say exactly the same (equal prediction hashes)", x.Name, y.Name))
			}
		}
	}
	return nil
}

// read sums the items of a run by instance.
func (g *pairGrid) read(r Run) runScores {
	out := runScores{}
	for _, it := range r.Items {
		if !slices.Contains(allCells, it.Cell) {
			continue // a turn that no cell counts
		}
		k := instance{it.ID, it.Turn, it.Cell}
		s := out[k]
		if s == nil {
			s = &instanceScore{}
			out[k] = s
			g.set[k] = it.Dataset
		}
		for j, name := range metrics {
			v := scoreOf(it.Score, name)
			s.sum[j] += v
			s.right[j] += count(v == 1)
		}
		s.n++
	}
	return out
}

// sameItems refuses runs that were not asked the same instances.
func (g *pairGrid) sameItems() error {
	for side, grp := range []group{g.a, g.b} {
		for r, run := range g.runs[side] {
			var missing, extra []string
			for _, k := range g.keys {
				if run[k] == nil {
					missing = append(missing, k.id)
				}
			}
			for k := range run {
				if g.runs[0][0][k] == nil {
					extra = append(extra, k.id)
				}
			}
			if len(missing)+len(extra) > 0 {
				slices.Sort(extra)
				return fmt.Errorf("these runs do not compare: item sets differ: against %q, %q lacks %s and has %s more; score both on the same gold records",
					g.a.runs[0].Name, grp.runs[r].Name, stats.CountOf(missing), stats.CountOf(extra))
			}
		}
	}
	return nil
}

func (g *pairGrid) side(grp group) Side {
	s := Side{Model: grp.model, Setting: grp.setting}
	for _, r := range grp.runs {
		s.Runs, s.Seeds = append(s.Runs, r.Name), append(s.Seeds, r.Seed)
		addCoverage(&s.Coverage, r.Scores.Coverage)
	}
	return s
}

// datasets returns the splits: all of them together, then one by one.
func (g *pairGrid) datasets(opt PairOptions) []string {
	out := []string{""}
	if opt.Datasets {
		names := map[string]bool{}
		for _, d := range g.set {
			names[d] = true
		}
		delete(names, "")
		out = append(out, slices.Sorted(maps.Keys(names))...)
	}
	return out
}

// inCell reports whether an instance belongs to a cell, or to two together.
func inCell(k instance, cell string) bool {
	switch cell {
	case CellTurns:
		return slices.Contains(hopCells, k.cell)
	case CellConversations:
		return slices.Contains(turnCells, k.cell)
	}
	return k.cell == cell
}

// column compares a metric in a split; false if the split is empty, or the
// metric was not scored.
func (g *pairGrid) column(col Column, dataset string, opt PairOptions) (PairedColumn, bool) {
	if col.Metric == "FPA_arg" && !g.scoredArgs() {
		return PairedColumn{}, false
	}
	keys, ids := g.instances(col.Cell, dataset)
	if len(keys) == 0 {
		return PairedColumn{}, false
	}
	unit := unitOf(col.Cell)
	if col.Cell == CellConversations {
		unit = "conversation"
	}
	m := slices.Index(metrics, col.Metric)
	a, b := g.matrix(0, m, keys), g.matrix(1, m, keys)
	c := PairedColumn{Column: col, Dataset: dataset, Unit: unit, Instances: len(keys)}
	d := pairDiffs(a, b, &c)
	boot := stats.BootstrapClusters(d, ids, opt.bootstrap())
	c.Records, c.Above = boot.Units, known(boot.Positive)
	c.BCa, c.Percentile = interval(boot.BCa), interval(boot.Percentile)
	binary := g.binary(m, keys) && distinct(ids) == len(ids)
	c.Test = pairTest(d, ids, binary && g.single(), opt.Options)
	all := stats.CompareGrids(a, b, ids, opt.level())
	c.OverRuns, c.OverBoth = newTDifference(all.Runs), newTDifference(all.Both)
	if len(a) == len(b) && len(a) > 1 {
		g.blocks(&c, a, b, ids, binary, opt.Options)
	}
	return c, true
}

// instances returns the instances of a cell in a data set, "" for all, and the
// records that they belong to.
func (g *pairGrid) instances(cell, dataset string) (keys []instance, ids []string) {
	for _, k := range g.keys {
		if inCell(k, cell) && (dataset == "" || g.set[k] == dataset) {
			keys, ids = append(keys, k), append(ids, k.id)
		}
	}
	return keys, ids
}

// single reports whether each side has one run.
func (g *pairGrid) single() bool { return len(g.runs[0]) == 1 && len(g.runs[1]) == 1 }

// distinct returns how many records ids names.
func distinct(ids []string) int {
	seen := make(map[string]bool, len(ids))
	for _, id := range ids {
		seen[id] = true
	}
	return len(seen)
}

// test is the paired test of a column over all data sets, and the difference
// that it tests, without all else that [Compare] says; false if no instance is
// there.
func (g *pairGrid) test(col Column, opt Options) (t Test, difference float64, ok bool) {
	keys, ids := g.instances(col.Cell, "")
	if len(keys) == 0 {
		return Test{}, 0, false
	}
	m := slices.Index(metrics, col.Metric)
	var c PairedColumn
	d := pairDiffs(g.matrix(0, m, keys), g.matrix(1, m, keys), &c)
	binary := g.binary(m, keys) && distinct(ids) == len(ids)
	return pairTest(d, ids, binary && g.single(), opt), *c.Difference, true
}

// scoredArgs reports whether both sides have FPA-arg.
func (g *pairGrid) scoredArgs() bool {
	for _, grp := range []group{g.a, g.b} {
		for _, r := range grp.runs {
			if !slices.ContainsFunc(allCells, func(name string) bool { return cellOf(&r.Scores.Cells, name).FPAArg != nil }) {
				return false
			}
		}
	}
	return true
}

// matrix returns the scores of a side: a row for each run.
func (g *pairGrid) matrix(side, metric int, keys []instance) [][]float64 {
	out := make([][]float64, len(g.runs[side]))
	for r, run := range g.runs[side] {
		out[r] = make([]float64, len(keys))
		for i, k := range keys {
			out[r][i] = run[k].mean(metric)
		}
	}
	return out
}

// binary reports whether every score is 0 or 1 and no run has repeats.
func (g *pairGrid) binary(metric int, keys []instance) bool {
	for _, side := range g.runs {
		for _, run := range side {
			for _, k := range keys {
				if s := run[k]; s.n != 1 || (s.sum[metric] != 0 && s.sum[metric] != 1) {
					return false
				}
			}
		}
	}
	return true
}

// pairDiffs returns the difference of each instance, and fills what is counted.
func pairDiffs(a, b [][]float64, c *PairedColumn) []float64 {
	meansA, meansB := overRows(a), overRows(b)
	d := make([]float64, len(meansA))
	for i := range d {
		d[i] = meansA[i] - meansB[i]
		c.Better += count(d[i] > 1e-12)
		c.Worse += count(d[i] < -1e-12)
	}
	c.MeanA, c.MeanB, c.Difference = known(stats.Mean(meansA)), known(stats.Mean(meansB)), known(stats.Mean(d))
	return d
}

// overRows returns the mean of each column of rows.
func overRows(rows [][]float64) []float64 {
	out := make([]float64, len(rows[0]))
	xs := make([]float64, len(rows))
	for i := range out {
		for r := range rows {
			xs[r] = rows[r][i]
		}
		out[i] = stats.Mean(xs)
	}
	return out
}

func pairTest(d []float64, ids []string, mcnemar bool, opt Options) Test {
	if !mcnemar {
		return newTest(stats.SignFlips(d, ids, opt.bootstrap()))
	}
	gained, lost := 0, 0
	for _, x := range d {
		gained += count(x > 0)
		lost += count(x < 0)
	}
	return newTest(stats.McNemar(gained, lost))
}

// blocks compares run by run.
func (g *pairGrid) blocks(c *PairedColumn, a, b [][]float64, ids []string, mcnemar bool, opt Options) {
	better, worse := 0, 0
	for r := range a {
		var one PairedColumn
		d := pairDiffs(a[r:r+1], b[r:r+1], &one)
		c.Blocks = append(c.Blocks, PairedBlock{
			A: g.a.runs[r].Name, B: g.b.runs[r].Name,
			Difference: one.Difference, Better: one.Better, Worse: one.Worse,
			Test: pairTest(d, ids, mcnemar, opt),
		})
		better += one.Better
		worse += one.Worse
	}
	if mcnemar {
		t := newTest(stats.McNemar(better, worse))
		t.Method = "mcnemar exact, stratified by run"
		c.Stratified = &t
	}
}

// flips lists the instances that a side gained or lost or that are unstable,
// and counts all of them by cell.
func (g *pairGrid) flips(metric string) ([]FlipCount, []Flip) {
	m := slices.Index(metrics, metric)
	counts := make([]FlipCount, len(allCells))
	flips := []Flip{}
	for _, k := range g.keys {
		a, b := g.flipSide(0, m, k), g.flipSide(1, m, k)
		n := &counts[slices.Index(allCells, k.cell)]
		n.N++
		what := change(a, b)
		switch what {
		case eval.KeptRight:
			n.KeptRight++
			continue
		case eval.KeptWrong:
			n.KeptWrong++
			continue
		case eval.Gained:
			n.Gained++
		case eval.Lost:
			n.Lost++
		case eval.Unstable:
			n.Unstable++
		}
		flips = append(flips, Flip{ID: k.id, Dataset: g.set[k], Cell: k.cell, Turn: k.turn, Change: what, A: a, B: b})
	}
	var out []FlipCount
	for i, n := range counts {
		if n.Cell = allCells[i]; n.N > 0 {
			out = append(out, n)
		}
	}
	return out, flips
}

func (g *pairGrid) flipSide(side, metric int, k instance) FlipSide {
	var f FlipSide
	var sum float64
	for _, run := range g.runs[side] {
		s := run[k]
		f.Right += s.right[metric]
		f.Asked += s.n
		sum += s.sum[metric]
	}
	f.Mean = sum / float64(f.Asked)
	return f
}

func orNaN(f *float64) float64 {
	if f == nil {
		return math.NaN()
	}
	return *f
}
