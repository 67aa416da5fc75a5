package eval

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"assay/match"
	"assay/qaoa"
)

// DiffOptions say how two prediction files are compared.
type DiffOptions struct {
	Preset match.Options
	// Metric is what an instance is judged by, one of [Metrics]; "" is SPA. An
	// instance is right if its metric is 1.
	Metric  string
	Aligned bool
	Workers int
	// Offered is as in [DiagnoseOptions].
	Offered func(rec qaoa.Record) []qaoa.Tool
	// FailedA and RepeatsA are Failed and Repeats of [ScoreOptions] for the
	// first file, FailedB and RepeatsB for the second.
	FailedA, FailedB   int
	RepeatsA, RepeatsB int
}

// A DiffResult says what changed from one prediction file to another.
type DiffResult struct {
	Metric string `json:"metric"`
	A      Scores `json:"a"`
	B      Scores `json:"b"`
	// Cells counts instances by cell, turns without a gold call among them.
	Cells    DiffCells             `json:"cells"`
	Datasets map[string]*DiffCells `json:"datasets"`
	// Classes has the classes that a changed instance has, in the order of
	// reports.
	Classes []ClassChange `json:"classes"`
	// Items are the instances that changed, in the order of gold; the turns of
	// a record come before its conversation.
	Items []DiffItem `json:"items"`
}

// DiffCells are counts by cell. A turn is in SH, MH or NoGold, and its
// conversation in ST or MT.
type DiffCells struct {
	SH     DiffCount `json:"SH"`
	MH     DiffCount `json:"MH"`
	ST     DiffCount `json:"ST"`
	MT     DiffCount `json:"MT"`
	NoGold DiffCount `json:"no_gold"`
}

// Cell returns the count of a cell by its name, nil if there is no such cell.
func (c *DiffCells) Cell(name string) *DiffCount {
	return pickCell(name, &c.SH, &c.MH, &c.ST, &c.MT, &c.NoGold)
}

// DiffCellNames are the names of the cells of [DiffCells], in order.
func DiffCellNames() []string { return []string{CellSH, CellMH, CellST, CellMT, CellNoGold} }

// A Change is what became of an instance from one prediction file to another.
type Change string

// The changes. With several repeats an instance of a file is right or wrong if
// it is so in all of them.
const (
	KeptRight Change = "kept_right" // right in both
	KeptWrong Change = "kept_wrong" // wrong in both
	Gained    Change = "gained"     // wrong in the first, right in the second
	Lost      Change = "lost"       // right in the first, wrong in the second
	Unstable  Change = "unstable"   // the repeats of one of the files do not agree
)

// A DiffCount counts instances by what became of them; N is their sum.
type DiffCount struct {
	N         int `json:"n"`
	KeptRight int `json:"kept_right"`
	KeptWrong int `json:"kept_wrong"`
	Gained    int `json:"gained"`
	Lost      int `json:"lost"`
	Unstable  int `json:"unstable"`
}

func (c *DiffCount) add(change Change) {
	c.N++
	switch change {
	case KeptRight:
		c.KeptRight++
	case KeptWrong:
		c.KeptWrong++
	case Gained:
		c.Gained++
	case Lost:
		c.Lost++
	case Unstable:
		c.Unstable++
	}
}

// A ClassChange says what became of the turns of one class, which is that of
// the first error of the turn, or abstained, malformed or missing.
type ClassChange struct {
	Class    ErrorClass `json:"class"`
	A        int        `json:"a"`      // turns that have it in the first file (in its first wrong repeat)
	B        int        `json:"b"`      // and in the second
	Gained   int        `json:"gained"` // of A, right in the second file
	Lost     int        `json:"lost"`   // of B, right in the first file
	Unstable int        `json:"unstable"`
}

// A DiffItem is an instance that was gained, lost, or is unstable.
type DiffItem struct {
	ID      string   `json:"id"`
	Dataset string   `json:"dataset"`
	Cell    string   `json:"cell"`
	Turn    int      `json:"turn"` // 0-based; -1 for conversations
	Change  Change   `json:"change"`
	A       DiffSide `json:"a"`
	B       DiffSide `json:"b"`
}

// A DiffSide is an instance in one of the files.
type DiffSide struct {
	Right   int `json:"right"` // repeats in which it is right
	Repeats int `json:"repeats"`
	// Class and Why are of the first error in the first wrong repeat, "" if it
	// is right in all.
	Class ErrorClass `json:"class,omitempty"`
	Why   string     `json:"why,omitempty"`

	first int // that repeat
}

// Diff compares two prediction files for the same gold, item by item: what the
// second gained and lost. Each is read as [Score] does. A record without a
// prediction is wrong in that file. Surplus turns are left out, turns without a
// gold call are not: abstaining is right there. Beside what [Diagnose] needs,
// the outcomes of the first file are held in memory. An [*IDError] is about the
// file that the message of the error names.
func Diff(ctx context.Context, gold iter.Seq2[qaoa.Record, error], predsA, predsB iter.Seq2[qaoa.Prediction, error], opt DiffOptions) (DiffResult, error) {
	metric, err := checkMetric(opt.Metric)
	if err != nil {
		return DiffResult{}, err
	}
	s, err := newScorer(ScoreOptions{Presets: []match.Options{opt.Preset}, Aligned: opt.Aligned, Workers: opt.Workers})
	if err != nil {
		return DiffResult{}, err
	}
	s.explain = true
	d := newDiagnoser(DiagnoseOptions{Preset: opt.Preset, Offered: opt.Offered})
	if err := s.index(ctx, gold, d.profiles()); err != nil {
		return DiffResult{}, err
	}
	var scores [2]Scores
	var sides [2][][]DiffSide
	for i, preds := range [2]iter.Seq2[qaoa.Prediction, error]{predsA, predsB} {
		s.opt.Failed, s.opt.Repeats = [2]int{opt.FailedA, opt.FailedB}[i], [2]int{opt.RepeatsA, opt.RepeatsB}[i]
		o := outcomes{classifier: classifier{opt: opt.Preset.Resolved()}, metric: metric, sides: make([][]DiffSide, len(s.gold))}
		if err := s.run(ctx, preds, o.task, o.add); err != nil {
			return DiffResult{}, fmt.Errorf("the %s prediction file: %w", [2]string{"first", "second"}[i], err)
		}
		scores[i], sides[i] = s.scores()[0], o.sides
		s.restart(opt.Preset)
	}
	r := DiffResult{Metric: metric, A: scores[0], B: scores[1], Datasets: map[string]*DiffCells{}, Items: []DiffItem{}}
	r.fill(s.gold, s.tallies[0], sides[0], sides[1])
	return r, nil
}

// restart empties the tallies for another prediction file.
func (s *scorer) restart(preset match.Options) {
	s.tallies = []*tally{newTally(preset)}
	s.scored, s.parsed, s.surplus = 0, 0, 0
}

// outcomes collects what became of each instance in one file: those of a
// record are its turns, then the conversation.
type outcomes struct {
	classifier
	metric string
	sides  [][]DiffSide
}

func (o *outcomes) add(t *task) error {
	n := len(t.gold.turns)
	list := o.sides[t.gold.at]
	if list == nil {
		list = make([]DiffSide, n+1)
		o.sides[t.gold.at] = list
	}
	for i := range t.out[0] {
		it := &t.out[0][i]
		at := it.Turn
		switch {
		case at < 0:
			at = n
		case at >= n:
			continue
		}
		side := &list[at]
		side.Repeats++
		if metricOf(&it.Score, o.metric) == 1 {
			side.Right++
			continue
		}
		if side.Class == "" || t.repeat < side.first {
			side.first = t.repeat
			side.Class, side.Why = o.fault(t, it)
		}
	}
	return nil
}

// fault returns the class of a wrong instance, and why.
func (o *outcomes) fault(t *task, it *instance) (ErrorClass, string) {
	switch class := t.outcome(it); class {
	case ClassMissing:
		return class, "no prediction"
	case ClassAbstained:
		return class, "no call was predicted"
	case ClassMalformed:
		return class, "no predicted call parsed"
	}
	for i := range it.lines {
		l := &it.lines[i]
		holds := l.class == ClassRight
		switch o.metric {
		case "SP", "FP":
			holds = holds || l.named
		case "FPA", "FPA_arg":
			holds = holds || l.flexible
		}
		if !holds {
			return l.class, l.why
		}
	}
	// Two maximum matchings need not agree, and a preset may weigh calls in
	// its own way: every pair shown holds, and the metric does not.
	return ClassWrongValue, "no single call decides; the score is " + fmt.Sprintf("%.3f", metricOf(&it.Score, o.metric))
}

// fill compares the outcomes of the two files.
func (r *DiffResult) fill(gold []*goldCase, cells *tally, a, b [][]DiffSide) {
	classes := map[ErrorClass]*ClassChange{}
	for at, g := range gold {
		set := r.Datasets[g.dataset]
		if set == nil {
			set = &DiffCells{}
			r.Datasets[g.dataset] = set
		}
		for i := range a[at] {
			x, y := &a[at][i], &b[at][i]
			item := DiffItem{ID: g.id, Dataset: g.dataset, Turn: i, Change: change(x, y), A: *x, B: *y}
			if i < len(g.turns) {
				item.Cell = cells.turnCell(len(g.turns[i]), false)
				countClasses(classes, x, y, item.Change)
			} else {
				item.Turn = -1
				item.Cell = cells.conversationCell(len(g.all), len(g.turns) > 1)
			}
			if item.Cell == "" {
				continue
			}
			r.Cells.Cell(item.Cell).add(item.Change)
			set.Cell(item.Cell).add(item.Change)
			if item.Change != KeptRight && item.Change != KeptWrong {
				r.Items = append(r.Items, item)
			}
		}
	}
	r.Classes = []ClassChange{}
	for _, class := range slices.SortedFunc(maps.Keys(classes), func(a, b ErrorClass) int { return cmp.Compare(classRank(a), classRank(b)) }) {
		r.Classes = append(r.Classes, *classes[class])
	}
}

// change tells what became of an instance.
func change(a, b *DiffSide) Change {
	rightA, rightB := a.Right == a.Repeats, b.Right == b.Repeats
	switch {
	case !rightA && a.Right > 0, !rightB && b.Right > 0:
		return Unstable
	case rightA && rightB:
		return KeptRight
	case rightA:
		return Lost
	case rightB:
		return Gained
	}
	return KeptWrong
}

// countClasses counts a turn under its classes in both files.
func countClasses(classes map[ErrorClass]*ClassChange, a, b *DiffSide, change Change) {
	of := func(class ErrorClass) *ClassChange {
		c := classes[class]
		if c == nil {
			c = &ClassChange{Class: class}
			classes[class] = c
		}
		return c
	}
	if a.Class != "" {
		c := of(a.Class)
		c.A++
		if change == Gained {
			c.Gained++
		}
	}
	if b.Class != "" {
		c := of(b.Class)
		c.B++
		if change == Lost {
			c.Lost++
		}
	}
	if change == Unstable {
		of(cmp.Or(a.Class, b.Class)).Unstable++
	}
}
