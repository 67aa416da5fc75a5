package match

import (
	"fmt"

	"assay/qaoa"
)

// Alternatives are the right values of the arguments of gold calls, where a
// benchmark gives more than one. The zero Alternatives are none.
type Alternatives struct {
	// Language is java or javascript if predicted strings are literals of that
	// language, as in the records of these categories; else it is empty.
	Language string

	calls []qaoa.Value // an object per gold call
}

// Len returns for how many gold calls there are alternatives.
func (a Alternatives) Len() int { return len(a.calls) }

// ParseAlternatives reads the alternatives from the meta of a record with that
// many gold calls. They are in the member alternatives, an object per gold call
// and in it a list per argument:
//
//	{"category":"simple","alternatives":[{"w":[3],"u":["m","metre",""]}]}
//
// "" in a list marks an argument that may be left out, and so does a list with
// nothing in it. An object in a list
// holds lists per key again, and a bare value is a list of one. The member
// category, if it is java or javascript, is the language.
//
// Without the member, or with one of another form (a benchmark may mean
// something else by it), there are none. That the list has another length than
// the gold has calls is an error.
func ParseAlternatives(meta qaoa.JSON, calls int) (Alternatives, error) {
	var none Alternatives
	if meta == "" {
		return none, nil
	}
	v, err := meta.Value()
	if err != nil {
		return none, fmt.Errorf("meta: %w", err)
	}
	list, ok := v.Get("alternatives")
	if !ok || list.Kind != qaoa.Array || len(list.Items) == 0 {
		return none, nil
	}
	for _, call := range list.Items {
		if call.Kind != qaoa.Object {
			return none, nil
		}
		for _, m := range call.Members {
			if m.Value.Kind != qaoa.Array {
				return none, nil
			}
		}
	}
	if len(list.Items) != calls {
		return none, fmt.Errorf("meta: /alternatives: want one object per gold call, %d, have %d", calls, len(list.Items))
	}
	out := Alternatives{calls: list.Items}
	if c, _ := v.Get("category"); c.Text == "java" || c.Text == "javascript" {
		out.Language = c.Text
	}
	return out, nil
}

// PrepareWith is [Prepare] with alternatives for the gold calls, by position.
// They take the place of the gold arguments if opt has the knob Alternatives
// on; calls beyond them keep theirs.
func PrepareWith(calls []qaoa.Call, tools []qaoa.Tool, alt Alternatives, opt Options) *Gold {
	return newGold(calls, tools, alt, opt)
}
