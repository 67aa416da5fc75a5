package audit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Severity says what a finding means.
type Severity string

// The severities. A contradiction cannot be explained by rounding; an oddity
// is possible and wants a word from the authors; a note is worth knowing.
const (
	Contradiction Severity = "contradiction"
	Oddity        Severity = "oddity"
	Note          Severity = "note"
)

// A Finding is what a rule has to say of a table.
type Finding struct {
	Severity Severity `json:"severity"`
	Rule     string   `json:"rule"` // its name, such as "order"
	Table    string   `json:"table"`
	Row      string   `json:"row,omitempty"`
	Column   string   `json:"column,omitempty"`
	Found    string   `json:"found"`
	Wanted   string   `json:"wanted"`
	// Message is a sentence that says it all.
	Message string `json:"message"`
}

// A Report is what an audit finds.
type Report struct {
	Tables   []string  `json:"tables"`
	Rules    []string  `json:"rules"`
	Numbers  int       `json:"numbers"` // that were looked at
	Findings []Finding `json:"findings"`
}

// Count returns how many findings have that severity.
func (r Report) Count(s Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// checker is an audit under way.
type checker struct {
	tables  []Table
	aliases map[string]string // name to the first one of its kind
	gains   map[string]bool   // rows of differences, which hold no scores
	totals  map[string]bool   // rows of sums
	means   []meanRule        // rules of kind mean that hold
	out     []Finding
}

// Check applies rules to tables: contradictions first, then oddities, then
// notes, each in the order of rules. A rule that names a table, a row or a
// column that is not there is an error: a misspelt rule finds nothing.
func Check(tables []Table, rules []Rule) (Report, error) {
	c := checker{tables: tables, aliases: map[string]string{}, gains: map[string]bool{}, totals: map[string]bool{}}
	rep := Report{Findings: []Finding{}, Rules: []string{}, Tables: []string{}}
	names := map[string]bool{}
	for _, t := range tables {
		if names[t.Name] {
			return Report{}, fmt.Errorf("two tables are named %q: rename one", t.Name)
		}
		names[t.Name] = true
		rep.Tables = append(rep.Tables, t.Name)
		for _, r := range t.Rows {
			for _, v := range r.Values {
				if v.Known {
					rep.Numbers++
				}
			}
		}
	}
	for _, r := range rules { // facts first: rules may come in any order
		switch r.words[0] {
		case "gain":
			c.gains[r.words[1]] = true
		case "sum":
			c.totals[r.words[1]] = true
		case "alias":
			c.aliases[r.words[3]] = r.words[1]
		}
	}
	for _, r := range rules {
		rep.Rules = append(rep.Rules, r.Text)
		if err := forms()[r.words[0]].check(&c, r); err != nil {
			return Report{}, fmt.Errorf("rule %d: %q: %w", r.Line, r.Text, err)
		}
	}
	c.twoMeans()
	slices.SortStableFunc(c.out, func(a, b Finding) int { return cmp.Compare(rank(a.Severity), rank(b.Severity)) })
	rep.Findings = append(rep.Findings, c.out...)
	return rep, nil
}

func rank(s Severity) int { return slices.Index([]Severity{Contradiction, Oddity, Note}, s) }

func (c *checker) add(s Severity, r Rule, t Table, row, column, found, wanted, message string) {
	c.out = append(c.out, Finding{Severity: s, Rule: r.words[0], Table: t.Name, Row: row, Column: column, Found: found, Wanted: wanted, Message: message})
}

// table returns a table by name.
func (c *checker) table(name string) (Table, error) {
	i := slices.IndexFunc(c.tables, func(t Table) bool { return t.Name == name })
	if i < 0 {
		var have []string
		for _, t := range c.tables {
			have = append(have, t.Name)
		}
		return Table{}, fmt.Errorf("no table is named %q: want one of %s", name, strings.Join(have, ", "))
	}
	return c.tables[i], nil
}

// scores returns the rows of t that hold scores: no gains, no totals.
func (c *checker) scores(t Table) []Row {
	return slices.DeleteFunc(slices.Clone(t.Rows), func(r Row) bool { return c.gains[r.Name] || c.totals[r.Name] || isDifference(r) })
}

// isDifference reports whether a label says that a row holds differences.
func isDifference(r Row) bool {
	return slices.ContainsFunc(r.Labels, func(label string) bool {
		return slices.Contains([]string{"gain", "gains", "delta", "Δ", "difference"}, strings.ToLower(label))
	})
}

// match returns the row of t that stands for r, by name or alias.
func (c *checker) match(t Table, r Row) (Row, bool) {
	i := slices.IndexFunc(t.Rows, func(x Row) bool { return c.canonical(x.Name) == c.canonical(r.Name) })
	if i < 0 {
		return Row{}, false
	}
	return t.Rows[i], true
}

func (c *checker) canonical(name string) string {
	if first, ok := c.aliases[name]; ok {
		return first
	}
	return name
}

// alias is a fact, read before the rules.
func (c *checker) alias(Rule) error { return nil }

// bounds checks that numbers lie in a range.
func (c *checker) bounds(r Rule) error {
	low, high := r.number(1), r.number(2)
	some := false
	for _, t := range c.tables {
		for _, row := range c.scores(t) {
			for j, v := range row.Values {
				if len(r.words) > 3 {
					if _, ok := without(t.Columns[j], r.words[3]); !ok {
						continue
					}
				}
				some = true
				if v.Known && (v.Number < low || v.Number > high) {
					c.add(Contradiction, r, t, row.Name, t.Columns[j], v.String(), fmt.Sprintf("%g to %g", low, high),
						fmt.Sprintf("%s, %s is %v: want %g to %g", row.Name, t.Columns[j], v, low, high))
				}
			}
		}
	}
	if !some {
		return fmt.Errorf("no column has the words %q", r.words[len(r.words)-1])
	}
	return nil
}

// order checks A <= B wherever the other words of two headings agree. Rounding
// keeps the order of numbers, so there is no tolerance among equal decimals.
func (c *checker) order(r Rule) error {
	for k := 1; k+2 < len(r.words); k += 2 {
		if r.words[k+1] != "<=" {
			return errForm
		}
		for _, t := range c.tables {
			for i, j := range metricPairs(t, r.words[k], r.words[k+2]) {
				for _, row := range c.scores(t) {
					a, b := row.Values[i], row.Values[j]
					slack := 0.0
					if a.Decimals != b.Decimals {
						slack = a.half() + b.half()
					}
					if a.Known && b.Known && a.Number > b.Number+slack {
						c.add(Contradiction, r, t, row.Name, t.Columns[i], a.String(), fmt.Sprintf("at most %v, the %s", b, t.Columns[j]),
							fmt.Sprintf("%s: %s is %v and %s is %v: want %s <= %s", row.Name, t.Columns[i], a, t.Columns[j], b, r.words[k], r.words[k+2]))
					}
				}
			}
		}
	}
	return nil
}

// metricPairs yields the columns of two metrics in the same cell.
func metricPairs(t Table, a, b string) func(yield func(i, j int) bool) {
	return func(yield func(i, j int) bool) {
		for i, x := range t.Columns {
			restA, ok := without(x, a)
			if !ok {
				continue
			}
			for j, y := range t.Columns {
				if restB, ok := without(y, b); ok && i != j && restA == restB && !yield(i, j) {
					return
				}
			}
		}
	}
}

// possible checks that percentages are k of n.
func (c *checker) possible(r Rule) error {
	n, only := int(r.number(1)), r.rows()
	some := false
	for _, t := range c.tables {
		if r.in() != "" && t.Name != r.in() {
			continue
		}
		j := t.column(r.words[2])
		if j < 0 {
			continue
		}
		some = true
		var shown []string
		for _, row := range c.scores(t) {
			v := row.Values[j]
			if !v.Known || (only != nil && !slices.ContainsFunc(only, row.is)) {
				continue
			}
			k, ok := countOf(v, n)
			if ok {
				if k > 0 && k < n {
					shown = append(shown, fmt.Sprintf("%v is %d of %d", v, k, n))
				}
				continue
			}
			near := 100 * float64(k) / float64(n)
			msg := fmt.Sprintf("%s, %s is %v: no count of %d gives that (%d of %d is %.*f)", row.Name, t.Columns[j], v, n, k, n, v.Decimals, near)
			if m := smallestN(v, 1000); m > 0 {
				msg += fmt.Sprintf("; the smallest n that does is %d", m)
			} else {
				msg += "; no n up to 1,000 does"
			}
			c.add(Contradiction, r, t, row.Name, t.Columns[j], v.String(), fmt.Sprintf("k of %d", n), msg)
		}
		if len(shown) > 0 {
			slices.Sort(shown)
			shown = slices.Compact(shown)
			c.add(Note, r, t, "", t.Columns[j], strings.Join(shown, ", "), fmt.Sprintf("k of %d", n), t.Columns[j]+": "+strings.Join(shown, ", "))
		}
	}
	if !some {
		return fmt.Errorf("no table has a column %q", r.words[2])
	}
	return nil
}

// countOf returns the count of n that comes nearest to v percent, and whether
// it is printed as v.
func countOf(v Value, n int) (k int, ok bool) {
	k = int(math.Round(v.Number * float64(n) / 100))
	return k, math.Abs(100*float64(k)/float64(n)-v.Number) <= v.half()
}

// smallestN returns the smallest n up to limit of which v percent is a count,
// 0 if there is none.
func smallestN(v Value, limit int) int {
	for n := 1; n <= limit; n++ {
		if _, ok := countOf(v, n); ok {
			return n
		}
	}
	return 0
}

// ceiling checks a claim "below X".
func (c *checker) ceiling(r Rule) error {
	top := r.number(1)
	some := false
	for _, t := range c.tables {
		if j := t.column(r.words[2]); j >= 0 && (r.in() == "" || r.in() == t.Name) {
			some = true
			for _, row := range c.scores(t) {
				if v := row.Values[j]; v.Known && v.Number > top {
					c.add(Contradiction, r, t, row.Name, t.Columns[j], v.String(), fmt.Sprintf("at most %g", top),
						fmt.Sprintf("%s, %s is %v: it is said to be at most %g", row.Name, t.Columns[j], v, top))
				}
			}
		}
	}
	if !some {
		return fmt.Errorf("no table has a column %q", r.words[2])
	}
	return nil
}
