package census

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/qaoa"
)

// A row is one line of the text form and one member of the JSON form.
type row struct {
	key, label string
	count      int
	dist       *Dist
	log        bool // the histogram of dist is logarithmic
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
		{key: "characters", label: "characters per record", dist: &c.Characters, log: true},
		{key: "tokens_estimate", label: "tokens per record (estimate: bytes/3.5)", dist: &c.Tokens, log: true},
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
	if c.MultiHop > 0 {
		p.printf("%-42s %s\n", "serial:parallel, multi-hop turns", ratio(c.SerialTurns, c.ParallelTurns))
	}
	p.tally("domains of tools on offer", &c.Domains)
	p.tally("categories of tools on offer", &c.Categories)
	for _, code := range slices.Sorted(maps.Keys(c.Findings)) {
		p.printf("%-42s %d\n", "finding "+code, c.Findings[code])
	}
	if len(c.Sources) > 1 {
		c.writeSources(p)
	}
	return p.err
}

// topNames is how many names of a tally the text and the figure list.
const topNames = 10

func (p *printer) tally(title string, t *Tally) {
	if t.Named == 0 {
		return
	}
	p.printf("%-42s %d of %d tools, %s\n", title, t.Named, t.Named+t.Unnamed, some(t.Names(), "name"))
	for _, n := range t.Top(topNames) {
		p.printf("  %-40s %d\n", printable(n.Name), n.N)
	}
}

// writeSources writes a table with a line for each source and one for all.
func (c *Census) writeSources(p *printer) {
	p.printf("\n%-24s %9s %9s %9s %7s %7s %7s %9s %7s %7s %7s %9s\n", "by source", "records", "turns", "calls",
		"multi-", "multi-", "no", "serial:", "calls/", "msgs/", "tools/", "tokens/")
	p.printf("%-24s %9s %9s %9s %7s %7s %7s %9s %7s %7s %7s %9s\n", "", "", "", "",
		"turn %", "hop %", "call %", "parallel", "record", "record", "record", "record")
	line := func(name string, s *Census) {
		p.printf("%-24s %9d %9d %9d %7.1f %7.1f %7.1f %9s %7.2f %7.2f %7.2f %9.1f\n", name, s.Records, s.Turns, s.Calls,
			percent(s.MultiTurn, s.Records), percent(s.MultiHop, s.Turns), percent(s.NoCall, s.Turns),
			ratio(s.SerialTurns, s.ParallelTurns), s.CallsPerRecord.Mean(), s.Messages.Mean(), s.ToolsPerRecord.Mean(), s.Tokens.Mean())
	}
	for _, name := range slices.Sorted(maps.Keys(c.Sources)) {
		line(label(name), c.Sources[name])
	}
	line("all", c)
}

// percent returns 100·part/whole, 0 if whole is 0.
func percent(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

// printable returns s without what would steer a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return utf8.RuneError
	}, s)
}

func label(name string) string {
	if name == "" {
		return "(none)"
	}
	return printable(name)
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

// MarshalJSON writes the counts, the distributions with their histograms, the
// serial:parallel ratio (parallel_per_serial: multi-hop turns, null without a
// serial one), the names of domains and categories by count, the findings and
// the same for each source.
func (c *Census) MarshalJSON() ([]byte, error) { return c.value().Append(nil), nil }

func (c *Census) value() qaoa.Value {
	var v qaoa.Value
	v.Kind = qaoa.Object
	add := func(key string, val qaoa.Value) { v.Members = append(v.Members, qaoa.Member{Name: key, Value: val}) }
	for _, r := range c.rows() {
		if r.dist == nil {
			add(r.key, number(r.count))
		} else {
			add(r.key, r.dist.value(r.log))
		}
	}
	if c.SerialTurns > 0 {
		add("parallel_per_serial", qaoa.NumberValue(fmt.Sprintf("%.4f", float64(c.ParallelTurns)/float64(c.SerialTurns))))
	} else {
		add("parallel_per_serial", qaoa.NullValue())
	}
	add("tool_domains", c.Domains.value())
	add("tool_categories", c.Categories.value())
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

func (t *Tally) value() qaoa.Value {
	names := qaoa.ObjectValue()
	for _, n := range t.Top(mostNames) {
		names.Members = append(names.Members, member(n.Name, number(n.N)))
	}
	return qaoa.ObjectValue(member("named", number(t.Named)), member("unnamed", number(t.Unnamed)),
		member("further", number(t.Further)), member("names", names))
}

func member(name string, v qaoa.Value) qaoa.Member { return qaoa.Member{Name: name, Value: v} }

func number(n int) qaoa.Value { return qaoa.NumberValue(fmt.Sprint(n)) }

var _ json.Marshaler = (*Census)(nil)
