package census

import (
	"unicode/utf8"

	"assay/qaoa"
)

// A Census is what has been counted so far. The zero value is empty.
type Census struct {
	Records  int
	Turns    int
	Calls    int
	Parallel int // steps with two calls or more

	SingleTurn, MultiTurn       int // records
	SingleHop, MultiHop, NoCall int // turns
	SerialTurns, ParallelTurns  int // multi-hop turns by strategy

	CallsPerRecord Dist
	CallsPerTurn   Dist
	TurnsPerRecord Dist
	ToolsPerRecord Dist
	Messages       Dist // of the interchange form: two a call, two a turn
	Characters     Dist // of the queries, calls, observations and answers
	Tokens         Dist // an estimate: bytes of the same text / 3.5, rounded up

	Domains    Tally // of the tools on offer, each counted in every record
	Categories Tally // likewise

	Findings map[string]int // of qaoa.Validate, by severity and code
	Unusable int            // records with an error among the findings

	// Sources holds the same for each source by its name. The first 100 are
	// kept apart; all further ones are counted as "(more sources)".
	Sources map[string]*Census
}

// Add counts rec, in all and under its source.
func (c *Census) Add(rec qaoa.Record) {
	s := c.source(rec.Source.Name)
	shape := qaoa.ShapeOf(rec)
	findings := qaoa.Validate(rec)
	chars, bytes := size(rec)
	for _, c := range []*Census{c, s} {
		c.count(rec, shape)
		c.Characters.Add(chars)
		c.Tokens.Add((2*bytes + 6) / 7)
		c.findings(findings)
	}
}

func (c *Census) source(name string) *Census {
	name = cut(name, mostLetters)
	s := c.Sources[name]
	if s == nil && len(c.Sources) >= mostSources {
		name = more
		s = c.Sources[name]
	}
	if s == nil {
		if c.Sources == nil {
			c.Sources = map[string]*Census{}
		}
		s = &Census{}
		c.Sources[name] = s
	}
	return s
}

func (c *Census) count(rec qaoa.Record, shape qaoa.Shape) {
	c.Records++
	c.Turns += len(rec.Turns)
	if shape.MultiTurn {
		c.MultiTurn++
	} else {
		c.SingleTurn++
	}
	calls := 0
	for i, t := range shape.Turns {
		switch t.Hop {
		case qaoa.NoCall:
			c.NoCall++
		case qaoa.SingleHop:
			c.SingleHop++
		case qaoa.MultiHop:
			c.MultiHop++
		}
		switch t.Strategy {
		case qaoa.Serial:
			c.SerialTurns++
		case qaoa.Parallel:
			c.ParallelTurns++
		}
		for _, s := range rec.Turns[i].Steps {
			if len(s.Calls) > 1 {
				c.Parallel++
			}
		}
		c.CallsPerTurn.Add(t.Calls)
		calls += t.Calls
	}
	c.Calls += calls
	c.CallsPerRecord.Add(calls)
	c.TurnsPerRecord.Add(len(rec.Turns))
	c.ToolsPerRecord.Add(len(rec.Tools))
	c.Messages.Add(2*calls + 2*len(rec.Turns))
	for i := range rec.Tools {
		c.Domains.Add(rec.Tools[i].Domain)
		c.Categories.Add(rec.Tools[i].Category)
	}
}

func (c *Census) findings(findings []qaoa.Finding) {
	if len(findings) > 0 && c.Findings == nil {
		c.Findings = map[string]int{}
	}
	for _, f := range findings {
		c.Findings[string(f.Severity)+" "+f.Code]++
	}
	if !qaoa.Usable(findings) {
		c.Unusable++
	}
}

// size returns the characters and bytes of what a record says.
func size(rec qaoa.Record) (chars, bytes int) {
	add := func(s string) {
		chars += utf8.RuneCountInString(s)
		bytes += len(s)
	}
	for _, t := range rec.Turns {
		add(t.Query)
		add(t.Answer)
		for _, s := range t.Steps {
			for i, c := range s.Calls {
				add(c.Name)
				add(string(c.Arguments))
				add(s.Observation(i))
			}
		}
	}
	return chars, bytes
}
