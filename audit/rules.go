package audit

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Rule is one line of rules.
type Rule struct {
	Line  int // from 1
	Text  string
	words []string
}

// DefaultRules are those that need no facts: they are about any table of the
// paper's metrics in percent (UniToolCall, section 4.1).
const DefaultRules = `range 0 100
order SP <= FP
order SPA <= FPA <= FP
twins
identical
extremes
aliases
`

// Help says which rules there are, for people.
const Help = `range LOW HIGH [COLUMN]        every number lies between (of columns with these words)
order A <= B [<= C]            metric A is at most B, wherever the other words agree
possible N COLUMN [in TABLE] [rows NAME…]
                               each number is k of N in percent, as printed
gain ROW = ROW - ROW           a printed difference of two rows is right
sum ROW = LABEL                a printed total is the sum of the rows with that label
mean TABLE = T1 + T2 …         a table is the plain mean of others, cell by cell
mean TABLE = T1*32 + T2*3 …    or their weighted mean
repeats TABLE of TABLE N       mean ± SD over N runs fits the table of single runs
untrained ROW                  what the SD of a row that is not trained is over
spearman R A.COL B.COL N       a rank correlation over the N rows that both have
max X COLUMN [in TABLE]        no number is above X
twins                          two metrics that are equal in one row only
identical                      columns that are equal in all rows
extremes                       columns at their floor or ceiling for all rows but one
aliases                        rows, or columns, of two tables that may be one under two names
alike A B                      two metrics that are equal in some table only: two rules under one name
alias NAME = NAME              two names of one row, in different tables
Names with blanks stand in double quotes; # begins a comment.`

// ParseRules reads rules, one a line or separated by semicolons. The error
// names the line and what was wanted there.
func ParseRules(text string) ([]Rule, error) {
	var rules []Rule
	for i, line := range strings.Split(strings.ReplaceAll(text, ";", "\n"), "\n") {
		w, err := split(line)
		if err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
		if len(w) == 0 {
			continue
		}
		r := Rule{Line: i + 1, Text: strings.TrimSpace(line), words: w}
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("rule %d: %q: %w", r.Line, r.Text, err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// split cuts a line into words; quotes hold blanks, # ends the line.
func split(line string) ([]string, error) {
	var out []string
	for line = strings.TrimSpace(line); line != "" && line[0] != '#'; line = strings.TrimSpace(line) {
		if line[0] == '"' {
			end := strings.IndexByte(line[1:], '"')
			if end < 0 {
				return nil, fmt.Errorf("%q: want a closing quote", line)
			}
			out = append(out, line[1:1+end])
			line = line[end+2:]
			continue
		}
		end := strings.IndexAny(line, " \t")
		if end < 0 {
			end = len(line)
		}
		out = append(out, line[:end])
		line = line[end:]
	}
	return out, nil
}

// A form is what a rule wants: the number of words, and where fixed ones and
// numbers stand.
type form struct {
	min, max int
	fixed    map[int]string
	numbers  []int
	check    func(*checker, Rule) error
}

// forms are the rules by name.
func forms() map[string]form {
	return map[string]form{
		"range":     {min: 3, max: 4, numbers: []int{1, 2}, check: (*checker).bounds},
		"order":     {min: 4, max: 12, fixed: map[int]string{2: "<=", 4: "<="}, check: (*checker).order},
		"possible":  {min: 3, max: 40, numbers: []int{1}, check: (*checker).possible},
		"gain":      {min: 6, max: 6, fixed: map[int]string{2: "=", 4: "-"}, check: (*checker).gain},
		"sum":       {min: 4, max: 4, fixed: map[int]string{2: "="}, check: (*checker).sum},
		"mean":      {min: 6, max: 40, fixed: map[int]string{2: "=", 4: "+"}, check: (*checker).average},
		"repeats":   {min: 5, max: 5, fixed: map[int]string{2: "of"}, numbers: []int{4}, check: (*checker).repeats},
		"untrained": {min: 2, max: 2, check: (*checker).untrained},
		"spearman":  {min: 5, max: 5, numbers: []int{1, 4}, check: (*checker).spearman},
		"max":       {min: 3, max: 5, fixed: map[int]string{3: "in"}, numbers: []int{1}, check: (*checker).ceiling},
		"twins":     {min: 1, max: 1, check: (*checker).twins},
		"identical": {min: 1, max: 1, check: (*checker).identical},
		"extremes":  {min: 1, max: 1, check: (*checker).extremes},
		"aliases":   {min: 1, max: 1, check: (*checker).likeNames},
		"alike":     {min: 3, max: 3, check: (*checker).alikeSomewhere},
		"alias":     {min: 4, max: 4, fixed: map[int]string{2: "="}, check: (*checker).alias},
	}
}

var errForm = errors.New("want one of the forms that the help of stats audit lists")

func (r Rule) check() error {
	f, ok := forms()[r.words[0]]
	if !ok {
		return fmt.Errorf("no rule is named %q: %w", r.words[0], errForm)
	}
	if len(r.words) < f.min || len(r.words) > f.max {
		return fmt.Errorf("%d words: %w", len(r.words), errForm)
	}
	for at, word := range f.fixed {
		if at < len(r.words) && r.words[at] != word {
			return fmt.Errorf("want %q after %q, have %q: %w", word, r.words[at-1], r.words[at], errForm)
		}
	}
	for _, at := range f.numbers {
		if x, err := strconv.ParseFloat(r.words[at], 64); err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("want a number, have %q: %w", r.words[at], errForm)
		}
	}
	if r.words[0] == "possible" && len(r.words) > 3 && r.words[3] != "in" && r.words[3] != "rows" {
		return fmt.Errorf("want in or rows after %q, have %q: %w", r.words[2], r.words[3], errForm)
	}
	if slices.Contains([]string{"possible", "repeats", "spearman"}, r.words[0]) {
		at := f.numbers[len(f.numbers)-1]
		if n, err := strconv.Atoi(r.words[at]); err != nil || n < 1 || n > 10_000_000 {
			return fmt.Errorf("want a whole number from 1 to 10,000,000, have %q", r.words[at])
		}
	}
	return nil
}

// number returns the number at that word; [Rule.check] saw to it.
func (r Rule) number(at int) float64 {
	x, err := strconv.ParseFloat(r.words[at], 64)
	if err != nil {
		panic("audit: a rule that was not checked: " + r.Text)
	}
	return x
}

// rows returns the labels after "rows"; nil is every row.
func (r Rule) rows() []string {
	if i := slices.Index(r.words, "rows"); i > 0 {
		return r.words[i+1:]
	}
	return nil
}

// in returns the table after "in", "" if none is named.
func (r Rule) in() string {
	if i := slices.Index(r.words, "in"); i > 0 && i+1 < len(r.words) {
		return r.words[i+1]
	}
	return ""
}
