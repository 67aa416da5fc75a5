package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"assay/eval"
	"assay/stats"
)

// A Ranking says in which order models come out, and whether the order is the
// same by another metric, setting, preset or seed.
type Ranking struct {
	Unit      string  `json:"unit"`  // "fraction"
	Level     float64 `json:"level"` // of intervals
	Resamples int     `json:"resamples"`
	Seed      uint64  `json:"seed"` // of the bootstrap
	Orders    []Order `json:"orders"`
	// Agreement has a line for each two rankings that differ in one thing.
	Agreement []Agreement `json:"agreement"`
	Notes     []string    `json:"notes,omitempty"`
}

// An Order is the models of one column, best first.
type Order struct {
	Preset  string `json:"preset"`
	Setting string `json:"setting"`
	Column
	Models []Ranked `json:"models"`
}

// Ranked is a model in an [Order].
type Ranked struct {
	Rank  float64 `json:"rank"` // from 1; ties share the mean of their ranks
	Model string  `json:"model"`
	Runs  int     `json:"runs"`
	Mean  float64 `json:"mean"` // over runs
	// AboveNext is the share of bootstrap resamples in which the model is above
	// the next one, ties counted half. Records are resampled, both models on
	// the same ones; it does not cover other training seeds. Nil for the last
	// model, and where the items of the two are unknown or not the same.
	AboveNext *float64 `json:"above_next"`
}

// Agreement is the rank correlation of two rankings of the same models.
type Agreement struct {
	Between string `json:"between"` // "metric", "setting", "preset" or "seed"
	Where   string `json:"where"`   // what the two have in common
	A       string `json:"a"`
	B       string `json:"b"`
	Models  int    `json:"models"`
	// Rho is Spearman's and Tau Kendall's (tau-b) coefficient, nil if one side
	// is constant; P are two-sided p-values, exact up to [stats.ExactN] models.
	Rho  *float64 `json:"spearman"`
	RhoP *float64 `json:"spearman_p"`
	Tau  *float64 `json:"kendall"`
	TauP *float64 `json:"kendall_p"`
	// RhoCI and TauCI are bootstrap intervals for these models on other
	// records of the kind; they say nothing of other models, which P is about.
	// Records are drawn with replacement, whole conversations, the same ones
	// for all models and for both sides; means, ranks and coefficients are
	// computed anew on each draw. They are percentile intervals: BCa wants a
	// jackknife over records, and one record seldom changes an order, so that
	// its acceleration would be made of a few steps. A draw adds the chance of
	// items once more, so intervals lean to less agreement than there is.
	//
	// Both are nil where items are unknown or not the same for all models and
	// sides, where they do not fit the scores, for fewer than two records, and
	// where all models of a side are equal in more draws than the level leaves
	// out; other such draws are not counted.
	RhoCI *Interval `json:"spearman_interval"`
	TauCI *Interval `json:"kendall_interval"`
	// Records is how many are drawn; 0 without an interval for want of items.
	Records int `json:"records"`
}

// Rank ranks the models of runs, each by its mean over runs, in every column
// under every setting and preset, and correlates the rankings: between two
// metrics of a cell, two settings, two presets and two seeds. Runs of one
// model, setting and preset must be repeats of one experiment, as in
// [Summarize].
func Rank(runs []Run, opt Options) (Ranking, error) {
	if err := opt.check(); err != nil {
		return Ranking{}, err
	}
	if len(runs) == 0 {
		return Ranking{}, fmt.Errorf("no runs: want at least two models to rank")
	}
	gs := groups(runs)
	if err := checkGroups(gs); err != nil {
		return Ranking{}, err
	}
	r := Ranking{
		Unit: "fraction", Level: opt.level(),
		Resamples: cmp.Or(opt.Resamples, stats.DefaultResamples), Seed: opt.Seed,
		Orders:    orders(gs, opt),
		Agreement: agreements(gs, opt),
	}
	r.Notes = rankNotes(gs)
	return r, nil
}

func rankNotes(gs []group) []string {
	models := map[string]bool{}
	for _, g := range gs {
		models[g.model] = true
	}
	notes := unlike(gs)
	switch n := len(models); {
	case n < 2:
		notes = append(notes, fmt.Sprintf("%d model: there is nothing to rank", n))
	case n < 5:
		// 2/n! is above 0.05 up to n = 4.
		notes = append(notes, fmt.Sprintf("%d models: no agreement between rankings of so few can be significant at 0.05", n))
	}
	for _, g := range gs {
		var cov eval.Coverage
		for _, r := range g.runs {
			addCoverage(&cov, r.Scores.Coverage)
		}
		if cov.Missing > 0 {
			notes = append(notes, fmt.Sprintf("%s, %s: %d of %d cases have no answer and count as wrong, which may have cost it ranks",
				g.preset, g.name(), cov.Missing, cov.Planned))
		}
	}
	return notes
}

// orders ranks each block of groups with one preset and setting.
func orders(gs []group, opt Options) []Order {
	var out []Order
	for _, block := range blocksOf(gs) {
		paired := newPairing(block)
		for _, col := range columns(allCells) {
			o := Order{Preset: block[0].preset, Setting: block[0].setting, Column: col}
			index := map[string]int{}
			for i, g := range block {
				if xs := overRuns(cellsOf(g), col); len(xs) > 0 {
					index[g.model] = i
					o.Models = append(o.Models, Ranked{Model: g.model, Runs: len(xs), Mean: stats.Mean(xs)})
				}
			}
			if len(o.Models) == 0 {
				continue
			}
			slices.SortStableFunc(o.Models, func(a, b Ranked) int {
				return cmp.Or(cmp.Compare(b.Mean, a.Mean), cmp.Compare(a.Model, b.Model))
			})
			setRanks(o.Models)
			for i := range o.Models[1:] {
				o.Models[i].AboveNext = paired.above(index[o.Models[i].Model], index[o.Models[i+1].Model], col, opt)
			}
			out = append(out, o)
		}
	}
	return out
}

func setRanks(models []Ranked) {
	lost := make([]float64, len(models))
	for i, m := range models {
		lost[i] = -m.Mean
	}
	for i, rank := range stats.Ranks(lost) {
		models[i].Rank = rank
	}
}

// blocksOf cuts sorted groups where preset or setting change.
func blocksOf(gs []group) [][]group {
	var out [][]group
	for i, g := range gs {
		if i == 0 || g.preset != gs[i-1].preset || g.setting != gs[i-1].setting {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], g)
	}
	return out
}

func cellsOf(g group) []eval.Cells {
	cells := make([]eval.Cells, len(g.runs))
	for i, r := range g.runs {
		cells[i] = r.Scores.Cells
	}
	return cells
}

// An instance is what two models are paired by.
type instance struct {
	id   string
	turn int
	cell string
}

// A pairing holds the mean score of each instance over the runs and repeats
// of each group; nil for a group with a run without items.
type pairing struct {
	scores []map[instance]*meanScore
}

type meanScore struct {
	sum [5]float64 // by metric, in the order of metrics
	n   float64
}

func newPairing(block []group) pairing {
	p := pairing{scores: make([]map[instance]*meanScore, len(block))}
	for i, g := range block {
		p.scores[i] = instanceMeans(g.runs)
	}
	return p
}

// instanceMeans sums the scores of each instance over runs and repeats; nil if
// a run has no items.
func instanceMeans(runs []Run) map[instance]*meanScore {
	if slices.ContainsFunc(runs, func(r Run) bool { return len(r.Items) == 0 }) {
		return nil
	}
	out := map[instance]*meanScore{}
	for _, r := range runs {
		for _, it := range r.Items {
			if !slices.Contains(allCells, it.Cell) {
				continue
			}
			k := instance{it.ID, it.Turn, it.Cell}
			m := out[k]
			if m == nil {
				m = &meanScore{}
				out[k] = m
			}
			for j, name := range metrics {
				m.sum[j] += scoreOf(it.Score, name)
			}
			m.n++
		}
	}
	return out
}

// above returns the share of resamples in which group a is above group b.
func (p pairing) above(a, b int, col Column, opt Options) *float64 {
	if p.scores[a] == nil || p.scores[b] == nil {
		return nil
	}
	keys := keysOf(p.scores[a], col.Cell)
	if len(keys) == 0 || !slices.Equal(keys, keysOf(p.scores[b], col.Cell)) {
		return nil
	}
	metric := slices.Index(metrics, col.Metric)
	diffs, ids := make([]float64, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		x, y := p.scores[a][k], p.scores[b][k]
		diffs[i], ids[i] = x.sum[metric]/x.n-y.sum[metric]/y.n, k.id
	}
	return known(stats.BootstrapClusters(diffs, ids, opt.bootstrap()).Positive)
}

// A view is a ranking: the value of each model by one yardstick. seed is set
// only where one seed's runs are looked at alone.
type view struct {
	preset, setting, seed string
	col                   Column
}

// agreements correlates the rankings that differ in one thing only.
func agreements(gs []group, opt Options) []Agreement {
	values := map[view]map[string]float64{}
	runs := map[system][]Run{}
	put := func(v view, model string, xs []float64) {
		if len(xs) == 0 {
			return
		}
		if values[v] == nil {
			values[v] = map[string]float64{}
		}
		values[v][model] = tied(stats.Mean(xs))
	}
	var presets, settings, seeds []string
	for _, g := range gs {
		presets, settings = appendNew(presets, g.preset), appendNew(settings, g.setting)
		bySeed := map[string][]eval.Cells{}
		for _, r := range g.runs {
			if r.Seed != "" {
				seeds = appendNew(seeds, r.Seed)
				bySeed[r.Seed] = append(bySeed[r.Seed], r.Scores.Cells)
				of := system{yardstick{g.preset, g.setting, r.Seed}, g.model}
				runs[of] = append(runs[of], r)
			}
		}
		runs[system{yardstick{g.preset, g.setting, ""}, g.model}] = g.runs
		for _, col := range columns(allCells) {
			put(view{g.preset, g.setting, "", col}, g.model, overRuns(cellsOf(g), col))
			for seed, cells := range bySeed {
				put(view{g.preset, g.setting, seed, col}, g.model, overRuns(cells, col))
			}
		}
	}
	slices.SortFunc(seeds, compareSeeds)
	a := agreer{values: values}
	for _, preset := range presets {
		for _, setting := range settings {
			a.metrics(preset, setting)
		}
	}
	for _, col := range columns(allCells) {
		for _, preset := range presets {
			pairs(settings, func(s, t string) {
				a.add("setting", preset+", "+col.String(), s, t, view{preset, s, "", col}, view{preset, t, "", col})
			})
		}
		for _, setting := range settings {
			pairs(presets, func(p, q string) {
				a.add("preset", setting+", "+col.String(), p, q, view{p, setting, "", col}, view{q, setting, "", col})
			})
			for _, preset := range presets {
				pairs(seeds, func(s, t string) {
					a.add("seed", preset+", "+setting+", "+col.String(), s, t, view{preset, setting, s, col}, view{preset, setting, t, col})
				})
			}
		}
	}
	slices.SortStableFunc(a.out, func(x, y agreement) int { return cmp.Compare(kindRank(x.Between), kindRank(y.Between)) })
	bootstrapAgreements(a.out, values, runs, opt)
	var out []Agreement
	for _, one := range a.out {
		out = append(out, one.Agreement)
	}
	return out
}

func kindRank(kind string) int {
	return slices.Index([]string{"setting", "metric", "preset", "seed"}, kind)
}

type agreer struct {
	values map[view]map[string]float64
	out    []agreement
}

// An agreement is one with what it is between.
type agreement struct {
	Agreement
	va, vb view
	models []string
}

// metrics adds the pairs of the paper's four metrics, and FPA with FPA-arg.
func (a *agreer) metrics(preset, setting string) {
	for _, cell := range allCells {
		pairs(metrics, func(m, n string) {
			if n == "FPA_arg" && m != "FPA" {
				return
			}
			a.add("metric", preset+", "+setting+", "+cell, metricLabel(m), metricLabel(n),
				view{preset, setting, "", Column{m, cell}}, view{preset, setting, "", Column{n, cell}})
		})
	}
}

// add correlates two views over the models that both have, if there are two.
func (a *agreer) add(between, where, nameA, nameB string, va, vb view) {
	var models []string
	for m := range a.values[va] {
		if _, ok := a.values[vb][m]; ok {
			models = append(models, m)
		}
	}
	if len(models) < 2 {
		return
	}
	slices.Sort(models)
	var x, y []float64
	for _, m := range models {
		x, y = append(x, a.values[va][m]), append(y, a.values[vb][m])
	}
	rho, tau := stats.SpearmanTest(x, y), stats.KendallTest(x, y)
	a.out = append(a.out, agreement{va: va, vb: vb, models: models, Agreement: Agreement{
		Between: between, Where: where, A: nameA, B: nameB, Models: len(models),
		Rho: known(rho.Value), RhoP: known(rho.P), Tau: known(tau.Value), TauP: known(tau.P),
	}})
}

// pairs calls f for each two elements of list, in order.
func pairs(list []string, f func(a, b string)) {
	for i, a := range list {
		for _, b := range list[i+1:] {
			f(a, b)
		}
	}
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// JSON writes r as one object, in fractions.
func (r Ranking) JSON(w io.Writer) error { return encode(w, r) }

// Markdown writes r as tables: the order of models in each column, then how
// well the rankings agree.
func (r Ranking) Markdown(w io.Writer) error {
	order := Table{Header: []string{"Preset", "Setting", "Column", "Model", "Rank", "Runs", "Mean", "P above next"}, Left: 4}
	for _, o := range r.Orders {
		for _, m := range o.Models {
			order.Add(o.Preset, o.Setting, o.String(), m.Model, strconv.FormatFloat(m.Rank, 'g', -1, 64),
				strconv.Itoa(m.Runs), percent(&m.Mean), decimals(m.AboveNext, 3))
		}
	}
	agree := Table{Header: []string{"Between", "Where", "A", "B", "Models", "Spearman", "Interval", "p", "Kendall tau-b", "Interval", "p"}, Left: 4}
	for _, a := range r.Agreement {
		agree.Add(a.Between, a.Where, a.A, a.B, strconv.Itoa(a.Models),
			decimals(a.Rho, 3), a.RhoCI.coefficients(), decimals(a.RhoP, 4), decimals(a.Tau, 3), a.TauCI.coefficients(), decimals(a.TauP, 4))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Order of models by mean over runs, percent. P above next: share of %d resamples of records (seed %d)\n"+
		"in which the model is above the next one; it does not cover other training seeds.\n\n", r.Resamples, r.Seed)
	if err := order.Markdown(&b); err != nil {
		return err
	}
	if len(agree.Rows) > 0 {
		fmt.Fprintf(&b, "\nAgreement of rankings; p is two-sided, exact up to %d models, and about other models. Intervals (%s, percentile)\n"+
			"are from the same resamples of records for all models and both sides, and about these models on other records.\n\n", stats.ExactN, percentOf(r.Level))
		if err := agree.Markdown(&b); err != nil {
			return err
		}
	}
	b.WriteString("\n")
	if err := lines(&b, r.Notes); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// decimals returns f with n decimals, "n/a" if there is none.
func decimals(f *float64, n int) string {
	if f == nil {
		return "n/a"
	}
	return strconv.FormatFloat(*f, 'f', n, 64)
}

// coefficients returns an interval of coefficients, "n/a" for nil.
func (iv *Interval) coefficients() string {
	if iv == nil {
		return "n/a"
	}
	return decimals(&iv.Low, 3) + " to " + decimals(&iv.High, 3)
}
