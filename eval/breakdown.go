package eval

import (
	"slices"

	"assay/match"
	"assay/qaoa"
)

// A Breakdown is the scores of the turns with a gold call, by one trait of them.
type Breakdown struct {
	// By is the trait: "similarity" (of the other tools on offer to the gold
	// tools, the highest Dice coefficient of the words of name and description),
	// "candidates" (tools on offer), "position" (place of the first gold call's
	// tool among them, from 1), "arguments" (of the gold call that has most),
	// "hops" (gold calls) or "strategy".
	By   string `json:"by"`
	Bins []Bin  `json:"bins"` // every bin that holds a turn, in order
}

// A Bin is the mean over the turns of one bin. Turns without a prediction score
// 0, as in [Cells].
type Bin struct {
	Label string `json:"label"`
	Cell
}

// breakdowns is the number of traits.
const breakdowns = 6

// traits are the breakdowns with the labels of their bins, in order.
func traits() [breakdowns]struct {
	by     string
	labels []string
} {
	few := []string{"1", "2-5", "6-10", "11-20", "21+"}
	return [breakdowns]struct {
		by     string
		labels []string
	}{
		{"similarity", []string{"no other tool", "0.0-0.2", "0.2-0.4", "0.4-0.6", "0.6-0.8", "0.8-1.0"}},
		{"candidates", append(slices.Clone(few), "none")},
		{"position", append(slices.Clone(few), "not on offer")},
		{"arguments", []string{"0", "1", "2", "3", "4", "5+"}},
		{"hops", []string{"1", "2", "3", "4", "5+"}},
		{"strategy", []string{string(qaoa.SingleHop), string(qaoa.Parallel), string(qaoa.Serial)}},
	}
}

// sort puts the turns of rec into bins.
func (p *profile) sort(opt match.Options, g *goldCase, rec qaoa.Record) {
	shape := qaoa.ShapeOf(rec)
	p.turns = make([][breakdowns]uint8, len(g.turns))
	for i, calls := range g.turns {
		if len(calls) == 0 {
			continue
		}
		tools := make([]int, len(calls))
		most := 0
		for k, c := range calls {
			tools[k] = p.goldPlace(opt, c.Name)
			if form := nameForm(opt, c.Name); !slices.Contains(p.golds, form) {
				p.golds = append(p.golds, form)
			}
			if v, err := c.Arguments.Value(); err == nil {
				most = max(most, len(v.Members))
			}
		}
		p.turns[i] = [breakdowns]uint8{
			p.similarityBin(tools),
			fewBin(len(p.offers)),
			fewBin(tools[0] + 1),
			uint8(min(most, 5)),
			uint8(min(len(calls), 5) - 1),
			strategyBin(shape.Turns[i].Strategy),
		}
	}
}

// similarityBin looks for the other tool that is most like a gold tool.
func (p *profile) similarityBin(gold []int) uint8 {
	var forms []string
	for _, i := range gold {
		if i >= 0 {
			forms = append(forms, p.offers[i].form)
		}
	}
	highest := -1.0
	for _, i := range gold {
		if i < 0 {
			continue
		}
		for _, o := range p.offers {
			if !slices.Contains(forms, o.form) {
				highest = max(highest, alike(p.offers[i].words, o.words))
			}
		}
	}
	if highest < 0 {
		return 0
	}
	return uint8(min(int(highest*5), 4) + 1)
}

// fewBin puts a count into 1, 2-5, 6-10, 11-20, 21 and more, and 0.
func fewBin(n int) uint8 {
	switch {
	case n <= 0:
		return 5
	case n == 1:
		return 0
	case n <= 5:
		return 1
	case n <= 10:
		return 2
	case n <= 20:
		return 3
	}
	return 4
}

func strategyBin(s qaoa.Strategy) uint8 {
	switch s {
	case qaoa.Parallel:
		return 1
	case qaoa.Serial:
		return 2
	}
	return 0
}
