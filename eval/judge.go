package eval

import (
	"slices"

	"assay/match"
	"assay/qaoa"
)

// A comparison is what the rules of a preset say of one instance.
type comparison struct {
	counts match.Counts
	pairs  []match.Pair // if they are asked for
}

// judge scores every instance of a task under every preset.
func (s *scorer) judge(t *task) {
	turns := len(t.turns)
	byRule := make([]comparison, len(s.rules)*(turns+1)) // the conversation comes last
	for rule := range s.rules {
		s.compareAll(t, rule, byRule[rule*(turns+1):(rule+1)*(turns+1)])
	}
	t.out = make([][]instance, len(s.tallies))
	all := make([]instance, 0, len(s.tallies)*(turns+1))
	for p, tally := range s.tallies {
		from := len(all)
		rule := s.ruleOf[p]
		all = s.instances(all, tally, t, byRule[rule*(turns+1):(rule+1)*(turns+1)])
		t.out[p] = all[from:len(all):len(all)]
	}
}

// compareAll compares the turns of t, and then the conversation.
func (s *scorer) compareAll(t *task, rule int, out []comparison) {
	ready := s.prepared(t, rule)
	for i := range t.turns {
		out[i] = s.compare(t, rule, i, ready)
	}
	last := &out[len(t.turns)]
	switch {
	case len(t.turns) == 1:
		*last = out[0]
	case s.opt.Aligned:
		golds, preds := 0, 0
		for i, c := range out[:len(t.turns)] {
			last.pairs = append(last.pairs, moved(c.pairs, golds, preds)...)
			gold, pred := t.calls(i)
			golds, preds = golds+len(gold), preds+len(pred)
		}
	default:
		*last = s.compare(t, rule, -1, ready)
	}
}

// compare compares one instance. ready may be nil.
func (s *scorer) compare(t *task, rule, turn int, ready *prepared) comparison {
	gold, pred := t.calls(turn)
	if !s.explain && (len(gold) == 0 || len(pred) == 0) && plain(&s.rules[rule]) {
		return comparison{counts: match.Counts{Gold: len(gold), Pred: len(pred)}}
	}
	var side *match.Gold
	switch {
	case ready == nil || turn >= len(ready.turns):
		side = t.gold.prepare(turn, s.rules[rule])
	case turn < 0:
		side = ready.all
	default:
		side = ready.turns[turn]
	}
	c := comparison{counts: side.Counts(pred)}
	if s.explain {
		c.pairs = side.Explain(pred)
	}
	return c
}

// plain reports whether nothing but the numbers of calls counts in an instance
// that lacks calls on one side.
func plain(opt *match.Options) bool {
	return opt.FreeCalls == "" && (opt.Credit == match.CreditCalls || opt.Credit == match.CreditInstance)
}

// prepare returns the gold side of a turn, or of the conversation if turn is
// negative. A surplus turn has no gold call.
func (g *goldCase) prepare(turn int, rule match.Options) *match.Gold {
	var calls []qaoa.Call
	var alts match.Alternatives
	switch {
	case turn < 0:
		calls = g.all
		if g.alts != nil {
			alts = g.alts.all
		}
	case turn < len(g.turns):
		calls = g.turns[turn]
		if g.alts != nil {
			alts = g.alts.turns[turn]
		}
	}
	return match.PrepareWith(calls, g.tools, alts, rule)
}

// prepared returns the canonical forms of the gold calls of t, or nil if they
// are not worth keeping: until a record is met a second time.
func (s *scorer) prepared(t *task, rule int) *prepared {
	if !t.again {
		return nil
	}
	g := t.gold
	if p := g.kept[rule].Load(); p != nil {
		return p
	}
	p := &prepared{turns: make([]*match.Gold, len(g.turns))}
	for i := range g.turns {
		p.turns[i] = g.prepare(i, s.rules[rule])
	}
	if len(g.turns) == 1 {
		p.all = p.turns[0]
	} else {
		p.all = g.prepare(-1, s.rules[rule])
	}
	g.kept[rule].Store(p) // two workers may both do it, and come to the same
	return p
}

// instances appends the instances of t under one preset.
func (s *scorer) instances(out []instance, tally *tally, t *task, found []comparison) []instance {
	g := t.gold
	turns := len(t.turns)
	counts := make([]match.Counts, turns)
	best := make([]match.Counts, turns)
	preds := 0
	item := Item{ID: g.id, Repeat: t.repeat, Dataset: g.dataset, Missing: t.missing}
	add := func(score, top match.Score) {
		item.Score = score
		if t.missing {
			item.Score = match.Score{}
		}
		out = append(out, instance{Item: item, best: top})
	}
	for i := range turns {
		gold, pred := t.calls(i)
		counts[i], best[i] = found[i].counts, perfect(len(gold))
		item.Turn, item.Gold, item.Pred, item.Pairs = i, len(gold), len(pred), found[i].pairs
		item.Cell = tally.turnCell(len(gold), i >= len(g.turns))
		add(counts[i].Score(tally.opt), best[i].Score(tally.opt))
		preds += len(pred)
	}
	all := found[turns]
	item.Cell = tally.conversationCell(len(g.all), len(g.turns) > 1)
	if item.Cell == "" {
		return out
	}
	item.Turn, item.Gold, item.Pred, item.Pairs = -1, len(g.all), preds, all.pairs
	top := match.Aligned(best, tally.opt)
	if s.opt.Aligned && turns > 1 {
		add(match.Aligned(counts, tally.opt), top)
	} else {
		add(all.counts.Score(tally.opt), top)
	}
	return out
}

// perfect returns the counts of n gold calls against themselves.
func perfect(n int) match.Counts {
	return match.Counts{Gold: n, Pred: n, Name: n, Strict: n, Flex: n, FlexArg: n}
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
