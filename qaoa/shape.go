package qaoa

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Hop is the hop class of a turn: how many calls answer it (UniToolCall,
// section 3.1). The released scripts put turns without a call under
// single-hop.
type Hop string

// The hop classes.
const (
	NoCall    Hop = "no-call"    // no call
	SingleHop Hop = "single-hop" // one call
	MultiHop  Hop = "multi-hop"  // two calls or more
)

// A Strategy is how the calls of a multi-hop turn depend on each other.
type Strategy string

// The strategies.
const (
	Serial   Strategy = "serial"   // some call needs the result of an earlier step
	Parallel Strategy = "parallel" // none does
)

// A Shape is what a record looks like, always computed from its calls and
// never taken from labels.
type Shape struct {
	MultiTurn bool // two turns or more
	Turns     []TurnShape
}

// A TurnShape is the shape of one turn.
type TurnShape struct {
	Hop      Hop
	Strategy Strategy // "" unless Hop is MultiHop
	Calls    int
	Steps    int
}

// Hop returns the hop class of t.
func (t Turn) Hop() Hop {
	n := 0
	for _, s := range t.Steps {
		n += len(s.Calls)
	}
	switch n {
	case 0:
		return NoCall
	case 1:
		return SingleHop
	}
	return MultiHop
}

// MultiTurn reports whether rec has two turns or more.
func (rec Record) MultiTurn() bool { return len(rec.Turns) > 1 }

// Calls returns the calls of all turns of rec, in order.
func (rec Record) Calls() []Call {
	var calls []Call
	for _, t := range rec.Turns {
		calls = append(calls, t.Calls()...)
	}
	return calls
}

// ShapeOf returns the shape of rec.
//
// A multi-hop turn is serial when some call depends on an earlier step. With
// real observations, dependence is tested by value: an argument leaf that is
// specific occurs, not flanked by letters or digits, in an observation of an
// earlier step of the turn, and in no query so far. Specific is a string of 3
// or more characters that has a digit, '_', '-' or '.', or is longer than 12;
// or a number of 3 or more digits. A placeholder (API_call_3, ${…}) that an
// argument holds counts as a reference to an earlier call, unless the turn has
// no earlier step.
func ShapeOf(rec Record) Shape {
	shape := Shape{MultiTurn: rec.MultiTurn(), Turns: make([]TurnShape, len(rec.Turns))}
	var queries []string
	for i, t := range rec.Turns {
		queries = append(queries, t.Query)
		ts := TurnShape{Hop: t.Hop(), Steps: len(t.Steps)}
		for _, s := range t.Steps {
			ts.Calls += len(s.Calls)
		}
		if ts.Hop == MultiHop {
			ts.Strategy = Parallel
			if dependent(t, queries) {
				ts.Strategy = Serial
			}
		}
		shape.Turns[i] = ts
	}
	return shape
}

// dependent reports whether some call of t depends on an earlier step of t.
func dependent(t Turn, queries []string) bool {
	var seen []string // observations of earlier steps
	for i, s := range t.Steps {
		if i > 0 {
			for _, c := range s.Calls {
				v, err := c.Arguments.Value()
				if err == nil && anyLeaf(v, func(leaf Value) bool { return refers(leaf, seen, queries) }) {
					return true
				}
			}
		}
		for _, o := range s.Observations {
			if o != "" {
				seen = append(seen, o)
			}
		}
	}
	return false
}

// anyLeaf reports whether f holds for a string or number in v.
func anyLeaf(v Value, f func(Value) bool) bool {
	switch v.Kind {
	case Array:
		for _, item := range v.Items {
			if anyLeaf(item, f) {
				return true
			}
		}
	case Object:
		for _, m := range v.Members {
			if anyLeaf(m.Value, f) {
				return true
			}
		}
	case String, Number:
		return f(v)
	}
	return false
}

func refers(leaf Value, seen, queries []string) bool {
	if leaf.Kind == String && Placeholder(leaf.Text) {
		return true
	}
	if !specific(leaf) {
		return false
	}
	for _, q := range queries {
		if containsWord(q, leaf.Text) {
			return false
		}
	}
	for _, o := range seen {
		if containsWord(o, leaf.Text) {
			return true
		}
	}
	return false
}

// Placeholder reports whether s holds a reference to the result of another
// call: API_call_N of Seal-Tools, or ${…} of ToolAlpaca.
func Placeholder(s string) bool {
	if i := strings.Index(s, "${"); i >= 0 && strings.IndexByte(s[i:], '}') > 0 {
		return true
	}
	const mark = "API_call_"
	for rest := s; ; {
		i := strings.Index(rest, mark)
		if i < 0 {
			return false
		}
		rest = rest[i+len(mark):]
		if rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			return true
		}
	}
}

func specific(v Value) bool {
	if v.Kind == Number {
		digits := 0
		for _, r := range v.Text {
			if r >= '0' && r <= '9' {
				digits++
			}
		}
		return digits >= 3
	}
	n := utf8.RuneCountInString(v.Text)
	if n < 3 {
		return false
	}
	return n > 12 || strings.ContainsFunc(v.Text, func(r rune) bool {
		return unicode.IsDigit(r) || r == '_' || r == '-' || r == '.'
	})
}

// containsWord reports whether word occurs in text without a letter or digit
// right before or after it.
func containsWord(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(word):])
		if !letterOrDigit(before) && !letterOrDigit(after) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		from = i + max(size, 1)
	}
}

func letterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
