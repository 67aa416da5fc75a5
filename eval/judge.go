package eval

import (
	"slices"

	"assay/match"
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
	g := t.gold
	ready := s.prepared(t, rule)
	one := func(all bool, turn int) comparison {
		gold, pred := t.calls(turn)
		if !s.explain && (len(gold) == 0 || len(pred) == 0) {
			return comparison{counts: match.Counts{Gold: len(gold), Pred: len(pred)}}
		}
		var side *match.Gold
		switch {
		case ready == nil:
			side = match.Prepare(gold, g.tools, s.rules[rule])
		case all:
			side = ready.all
		case turn < len(ready.turns):
			side = ready.turns[turn]
		default: // a surplus turn
			side = match.Prepare(nil, nil, s.rules[rule])
		}
		c := comparison{counts: side.Counts(pred)}
		if s.explain {
			c.pairs = side.Explain(pred)
		}
		return c
	}
	for i := range t.turns {
		out[i] = one(false, i)
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
		last.counts = match.Counts{Gold: golds, Pred: preds}
	default:
		*last = one(true, -1)
	}
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
	for i, calls := range g.turns {
		p.turns[i] = match.Prepare(calls, g.tools, s.rules[rule])
	}
	if len(g.turns) == 1 {
		p.all = p.turns[0]
	} else {
		p.all = match.Prepare(g.all, g.tools, s.rules[rule])
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
	item := Item{ID: g.id, Repeat: t.repeat, Dataset: g.dataset, Missing: t.missing}
	add := func(score, top match.Score) {
		item.Score = score
		if t.missing {
			item.Score = match.Score{}
		}
		out = append(out, instance{Item: item, best: top})
	}
	for i := range turns {
		c := found[i].counts
		counts[i], best[i] = c, perfect(c.Gold)
		item.Turn, item.Gold, item.Pred, item.Pairs = i, c.Gold, c.Pred, found[i].pairs
		item.Cell = tally.turnCell(c.Gold, i >= len(g.turns))
		add(c.Score(tally.opt), best[i].Score(tally.opt))
	}
	all := found[turns]
	item.Cell = tally.conversationCell(all.counts.Gold, len(g.turns) > 1)
	if item.Cell == "" {
		return out
	}
	item.Turn, item.Gold, item.Pred, item.Pairs = -1, all.counts.Gold, all.counts.Pred, all.pairs
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
