package eval

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"assay/internal/ordered"
	"assay/match"
	"assay/qaoa"
)

// A goldCase is what scoring needs of a record.
type goldCase struct {
	id, dataset string
	at          int // place in the order of gold
	turns       [][]qaoa.Call
	all         []qaoa.Call // of all turns
	tools       []qaoa.Tool // those that a gold call may mean
	alts        *goldAlternatives

	seen repeatSet
	// kept holds the canonical forms by matching rules, once they are asked
	// for a second time.
	kept []atomic.Pointer[prepared]

	profile *profile // for a diagnosis only
}

// prepared is the gold side of the instances of a record.
type prepared struct {
	turns []*match.Gold
	all   *match.Gold
}

// A task is one record in one repeat: what is compared, and what came out.
type task struct {
	gold    *goldCase
	repeat  int
	turns   [][]qaoa.Call // predicted; at least as many as gold has
	surplus int           // turns beyond those of gold
	parsed  bool          // no call failed to parse
	missing bool
	again   bool // gold was compared before

	// out has a list for each preset: the turns in order and then, if it is in
	// a cell, the conversation.
	out [][]instance
}

// An instance is an [Item] on its way to the tallies.
type instance struct {
	Item
	best  match.Score // of a right prediction
	lines []line      // for a diagnosis only
}

// calls returns the two sides of an instance of t.
func (t *task) calls(turn int) (gold, pred []qaoa.Call) {
	if turn >= 0 {
		if turn < len(t.gold.turns) {
			gold = t.gold.turns[turn]
		}
		return gold, t.turns[turn]
	}
	if len(t.turns) == 1 {
		return t.gold.all, t.turns[0]
	}
	return t.gold.all, slices.Concat(t.turns...)
}

// A scorer compares predictions with an index of gold. While it runs, one
// goroutine reads predictions and owns what says which were seen, workers
// compare, and the caller's goroutine owns the tallies.
type scorer struct {
	opt     ScoreOptions
	explain bool
	tallies []*tally
	rules   []match.Options // that the presets match by, each once
	ruleOf  []int           // of each preset

	gold    []*goldCase
	byID    map[string]*goldCase
	names   map[string]string // normal forms of tool names
	texts   map[string]string // names and schemas of gold, see [shared]
	clashes clashes
	badAlts idList // records whose alternatives cannot be used

	repeats map[int]bool
	planned int
	scored  int
	parsed  int
	surplus int

	unknown, twice idList
}

func newScorer(opt ScoreOptions) (*scorer, error) {
	s := &scorer{opt: opt, byID: map[string]*goldCase{}, names: map[string]string{}, texts: map[string]string{}}
	if len(opt.Presets) == 0 {
		opt.Presets = []match.Options{{}}
	}
	labels := map[string]bool{}
	for _, p := range opt.Presets {
		p = p.Resolved()
		if err := p.Validate(); err != nil {
			return nil, fmt.Errorf("preset %s: %w", p.Name, err)
		}
		if labels[p.Name] {
			return nil, fmt.Errorf("preset %q is given twice; name each once", p.Name)
		}
		labels[p.Name] = true
		rule := slices.Index(s.rules, matching(p))
		if rule < 0 {
			rule = len(s.rules)
			s.rules = append(s.rules, matching(p))
		}
		s.ruleOf = append(s.ruleOf, rule)
	}
	for _, p := range opt.Presets {
		s.tallies = append(s.tallies, newTally(p))
	}
	return s, nil
}

func newTally(p match.Options) *tally {
	return &tally{opt: p.Resolved(), sets: map[string]*[4]cellTally{}}
}

// matching returns p without the knobs that say only what matches are worth,
// so that presets that match alike share the work.
func matching(p match.Options) match.Options {
	p.Name, p.Divisor, p.Empty, p.NoGold = "", "", "", ""
	return p.Resolved()
}

// index takes in the gold records. also, if not nil, sees each of them.
func (s *scorer) index(ctx context.Context, gold iter.Seq2[qaoa.Record, error], also func(*goldCase, qaoa.Record)) error {
	var twice idList
	for rec, err := range gold {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if s.byID[rec.ID] != nil {
			twice.add(rec.ID)
			continue
		}
		g := s.newGold(rec)
		if also != nil {
			also(g, rec)
		}
	}
	return twice.err("records of the gold data have the id of an earlier one; keep one of each")
}

// newGold takes in a record. Texts are cloned or shared, so that memory holds
// what scoring needs and not the whole line that they were a part of.
func (s *scorer) newGold(rec qaoa.Record) *goldCase {
	g := &goldCase{
		id: strings.Clone(rec.ID), dataset: shared(s.texts, rec.Source.Name), at: len(s.gold),
		turns: make([][]qaoa.Call, 0, len(rec.Turns)), kept: make([]atomic.Pointer[prepared], len(s.rules)),
	}
	s.byID[g.id] = g
	s.gold = append(s.gold, g)
	wanted := make(map[string]bool, 4)
	for _, t := range rec.Turns {
		calls := t.Calls() // a new list
		for i, c := range calls {
			calls[i] = qaoa.Call{Name: shared(s.texts, c.Name), Arguments: qaoa.JSON(strings.Clone(string(c.Arguments))), Raw: strings.Clone(c.Raw)}
		}
		g.turns = append(g.turns, slices.Clip(calls))
		for _, c := range calls {
			wanted[s.normal(c.Name)] = true
		}
	}
	g.all = slices.Concat(g.turns...)
	if len(g.turns) == 1 {
		g.all = g.turns[0]
	}
	offered := make(map[string]string, len(rec.Tools))
	for _, t := range rec.Tools {
		name := s.normal(t.Name)
		if wanted[name] {
			g.tools = append(g.tools, qaoa.Tool{Name: shared(s.texts, t.Name), Parameters: qaoa.JSON(shared(s.texts, string(t.Parameters)))})
		}
		if other, ok := offered[name]; ok && other != t.Name {
			s.clashes.add(rec.ID, other, t.Name)
		}
		offered[name] = t.Name
	}
	if slices.ContainsFunc(s.rules, func(p match.Options) bool { return p.Alternatives == match.On }) {
		var err error
		if g.alts, err = alternativesOf(rec, g); err != nil {
			s.badAlts.add(rec.ID)
		}
	}
	return g
}

// normal is [match.Name], remembered: the same tools come in many records.
func (s *scorer) normal(name string) string {
	n, ok := s.names[name]
	if !ok {
		n = strings.Clone(match.Name(name)) // which may be the name itself
		s.names[strings.Clone(name)] = n
	}
	return n
}

// What travels between the goroutines: the tasks of a batch, so many that the
// hand-over costs nothing beside the comparisons, but of no more than so many
// bytes that the batches in flight stay small.
const (
	batchTasks = 64
	batchBytes = 1 << 18
)

// run compares preds with the index, and what they miss of it at the end. Each
// task is judged, seen by inside on a worker, counted, and then seen by outside
// in order.
func (s *scorer) run(ctx context.Context, preds iter.Seq2[qaoa.Prediction, error], inside func(*task), outside func(*task) error) error {
	workers := s.opt.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	judge := func(batch []*task) []*task {
		for _, t := range batch {
			s.judge(t)
			if inside != nil {
				inside(t)
			}
		}
		return batch
	}
	for batch, err := range ordered.Map(ctx, s.batches(preds), workers, judge) {
		if err != nil {
			return err
		}
		for _, t := range batch {
			s.count(t)
			if outside == nil {
				continue
			}
			if err := outside(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// batches yields the tasks of preds, a batch at a time.
func (s *scorer) batches(preds iter.Seq2[qaoa.Prediction, error]) iter.Seq2[[]*task, error] {
	return func(yield func([]*task, error) bool) {
		var batch []*task
		size := 0
		for t, err := range s.tasks(preds) {
			if err != nil {
				if len(batch) == 0 || yield(batch, nil) {
					yield(nil, err)
				}
				return
			}
			batch = append(batch, t)
			if !t.missing {
				size += t.bytes()
			}
			if len(batch) < batchTasks && size < batchBytes {
				continue
			}
			if !yield(batch, nil) {
				return
			}
			batch, size = make([]*task, 0, batchTasks), 0
		}
		if len(batch) > 0 {
			yield(batch, nil)
		}
	}
}

func (t *task) bytes() int {
	n := 0
	for _, turn := range t.turns {
		for _, c := range turn {
			n += len(c.Name) + len(c.Arguments) + len(c.Raw)
		}
	}
	return n
}

// ErrUnanswered comes with a prediction that says only that the back end failed.
// It is no answer: the pair counts as attempted and stays missing, and the
// stream of predictions goes on.
var ErrUnanswered = errors.New("the back end failed, so there is no answer")

// tasks yields a task for each prediction, then one for each that is missing.
func (s *scorer) tasks(preds iter.Seq2[qaoa.Prediction, error]) iter.Seq2[*task, error] {
	return func(yield func(*task, error) bool) {
		s.begin()
		for pred, err := range preds {
			if errors.Is(err, ErrUnanswered) {
				s.opt.Failed++
				s.repeats[pred.Repeat] = true
				continue
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if t := s.newTask(pred); t != nil && !yield(t, nil) {
				return
			}
		}
		if err := errors.Join(
			s.unknown.err("predictions have an id that is not in the gold data; give the gold files that the predictions were made for"),
			s.twice.err("predictions have the id of an earlier one of the same repeat; give each run its own file, or number the runs in \"repeat\""),
		); err != nil {
			yield(nil, err)
			return
		}
		for repeat := range s.opt.Repeats {
			s.repeats[repeat] = true
		}
		if len(s.repeats) == 0 {
			s.repeats[0] = true
		}
		s.planned = len(s.gold) * len(s.repeats)
		for _, repeat := range slices.Sorted(maps.Keys(s.repeats)) {
			for _, g := range s.gold {
				if g.seen.has(repeat) {
					continue
				}
				t := &task{gold: g, repeat: repeat, turns: make([][]qaoa.Call, len(g.turns)), missing: true}
				if !yield(t, nil) {
					return
				}
			}
		}
	}
}

// begin forgets the predictions of an earlier run.
func (s *scorer) begin() {
	s.repeats = map[int]bool{}
	s.planned, s.unknown, s.twice = 0, idList{}, idList{}
	for _, g := range s.gold {
		g.seen.clear()
	}
}

// newTask returns the task of a prediction, nil if its id is at fault.
func (s *scorer) newTask(pred qaoa.Prediction) *task {
	g := s.byID[pred.ID]
	if g == nil {
		s.unknown.add(pred.ID)
		return nil
	}
	again := !g.seen.empty()
	if !g.seen.add(pred.Repeat) {
		s.twice.add(pred.ID)
		return nil
	}
	s.repeats[pred.Repeat] = true
	n := max(len(pred.Turns), len(g.turns))
	t := &task{
		gold: g, repeat: pred.Repeat, turns: make([][]qaoa.Call, n), surplus: n - len(g.turns),
		parsed: true, again: again,
	}
	for i := range pred.Turns {
		t.turns[i] = pred.Turns[i].Calls()
		if t.parsed && slices.ContainsFunc(t.turns[i], unparsable) {
			t.parsed = false
		}
	}
	return t
}

// unparsable reports whether c matches nothing because it is no call.
func unparsable(c qaoa.Call) bool { return c.Raw != "" || c.Name == "" }

// count takes in what a task came to.
func (s *scorer) count(t *task) {
	if !t.missing {
		s.scored++
		s.surplus += t.surplus
		if t.parsed {
			s.parsed++
		}
	}
	for p, tally := range s.tallies {
		for i := range t.out[p] {
			it := &t.out[p][i]
			if it.Turn >= 0 && it.Gold == 0 && it.Cell != CellSurplus {
				tally.countNoGold(t.turns[it.Turn], t.missing)
			}
			tally.add(&it.Item, it.best)
		}
	}
}

// scores returns the result for each preset.
func (s *scorer) scores() []Scores {
	cov := Coverage{Planned: s.planned, Answered: s.scored, Parsed: s.parsed, Scored: s.scored}
	cov.Attempted = min(cov.Answered+s.opt.Failed, cov.Planned)
	cov.Missing = cov.Planned - cov.Scored
	var out []Scores
	for _, t := range s.tallies {
		sc := t.scores(cov.Missing > 0)
		sc.Aligned, sc.Coverage, sc.SurplusTurns = s.opt.Aligned, cov, s.surplus
		if t.opt.Names == match.NameLetters && s.clashes.records > 0 {
			sc.Warnings = append(sc.Warnings, s.clashes.warning())
		}
		if t.opt.Alternatives == match.On && s.badAlts.count > 0 {
			sc.Warnings = append(sc.Warnings, fmt.Sprintf("%d records list alternatives that are not one for each gold call, so their gold values alone count as right (%.200q)", s.badAlts.count, s.badAlts.ids))
		}
		if s.surplus > 0 {
			sc.Warnings = append(sc.Warnings, fmt.Sprintf("%d predicted turns go beyond the turns of their record; their calls count at conversation level only", s.surplus))
		}
		out = append(out, sc)
	}
	return out
}

// A repeatSet holds repeats. They are small numbers, of which it keeps a bit
// each; others cost a map.
type repeatSet struct {
	bits  []uint64
	large map[int]bool
}

// smallRepeats is the number of repeats that are kept as bits.
const smallRepeats = 1 << 12

func (r *repeatSet) has(repeat int) bool {
	if repeat < 0 || repeat >= smallRepeats {
		return r.large[repeat]
	}
	word := repeat / 64
	return word < len(r.bits) && r.bits[word]>>(repeat%64)&1 != 0
}

// add reports whether repeat was not there yet.
func (r *repeatSet) add(repeat int) bool {
	if r.has(repeat) {
		return false
	}
	if repeat < 0 || repeat >= smallRepeats {
		if r.large == nil {
			r.large = map[int]bool{}
		}
		r.large[repeat] = true
		return true
	}
	word := repeat / 64
	for len(r.bits) <= word {
		r.bits = append(r.bits, 0)
	}
	r.bits[word] |= 1 << (repeat % 64)
	return true
}

func (r *repeatSet) empty() bool { return len(r.bits) == 0 && len(r.large) == 0 }

func (r *repeatSet) clear() { r.bits, r.large = r.bits[:0], nil }
