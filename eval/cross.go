package eval

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"assay/match"
	"assay/qaoa"
)

// CrossOptions say how presets are set side by side.
type CrossOptions struct {
	Presets []match.Options // none is every preset; at least two
	// Metric is what an instance is judged by, one of [Metrics]; "" is SPA. An
	// instance is right under a preset if its metric is 1.
	Metric string
	// Aligned, Failed, Repeats and Workers are as in [ScoreOptions].
	Aligned bool
	Failed  int
	Repeats int
	Workers int
	// Examples is how many items are listed for two presets that disagree; 0
	// is 3, a negative number is none.
	Examples int
}

// A CrossTable is one prediction file under several presets, side by side.
type CrossTable struct {
	Metric string   `json:"metric"`
	Scores []Scores `json:"scores"` // by preset
	// Pairs has every two presets, in their order.
	Pairs []PresetPair `json:"pairs"`
}

// A PresetPair says on which instances two presets disagree: one holds them
// for right and the other one does not.
type PresetPair struct {
	A string `json:"a"`
	B string `json:"b"`
	// Turns and Conversations are counted apart. Those that a preset leaves
	// out of all cells are in neither.
	Turns         Disagreement `json:"turns"`
	Conversations Disagreement `json:"conversations"`
	// Items are the first turns that they disagree on, in the order of gold.
	Items []CrossItem `json:"items,omitempty"`
}

// A Disagreement counts instances that are in a cell of both presets.
type Disagreement struct {
	N         int `json:"n"`
	BothRight int `json:"both_right"`
	OnlyA     int `json:"only_a"`
	OnlyB     int `json:"only_b"`
}

// Differ returns on how many instances the presets disagree.
func (d Disagreement) Differ() int { return d.OnlyA + d.OnlyB }

// A CrossItem is a turn that two presets disagree on, with the argument that
// decides.
type CrossItem struct {
	ID      string  `json:"id"`
	Repeat  int     `json:"repeat"`
	Dataset string  `json:"dataset"`
	Cell    string  `json:"cell"` // under preset A
	Turn    int     `json:"turn"` // 0-based
	ValueA  float64 `json:"value_a"`
	ValueB  float64 `json:"value_b"`
	// Gold and Pred are the first calls whose verdicts differ, and Path the
	// JSON Pointer of the argument. They are empty if all verdicts are alike
	// and the presets only weigh them differently.
	Gold  string     `json:"gold,omitempty"`
	Pred  string     `json:"pred,omitempty"`
	Path  string     `json:"path,omitempty"`
	RuleA match.Rule `json:"rule_a,omitempty"`
	RuleB match.Rule `json:"rule_b,omitempty"`
	WhyA  string     `json:"why_a"`
	WhyB  string     `json:"why_b"`
}

// Metrics returns the names of the metrics of a [match.Score], in order.
func Metrics() []string { return []string{"SP", "FP", "SPA", "FPA", "FPA_arg"} }

// metricOf returns the metric of that name; the name is one of [Metrics].
func metricOf(s *match.Score, name string) float64 {
	switch name {
	case "SP":
		return s.SP
	case "FP":
		return s.FP
	case "FPA":
		return s.FPA
	case "FPA_arg":
		return s.FPAArg
	}
	return s.SPA
}

// checkMetric returns name, or the default if it is "".
func checkMetric(name string) (string, error) {
	name = cmp.Or(name, "SPA")
	if !slices.Contains(Metrics(), name) {
		return "", fmt.Errorf("metric %.40q: want one of SP, FP, SPA, FPA, FPA_arg", name)
	}
	return name, nil
}

// Cross scores predictions under several presets and says where these disagree,
// in one pass over preds. It reads as [Score] does, and the result does not
// depend on the order of preds or the number of workers.
func Cross(ctx context.Context, gold iter.Seq2[qaoa.Record, error], preds iter.Seq2[qaoa.Prediction, error], opt CrossOptions) (CrossTable, error) {
	metric, err := checkMetric(opt.Metric)
	if err != nil {
		return CrossTable{}, err
	}
	if len(opt.Presets) == 0 {
		for _, name := range match.Presets() {
			p, err := match.Preset(name)
			if err != nil {
				return CrossTable{}, err
			}
			opt.Presets = append(opt.Presets, p)
		}
	}
	if len(opt.Presets) < 2 {
		return CrossTable{}, fmt.Errorf("%d preset: want two or more to compare", len(opt.Presets))
	}
	s, err := newScorer(ScoreOptions{
		Presets: opt.Presets, Aligned: opt.Aligned, Failed: opt.Failed, Repeats: opt.Repeats, Workers: opt.Workers,
	})
	if err != nil {
		return CrossTable{}, err
	}
	if err := s.index(ctx, gold, nil); err != nil {
		return CrossTable{}, err
	}
	c := newCrosser(s, metric, opt.Examples)
	if err := s.run(ctx, preds, nil, c.add); err != nil {
		return CrossTable{}, err
	}
	return CrossTable{Metric: metric, Scores: s.scores(), Pairs: c.result()}, nil
}

// A crosser compares the instances of a task preset by preset.
type crosser struct {
	s      *scorer
	metric string
	pairs  []crossPair
}

// A crossPair is a [PresetPair] in the making.
type crossPair struct {
	PresetPair
	a, b  int // presets
	items best[crossRef]
}

// A crossRef is a turn to be explained at the end.
type crossRef struct {
	task *task
	turn int
}

func crossBefore(x, y crossRef) int {
	return cmp.Or(cmp.Compare(x.task.gold.at, y.task.gold.at), cmp.Compare(x.task.repeat, y.task.repeat), cmp.Compare(x.turn, y.turn))
}

func newCrosser(s *scorer, metric string, examples int) *crosser {
	c := &crosser{s: s, metric: metric}
	for a := range s.tallies {
		for b := a + 1; b < len(s.tallies); b++ {
			p := crossPair{a: a, b: b, items: best[crossRef]{most: examplesOf(examples), before: crossBefore}}
			p.A, p.B = s.tallies[a].opt.Name, s.tallies[b].opt.Name
			c.pairs = append(c.pairs, p)
		}
	}
	return c
}

func (c *crosser) add(t *task) error {
	for i := range c.pairs {
		p := &c.pairs[i]
		listA, listB := t.out[p.a], t.out[p.b]
		for turn := range t.turns {
			if p.Turns.add(&listA[turn], &listB[turn], c.metric) {
				p.items.add(crossRef{t, turn})
			}
		}
		if n := len(t.turns); len(listA) > n && len(listB) > n {
			p.Conversations.add(&listA[n], &listB[n], c.metric)
		}
	}
	return nil
}

// add counts an instance under two presets, and reports whether they disagree.
func (d *Disagreement) add(a, b *instance, metric string) bool {
	if !inCell(a.Cell) || !inCell(b.Cell) {
		return false
	}
	d.N++
	rightA, rightB := metricOf(&a.Score, metric) == 1, metricOf(&b.Score, metric) == 1
	switch {
	case rightA && rightB:
		d.BothRight++
	case rightA:
		d.OnlyA++
	case rightB:
		d.OnlyB++
	}
	return rightA != rightB
}

func inCell(name string) bool { return slices.Contains(cellNames[:], name) }

func (c *crosser) result() []PresetPair {
	out := make([]PresetPair, len(c.pairs))
	for i := range c.pairs {
		p := &c.pairs[i]
		for _, ref := range p.items.items {
			p.Items = append(p.Items, c.explain(p, ref))
		}
		out[i] = p.PresetPair
	}
	return out
}

// explain looks for the first call that the two presets see differently.
func (c *crosser) explain(p *crossPair, ref crossRef) CrossItem {
	t := ref.task
	a, b := &t.out[p.a][ref.turn], &t.out[p.b][ref.turn]
	item := CrossItem{
		ID: a.ID, Repeat: a.Repeat, Dataset: a.Dataset, Cell: a.Cell, Turn: ref.turn,
		ValueA: metricOf(&a.Score, c.metric), ValueB: metricOf(&b.Score, c.metric),
	}
	gold, pred := t.calls(ref.turn)
	x := c.verdicts(p.a, t, ref.turn)
	y := c.verdicts(p.b, t, ref.turn)
	for i := range gold {
		v, w := x[i], y[i]
		if verdictHolds(&v.Verdict, c.metric) == verdictHolds(&w.Verdict, c.metric) {
			continue
		}
		item.Gold, item.RuleA, item.RuleB = callText(gold[i]), v.Verdict.Rule, w.Verdict.Rule
		item.WhyA, item.WhyB = v.Verdict.Why, w.Verdict.Why
		failed := &v // the one that names the argument
		if verdictHolds(&v.Verdict, c.metric) {
			failed = &w
		}
		item.Path = cmp.Or(failed.Verdict.Path, v.Verdict.Path, w.Verdict.Path)
		if j := max(v.Pred, w.Pred); j >= 0 && j < len(pred) {
			item.Pred = callText(pred[j])
		}
		return item
	}
	why := func(s *instance) string {
		return fmt.Sprintf("%d gold and %d predicted calls, which match alike under both presets, are worth %.3f", s.Gold, s.Pred, metricOf(&s.Score, c.metric))
	}
	item.WhyA, item.WhyB = why(a), why(b)
	return item
}

// verdicts returns the explanation of each gold call of a turn.
func (c *crosser) verdicts(preset int, t *task, turn int) []match.Pair {
	gold, pred := t.calls(turn)
	out := make([]match.Pair, len(gold))
	for i := range out {
		out[i].Pred = -1
	}
	for _, p := range t.gold.prepare(turn, c.s.tallies[preset].opt).Explain(pred) {
		if p.Gold >= 0 && p.Gold < len(out) {
			out[p.Gold] = p
		}
	}
	return out
}

// verdictHolds reports whether a pair counts for a metric.
func verdictHolds(v *match.Verdict, metric string) bool {
	switch metric {
	case "SP", "FP":
		return v.Name
	case "FPA":
		return v.Flexible
	case "FPA_arg":
		return v.FlexibleArg
	}
	return v.Strict
}
