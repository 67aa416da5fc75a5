package match

import "slices"

// size returns how many matches the rule finds in g, whose rows are the gold
// calls of one name and whose columns are the predictions.
func (r AssignRule) size(g grid) int {
	n := 0
	switch r {
	case AssignFirstFit:
		taken := make([]bool, g.preds)
		for i := range g.golds {
			for j := range g.preds {
				if !taken[j] && g.has(i, j) {
					taken[j] = true
					n++
					break
				}
			}
		}
	case AssignReuse:
		for i := range g.golds {
			if slices.ContainsFunc(g.row(i), func(w uint64) bool { return w != 0 }) {
				n++
			}
		}
		n = min(n, g.preds) // with fewer predictions than gold calls
	case AssignFirst:
		for j := range g.preds {
			if g.has(0, j) {
				n++
			}
		}
	default:
		return maximum(g)
	}
	return n
}

// countsArguments reports whether the score needs the counts of arguments.
func (g *Gold) countsArguments() bool {
	return g.opt.Credit == CreditF1 || g.opt.Credit == CreditRecall
}

// countArguments fills the counts of arguments.
func (p *pairing) countArguments(c *Counts) {
	for i := range p.sides {
		c.GoldArgs += len(p.sides[i].args.Members)
	}
	for j := range p.preds {
		c.PredArgs += len(p.preds[j].args.Members)
	}
	for group, preds := range p.groups {
		golds := p.Gold.groups[group]
		if len(preds) == 0 {
			continue
		}
		if p.opt.Assign == AssignFirst {
			for _, j := range preds {
				c.SameArgs += p.sameArguments(golds[0], j)
			}
			continue
		}
		c.SameArgs += p.mostSameArguments(golds, preds)
	}
}

// sameArguments returns how many arguments both calls have and match.
func (p *pairing) sameArguments(i, j int) int {
	if !p.sides[i].object || !p.preds[j].object {
		return 0
	}
	n := 0
	for a := range p.argumentsOf(i, j) {
		if a.gold != nil && a.pred != nil && p.holds(i, a) {
			n++
		}
	}
	return n
}

// mostSameArguments returns the largest number of matching arguments that a
// pairing of the calls has. With more than [maxExact] calls of one name on a
// side they are paired in their order.
func (p *pairing) mostSameArguments(golds, preds []int) int {
	n := max(len(golds), len(preds))
	total := 0
	if n == 1 || n > maxExact {
		for k := range min(len(golds), len(preds)) {
			total += p.sameArguments(golds[k], preds[k])
		}
		return total
	}
	cost := make([][]int, n)
	for a := range cost {
		cost[a] = make([]int, n)
		for b := range cost[a] {
			if a < len(golds) && b < len(preds) {
				cost[a][b] = -p.sameArguments(golds[a], preds[b])
			}
		}
	}
	partner, _, _ := cheapest(cost)
	for a, b := range partner {
		total -= cost[a][b]
	}
	return total
}
