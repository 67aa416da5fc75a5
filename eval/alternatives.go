package eval

import (
	"assay/match"
	"assay/qaoa"
)

// goldAlternatives are the alternatives of the gold values of a record, for
// each turn and for the conversation.
type goldAlternatives struct {
	turns []match.Alternatives
	all   match.Alternatives
}

// alternativesOf reads the alternatives of a record; nil if it has none.
func alternativesOf(rec qaoa.Record, g *goldCase) (*goldAlternatives, error) {
	all, err := match.ParseAlternatives(rec.Meta, len(g.all))
	if err != nil || all.Len() == 0 {
		return nil, err
	}
	a := &goldAlternatives{turns: []match.Alternatives{all}, all: all}
	if len(g.turns) == 1 {
		return a, nil
	}
	// They are in the order of all calls; each turn gets its own.
	meta, err := rec.Meta.Value()
	if err != nil {
		return nil, err
	}
	list, _ := meta.Get("alternatives")
	category, _ := meta.Get("category")
	a.turns = make([]match.Alternatives, len(g.turns))
	at := 0
	for i, calls := range g.turns {
		part := qaoa.ObjectValue(
			qaoa.Member{Name: "category", Value: qaoa.StringValue(category.Text)},
			qaoa.Member{Name: "alternatives", Value: qaoa.ArrayValue(list.Items[at : at+len(calls)]...)},
		)
		if a.turns[i], err = match.ParseAlternatives(part.JSON(), len(calls)); err != nil {
			return nil, err
		}
		at += len(calls)
	}
	return a, nil
}
