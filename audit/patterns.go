package audit

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// identical names columns that are equal in all rows.
func (c *checker) identical(r Rule) error {
	for _, t := range c.tables {
		rows := c.scores(t)
		if len(rows) < 2 {
			continue
		}
		for i := range t.Columns {
			for j := i + 1; j < len(t.Columns); j++ {
				if equalColumns(rows, i, j) && !constant(rows, i) {
					c.add(Oddity, r, t, "", t.Columns[i]+" and "+t.Columns[j], "equal", "two measurements",
						fmt.Sprintf("%s and %s are equal in all %d rows: one of them says nothing", t.Columns[i], t.Columns[j], len(rows)))
				}
			}
		}
	}
	return nil
}

// same reports whether two known values print alike.
func same(a, b Value) bool {
	return a.Known && b.Known && a.Number == b.Number && (a.SD == b.SD || (a.SD != a.SD && b.SD != b.SD))
}

func equalColumns(rows []Row, i, j int) bool {
	return !slices.ContainsFunc(rows, func(r Row) bool { return !same(r.Values[i], r.Values[j]) })
}

func constant(rows []Row, i int) bool {
	return !slices.ContainsFunc(rows, func(r Row) bool { return !same(r.Values[i], rows[0].Values[i]) })
}

// twins names pairs of metrics that are equal in every cell of one row, and in
// no other row; and means ± SD that occur twice in a row.
func (c *checker) twins(r Rule) error {
	for _, t := range c.tables {
		rows := c.scores(t)
		for _, m := range metricsOf(t) {
			c.twinMetrics(r, t, rows, m)
		}
		for _, row := range rows {
			for i, v := range row.Values {
				for j := i + 1; j < len(row.Values); j++ {
					if v.SD > 0 && same(v, row.Values[j]) && !equalColumns(rows, i, j) {
						c.add(Contradiction, r, t, row.Name, t.Columns[i]+" and "+t.Columns[j], v.String(), "two measurements",
							fmt.Sprintf("%s: %s and %s are both %v, mean and SD alike, as in no other row: one is a copy", row.Name, t.Columns[i], t.Columns[j], v))
					}
				}
			}
		}
	}
	return nil
}

// twoMetrics are words that stand before the same cells, with the columns of
// each cell.
type twoMetrics struct {
	a, b  string
	cells [][2]int
}

// maxWords is how many words the heading of a metric in a cell may have.
const maxWords = 12

// metricsOf returns the pairs of words that stand before the same cells at
// least twice: SP and FP if there are SP_SH, FP_SH, SP_MH and FP_MH. Both come
// in the order of columns.
func metricsOf(t Table) []twoMetrics {
	type place struct{ word, column int }
	var all []string
	index := map[string]int{}
	places := map[string][]place{} // by the other words of the heading
	for column, heading := range t.Columns {
		in := words(heading)
		if len(in) > maxWords {
			continue
		}
		slices.Sort(in)
		for _, w := range slices.Compact(in) {
			if _, ok := index[w]; !ok {
				index[w] = len(all)
				all = append(all, w)
			}
			rest, _ := without(heading, w)
			places[rest] = append(places[rest], place{index[w], column})
		}
	}
	cells := map[[2]int][][2]int{}
	for _, at := range places {
		for _, x := range at {
			for _, y := range at {
				if x.word < y.word && x.column != y.column {
					two := [2]int{x.word, y.word}
					cells[two] = append(cells[two], [2]int{x.column, y.column})
				}
			}
		}
	}
	var out []twoMetrics
	for _, two := range slices.SortedFunc(maps.Keys(cells), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) {
		if at := cells[two]; len(at) >= 2 {
			slices.SortFunc(at, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
			out = append(out, twoMetrics{all[two[0]], all[two[1]], at})
		}
	}
	return out
}

// twinMetrics reports the one row in which two metrics agree in all cells.
func (c *checker) twinMetrics(r Rule, t Table, rows []Row, m twoMetrics) {
	var agree []Row
	var apart [][2]int
	var cells []string
	for _, at := range m.cells {
		if !equalColumns(rows, at[0], at[1]) { // columns equal everywhere are told elsewhere
			apart = append(apart, at)
			cells = append(cells, t.Columns[at[0]]+" = "+t.Columns[at[1]])
		}
	}
	for _, row := range rows {
		if !slices.ContainsFunc(apart, func(at [2]int) bool { return !same(row.Values[at[0]], row.Values[at[1]]) }) {
			agree = append(agree, row)
		}
	}
	if len(cells) < 2 || len(agree) != 1 || len(rows) < 3 {
		return
	}
	row := agree[0]
	msg := fmt.Sprintf("%s: %s equals %s in all of %d cells (%s), and in no other row: one metric may not have been computed, or was copied",
		row.Name, m.a, m.b, len(cells), strings.Join(cells, ", "))
	if i := slices.IndexFunc(t.Rows, func(g Row) bool { return c.gains[g.Name] }); i >= 0 {
		msg += fmt.Sprintf("; what %q prints over it compares %s with %s", t.Rows[i].Name, m.b, m.a)
	}
	c.add(Contradiction, r, t, row.Name, m.a+" and "+m.b, "equal", "two measurements", msg)
}

// extremes names columns that cannot tell rows apart: all of them, or all but
// one, are at 0 or at 100.
func (c *checker) extremes(r Rule) error {
	for _, t := range c.tables {
		rows := c.scores(t)
		for j, column := range t.Columns {
			for _, end := range []struct {
				at   float64
				name string
			}{{0, "floor"}, {100, "ceiling"}} {
				n, known := 0, 0
				other := ""
				for _, row := range rows {
					v := row.Values[j]
					if !v.Known {
						continue
					}
					known++
					if v.Number == end.at {
						n++
					} else {
						other = fmt.Sprintf("; %s has %v", row.Name, v)
					}
				}
				if known >= 3 && n >= known-1 {
					c.add(Note, r, t, "", column, fmt.Sprintf("%d of %d at %g", n, known, end.at), "a column that ranks rows",
						fmt.Sprintf("%s is at its %s (%g) in %d of %d rows, so it does not rank them%s", column, end.name, end.at, n, known, other))
				}
			}
		}
	}
	return nil
}

// alikeSomewhere names tables in which two metrics are equal for two rows or
// more, off floor and ceiling, which differ for these rows in other tables:
// chance does not make decimals agree, so one of the names stands for two
// measures.
func (c *checker) alikeSomewhere(r Rule) error {
	type place struct {
		table Table
		rows  map[string]string // name to both values
	}
	var equal, apart []place
	some := false
	for _, t := range c.tables {
		i, j := t.column(r.words[1]), t.column(r.words[2])
		if i < 0 || j < 0 {
			continue
		}
		some = true
		e, a := place{t, map[string]string{}}, place{t, map[string]string{}}
		for _, row := range c.scores(t) {
			x, y := row.Values[i], row.Values[j]
			switch name := c.canonical(row.Name); {
			case !x.Known || !y.Known:
			case !same(x, y):
				a.rows[name] = fmt.Sprintf("%v and %v", x, y)
			case x.Number != 0 && x.Number != 100:
				e.rows[name] = x.String()
			}
		}
		equal, apart = append(equal, e), append(apart, a)
	}
	if !some {
		return fmt.Errorf("no table has columns %q and %q", r.words[1], r.words[2])
	}
	for _, e := range equal {
		for _, a := range apart {
			var rows, texts []string
			for _, row := range c.scores(e.table) {
				name := c.canonical(row.Name)
				if e.rows[name] != "" && a.rows[name] != "" {
					rows = append(rows, row.Name)
					texts = append(texts, fmt.Sprintf("%s: both %s, there %s", row.Name, e.rows[name], a.rows[name]))
				}
			}
			if len(rows) < 2 {
				continue
			}
			c.add(Oddity, r, e.table, "", r.words[1]+" and "+r.words[2], "equal for "+strings.Join(rows, ", "), "as in "+a.table.Name,
				fmt.Sprintf("%s and %s are equal for %d rows, which differ in %s (%s): one name may stand for two measures",
					r.words[1], r.words[2], len(rows), a.table.Name, strings.Join(texts, "; ")))
			break // one other table is enough
		}
	}
	return nil
}
