package eval

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"assay/match"
	"assay/qaoa"
)

// ScoreOptions say how predictions are scored. The zero value scores under
// preset paper with the calls of a conversation pooled.
type ScoreOptions struct {
	Presets []match.Options // none is preset paper
	// Aligned matches conversations turn by turn and sums the matchings,
	// instead of pooling the calls of all turns.
	Aligned bool
	// Item receives every instance, with the preset it was scored under: those
	// of a prediction when it is read, those of missing predictions at the
	// end, in the order of gold. Its error ends the scoring. May be nil.
	Item func(preset string, it Item) error
	// Explain fills Item.Pairs.
	Explain bool
	// Failed is how many pairs a back end failed on. They have no prediction,
	// so they are missing, but they were attempted.
	Failed int
	// Repeats is how often each record was to be asked: repeats 0 to Repeats-1
	// are planned, even one that no prediction is of. 0 plans the repeats that
	// the predictions have, and at least one.
	Repeats int
}

// Score compares predictions with gold records and returns the scores, one for
// each preset, in one pass over preds. The calls of gold are held in memory,
// preds are not.
//
// Predictions join gold by id. An id that is not in gold, or that occurs twice
// in gold or in one repeat of the predictions, is an [*IDError]; all of them
// are looked for before it is returned. A record without a prediction in some
// repeat that the predictions have, or that opt.Repeats plans, is missing: it
// scores 0, and Bounds says what it could have changed.
//
// Instances are (UniToolCall, section 4.1): each gold turn, under single-hop
// (SH) or multi-hop (MH) by its calls, against the predicted turn at the same
// position or, if there is none, against no call; and each conversation, under
// single-turn (ST) or multi-turn (MT), with the calls of all its turns. What
// has no gold call is in no cell. The result does not depend on the order of
// preds.
func Score(ctx context.Context, gold iter.Seq2[qaoa.Record, error], preds iter.Seq2[qaoa.Prediction, error], opt ScoreOptions) ([]Scores, error) {
	s, err := newScorer(opt)
	if err != nil {
		return nil, err
	}
	for rec, err := range gold {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		s.addGold(rec)
	}
	if err := s.twiceGold.err("records of the gold data have the id of an earlier one; keep one of each"); err != nil {
		return nil, err
	}
	for pred, err := range preds {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		if err := s.addPrediction(pred); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(
		s.unknown.err("predictions have an id that is not in the gold data; give the gold files that the predictions were made for"),
		s.twice.err("predictions have the id of an earlier one of the same repeat; give each run its own file, or number the runs in \"repeat\""),
	); err != nil {
		return nil, err
	}
	if err := s.addMissing(); err != nil {
		return nil, err
	}
	return s.scores(), nil
}

// A goldCase is what scoring needs of a record.
type goldCase struct {
	id, dataset string
	turns       [][]qaoa.Call
	tools       []qaoa.Tool // those that a gold call may mean
}

// A seat is one record in one repeat.
type seat struct{ gold, repeat int }

// A scorer is the state of one Score.
type scorer struct {
	opt     ScoreOptions
	tallies []*tally

	gold    []goldCase
	byID    map[string]int
	names   map[string]string // normal forms of tool names
	clashes clashes

	seen    map[seat]bool
	repeats map[int]bool
	parsed  int
	surplus int

	twiceGold, unknown, twice idList
}

func newScorer(opt ScoreOptions) (*scorer, error) {
	s := &scorer{
		opt: opt, byID: map[string]int{}, names: map[string]string{},
		seen: map[seat]bool{}, repeats: map[int]bool{},
	}
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
		s.tallies = append(s.tallies, &tally{opt: p, sets: map[string]*[4]cellTally{}})
	}
	return s, nil
}

func (s *scorer) addGold(rec qaoa.Record) {
	if _, ok := s.byID[rec.ID]; ok {
		s.twiceGold.add(rec.ID)
		return
	}
	s.byID[rec.ID] = len(s.gold)
	g := goldCase{id: rec.ID, dataset: rec.Source.Name}
	wanted := map[string]bool{}
	for _, t := range rec.Turns {
		calls := t.Calls()
		g.turns = append(g.turns, calls)
		for _, c := range calls {
			wanted[s.normal(c.Name)] = true
		}
	}
	offered := map[string]string{}
	for _, t := range rec.Tools {
		name := s.normal(t.Name)
		if wanted[name] {
			g.tools = append(g.tools, qaoa.Tool{Name: t.Name, Parameters: t.Parameters})
		}
		if other, ok := offered[name]; ok && other != t.Name {
			s.clashes.add(rec.ID, other, t.Name)
		}
		offered[name] = t.Name
	}
	s.gold = append(s.gold, g)
}

// normal is [match.Name], remembered: the same tools come in many records.
func (s *scorer) normal(name string) string {
	n, ok := s.names[name]
	if !ok {
		n = match.Name(name)
		s.names[name] = n
	}
	return n
}

func (s *scorer) addPrediction(pred qaoa.Prediction) error {
	at, ok := s.byID[pred.ID]
	if !ok {
		s.unknown.add(pred.ID)
		return nil
	}
	here := seat{at, pred.Repeat}
	if s.seen[here] {
		s.twice.add(pred.ID)
		return nil
	}
	s.seen[here] = true
	s.repeats[pred.Repeat] = true
	g := &s.gold[at]
	turns := make([][]qaoa.Call, max(len(pred.Turns), len(g.turns)))
	parsed := true
	for i, t := range pred.Turns {
		turns[i] = t.Calls()
		if slices.ContainsFunc(turns[i], unparsable) {
			parsed = false
		}
	}
	if parsed {
		s.parsed++
	}
	s.surplus += len(turns) - len(g.turns)
	for _, t := range s.tallies {
		if err := s.scoreOne(t, g, turns, pred.Repeat, false); err != nil {
			return err
		}
	}
	return nil
}

// addMissing scores what has no prediction.
func (s *scorer) addMissing() error {
	for repeat := range s.opt.Repeats {
		s.repeats[repeat] = true
	}
	if len(s.repeats) == 0 {
		s.repeats[0] = true
	}
	for _, repeat := range slices.Sorted(maps.Keys(s.repeats)) {
		for at := range s.gold {
			if s.seen[seat{at, repeat}] {
				continue
			}
			g := &s.gold[at]
			for _, t := range s.tallies {
				if err := s.scoreOne(t, g, make([][]qaoa.Call, len(g.turns)), repeat, true); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// unparsable reports whether c matches nothing because it is no call.
func unparsable(c qaoa.Call) bool { return c.Raw != "" || c.Name == "" }

// scoreOne scores every instance of one record in one repeat. turns has at
// least as many entries as g.turns.
func (s *scorer) scoreOne(t *tally, g *goldCase, turns [][]qaoa.Call, repeat int, missing bool) error {
	item := Item{ID: g.id, Repeat: repeat, Dataset: g.dataset, Missing: missing}
	counts := make([]match.Counts, len(turns))
	best := make([]match.Counts, len(turns)) // of the gold calls themselves
	var pairs []match.Pair                   // of all turns
	var goldAll, predAll []qaoa.Call
	for i, pred := range turns {
		var calls []qaoa.Call
		if i < len(g.turns) {
			calls = g.turns[i]
		}
		n := len(calls)
		best[i] = match.Counts{Gold: n, Pred: n, Name: n, Strict: n, Flex: n, FlexArg: n}
		prepared := match.Prepare(calls, g.tools, t.opt)
		counts[i] = prepared.Counts(pred)
		item.Turn, item.Gold, item.Pred = i, n, len(pred)
		item.Score = counts[i].Score(t.opt)
		item.Pairs = nil
		if s.explains() {
			item.Pairs = prepared.Explain(pred)
			pairs = append(pairs, moved(item.Pairs, len(goldAll), len(predAll))...)
		}
		goldAll, predAll = append(goldAll, calls...), append(predAll, pred...)
		item.Cell = t.turnCell(n, i >= len(g.turns))
		if item.Cell != CellSurplus && n == 0 {
			t.countNoGold(pred, missing)
		}
		if err := s.emit(t, item, best[i].Score(t.opt)); err != nil {
			return err
		}
	}
	item.Cell = t.conversationCell(len(goldAll), len(g.turns) > 1)
	if item.Cell == "" {
		return nil
	}
	item.Turn, item.Gold, item.Pred, item.Pairs = -1, len(goldAll), len(predAll), pairs
	top := match.Aligned(best, t.opt)
	switch {
	case len(turns) == 1: // the score of its one turn
	case s.opt.Aligned:
		item.Score = match.Aligned(counts, t.opt)
	default:
		prepared := match.Prepare(goldAll, g.tools, t.opt)
		item.Score = prepared.Counts(predAll).Score(t.opt)
		if s.explains() {
			item.Pairs = prepared.Explain(predAll)
		}
	}
	return s.emit(t, item, top)
}

func (s *scorer) explains() bool { return s.opt.Explain && s.opt.Item != nil }

// emit counts an instance and passes it on. best is what a right prediction
// would have scored.
func (s *scorer) emit(t *tally, it Item, best match.Score) error {
	if it.Missing {
		it.Score = match.Score{}
	}
	t.add(it, best)
	if s.opt.Item == nil {
		return nil
	}
	return s.opt.Item(t.opt.Name, it)
}

// moved returns pairs with the indices of calls within all turns.
func moved(pairs []match.Pair, gold, pred int) []match.Pair {
	out := slices.Clone(pairs)
	for i := range out {
		if out[i].Gold >= 0 {
			out[i].Gold += gold
		}
		if out[i].Pred >= 0 {
			out[i].Pred += pred
		}
	}
	return out
}

// scores returns the result for each preset.
func (s *scorer) scores() []Scores {
	cov := Coverage{
		Planned:  len(s.gold) * len(s.repeats),
		Answered: len(s.seen),
		Parsed:   s.parsed,
		Scored:   len(s.seen),
	}
	cov.Attempted = min(cov.Answered+s.opt.Failed, cov.Planned)
	cov.Missing = cov.Planned - cov.Scored
	var out []Scores
	for _, t := range s.tallies {
		sc := t.scores(cov.Missing > 0)
		sc.Aligned, sc.Coverage, sc.SurplusTurns = s.opt.Aligned, cov, s.surplus
		if t.opt.Names == match.NameLetters && s.clashes.records > 0 {
			sc.Warnings = append(sc.Warnings, s.clashes.warning())
		}
		if s.surplus > 0 {
			sc.Warnings = append(sc.Warnings, fmt.Sprintf("%d predicted turns go beyond the turns of their record; their calls count at conversation level only", s.surplus))
		}
		out = append(out, sc)
	}
	return out
}

// clashes collects tools on offer whose names have one normal form.
type clashes struct {
	records int
	last    string // record counted last
	list    []string
}

func (c *clashes) add(id, a, b string) {
	if c.records == 0 || c.last != id {
		c.records++
		c.last = id
	}
	if len(c.list) < maxListed {
		c.list = append(c.list, fmt.Sprintf("%.80q: %.80q, %.80q", id, a, b))
	}
}

func (c *clashes) warning() string {
	return fmt.Sprintf("%d records offer two tools whose names differ only in digits, punctuation or case, so a call of one counts as a call of the other (%s); preset strict tells them apart",
		c.records, strings.Join(c.list, "; "))
}
