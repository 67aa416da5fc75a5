package train

import (
	"fmt"
	"strings"

	"assay/qaoa"
)

// The turn classes, as terms of shapes.
const (
	singleTurn = "single-turn"
	multiTurn  = "multi-turn"
)

// A shape is the class of a record: its turn class, and the hardest of its turns
// in the order no call, one call, parallel calls, serial calls.
type shape struct{ turn, hop string }

func (s shape) String() string { return s.turn + "/" + s.hop }

// shapes returns all shapes, easiest first.
func shapes() []shape {
	var out []shape
	for _, turn := range []string{singleTurn, multiTurn} {
		for _, hop := range []string{string(qaoa.NoCall), string(qaoa.SingleHop), string(qaoa.Parallel), string(qaoa.Serial)} {
			out = append(out, shape{turn, hop})
		}
	}
	return out
}

func shapeOf(rec qaoa.Record) shape {
	out := shape{singleTurn, string(qaoa.NoCall)}
	if rec.MultiTurn() {
		out.turn = multiTurn
	}
	for _, t := range qaoa.ShapeOf(rec).Turns {
		switch {
		case t.Strategy == qaoa.Serial || out.hop == string(qaoa.Serial):
			out.hop = string(qaoa.Serial)
		case t.Strategy == qaoa.Parallel || out.hop == string(qaoa.Parallel):
			out.hop = string(qaoa.Parallel)
		case t.Hop == qaoa.SingleHop:
			out.hop = string(qaoa.SingleHop)
		}
	}
	return out
}

// ShapeTerms returns the names that stand for shapes of records in selections
// and mixtures: a turn class, a hop class (of the turn with most), or both with
// a slash between them, as in multi-turn/serial. multi-hop is parallel and
// serial.
func ShapeTerms() []string {
	return []string{singleTurn, multiTurn, string(qaoa.NoCall), string(qaoa.SingleHop), string(qaoa.MultiHop), string(qaoa.Parallel), string(qaoa.Serial)}
}

// matchesTerm reports whether a shape is one of those that a term stands for.
func matchesTerm(term string, s shape) bool {
	for part := range strings.SplitSeq(term, "/") {
		hop := part == s.hop || part == string(qaoa.MultiHop) && (s.hop == string(qaoa.Parallel) || s.hop == string(qaoa.Serial))
		if part != s.turn && !hop {
			return false
		}
	}
	return true
}

// checkTerm returns an error if no shape matches a term.
func checkTerm(term string) error {
	for _, s := range shapes() {
		if matchesTerm(term, s) {
			return nil
		}
	}
	return fmt.Errorf("shape %q: want one of %s, or a turn class and a hop class as in multi-turn/serial", term, strings.Join(ShapeTerms(), ", "))
}
