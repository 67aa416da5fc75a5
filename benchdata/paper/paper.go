// Package paper holds numbers that "UniToolCall: Unifying Tool-Use
// Representation, Data, and Evaluation for LLM Agents" prints: its Tables 1, 5,
// 6 and 7. They are facts to check a layout, a converter or an audit against,
// copied digit for digit, mistakes included, and never an input of a score.
//
// What is known to be odd in them is said at each function. The files are CSV
// so that they can be read and audited without this program.
package paper

import (
	"embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
)

//go:embed audit.rules table1.csv table5.csv table6.csv table7.csv
var files embed.FS

//go:embed table1.csv
var table1 string

//go:embed table5.csv
var table5 string

//go:embed tables6and7.csv
var tables6and7 string

// A Column is a metric in a cell: SP of single-hop turns.
type Column struct {
	Metric string // SP, FP, SPA or FPA
	Cell   string // SH, MH, ST or MT
}

// A Row is a line of Table 1.
type Row struct {
	Setting string // "GT" or "Hybrid-20"
	Group   string // heading that the model stands under; "" for GT
	Model   string
	// Percent has one value for each of [Columns], with one decimal.
	Percent []float64
}

// A Repeated is a cell of Table 6 or 7: percent, mean ± sample SD of three
// runs, each with one decimal.
type Repeated struct {
	Table  int // 6 (hop level) or 7 (turn level)
	Column Column
	Model  string
	Mean   float64
	SD     float64
}

// A Count is a line of Table 5.
type Count struct {
	Part      string // "train" or "test"
	Dataset   string
	Converted int // conversations after conversion
	Filtered  int // conversations kept
}

// Columns returns the sixteen columns of Table 1, in its order.
func Columns() []Column {
	var cols []Column
	for _, m := range []string{"SP", "FP", "SPA", "FPA"} {
		for _, c := range []string{"SH", "MH", "ST", "MT"} {
			cols = append(cols, Column{Metric: m, Cell: c})
		}
	}
	return cols
}

// Table1 returns the rows of Table 1, one run each, and the gains that it
// prints for UniToolCall over the vanilla Qwen3-8B under Hybrid-20, in percent
// points.
//
// Odd: under Hybrid-20, SPA and FPA of the vanilla Qwen3-8B are equal in all
// four cells, and in no other row. SP equals FP in every SH cell, which one
// gold call per turn brings about if the model is asked for exactly one. SP of
// MT is 0 for all rows but one, and 8.3 there is 3 of 36.
func Table1() (rows []Row, gains []float64) {
	for _, rec := range records("table1.csv", table1, 3+len(Columns())) {
		row := Row{Setting: rec[0], Group: rec[1], Model: rec[2]}
		for _, field := range rec[3:] {
			row.Percent = append(row.Percent, number(field))
		}
		if row.Setting == "gain" {
			gains = row.Percent
			continue
		}
		rows = append(rows, row)
	}
	return rows, gains
}

// Table5 returns the counts of Table 5 by data set, without its totals: those
// are [Totals].
//
// Odd: the filtered counts of the test part add up to 6,193, and the total
// printed below them, and in section 4.1, is 6,163. With 115 instead of 145
// for ToolAlpaca it would fit. All other columns add up.
func Table5() []Count {
	var counts []Count
	for _, rec := range records("table5.csv", table5, 4) {
		if rec[0] == "total" {
			continue
		}
		counts = append(counts, Count{
			Part: rec[0], Dataset: rec[1],
			Converted: int(number(rec[2])), Filtered: int(number(rec[3])),
		})
	}
	return counts
}

// Totals returns the two totals that Table 5 prints.
func Totals() []Count {
	var totals []Count
	for _, rec := range records("table5.csv", table5, 4) {
		if rec[0] == "total" {
			part := strings.ToLower(strings.Trim(strings.TrimPrefix(rec[1], "Total "), "()"))
			totals = append(totals, Count{Part: part, Dataset: rec[1], Converted: int(number(rec[2])), Filtered: int(number(rec[3]))})
		}
	}
	return totals
}

// Audited returns the tables as an audit reads them, CSV by name, and the
// rules that say what the paper claims of them. Tables 6 and 7 are laid out as
// printed, with the same numbers as [Tables6And7].
func Audited() (tables map[string]string, rules string) {
	read := func(name string) string {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(fmt.Sprintf("paper: embedded %s: %v", name, err))
		}
		return string(text)
	}
	tables = map[string]string{}
	for _, name := range []string{"table1", "table5", "table6", "table7"} {
		tables[name] = read(name + ".csv")
	}
	return tables, read("audit.rules")
}

// Tables6And7 returns the cells of Tables 6 and 7 (Appendix C.1, three runs
// each, under Hybrid-20), in their order.
//
// Odd: two labels of Table 6 do not fit Table 1. Its "MH FP" lies at Table 1's
// MH SP (22.7 and 80.7, where MH FP is 53.9 and 89.6), and its "SH SPA" at
// Table 1's MH SPA (38.1 and 66.6, where SH SPA is 19.8 and 27.1). They stand
// here as printed.
func Tables6And7() []Repeated {
	var cells []Repeated
	for _, rec := range records("tables6and7.csv", tables6and7, 6) {
		cells = append(cells, Repeated{
			Table:  int(number(rec[0])),
			Column: Column{Cell: rec[1], Metric: rec[2]},
			Model:  rec[3],
			Mean:   number(rec[4]), SD: number(rec[5]),
		})
	}
	return cells
}

// records parses an embedded file and drops its header. The files are part of
// the program, so a fault in them is a bug.
func records(name, text string, fields int) [][]string {
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord = fields
	all, err := r.ReadAll()
	if err != nil {
		panic(fmt.Sprintf("paper: embedded %s: %v", name, err))
	}
	return all[1:]
}

func number(field string) float64 {
	f, err := strconv.ParseFloat(field, 64)
	if err != nil {
		panic(fmt.Sprintf("paper: embedded number: %v", err))
	}
	return f
}
