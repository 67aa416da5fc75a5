package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/eval"
	"assay/stats"
)

// PairOptions are the settings of [Compare] and [Gate]. The zero value is
// usable.
type PairOptions struct {
	Options
	// Metrics and Cells span the family of columns that is tested; nil is the
	// paper's four metrics, and its four cells. Cells may also be [CellTurns]
	// and [CellConversations].
	Metrics, Cells []string
	// Datasets adds every data set as a split of its own.
	Datasets bool
	// FlipMetric says which items are right (the metric is 1); "" is SPA.
	FlipMetric string
}

// Cells that join two of the paper's: all turns (SH and MH), and all
// conversations (ST and MT), each instance with the same weight.
const (
	CellTurns         = "turns"
	CellConversations = "conversations"
)

// A Paired is the comparison of two systems, A against B, on the same items.
// Differences are A - B in fractions; nil is "not known".
type Paired struct {
	Preset    string  `json:"preset"`
	Unit      string  `json:"unit"` // "fraction"
	Level     float64 `json:"level"`
	Resamples int     `json:"resamples"` // of the bootstrap, and draws of a permutation test that is not exact
	Seed      uint64  `json:"seed"`
	A         Side    `json:"a"`
	B         Side    `json:"b"`
	// Family is how many tests P values are corrected for.
	Family  int            `json:"family"`
	Columns []PairedColumn `json:"columns"`
	// FlipMetric is the metric that is 1 where an item is right; FlipCounts
	// add up Flips and what did not change, by cell.
	FlipMetric string      `json:"flip_metric"`
	FlipCounts []FlipCount `json:"flip_counts"`
	Flips      []Flip      `json:"flips"`
	Notes      []string    `json:"notes,omitempty"`
}

// A Side is the runs of one system.
type Side struct {
	Model    string        `json:"model"`
	Setting  string        `json:"setting"`
	Runs     []string      `json:"runs"`  // names, in the order of blocks
	Seeds    []string      `json:"seeds"` // of the runs
	Coverage eval.Coverage `json:"coverage"`
}

// Name says which side it is: "UniToolCall, Hybrid-20".
func (s Side) Name() string { return s.Model + ", " + s.Setting }

// A PairedColumn is one metric in one split.
type PairedColumn struct {
	Column
	Dataset   string `json:"dataset,omitempty"` // "" is all of them
	Unit      string `json:"unit"`              // of an instance: "turn" or "conversation"
	Instances int    `json:"instances"`
	Records   int    `json:"records"` // clusters of instances
	// MeanA and MeanB are over instances, runs and repeats, and Difference is
	// MeanA - MeanB.
	MeanA      *float64 `json:"mean_a"`
	MeanB      *float64 `json:"mean_b"`
	Difference *float64 `json:"difference"`
	// Better and Worse count the instances on which A is above and below B.
	Better int `json:"better"`
	Worse  int `json:"worse"`
	// BCa and Percentile bound the difference by resampling records: for these
	// runs, on other items.
	BCa        *Interval `json:"bca"`
	Percentile *Interval `json:"percentile"`
	// Above is the share of resamples in which A is above B, ties half.
	Above *float64 `json:"above"`
	// Test is the paired test of "no difference" for these runs, Holm and BH
	// its p-value corrected for the family.
	Test Test     `json:"test"`
	Holm *float64 `json:"p_holm"`
	BH   *float64 `json:"p_bh"`
	// OverRuns is about other trainings on these items, OverBoth about other
	// trainings on other items; nil with one run on a side.
	OverRuns *TDifference `json:"over_runs"`
	OverBoth *TDifference `json:"over_both"`
	// Blocks are the runs of the two sides in pairs, when there are as many;
	// Stratified joins their McNemar tests where every score is 0 or 1.
	Blocks     []PairedBlock `json:"blocks,omitempty"`
	Stratified *Test         `json:"stratified,omitempty"`
}

// Name returns the heading of c: "SPA MH" or "SPA MH, bfcl".
func (c PairedColumn) Name() string {
	if c.Dataset == "" {
		return c.String()
	}
	return c.String() + ", " + c.Dataset
}

// A Test is a two-sided p-value and where it comes from.
type Test struct {
	P      *float64 `json:"p"`
	Method string   `json:"method"` // "mcnemar exact", "sign flips exact" or "sign flips"
	N      int      `json:"n"`      // units that differ
	Draws  int      `json:"draws"`  // 0 for exact tests
}

func newTest(r stats.TestResult) Test {
	return Test{P: known(r.P), Method: r.Method, N: r.N, Draws: r.Draws}
}

// A TDifference is a difference with a t interval.
type TDifference struct {
	StdErr *float64  `json:"std_err"`
	DF     *float64  `json:"df"`
	T      *Interval `json:"t"`
	P      *float64  `json:"p"`
}

func newTDifference(d stats.Difference) *TDifference {
	if d.StdErr != d.StdErr {
		return nil
	}
	return &TDifference{StdErr: known(d.StdErr), DF: known(d.DF), T: interval(d.CI), P: known(d.P)}
}

// A PairedBlock is the n-th run of A against the n-th of B, by seed.
type PairedBlock struct {
	A          string   `json:"a"` // name of the run
	B          string   `json:"b"`
	Difference *float64 `json:"difference"`
	Better     int      `json:"better"`
	Worse      int      `json:"worse"`
	Test       Test     `json:"test"`
}

// Compare compares the runs of one system, A, with those of another, B, item
// by item: for each metric and split the difference, its bootstrap interval
// over records, a paired test, and that test corrected for the whole family
// by Holm and by Benjamini and Hochberg; and which items flipped.
//
// The test is McNemar's exact one where each score is 0 or 1, each record has
// one instance, and each side one run without repeats. Elsewhere it is the
// permutation test [stats.SignFlips] with records as units: turns of one
// conversation, and runs and repeats of one record, change sides together.
//
// Runs of a side must be repeats of one experiment, and both sides must be
// scored under one preset on the same records; the candidate lists may differ
// between settings only. Every run must have its items.
func Compare(runsA, runsB []Run, opt PairOptions) (Paired, error) {
	g, err := newGrid(runsA, runsB, opt)
	if err != nil {
		return Paired{}, err
	}
	p := Paired{
		Preset: g.preset, Unit: "fraction", Level: opt.level(),
		Resamples: cmp.Or(opt.Resamples, stats.DefaultResamples), Seed: opt.Seed,
		A: g.side(g.a), B: g.side(g.b), FlipMetric: cmp.Or(opt.FlipMetric, "SPA"), Notes: g.notes,
	}
	for _, dataset := range g.datasets(opt) {
		for _, col := range opt.family() {
			if c, ok := g.column(col, dataset, opt); ok {
				p.Columns = append(p.Columns, c)
			}
		}
	}
	p.correct()
	p.FlipCounts, p.Flips = g.flips(p.FlipMetric)
	p.Notes = append(p.Notes, p.cautions()...)
	return p, nil
}

// family returns the columns asked for, metric by metric.
func (o PairOptions) family() []Column {
	ms, cells := o.Metrics, o.Cells
	if ms == nil {
		ms = metrics[:4]
	}
	if cells == nil {
		cells = allCells
	}
	var cols []Column
	for _, m := range ms {
		for _, c := range cells {
			cols = append(cols, Column{Metric: m, Cell: c})
		}
	}
	return cols
}

// Check returns an error for a level, a metric or a cell that is none.
func (o PairOptions) Check() error {
	if err := o.check(); err != nil {
		return err
	}
	for _, m := range append(slices.Clone(o.Metrics), cmp.Or(o.FlipMetric, "SPA")) {
		if !slices.Contains(metrics, m) {
			return fmt.Errorf("metric %q: want one of %s", m, strings.Join(metrics, ", "))
		}
	}
	cells := append(slices.Clone(allCells), CellTurns, CellConversations)
	for _, c := range o.Cells {
		if !slices.Contains(cells, c) {
			return fmt.Errorf("cell %q: want one of %s", c, strings.Join(cells, ", "))
		}
	}
	return nil
}

// correct fills the corrected p-values.
func (p *Paired) correct() {
	ps := make([]float64, 0, len(p.Columns))
	for _, c := range p.Columns {
		ps = append(ps, orNaN(c.Test.P))
		p.Family += count(c.Test.P != nil)
	}
	holm, bh := stats.Holm(ps), stats.BenjaminiHochberg(ps)
	for i := range p.Columns {
		p.Columns[i].Holm, p.Columns[i].BH = known(holm[i]), known(bh[i])
	}
}

// cautions says what the numbers do not.
func (p Paired) cautions() []string {
	var notes []string
	one := len(p.A.Runs) < 2 || len(p.B.Runs) < 2
	if one {
		notes = append(notes, "with one run on a side the tests are about these very runs: nothing is known about other trainings of the same models")
	}
	for _, s := range []Side{p.A, p.B} {
		if s.Coverage.Missing > 0 {
			notes = append(notes, fmt.Sprintf("%s: %d of %d cases have no answer and count as wrong", s.Name(), s.Coverage.Missing, s.Coverage.Planned))
		}
	}
	var only []string
	for _, c := range p.Columns {
		if c.Holm != nil && *c.Holm <= 1-p.Level && c.OverBoth != nil && c.OverBoth.P != nil && *c.OverBoth.P > 1-p.Level {
			only = append(only, c.Name())
		}
	}
	if len(only) > 0 {
		notes = append(notes, fmt.Sprintf("%s: the difference is real for these runs, but so few trainings spread too much to expect it of others", joinColumns(only)))
	}
	return notes
}

// Column returns the comparison of a metric in a cell over all data sets, and
// whether there is one.
func (p Paired) Column(col Column) (PairedColumn, bool) {
	i := slices.IndexFunc(p.Columns, func(c PairedColumn) bool { return c.Column == col && c.Dataset == "" })
	if i < 0 {
		return PairedColumn{}, false
	}
	return p.Columns[i], true
}

// A FlipCount counts the instances of a cell by what became of them from B to
// A; N is their sum.
type FlipCount struct {
	Cell      string `json:"cell"`
	N         int    `json:"n"`
	Gained    int    `json:"gained"`
	Lost      int    `json:"lost"`
	Unstable  int    `json:"unstable"`
	KeptRight int    `json:"kept_right"`
	KeptWrong int    `json:"kept_wrong"`
}

// A Flip is an instance that A gained (right in all runs and repeats of A,
// wrong in all of B) or lost (the other way round), or one that is unstable:
// the runs or repeats of a side do not agree on it.
type Flip struct {
	ID      string      `json:"id"`
	Dataset string      `json:"dataset"`
	Cell    string      `json:"cell"`
	Turn    int         `json:"turn"` // 0-based; -1 for conversations
	Change  eval.Change `json:"change"`
	A       FlipSide    `json:"a"`
	B       FlipSide    `json:"b"`
}

// A FlipSide is an instance in the runs of one side.
type FlipSide struct {
	Right int     `json:"right"` // runs and repeats in which it is right
	Asked int     `json:"asked"` // runs × repeats
	Mean  float64 `json:"mean"`  // of the flip metric
}

// change says what became of an instance.
func change(a, b FlipSide) eval.Change {
	switch {
	case a.Right > 0 && a.Right < a.Asked, b.Right > 0 && b.Right < b.Asked:
		return eval.Unstable
	case a.Right == 0 && b.Right == 0:
		return eval.KeptWrong
	case a.Right == 0:
		return eval.Lost
	case b.Right == 0:
		return eval.Gained
	}
	return eval.KeptRight
}
