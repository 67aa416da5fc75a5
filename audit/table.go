package audit

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-json"
)

// A Table is a table of printed numbers.
type Table struct {
	Name    string
	Columns []string // of numbers
	Rows    []Row
}

// A Row is a line of a [Table].
type Row struct {
	Name   string   // the last of the labels
	Labels []string // the cells of text columns
	Values []Value  // one for each of Columns
}

// is reports whether one of the labels of r is name.
func (r Row) is(name string) bool { return slices.Contains(r.Labels, name) }

// A Value is a printed number.
type Value struct {
	Known    bool // false for empty cells, "n/a" and "-"
	Number   float64
	Decimals int     // as printed
	SD       float64 // after ±; NaN if there is none
}

// half is half a unit of the last printed place: how far the number behind v
// may be from it.
func (v Value) half() float64 { return 0.5*math.Pow10(-v.Decimals) + 1e-9 }

// String returns v as it was printed.
func (v Value) String() string {
	if !v.Known {
		return "n/a"
	}
	s := strconv.FormatFloat(v.Number, 'f', v.Decimals, 64)
	if v.SD == v.SD {
		s += " ± " + strconv.FormatFloat(v.SD, 'f', v.Decimals, 64)
	}
	return s
}

// Limits of a table: what people print is far smaller, and rules compare
// columns with columns.
const (
	maxCells   = 200_000
	maxColumns = 500
)

// ReadCSV reads a table with a header line. A column is one of numbers if each
// of its cells is a number, with or without "± SD" and "%", or empty, "n/a" or
// "-"; other columns label their rows, the last one by its name. A row named
// gain belongs to the table as others do.
func ReadCSV(r io.Reader, name string) (Table, error) {
	in := csv.NewReader(r)
	in.TrimLeadingSpace = true
	var lines [][]string
	cells := 0
	for {
		line, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Table{}, fmt.Errorf("%s: want CSV with a header line: %w", name, err)
		}
		if cells += len(line); cells > maxCells || len(line) > maxColumns {
			return Table{}, fmt.Errorf("%s: more than %d cells or %d columns: want a table as people print it", name, maxCells, maxColumns)
		}
		lines = append(lines, line)
	}
	if len(lines) < 2 {
		return Table{}, fmt.Errorf("%s: %d lines: want a header and at least one row", name, len(lines))
	}
	lines[0][0] = strings.TrimPrefix(lines[0][0], "\ufeff")
	t := Table{Name: name}
	numbers := make([]bool, len(lines[0]))
	for j, heading := range lines[0] {
		numbers[j] = true
		some := false
		for _, line := range lines[1:] {
			v, ok := parseValue(line[j])
			numbers[j] = numbers[j] && ok
			some = some || v.Known
		}
		if numbers[j] = numbers[j] && some; numbers[j] {
			t.Columns = append(t.Columns, strings.TrimSpace(heading))
		}
	}
	if len(t.Columns) == 0 {
		return Table{}, fmt.Errorf("%s: no column holds numbers only: want percent as 92.9, mean and SD as 92.9 ± 1.0, and n/a for none", name)
	}
	for i, line := range lines[1:] {
		row := Row{Name: fmt.Sprintf("row %d", i+1)}
		for j, cell := range line {
			if numbers[j] {
				v, _ := parseValue(cell)
				row.Values = append(row.Values, v)
				continue
			}
			row.Labels = append(row.Labels, strings.TrimSpace(cell))
		}
		if n := len(row.Labels); n > 0 {
			row.Name = row.Labels[n-1]
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// parseValue reads a cell, and whether it is a number or stands for none.
func parseValue(cell string) (Value, bool) {
	cell = strings.TrimSpace(cell)
	none := Value{SD: math.NaN()}
	switch strings.ToLower(cell) {
	case "", "-", "–", "—", "n/a", "na":
		return none, true
	}
	mean, sd, two := strings.Cut(cell, "±")
	if !two {
		mean, sd, two = strings.Cut(cell, "+-")
	}
	v, ok := parseNumber(mean)
	if !ok {
		return none, false
	}
	if two {
		s, ok := parseNumber(sd)
		if !ok {
			return none, false
		}
		v.SD = s.Number
	}
	return v, true
}

// parseNumber reads digits as people print them: no exponents, no NaN.
func parseNumber(text string) (Value, bool) {
	text = strings.TrimPrefix(strings.TrimSuffix(strings.TrimSpace(text), "%"), "+")
	text = strings.TrimSpace(strings.ReplaceAll(text, "−", "-"))
	if strings.ContainsAny(text, "eExXpPnNiI_") {
		return Value{}, false
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		return Value{}, false
	}
	_, fraction, _ := strings.Cut(text, ".")
	return Value{Known: true, Number: f, Decimals: len(fraction), SD: math.NaN()}, true
}

// ReadJSON reads the tables of one JSON object: each member that is an object
// of objects of numbers, as {"table 1": {"model": {"SP": 92.9}}}, is a table of
// that name. Other members are left out. Rows and columns are in the order of
// their names.
func ReadJSON(r io.Reader, name string) ([]Table, error) {
	data, err := io.ReadAll(io.LimitReader(r, 16<<20))
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, fmt.Errorf("%s: want one JSON object of tables: %w", name, err)
	}
	var tables []Table
	for _, key := range slices.Sorted(maps.Keys(members)) {
		var rows map[string]map[string]json.Number
		if json.Unmarshal(members[key], &rows) != nil || len(rows) == 0 {
			continue
		}
		t := Table{Name: key}
		columns := map[string]bool{}
		for _, row := range rows {
			for c := range row {
				columns[c] = true
			}
		}
		if t.Columns = slices.Sorted(maps.Keys(columns)); len(t.Columns)*len(rows) > maxCells || len(t.Columns) > maxColumns {
			return nil, fmt.Errorf("%s: %s: more than %d cells or %d columns: want a table as people print it", name, key, maxCells, maxColumns)
		}
		for _, label := range slices.Sorted(maps.Keys(rows)) {
			row := Row{Name: label, Labels: []string{label}}
			for _, c := range t.Columns {
				v, _ := parseValue(rows[label][c].String())
				row.Values = append(row.Values, v)
			}
			t.Rows = append(t.Rows, row)
		}
		fillDecimals(&t)
		tables = append(tables, t)
	}
	if len(tables) == 0 {
		return nil, fmt.Errorf(`%s: no member is a table: want {"table": {"row": {"column": 92.9}}}`, name)
	}
	return tables, nil
}

// fillDecimals gives the values of a column the decimals of the most precise:
// JSON writes 85.70 as 85.7.
func fillDecimals(t *Table) {
	for j := range t.Columns {
		most := 0
		for _, r := range t.Rows {
			most = max(most, r.Values[j].Decimals)
		}
		for i := range t.Rows {
			t.Rows[i].Values[j].Decimals = most
		}
	}
}

// words returns the words of a heading: "SP_SH" is SP and SH, as "SH SP" is
// SH and SP. Letters of either case are alike.
func words(heading string) []string {
	return strings.FieldsFunc(strings.ToUpper(heading), func(r rune) bool {
		return strings.ContainsRune(" _/()[]-,:@·\t", r)
	})
}

// without returns the words of a heading but for metric, sorted and joined,
// and whether metric was there: what "SP_SH" and "FP SH" have in common.
func without(heading, metric string) (rest string, ok bool) {
	w := words(heading)
	m := words(metric)
	for _, x := range m {
		i := slices.Index(w, x)
		if i < 0 {
			return "", false
		}
		w = slices.Delete(w, i, i+1)
	}
	slices.Sort(w)
	return strings.Join(w, " "), true
}

// column returns the index of the column of that heading, words in any order;
// -1 if there is none.
func (t Table) column(heading string) int {
	want := words(heading)
	slices.Sort(want)
	return slices.IndexFunc(t.Columns, func(c string) bool {
		have := words(c)
		slices.Sort(have)
		return slices.Equal(have, want)
	})
}

// row returns the index of the only row with that label, else an error.
func (t Table) row(label string) (int, error) {
	at := -1
	for i, r := range t.Rows {
		if r.is(label) {
			if at >= 0 {
				return 0, fmt.Errorf("%s has several rows %q: name one of them by another label", t.Name, label)
			}
			at = i
		}
	}
	if at < 0 {
		return 0, fmt.Errorf("%s has no row %q", t.Name, label)
	}
	return at, nil
}
