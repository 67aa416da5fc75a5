// Package census counts records: shapes, calls, tools, lengths (the analysis
// behind UniToolCall, Figure 8 and Table 5). It streams, and its memory does
// not grow with the number of records.
package census

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
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

	Findings map[string]int // of qaoa.Validate, by severity and code
	Unusable int            // records with an error among the findings
	Sources  map[string]*Census
}

// Add counts rec, in all and under its source.
func (c *Census) Add(rec qaoa.Record) {
	if c.Sources == nil {
		c.Sources = map[string]*Census{}
	}
	s := c.Sources[rec.Source.Name]
	if s == nil {
		s = &Census{}
		c.Sources[rec.Source.Name] = s
	}
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

// A row is one line of the text form and one member of the JSON form.
type row struct {
	key, label string
	count      int
	dist       *Dist
}

func (c *Census) rows() []row {
	return []row{
		{key: "records", label: "records", count: c.Records},
		{key: "single_turn", label: "  single-turn", count: c.SingleTurn},
		{key: "multi_turn", label: "  multi-turn", count: c.MultiTurn},
		{key: "unusable", label: "  with an error", count: c.Unusable},
		{key: "turns", label: "turns", count: c.Turns},
		{key: "single_hop", label: "  single-hop", count: c.SingleHop},
		{key: "multi_hop", label: "  multi-hop", count: c.MultiHop},
		{key: "serial", label: "    serial", count: c.SerialTurns},
		{key: "parallel", label: "    parallel", count: c.ParallelTurns},
		{key: "no_call", label: "  no call", count: c.NoCall},
		{key: "calls", label: "calls", count: c.Calls},
		{key: "parallel_steps", label: "steps of 2 calls or more", count: c.Parallel},
		{key: "calls_per_record", label: "calls per record", dist: &c.CallsPerRecord},
		{key: "calls_per_turn", label: "calls per turn", dist: &c.CallsPerTurn},
		{key: "turns_per_record", label: "turns per record", dist: &c.TurnsPerRecord},
		{key: "tools_per_record", label: "tools per record", dist: &c.ToolsPerRecord},
		{key: "messages_per_record", label: "messages per record", dist: &c.Messages},
		{key: "characters", label: "characters per record", dist: &c.Characters},
		{key: "tokens_estimate", label: "tokens per record (estimate: bytes/3.5)", dist: &c.Tokens},
	}
}

// WriteText writes the census for a person to read.
func (c *Census) WriteText(w io.Writer) error {
	p := &printer{w: w}
	for _, r := range c.rows() {
		if r.dist == nil {
			p.printf("%-42s %d\n", r.label, r.count)
		} else {
			p.printf("%-42s %s\n", r.label, r.dist)
		}
	}
	if c.ParallelTurns > 0 && c.SerialTurns > 0 {
		p.printf("%-42s 1:%.2f\n", "serial:parallel, multi-hop turns", float64(c.ParallelTurns)/float64(c.SerialTurns))
	}
	for _, code := range slices.Sorted(maps.Keys(c.Findings)) {
		p.printf("%-42s %d\n", "finding "+code, c.Findings[code])
	}
	if len(c.Sources) > 1 {
		for _, name := range slices.Sorted(maps.Keys(c.Sources)) {
			s := c.Sources[name]
			p.printf("source %-35s %d records, %d turns, %d calls\n", label(name), s.Records, s.Turns, s.Calls)
		}
	}
	return p.err
}

func label(name string) string {
	if name == "" {
		return "(none)"
	}
	return name
}

// A printer keeps the first error, so that a table is written without a test
// after every line.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// MarshalJSON writes the counts, the distributions, the findings and, for more
// than one source, the same for each.
func (c *Census) MarshalJSON() ([]byte, error) { return c.value().Append(nil), nil }

func (c *Census) value() qaoa.Value {
	var v qaoa.Value
	v.Kind = qaoa.Object
	add := func(key string, val qaoa.Value) { v.Members = append(v.Members, qaoa.Member{Name: key, Value: val}) }
	for _, r := range c.rows() {
		if r.dist == nil {
			add(r.key, number(r.count))
		} else {
			add(r.key, r.dist.value())
		}
	}
	findings := qaoa.ObjectValue()
	for _, code := range slices.Sorted(maps.Keys(c.Findings)) {
		findings.Members = append(findings.Members, qaoa.Member{Name: code, Value: number(c.Findings[code])})
	}
	add("findings", findings)
	if c.Sources != nil {
		sources := qaoa.ObjectValue()
		for _, name := range slices.Sorted(maps.Keys(c.Sources)) {
			sources.Members = append(sources.Members, qaoa.Member{Name: name, Value: c.Sources[name].value()})
		}
		add("sources", sources)
	}
	return v
}

func number(n int) qaoa.Value { return qaoa.NumberValue(fmt.Sprint(n)) }

var _ json.Marshaler = (*Census)(nil)
