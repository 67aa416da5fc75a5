package audit

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/stats"
)

// gain checks a printed difference of two rows of one table.
func (c *checker) gain(r Rule) error {
	var t Table
	found := false
	for _, x := range c.tables {
		if _, err := x.row(r.words[1]); err == nil {
			t, found = x, true
			break
		}
	}
	if !found {
		return fmt.Errorf("no table has one row %q", r.words[1])
	}
	var rows [3]Row
	for i, at := range []int{1, 3, 5} {
		k, err := t.row(r.words[at])
		if err != nil {
			return err
		}
		rows[i] = t.Rows[k]
	}
	for j, column := range t.Columns {
		g, a, b := rows[0].Values[j], rows[1].Values[j], rows[2].Values[j]
		if !g.Known || !a.Known || !b.Known {
			continue
		}
		// The printed gain may be that of exact scores, or of printed ones.
		if want := a.Number - b.Number; math.Abs(g.Number-want) > g.half()+a.half()+b.half() {
			c.add(Contradiction, r, t, rows[0].Name, column, g.String(), fmt.Sprintf("%.*f", g.Decimals, want),
				fmt.Sprintf("%s: the gain of %s over %s is printed as %v, and %v - %v is %.*f", column, rows[1].Name, rows[2].Name, g, a, b, g.Decimals, want))
		}
	}
	return nil
}

// sum checks a printed total.
func (c *checker) sum(r Rule) error {
	found := false
	for _, t := range c.tables {
		k, err := t.row(r.words[1])
		if err != nil {
			continue
		}
		found = true
		for j, column := range t.Columns {
			total := t.Rows[k].Values[j]
			var sum, slack float64
			parts := 0
			for i, row := range t.Rows {
				if v := row.Values[j]; i != k && row.is(r.words[3]) && !c.totals[row.Name] && v.Known {
					sum += v.Number
					parts++
					if v.Decimals > 0 {
						slack += v.half()
					}
				}
			}
			if parts == 0 {
				return fmt.Errorf("%s has no row with the label %q", t.Name, r.words[3])
			}
			if total.Decimals > 0 {
				slack += total.half()
			}
			if total.Known && math.Abs(total.Number-sum) > slack+1e-9 {
				c.add(Contradiction, r, t, t.Rows[k].Name, column, total.String(), fmt.Sprintf("%.*f", total.Decimals, sum),
					fmt.Sprintf("%s, %s is printed as %v, and its %d rows add up to %.*f (%+.*f)", t.Rows[k].Name, column, total, parts, total.Decimals, sum, total.Decimals, sum-total.Number))
			}
		}
	}
	if !found {
		return fmt.Errorf("no table has one row %q", r.words[1])
	}
	return nil
}

// A part is a table in a mean, with its weight.
type part struct {
	table  Table
	weight float64
}

// average checks that a table is the mean of others.
func (c *checker) average(r Rule) error {
	t, err := c.table(r.words[1])
	if err != nil {
		return err
	}
	terms, only := r.words[3:], []string(nil)
	if i := slices.Index(terms, "in"); i >= 0 {
		terms, only = terms[:i], terms[i+1:]
	}
	var parts []part
	var weights float64
	for i, word := range terms {
		if i%2 == 1 {
			if word != "+" {
				return errForm
			}
			continue
		}
		name, factor, weighed := strings.Cut(word, "*")
		p := part{weight: 1}
		if p.table, err = c.table(name); err != nil {
			return err
		}
		if weighed {
			if p.weight, err = strconv.ParseFloat(factor, 64); err != nil || !(p.weight > 0) || math.IsInf(p.weight, 0) {
				return fmt.Errorf("weight %q: want a number above 0", factor)
			}
		}
		weights += p.weight
		parts = append(parts, p)
	}
	compared, wrong := 0, 0
	for j, column := range t.Columns {
		if only != nil && !slices.Contains(only, column) {
			continue
		}
		for _, row := range c.scores(t) {
			want, slack, ok := c.meanOf(parts, weights, row, column)
			v := row.Values[j]
			if !ok || !v.Known {
				continue
			}
			compared++
			if math.Abs(v.Number-want) <= slack+v.half() {
				continue
			}
			wrong++
			msg := fmt.Sprintf("%s, %s is printed as %v, and the mean of its %d parts is %.*f", row.Name, column, v, len(parts), v.Decimals, want)
			if other := c.namesake(t, row, j); other != "" {
				msg += fmt.Sprintf("; %v is also the value of %s", v, other)
			}
			c.add(Contradiction, r, t, row.Name, column, v.String(), fmt.Sprintf("%.*f", v.Decimals, want), msg)
		}
	}
	if compared == 0 {
		return fmt.Errorf("%s has no row and column in common with its parts", t.Name)
	}
	if 2*wrong < compared {
		c.means = append(c.means, meanRule{rule: r, table: t, weighted: slices.ContainsFunc(parts, func(p part) bool { return p.weight != parts[0].weight })})
	}
	return nil
}

// A meanRule is a rule of kind mean that most cells of its table keep.
type meanRule struct {
	rule     Rule
	table    Table
	weighted bool
}

// twoMeans tells of tables that are means of others by different rules: a plain
// mean in one and a weighted one in another do not compare.
func (c *checker) twoMeans() {
	plain := slices.IndexFunc(c.means, func(m meanRule) bool { return !m.weighted })
	weighted := slices.IndexFunc(c.means, func(m meanRule) bool { return m.weighted })
	if plain < 0 || weighted < 0 || c.means[plain].table.Name == c.means[weighted].table.Name {
		return
	}
	p, w := c.means[plain].table, c.means[weighted]
	c.add(Oddity, w.rule, w.table, "", "", "weighted mean", "one rule for all tables",
		fmt.Sprintf("%s is a plain mean of its parts and %s a weighted one: two rules of aggregation in one set of tables", p.Name, w.table.Name))
}

// namesake returns the other rows of t with the same value in column j, as a
// slip of the eye would take it from there.
func (c *checker) namesake(t Table, row Row, j int) string {
	var names []string
	for _, other := range c.scores(t) {
		if o := other.Values[j]; other.Name != row.Name && o.Known && o.Number == row.Values[j].Number {
			names = append(names, other.Name)
		}
	}
	return strings.Join(names, ", ")
}

// meanOf returns the mean of a cell over parts, and how far rounding may have
// moved it; false if a part lacks the cell.
func (c *checker) meanOf(parts []part, weights float64, row Row, column string) (mean, slack float64, ok bool) {
	for _, p := range parts {
		j := p.table.column(column)
		other, found := c.match(p.table, row)
		if j < 0 || !found || !other.Values[j].Known {
			return 0, 0, false
		}
		mean += p.weight / weights * other.Values[j].Number
		slack += p.weight / weights * other.Values[j].half()
	}
	return mean, slack, true
}

// repeats checks means ± SD over n runs against a table of single runs. A new
// run of the same kind lies within
//
//	mean ± t((1+level)/2; n-1) · SD · sqrt(1 + 1/n)
//
// with that probability (prediction interval of normal values), rounding
// added. A column is a contradiction if a row is outside at level 0.99, an
// oddity if one is outside at 0.95. Other columns of the single runs in which
// all rows fit are named: labels get swapped.
func (c *checker) repeats(r Rule) error {
	t, err := c.table(r.words[1])
	if err != nil {
		return err
	}
	single, err := c.table(r.words[3])
	if err != nil {
		return err
	}
	n := int(r.number(4))
	if n < 2 {
		return fmt.Errorf("%d runs have no SD: want at least 2", n)
	}
	compared := 0
	for j, column := range t.Columns {
		at := single.column(column)
		var outside []string
		worst := Severity("")
		var pairs [][2]Row
		for _, row := range c.scores(t) {
			other, ok := c.match(single, row)
			if !ok || !row.Values[j].Known || row.Values[j].SD != row.Values[j].SD {
				continue
			}
			pairs = append(pairs, [2]Row{row, other})
			if at < 0 || !other.Values[at].Known {
				continue
			}
			compared++
			v, x := row.Values[j], other.Values[at]
			if fits(v, x, n, 0.95) {
				continue
			}
			outside = append(outside, fmt.Sprintf("%v for %s, whose single run has %v", v, row.Name, x))
			if !fits(v, x, n, 0.99) {
				worst = Contradiction
			} else if worst == "" {
				worst = Oddity
			}
		}
		if worst == "" {
			continue
		}
		msg := fmt.Sprintf("%s: %s; %d runs do not spread so far", column, strings.Join(outside, ", and "), n)
		wanted := "the single run within the spread of runs"
		if like := lookalike(single, pairs, j, n); like != "" {
			wanted = "perhaps " + like
			msg += fmt.Sprintf(", and the numbers are those of %s: the label may be wrong", like)
		}
		c.add(worst, r, t, "", column, strings.Join(outside, "; "), wanted, msg)
	}
	if compared == 0 {
		return fmt.Errorf("%s and %s have no row and column in common: an alias names one row by two names", t.Name, single.Name)
	}
	return nil
}

// fits reports whether a single run x lies within the prediction interval of v.
func fits(v, x Value, n int, level float64) bool {
	width := stats.TFactor(n, level) * math.Sqrt(float64(n)) * math.Sqrt(1+1/float64(n))
	return math.Abs(v.Number-x.Number) <= width*(v.SD+v.half())+v.half()+x.half()
}

// lookalike returns the column of single runs that is nearest to column j of
// all pairs and fits each; "" if none does.
func lookalike(single Table, pairs [][2]Row, j, n int) string {
	best, distance := "", math.Inf(1)
	for k, column := range single.Columns {
		var sum float64
		ok := len(pairs) > 0
		for _, p := range pairs {
			v, x := p[0].Values[j], p[1].Values[k]
			ok = ok && x.Known && fits(v, x, n, 0.95)
			sum += math.Abs(v.Number - x.Number)
		}
		if ok && sum < distance {
			best, distance = column, sum
		}
	}
	return best
}

// untrained asks what the SD of a row is over that nothing was varied in.
func (c *checker) untrained(r Rule) error {
	found := false
	for _, t := range c.tables {
		for _, row := range t.Rows {
			if c.canonical(row.Name) != c.canonical(r.words[1]) {
				continue
			}
			found = true
			var sds []float64
			for _, v := range row.Values {
				if v.Known && v.SD > 0 {
					sds = append(sds, v.SD)
				}
			}
			if len(sds) > 0 {
				span := fmt.Sprintf("%g to %g", slices.Min(sds), slices.Max(sds))
				c.add(Oddity, r, t, row.Name, "", "SD "+span, "what was repeated",
					fmt.Sprintf("%s has SDs of %s over runs, and is said not to be trained: the table does not say what was repeated", row.Name, span))
			}
		}
	}
	if !found {
		return fmt.Errorf("no table has a row %q", r.words[1])
	}
	return nil
}

// spearman checks a printed rank correlation.
func (c *checker) spearman(r Rule) error {
	printed, ok := parseNumber(r.words[1])
	if !ok {
		return fmt.Errorf("want a number as printed, have %q", r.words[1])
	}
	var tables [2]Table
	var columns [2]int
	for i, word := range r.words[2:4] {
		name, column, _ := strings.Cut(word, ".")
		t, err := c.table(name)
		if err != nil {
			return err
		}
		if tables[i], columns[i] = t, t.column(column); columns[i] < 0 {
			return fmt.Errorf("%s has no column %q: want TABLE.COLUMN", name, column)
		}
	}
	var x, y []float64
	for _, row := range c.scores(tables[0]) {
		other, ok := c.match(tables[1], row)
		if a := row.Values[columns[0]]; ok && a.Known && other.Values[columns[1]].Known {
			x, y = append(x, a.Number), append(y, other.Values[columns[1]].Number)
		}
	}
	what := r.words[2] + " and " + r.words[3]
	if n := int(r.number(4)); n != len(x) {
		c.add(Oddity, r, tables[0], "", what, fmt.Sprintf("%d rows", len(x)), fmt.Sprintf("%d rows", n),
			fmt.Sprintf("%s: %d rows have both numbers, and the correlation is said to be over %d", what, len(x), n))
	}
	if len(x) < 2 {
		return nil
	}
	if rho := stats.Spearman(x, y); !(math.Abs(rho-printed.Number) <= printed.half()) {
		c.add(Contradiction, r, tables[0], "", what, printed.String(), fmt.Sprintf("%.3f", rho),
			fmt.Sprintf("%s: Spearman over %d rows is %.3f, printed as %v", what, len(x), rho, printed))
	}
	return nil
}
