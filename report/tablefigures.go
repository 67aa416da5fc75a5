package report

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"assay/eval"
	"assay/plot"
	"assay/qaoa"
)

// A DatasetRow is one model under one setting on one data set.
type DatasetRow struct {
	Dataset string     `json:"dataset"`
	Setting string     `json:"setting"`
	Model   string     `json:"model"`
	Runs    int        `json:"runs"`
	Cells   eval.Cells `json:"cells"` // means over runs; n of one run
}

// ByDataset returns the scores of each benchmark, as in the paper's Figure 4:
// hop level and turn level. Cells are means over the runs of a model. It
// refuses what [Summarize] refuses.
func ByDataset(runs []Run) (Sheet, error) {
	gs, err := onePreset(runs)
	if err != nil {
		return Sheet{}, err
	}
	seen := map[string]bool{}
	for _, r := range runs {
		for name := range r.Scores.Datasets {
			seen[name] = true
		}
	}
	names := slices.Sorted(maps.Keys(seen))
	data := struct {
		Preset string       `json:"preset"`
		Unit   string       `json:"unit"`
		Rows   []DatasetRow `json:"rows"`
	}{gs[0].preset, "fraction", []DatasetRow{}}
	s := Sheet{
		Title:   "Scores by benchmark",
		Caption: fmt.Sprintf("Preset %s. Percent; SH and MH are means over turns, ST and MT over conversations; n are the instances of one run.", gs[0].preset),
		Table:   Table{Header: []string{"Data set", "Setting", "Model"}, Left: 3},
		Notes:   unlike(gs),
	}
	for _, cell := range allCells {
		s.Table.Header = append(s.Table.Header, "n "+cell)
	}
	cols := columns(allCells)[:4*len(allCells)]
	for _, c := range cols {
		s.Table.Header = append(s.Table.Header, c.String())
	}
	for _, name := range names {
		for _, g := range gs {
			var cells []eval.Cells
			for _, r := range g.runs {
				cells = append(cells, r.Scores.Datasets[name])
			}
			row := DatasetRow{name, g.setting, g.model, len(g.runs), meanCells(cells)}
			data.Rows = append(data.Rows, row)
			line := []string{name, g.setting, g.model}
			for _, cell := range allCells {
				line = append(line, strconv.Itoa(cellOf(&row.Cells, cell).N))
			}
			for _, c := range cols {
				line = append(line, percent(value(row.Cells, c)))
			}
			s.Table.Add(line...)
		}
	}
	s.data, s.figure = data, datasetFigure(s, data.Rows, names, gs)
	return s, nil
}

// datasetFigure has two panels for each data set: hop level left, turn level
// right.
func datasetFigure(s Sheet, rows []DatasetRow, names []string, gs []group) plot.Figure {
	f := newFigure(s)
	var models []string
	for _, g := range gs {
		models = append(models, g.model+", "+g.setting)
	}
	for i, name := range names {
		for k, cells := range [][]string{hopCells, turnCells} {
			cols := slices.DeleteFunc(columns(cells)[:4*len(cells)], func(c Column) bool {
				return !slices.ContainsFunc(rows, func(r DatasetRow) bool { return r.Dataset == name && value(r.Cells, c) != nil })
			})
			var labels []string
			for _, c := range cols {
				labels = append(labels, c.String())
			}
			p := plot.Panel{Title: [...]string{"Hop level, percent", "Turn level, percent"}[k], Span: 2}
			if k == 0 {
				p.Heading = clean(name)
			}
			p.Chart = barsOf(labels, models, func(col, model int) *float64 {
				return value(rows[i*len(gs)+model].Cells, cols[col])
			})
			f.Panels = append(f.Panels, p)
		}
	}
	return f
}

// ShareOptions are the settings of [ParallelShare]. The zero value is usable.
type ShareOptions struct {
	Ratios  []int  // N of 1:N serial to parallel turns; nil is 0 to 8, as far as the data go
	Samples int    // draws for each ratio; 0 is 200
	Seed    uint64 // of the draws
	Dataset string // look at this data set only; "" is all
}

// A SharePoint is one model at one share of parallel turns.
type SharePoint struct {
	Setting  string  `json:"setting"`
	Model    string  `json:"model"`
	Ratio    int     `json:"ratio"` // parallel turns for each serial one
	Share    float64 `json:"parallel_share"`
	Serial   int     `json:"serial"` // turns in a sample
	Parallel int     `json:"parallel"`
	Runs     int     `json:"runs"`
	// Means over draws and runs, and their sample SD over draws: how much the
	// choice of turns matters.
	Mean map[string]float64 `json:"mean"`
	SD   map[string]float64 `json:"sd"`
}

// turnKey is one turn of one repeat.
type turnKey struct {
	id           string
	turn, repeat int
}

// ParallelShare returns scores of multi-hop turns against the share of parallel
// ones among them, as in the paper's Figure 5 (UniToolCall, section 4.3), by
// stratified sampling. For each ratio 1:N, k serial and N·k parallel turns are
// drawn without replacement, where k is as large as the two strata allow, and
// the draw is repeated opt.Samples times; a ratio of 0 is serial turns only. All
// models see the same draws. The mean over many draws approaches
// (serial mean + N·parallel mean)/(1+N).
//
// strategy says what a gold turn is ([qaoa.ShapeOf]). Runs must have their items.
func ParallelShare(runs []Run, strategy func(id string, turn int) qaoa.Strategy, opt ShareOptions) (Sheet, error) {
	gs, err := onePreset(runs)
	if err != nil {
		return Sheet{}, err
	}
	samples, ratios := opt.Samples, opt.Ratios
	if samples == 0 {
		samples = 200
	}
	if ratios == nil {
		ratios = []int{0, 1, 2, 3, 4, 5, 6, 7, 8}
	}
	data := struct {
		Preset  string       `json:"preset"`
		Unit    string       `json:"unit"`
		Dataset string       `json:"dataset,omitempty"`
		Samples int          `json:"samples"`
		Seed    uint64       `json:"seed"`
		Points  []SharePoint `json:"points"`
	}{gs[0].preset, "fraction", opt.Dataset, samples, opt.Seed, []SharePoint{}}
	for _, g := range gs {
		scores, strata := shareScores(g, strategy, opt.Dataset)
		if len(strata[0]) == 0 || len(strata[1]) == 0 {
			return Sheet{}, fmt.Errorf("%s: %d serial and %d parallel multi-hop turns: want at least one of each, and items (score the runs again)", g.name(), len(strata[0]), len(strata[1]))
		}
		for _, n := range ratios {
			if n < 0 {
				return Sheet{}, fmt.Errorf("ratio 1:%d: want 0 or more parallel turns for each serial one", n)
			}
			if p, ok := sharePoint(g, scores, strata, n, samples, opt.Seed); ok {
				data.Points = append(data.Points, p)
			}
		}
	}
	where := "all data sets"
	if opt.Dataset != "" {
		where = opt.Dataset
	}
	s := Sheet{
		Title: "Score against the share of parallel turns",
		Caption: fmt.Sprintf("Preset %s, %s. Multi-hop turns, percent: mean ± sample SD over %d stratified draws (seed %d) of serial and parallel turns in the ratio 1:N.",
			gs[0].preset, where, samples, opt.Seed),
		Table: shareTable(data.Points), Notes: unlike(gs),
	}
	s.data, s.figure = data, shareFigure(s, data.Points, gs)
	return s, nil
}

// shareScores returns the scores of the multi-hop turns of a group, by run, and
// the turns that every run has: serial and parallel ones in order.
func shareScores(g group, strategy func(string, int) qaoa.Strategy, dataset string) ([]map[turnKey]eval.Item, [2][]turnKey) {
	scores := make([]map[turnKey]eval.Item, len(g.runs))
	var strata [2][]turnKey
	for i, r := range g.runs {
		scores[i] = map[turnKey]eval.Item{}
		for _, it := range r.Items {
			if it.Cell != eval.CellMH || dataset != "" && it.Dataset != dataset {
				continue
			}
			key := turnKey{it.ID, it.Turn, it.Repeat}
			scores[i][key] = it
			if i > 0 {
				continue
			}
			switch strategy(it.ID, it.Turn) {
			case qaoa.Serial:
				strata[0] = append(strata[0], key)
			case qaoa.Parallel:
				strata[1] = append(strata[1], key)
			}
		}
	}
	for i := range strata {
		slices.SortFunc(strata[i], func(a, b turnKey) int {
			switch {
			case a.id != b.id:
				return strings.Compare(a.id, b.id)
			case a.turn != b.turn:
				return a.turn - b.turn
			}
			return a.repeat - b.repeat
		})
	}
	return scores, strata
}

// sharePoint draws samples for one ratio; not ok if the strata cannot make it.
func sharePoint(g group, scores []map[turnKey]eval.Item, strata [2][]turnKey, n, samples int, seed uint64) (SharePoint, bool) {
	k := len(strata[0])
	if n > 0 {
		k = min(k, len(strata[1])/n)
	}
	if k == 0 {
		return SharePoint{}, false
	}
	p := SharePoint{Setting: g.setting, Model: g.model, Ratio: n, Share: float64(n) / float64(n+1), Serial: k, Parallel: n * k, Runs: len(g.runs), Mean: map[string]float64{}, SD: map[string]float64{}}
	draws := map[string][]float64{}
	rnd := rand.New(rand.NewPCG(seed, uint64(n))) // the same draws for every model
	for range samples {
		sums := map[string]float64{}
		for i, want := range []int{k, n * k} {
			for _, at := range rnd.Perm(len(strata[i]))[:want] {
				for _, run := range scores {
					for _, m := range metrics[:4] {
						sums[m] += scoreOf(run[strata[i][at]].Score, m)
					}
				}
			}
		}
		for _, m := range metrics[:4] {
			draws[m] = append(draws[m], sums[m]/float64(len(scores)*(k+n*k)))
		}
	}
	for _, m := range metrics[:4] {
		mean, sd := stat.MeanStdDev(draws[m], nil)
		if samples == 1 {
			sd = 0 // nothing is known of it
		}
		p.Mean[m], p.SD[m] = mean, sd
	}
	return p, true
}

func shareTable(points []SharePoint) Table {
	t := Table{Header: []string{"Setting", "Model", "Serial : parallel", "Parallel share", "Serial turns", "Parallel turns"}, Left: 2}
	for _, m := range metrics[:4] {
		t.Header = append(t.Header, metricLabel(m))
	}
	for _, p := range points {
		row := []string{p.Setting, p.Model, ratioLabel(p.Ratio), percent(&p.Share), strconv.Itoa(p.Serial), strconv.Itoa(p.Parallel)}
		for _, m := range metrics[:4] {
			mean, sd := p.Mean[m], p.SD[m]
			row = append(row, percent(&mean)+" ± "+percent(&sd))
		}
		t.Add(row...)
	}
	return t
}

func ratioLabel(n int) string { return "1 : " + strconv.Itoa(n) }

// shareFigure has a panel for each metric, a row for each ratio, and a bar for
// each model.
func shareFigure(s Sheet, points []SharePoint, gs []group) plot.Figure {
	f := newFigure(s)
	var ratios []int
	var labels, models []string
	for _, p := range points {
		if !slices.Contains(ratios, p.Ratio) {
			ratios = append(ratios, p.Ratio)
			labels = append(labels, ratioLabel(p.Ratio))
		}
	}
	for _, g := range gs {
		models = append(models, g.model+", "+g.setting)
	}
	for i, m := range metrics[:4] {
		p := plot.Panel{Title: metricLabel(m) + " by serial : parallel, percent", Span: 2}
		if i%2 == 0 {
			p.Heading = " "
		}
		p.Chart = barsOf(labels, models, func(ratio, model int) *float64 {
			for _, pt := range points {
				if pt.Ratio == ratios[ratio] && pt.Model == gs[model].model && pt.Setting == gs[model].setting {
					v := pt.Mean[m]
					return &v
				}
			}
			return nil
		})
		f.Panels = append(f.Panels, p)
	}
	return f
}
