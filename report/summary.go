package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/eval"
	"assay/stats"
)

// A Summary says of repeated runs what the paper's Tables 6 and 7 say (mean ±
// sample SD over runs), how little a few runs prove, and what each run says of
// itself. Values are fractions; nil is "not known".
type Summary struct {
	Preset    string  `json:"preset"`
	Unit      string  `json:"unit"` // "fraction"
	Level     float64 `json:"level"`
	Resamples int     `json:"resamples"`
	Seed      uint64  `json:"seed"` // of the bootstrap
	Groups    []Group `json:"groups"`
	// Bolding says which means are bold and why; nil without [Options.Bold].
	Bolding *Bolding `json:"bolding,omitempty"`
	// Extremes are the columns that do not rank the models of a setting.
	Extremes []Extreme `json:"extremes,omitempty"`
	// Notes tell of groups that do not compare, a sentence each.
	Notes []string `json:"notes,omitempty"`
}

// A Group is the runs of one model under one setting.
type Group struct {
	Setting  string        `json:"setting"`
	Model    string        `json:"model"`
	Coverage eval.Coverage `json:"coverage"` // summed over runs
	// Bounds are the cells with missing cases wrong and right, means over
	// runs; nil at full coverage.
	Bounds  *eval.Bounds `json:"bounds,omitempty"`
	Columns []OverRuns   `json:"columns"`
	Runs    []RunSummary `json:"runs"`
	// Split is the spread of each column by training seed, decoding repeat and
	// item; nil if there is one run without repeats, or no items.
	Split    []ColumnSplit `json:"split,omitempty"`
	Warnings []string      `json:"warnings,omitempty"`
}

// OverRuns is one column over the runs of a group: the unit is the run.
type OverRuns struct {
	Column
	Unit      string   `json:"unit"`      // of an instance: "turn" or "conversation"
	Instances int      `json:"instances"` // in each run
	Runs      int      `json:"runs"`
	Mean      *float64 `json:"mean"`
	SD        *float64 `json:"sd"` // sample SD over runs
	StdErr    *float64 `json:"std_err"`
	// Low and High bound the mean: the t interval over runs. Half is half of
	// its width.
	Low  *float64 `json:"t_low"`
	High *float64 `json:"t_high"`
	Half *float64 `json:"t_half_width"`
	// SDLow and SDHigh bound the SD: the chi-square interval.
	SDLow  *float64 `json:"sd_low"`
	SDHigh *float64 `json:"sd_high"`
}

// A RunSummary is one run.
type RunSummary struct {
	Name     string        `json:"name"`
	Seed     string        `json:"seed"`
	Coverage eval.Coverage `json:"coverage"`
	Columns  []WithinRun   `json:"columns"`
	Warnings []string      `json:"warnings,omitempty"`
}

// WithinRun is one column of one run: the unit is the instance, a turn or a
// conversation. Repeats of a record, and turns of one conversation, are not
// independent, so errors and intervals take whole records. They are nil if the
// run came without items.
type WithinRun struct {
	Column
	Unit       string    `json:"unit"` // of an instance: "turn" or "conversation"
	Instances  int       `json:"instances"`
	Records    int       `json:"records"` // clusters of instances
	Mean       *float64  `json:"mean"`
	StdErr     *float64  `json:"std_err"`
	T          *Interval `json:"t"`
	BCa        *Interval `json:"bca"`
	Percentile *Interval `json:"percentile"`
	// Wilson is the interval of a proportion: of SP, if each record has one
	// instance. Else instances are not independent and there is none.
	Wilson *Interval `json:"wilson"`
}

// An Interval is a confidence interval at the summary's level.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// interval returns iv, or nil if it has no bounds.
func interval(iv stats.Interval) *Interval {
	if math.IsNaN(iv.Low) || math.IsNaN(iv.High) {
		return nil
	}
	return &Interval{Low: iv.Low, High: iv.High}
}

// Summarize summarises runs by setting and model. All runs must be scored
// under one preset, and the runs of a group must be repeats of one experiment:
// the error wraps a [*stats.Refusal] when they are not.
//
// Repeats inside a run (same weights, other sampling seeds) are averaged
// within it. They are no runs: they say nothing of another training. Split
// tells what they move.
func Summarize(runs []Run, opt Options) (Summary, error) {
	if err := opt.check(); err != nil {
		return Summary{}, err
	}
	gs, err := onePreset(runs)
	if err != nil {
		return Summary{}, err
	}
	s := Summary{
		Preset: gs[0].preset, Unit: "fraction", Level: opt.level(),
		Resamples: cmp.Or(opt.Resamples, stats.DefaultResamples), Seed: opt.Seed,
	}
	for _, g := range gs {
		s.Groups = append(s.Groups, summarizeGroup(g, opt))
	}
	s.Bolding = newBolding(gs, s.columns(), opt)
	s.Extremes, s.Notes = extremes(gs, s.columns()), unlike(gs)
	return s, nil
}

// columns returns the columns that some group has, and the paper's sixteen in
// any case.
func (s Summary) columns() []Column {
	cols := columns(allCells)
	for _, g := range s.Groups {
		for _, c := range g.Columns {
			if c.Metric == "FPA_arg" && c.Mean != nil {
				return cols
			}
		}
	}
	return cols[:4*len(allCells)]
}

func summarizeGroup(g group, opt Options) Group {
	out := Group{Setting: g.setting, Model: g.model, Bounds: g.bounds()}
	var cells []eval.Cells
	for _, r := range g.runs {
		addCoverage(&out.Coverage, r.Scores.Coverage)
		cells = append(cells, r.Scores.Cells)
		out.Runs = append(out.Runs, summarizeRun(r, opt))
	}
	var equal []string
	outside := false
	warned := map[string]bool{}
	for _, col := range columns(allCells) {
		xs := overRuns(cells, col)
		s := stats.Summarize(xs, opt.level())
		out.Columns = append(out.Columns, OverRuns{
			Column: col, Unit: unitOf(col.Cell), Instances: cellOf(&cells[0], col.Cell).N, Runs: len(xs),
			Mean: known(s.Mean), SD: known(s.SD), StdErr: known(s.StdErr),
			Low: known(s.CI.Low), High: known(s.CI.High), Half: known(s.HalfWidth),
			SDLow: known(s.SDRange.Low), SDHigh: known(s.SDRange.High),
		})
		switch {
		case len(xs) == 0: // an empty cell needs no warning
		case s.SD == 0:
			equal = append(equal, col.String())
		default:
			for _, w := range s.Warnings {
				if !warned[w] {
					warned[w] = true
					out.Warnings = append(out.Warnings, w)
				}
			}
			outside = outside || s.CI.Low < 0 || s.CI.High > 1
		}
	}
	if len(equal) > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf(
			"all %d runs are equal in %s: an SD of 0 shows no spread, it does not prove that there is none", len(g.runs), joinColumns(equal)))
	}
	var unsplit []string
	out.Split, unsplit = g.splits(opt)
	out.Warnings = append(out.Warnings, unsplit...)
	if outside {
		out.Warnings = append(out.Warnings, "some t intervals reach below 0 or above 100: the runs are too few for their spread")
	}
	return out
}

// joinColumns lists columns, and does not list more than five.
func joinColumns(names []string) string {
	const show = 5
	list := strings.Join(names[:min(show, len(names))], ", ")
	if len(names) > show {
		list += fmt.Sprintf(" and %d more column%s", len(names)-show, plural(len(names)-show))
	}
	return list
}

func summarizeRun(r Run, opt Options) RunSummary {
	out := RunSummary{Name: r.Name, Seed: r.Seed, Coverage: r.Scores.Coverage}
	byCell := itemsByCell(r.Items)
	few := map[string]bool{}
	for _, col := range columns(allCells) {
		c := WithinRun{Column: col, Unit: unitOf(col.Cell), Instances: cellOf(&r.Scores.Cells, col.Cell).N, Mean: value(r.Scores.Cells, col)}
		items := byCell[col.Cell]
		if len(items) == 0 || c.Mean == nil {
			out.Columns = append(out.Columns, c)
			continue
		}
		warning := fillIntervals(&c, items, opt)
		if warning != "" && !few[col.Cell] {
			few[col.Cell] = true
			out.Warnings = append(out.Warnings, col.Cell+": "+warning)
		}
		out.Columns = append(out.Columns, c)
	}
	return out
}

// fillIntervals sets what the items of a cell say of its mean. It returns a
// warning if the items are too few, or not those behind the mean.
func fillIntervals(c *WithinRun, items []eval.Item, opt Options) string {
	xs, ids := make([]float64, len(items)), make([]string, len(items))
	hits := 0
	for i, it := range items {
		xs[i], ids[i] = scoreOf(it.Score, c.Metric), it.ID
		hits += count(xs[i] == 1)
	}
	if len(items) != c.Instances || math.Abs(stats.Mean(xs)-*c.Mean) > 1e-6 {
		return fmt.Sprintf("%d items with a mean %s of %s do not fit the scores (%d, %s): no intervals; score the run again",
			len(items), metricLabel(c.Metric), percent(known(stats.Mean(xs))), c.Instances, percent(c.Mean))
	}
	b := stats.BootstrapClusters(xs, ids, opt.bootstrap())
	c.Records = b.Units
	c.StdErr = known(stats.ClusterStdErr(xs, ids))
	c.T = interval(stats.ClusterTInterval(xs, ids, opt.level()))
	c.BCa, c.Percentile = interval(b.BCa), interval(b.Percentile)
	if c.Metric == "SP" && b.Units == b.N {
		c.Wilson = interval(stats.Wilson(hits, b.N, opt.level()))
	}
	if b.Units < fewRecords {
		return fmt.Sprintf("%d records: bootstrap intervals of so few are too narrow", b.Units)
	}
	return ""
}

// fewRecords is the number of records below which intervals within a run are
// flagged; the reason is that of the bootstrap's own warning.
const fewRecords = 20

// itemsByCell sorts items into cells, each in an order that does not depend on
// that of the file.
func itemsByCell(items []eval.Item) map[string][]eval.Item {
	out := map[string][]eval.Item{}
	for _, it := range items {
		out[it.Cell] = append(out[it.Cell], it)
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b eval.Item) int {
			return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Repeat, b.Repeat), cmp.Compare(a.Turn, b.Turn))
		})
	}
	return out
}
