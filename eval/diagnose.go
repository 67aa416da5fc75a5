package eval

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"assay/match"
	"assay/qaoa"
)

// DiagnoseOptions say how errors are told apart. The zero value does so under
// preset paper.
type DiagnoseOptions struct {
	Preset match.Options
	// Aligned, Failed, Repeats and Workers are as in [ScoreOptions]. Pooled
	// conversations pair their calls anew, aligned ones have the pairs of their
	// turns.
	Aligned bool
	Failed  int
	Repeats int
	Workers int
	// Offered returns the tools that the model was shown for a record, in their
	// order; nil means those of the record. Give it for a run on candidate
	// lists, else tools that were on offer count as hallucinated.
	Offered func(rec qaoa.Record) []qaoa.Tool
	// Examples is how many examples of each class are kept for each data set
	// and cell; 0 is 3, a negative number is none.
	Examples int
	// Each receives the instances of one prediction, its turns and then its
	// conversation, in the order of preds; those of missing predictions come
	// last, in the order of gold. It is called by one goroutine at a time, may
	// keep what it gets, and its error ends the diagnosis. May be nil.
	Each func(instances []Diagnosed) error
}

// A Diagnosis says which errors a prediction file has: the object that "assay
// score --diagnose --json" prints.
type Diagnosis struct {
	Scores Scores     `json:"scores"`
	All    ErrorCells `json:"errors"`
	// Datasets are the same by source.name.
	Datasets   map[string]*ErrorCells `json:"datasets"`
	Breakdowns []Breakdown            `json:"breakdowns"`
	// Examples are sorted by data set, cell and class; the records come in the
	// order of gold.
	Examples []ErrorExample `json:"examples,omitempty"`
}

// ErrorCells are the errors by cell. A turn is in SH, MH, NoGold or Surplus,
// and its conversation in ST or MT: the sum over the cells counts calls twice.
type ErrorCells struct {
	SH      ErrorTable `json:"SH"`
	MH      ErrorTable `json:"MH"`
	ST      ErrorTable `json:"ST"`
	MT      ErrorTable `json:"MT"`
	NoGold  ErrorTable `json:"no_gold"`
	Surplus ErrorTable `json:"surplus"`
}

// Cell returns the table of a cell by its name, nil if there is no such cell.
func (c *ErrorCells) Cell(name string) *ErrorTable {
	if name == CellSurplus {
		return &c.Surplus
	}
	return pickCell(name, &c.SH, &c.MH, &c.ST, &c.MT, &c.NoGold)
}

// pickCell returns the one of a name, nil if it is the name of none.
func pickCell[T any](name string, sh, mh, st, mt, noGold *T) *T {
	switch name {
	case CellSH:
		return sh
	case CellMH:
		return mh
	case CellST:
		return st
	case CellMT:
		return mt
	case CellNoGold:
		return noGold
	}
	return nil
}

// ErrorCellNames are the names of the cells of [ErrorCells], in order.
func ErrorCellNames() []string {
	return []string{CellSH, CellMH, CellST, CellMT, CellNoGold, CellSurplus}
}

// An ErrorTable counts the lines of the instances of a cell. N is the sum of
// Abstained, Malformed, Missing and the instances whose lines are counted.
type ErrorTable struct {
	N         int `json:"n"`         // instances
	Abstained int `json:"abstained"` // no call at all; right where gold has none
	Malformed int `json:"malformed"` // calls, and none of them parsed
	Missing   int `json:"missing"`   // no prediction, or an infrastructure failure
	// Lines are those of the other instances: max(|P|, |G|) of each.
	Lines int `json:"lines"`
	Right int `json:"right"` // equal under the preset
	// Classes are the classes with a line, in the order of [ErrorClasses].
	// Right and their N sum up to Lines.
	Classes []ClassCount `json:"classes"`
}

// A ClassCount is how often an error occurs.
type ClassCount struct {
	Class ErrorClass `json:"class"`
	N     int        `json:"n"`
	// Share is N of the lines, in [0,1]; OfErrors of those that are not right.
	Share    float64 `json:"share"`
	OfErrors float64 `json:"of_errors"`
	// Flexible is how many of N the preset counts for FPA.
	Flexible int `json:"flexible"`
}

// Count returns the count of a class, zero if no line has it.
func (t *ErrorTable) Count(class ErrorClass) ClassCount {
	for _, c := range t.Classes {
		if c.Class == class {
			return c
		}
	}
	return ClassCount{Class: class}
}

// An ErrorExample is a line with an error, in a turn.
type ErrorExample struct {
	Class   ErrorClass `json:"class"`
	Dataset string     `json:"dataset"`
	Cell    string     `json:"cell"` // SH, MH, no_gold or surplus
	ID      string     `json:"id"`
	Repeat  int        `json:"repeat"`
	Turn    int        `json:"turn"`           // 0-based
	Gold    string     `json:"gold,omitempty"` // the call, cut if it is long
	Pred    string     `json:"pred,omitempty"`
	Why     string     `json:"why"`

	at, line int // for the order
}

// Diagnose tells the errors of predictions apart, call by call, in one pass
// over preds. It reads as [Score] does, and the result does not depend on the
// order of preds or the number of workers either. Beside what scoring needs,
// the words of the tools on offer are held in memory.
func Diagnose(ctx context.Context, gold iter.Seq2[qaoa.Record, error], preds iter.Seq2[qaoa.Prediction, error], opt DiagnoseOptions) (Diagnosis, error) {
	s, err := newScorer(ScoreOptions{
		Presets: []match.Options{opt.Preset}, Aligned: opt.Aligned, Failed: opt.Failed, Repeats: opt.Repeats, Workers: opt.Workers,
	})
	if err != nil {
		return Diagnosis{}, err
	}
	s.explain = true
	d := newDiagnoser(opt)
	if err := s.index(ctx, gold, d.profiles()); err != nil {
		return Diagnosis{}, err
	}
	classify := classifier{opt: opt.Preset.Resolved()}
	if err := s.run(ctx, preds, classify.task, d.add); err != nil {
		return Diagnosis{}, err
	}
	return d.result(s.scores()[0]), nil
}

// task classes the lines of every instance of t. A conversation of one turn has
// those of its turn.
func (c classifier) task(t *task) {
	list := t.out[0]
	for i := range list {
		it := &list[i]
		switch {
		case it.Missing || it.Pred == 0:
		case it.Turn < 0 && len(t.turns) == 1:
			it.lines = list[0].lines
		default:
			gold, pred := t.calls(it.Turn)
			it.lines = c.lines(t.gold, gold, pred, it.Pairs)
		}
	}
}

// outcome returns what an instance is if its lines are not to be counted.
func (t *task) outcome(it *instance) ErrorClass {
	switch {
	case it.Missing:
		return ClassMissing
	case it.Pred == 0:
		return ClassAbstained
	}
	_, pred := t.calls(it.Turn)
	if !slices.ContainsFunc(pred, func(c qaoa.Call) bool { return !unparsable(c) }) {
		return ClassMalformed
	}
	return ""
}

// A diagnoser counts errors.
type diagnoser struct {
	opt      DiagnoseOptions
	sets     map[string]*[6]errorTally // by data set, then by cell
	bins     [breakdowns][]cellTally
	examples map[exampleKey]*best[ErrorExample]
}

type exampleKey struct {
	dataset, cell string
	class         ErrorClass
}

// An errorTally is an [ErrorTable] in the making.
type errorTally struct {
	ErrorTable
	classes map[ErrorClass]*ClassCount
}

func newDiagnoser(opt DiagnoseOptions) *diagnoser {
	d := &diagnoser{opt: opt, sets: map[string]*[6]errorTally{}, examples: map[exampleKey]*best[ErrorExample]{}}
	for i, t := range traits() {
		d.bins[i] = make([]cellTally, len(t.labels))
	}
	return d
}

// profiles returns a function that takes down what is to be known of a record.
func (d *diagnoser) profiles() func(*goldCase, qaoa.Record) {
	texts := newToolTexts(d.opt.Preset)
	return func(g *goldCase, rec qaoa.Record) {
		tools := rec.Tools
		if d.opt.Offered != nil {
			tools = d.opt.Offered(rec)
		}
		g.profile = texts.profile(tools)
		g.profile.sort(texts.opt, g, rec)
	}
}

// add counts the instances of a task.
func (d *diagnoser) add(t *task) error {
	set := d.sets[t.gold.dataset]
	if set == nil {
		set = new([6]errorTally)
		d.sets[t.gold.dataset] = set
	}
	if err := d.each(t); err != nil {
		return err
	}
	for i := range t.out[0] {
		it := &t.out[0][i]
		if it.Turn >= 0 && it.Turn < len(t.gold.turns) && it.Gold > 0 {
			d.breakDown(t, it)
		}
		e := &set[slices.Index(ErrorCellNames(), it.Cell)]
		e.N++
		switch t.outcome(it) {
		case ClassMissing:
			e.Missing++
		case ClassAbstained:
			e.Abstained++
		case ClassMalformed:
			e.Malformed++
		default:
			for k := range it.lines {
				e.add(&it.lines[k])
				if it.Turn >= 0 {
					d.example(t, it, k)
				}
			}
		}
	}
	return nil
}

func (e *errorTally) add(l *line) {
	e.Lines++
	if l.class == ClassRight {
		e.Right++
		return
	}
	if e.classes == nil {
		e.classes = map[ErrorClass]*ClassCount{}
	}
	c := e.classes[l.class]
	if c == nil {
		c = &ClassCount{Class: l.class}
		e.classes[l.class] = c
	}
	c.N++
	if l.flexible {
		c.Flexible++
	}
}

func (d *diagnoser) breakDown(t *task, it *instance) {
	for i, bin := range t.gold.profile.turns[it.Turn] {
		c := &d.bins[i][bin]
		if it.Missing {
			c.missing = counted(c.missing, it.best)
		} else {
			c.scored = counted(c.scored, it.Score)
		}
	}
}

// defaultExamples is how many examples are kept if nobody says.
const defaultExamples = 3

// example keeps line k of an instance, if it is among the first of its kind.
func (d *diagnoser) example(t *task, it *instance, k int) {
	l := &it.lines[k]
	if l.class == ClassRight {
		return
	}
	key := exampleKey{it.Dataset, it.Cell, l.class}
	list := d.examples[key]
	if list == nil {
		list = &best[ErrorExample]{most: examplesOf(d.opt.Examples), before: exampleBefore}
		d.examples[key] = list
	}
	e := ErrorExample{
		Class: l.class, Dataset: it.Dataset, Cell: it.Cell, ID: it.ID, Repeat: it.Repeat, Turn: it.Turn, Why: l.why,
		at: t.gold.at, line: k,
	}
	if !list.admits(e) {
		return
	}
	gold, pred := t.calls(it.Turn)
	if l.gold >= 0 {
		e.Gold = callText(gold[l.gold])
	}
	if l.pred >= 0 {
		e.Pred = callText(pred[l.pred])
	}
	list.add(e)
}

func examplesOf(n int) int {
	if n == 0 {
		return defaultExamples
	}
	return max(n, 0)
}

func exampleBefore(a, b ErrorExample) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.Repeat, b.Repeat), cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.line, b.line))
}

// result puts the tables together.
func (d *diagnoser) result(scores Scores) Diagnosis {
	out := Diagnosis{Scores: scores, Datasets: map[string]*ErrorCells{}}
	var all [6]errorTally
	for name, set := range d.sets {
		cells := &ErrorCells{}
		for i, cell := range ErrorCellNames() {
			all[i].merge(&set[i])
			*cells.Cell(cell) = set[i].table()
		}
		out.Datasets[name] = cells
	}
	for i, cell := range ErrorCellNames() {
		*out.All.Cell(cell) = all[i].table()
	}
	for i, t := range traits() {
		b := Breakdown{By: t.by}
		for k, label := range t.labels {
			if c := low(&d.bins[i][k]); c.N > 0 {
				b.Bins = append(b.Bins, Bin{label, c})
			}
		}
		out.Breakdowns = append(out.Breakdowns, b)
	}
	for _, list := range d.examples {
		out.Examples = append(out.Examples, list.items...)
	}
	slices.SortFunc(out.Examples, func(a, b ErrorExample) int {
		return cmp.Or(cmp.Compare(a.Dataset, b.Dataset),
			cmp.Compare(slices.Index(ErrorCellNames(), a.Cell), slices.Index(ErrorCellNames(), b.Cell)),
			cmp.Compare(classRank(a.Class), classRank(b.Class)), exampleBefore(a, b))
	})
	return out
}

func (e *errorTally) merge(d *errorTally) {
	e.N += d.N
	e.Abstained += d.Abstained
	e.Malformed += d.Malformed
	e.Missing += d.Missing
	e.Lines += d.Lines
	e.Right += d.Right
	for class, c := range d.classes {
		if e.classes == nil {
			e.classes = map[ErrorClass]*ClassCount{}
		}
		sum := e.classes[class]
		if sum == nil {
			sum = &ClassCount{Class: class}
			e.classes[class] = sum
		}
		sum.N += c.N
		sum.Flexible += c.Flexible
	}
}

func (e *errorTally) table() ErrorTable {
	t := e.ErrorTable
	t.Classes = []ClassCount{}
	for _, class := range ErrorClasses() {
		if c := e.classes[class]; c != nil {
			c := *c
			c.Share = float64(c.N) / float64(t.Lines)
			c.OfErrors = float64(c.N) / float64(t.Lines-t.Right)
			t.Classes = append(t.Classes, c)
		}
	}
	return t
}

// classRank is the place of a class in reports; outcomes of whole instances
// come last.
func classRank(c ErrorClass) int {
	classes := append(ErrorClasses(), ClassAbstained, ClassMalformed, ClassMissing)
	return slices.Index(classes, c)
}

// A best keeps the first few of many items, in order, in whatever order they
// come.
type best[T any] struct {
	most   int
	before func(a, b T) int
	items  []T
}

// admits reports whether add would keep it.
func (b *best[T]) admits(it T) bool {
	return len(b.items) < b.most || b.most > 0 && b.before(it, b.items[len(b.items)-1]) < 0
}

func (b *best[T]) add(it T) {
	if !b.admits(it) {
		return
	}
	i, _ := slices.BinarySearchFunc(b.items, it, b.before)
	b.items = slices.Insert(b.items, i, it)
	if len(b.items) > b.most {
		b.items = slices.Delete(b.items, b.most, len(b.items))
	}
}

// callText writes a call on one line, cut to what fits a report.
func callText(c qaoa.Call) string {
	const most = 300
	text := c.Raw
	if text == "" {
		text = c.Name + " " + cmp.Or(string(c.Arguments), "{}")
	}
	return cut(text, most)
}
