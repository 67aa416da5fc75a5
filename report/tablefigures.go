package report

import (
	"fmt"
	"maps"
	"math"
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
// right. More models than can be told apart are shown in blocks.
func datasetFigure(s Sheet, rows []DatasetRow, names []string, gs []group) plot.Figure {
	f := newFigure(s)
	for i, name := range names {
		from := i * len(gs)
		for _, block := range blocks(gs) {
			heading := clean(name)
			if len(block) < len(gs) {
				heading += ": " + strings.ToLower(blockTitle(block, gs))
			}
			here := rows[from : from+len(block)]
			from += len(block)
			for k, cells := range [][]string{hopCells, turnCells} {
				p := datasetPanel([...]string{"Hop level, percent", "Turn level, percent"}[k], here, rows[i*len(gs):(i+1)*len(gs)], cells, block)
				if k == 0 {
					p.Heading = heading
				}
				f.Panels = append(f.Panels, p)
			}
		}
	}
	return f
}

// datasetPanel has the bars of one data set for the columns that any of all
// rows of it has.
func datasetPanel(title string, rows, all []DatasetRow, cells []string, block []group) plot.Panel {
	cols := slices.DeleteFunc(columns(cells)[:4*len(cells)], func(c Column) bool {
		return !slices.ContainsFunc(all, func(r DatasetRow) bool { return value(r.Cells, c) != nil })
	})
	var labels, models []string
	for _, c := range cols {
		labels = append(labels, c.String())
	}
	for _, g := range block {
		models = append(models, seriesName(g))
	}
	return plot.Panel{Title: title, Span: 2, Chart: barsOf(labels, models, func(col, model int) *float64 {
		return value(rows[model].Cells, cols[col])
	})}
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

// shareFigure has a panel for each metric, a line for each model, and a whisker
// of one sample SD over draws to either side. More models than can be told
// apart are shown in blocks, on the same scales.
func shareFigure(s Sheet, points []SharePoint, gs []group) plot.Figure {
	f := newFigure(s)
	var ticks []plot.Tick
	var ratios []int
	for _, p := range points {
		if !slices.Contains(ratios, p.Ratio) {
			ratios = append(ratios, p.Ratio)
		}
	}
	slices.Sort(ratios)
	for _, n := range ratios {
		ticks = append(ticks, plot.Tick{At: float64(n), Label: ratioLabel(n), Note: fmt.Sprintf("%.0f %%", 100*float64(n)/float64(n+1))})
	}
	for _, block := range blocks(gs) {
		legend := plot.Legend{}
		for _, g := range block {
			legend.Names = append(legend.Names, seriesName(g))
		}
		f.Panels = append(f.Panels, plot.Panel{Heading: blockTitle(block, gs), Span: 4, Chart: legend})
		for _, m := range metrics[:4] {
			f.Panels = append(f.Panels, plot.Panel{Title: metricLabel(m), Span: 2, Chart: shareLines(m, block, ratios, ticks, points)})
		}
	}
	return f
}

// shareLines returns the chart of one metric for the groups of block. Its scale
// holds all points of the metric, those of other blocks too.
func shareLines(metric string, block []group, ratios []int, ticks []plot.Tick, points []SharePoint) plot.Lines {
	l := plot.Lines{X: "serial : parallel turns, and the share of parallel ones", Y: "percent, ± sample SD over draws", Ticks: ticks, NoLegend: true}
	all := [2]float64{100, 0}
	for _, p := range points {
		low, high := whisker(p, metric)
		all = [2]float64{min(all[0], low), max(all[1], high)}
	}
	// A narrow scale would make much of differences that are noise.
	if add := (10 - (all[1] - all[0])) / 2; add > 0 {
		all = [2]float64{max(all[0]-add, 0), min(all[1]+add, 100)}
	}
	l.From, l.To = plot.NiceRange(all[0], all[1], 5)
	for _, g := range block {
		line := plot.Line{Name: seriesName(g)}
		for _, n := range ratios {
			mean, low, high := math.NaN(), math.NaN(), math.NaN() // the data of this model do not go as far
			for _, p := range points {
				if p.Ratio == n && p.Model == g.model && p.Setting == g.setting {
					mean = 100 * p.Mean[metric]
					low, high = whisker(p, metric)
				}
			}
			line.Values, line.Low, line.High = append(line.Values, mean), append(line.Low, low), append(line.High, high)
		}
		l.Lines = append(l.Lines, line)
	}
	return l
}

// whisker returns the mean ± one sample SD in percent, cut at 0 and 100.
func whisker(p SharePoint, metric string) (low, high float64) {
	return max(100*(p.Mean[metric]-p.SD[metric]), 0), min(100*(p.Mean[metric]+p.SD[metric]), 100)
}

func seriesName(g group) string { return clean(g.model + ", " + g.setting) }

// blocks cuts the groups into blocks of about equal size, of at most
// [plot.MostSeries].
func blocks(gs []group) [][]group {
	n := (len(gs) + plot.MostSeries - 1) / plot.MostSeries
	var out [][]group
	for i := range n {
		out = append(out, gs[i*len(gs)/n:(i+1)*len(gs)/n])
	}
	return out
}

// blockTitle says which of the groups a block has, or nothing if it has all.
func blockTitle(block, gs []group) string {
	if len(block) == len(gs) {
		return ""
	}
	first := slices.IndexFunc(gs, func(g group) bool { return g.name() == block[0].name() }) + 1
	return fmt.Sprintf("Models %d to %d of %d", first, first+len(block)-1, len(gs))
}
