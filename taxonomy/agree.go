package taxonomy

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/stats"
)

// level is that of the intervals of an [Agreement].
const level = 0.95

// A Comparison says how two raters agree on one of the two questions.
type Comparison struct {
	// Classes are the classes in the paper's order, and Counts how often the
	// first rater said class i and the second class j of the same tool.
	Classes []string `json:"classes"`
	Counts  [][]int  `json:"counts"`
	// N is how many tools both have a class for, Agreed how many of them the
	// same.
	N      int `json:"n"`
	Agreed int `json:"agreed"`
	// Share is Agreed/N, Low and High its Wilson interval at 95 %; all are 0 if
	// N is.
	Share float64 `json:"share"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// Kappa is Cohen's kappa, see [Kappa]; nil where it is not defined.
	Kappa *float64 `json:"kappa"`
	// Missing is how many tools one or both have no class for, or one that is
	// not of the taxonomy.
	Missing int `json:"missing"`
}

// An Agreement says how two raters agree.
type Agreement struct {
	First    string     `json:"first"`  // who made the labels of the rows
	Second   string     `json:"second"` // who made those of the columns
	Category Comparison `json:"category"`
	Domain   Comparison `json:"domain"`
}

// NewAgreement returns an Agreement to add pairs to.
func NewAgreement(first, second string) *Agreement {
	return &Agreement{first, second, newComparison(names(Categories())), newComparison(names(Domains()))}
}

func newComparison(all []string) Comparison {
	c := Comparison{Classes: all, Counts: make([][]int, len(all))}
	for i := range c.Counts {
		c.Counts[i] = make([]int, len(all))
	}
	return c
}

// Add counts one tool with the label of each rater.
func (a *Agreement) Add(first, second Label) {
	a.Category.add(string(first.Category), string(second.Category))
	a.Domain.add(string(first.Domain), string(second.Domain))
}

func (c *Comparison) add(first, second string) {
	i, j := slices.Index(c.Classes, first), slices.Index(c.Classes, second)
	if i < 0 || j < 0 {
		c.Missing++
		return
	}
	c.Counts[i][j]++
	c.N++
	if i == j {
		c.Agreed++
	}
	c.Share = float64(c.Agreed) / float64(c.N)
	in := stats.Wilson(c.Agreed, c.N, level)
	c.Low, c.High = in.Low, in.High
	c.Kappa = nil
	if k, ok := Kappa(c.Counts); ok {
		c.Kappa = &k
	}
}

// Kappa returns Cohen's kappa of a square table of counts, where counts[i][j] is
// how often the first rater said i and the second one j:
//
//	kappa = (o - e) / (1 - e)
//	o     = Σ_i counts[i][i] / n
//	e     = Σ_i row_i · column_i / n²
//
// It is 1 if they always agree, 0 if they agree as often as two raters who draw
// at random with the same frequencies, and below 0 if less often; it is in
// [-1,1]. It is not defined, and ok is false, if the table is empty or both
// raters always say one and the same class.
func Kappa(counts [][]int) (kappa float64, ok bool) {
	rows, columns := make([]int, len(counts)), make([]int, len(counts))
	n, same := 0, 0
	for i, row := range counts {
		for j, c := range row {
			rows[i] += c
			columns[j] += c
			n += c
		}
		same += row[i]
	}
	// In integers as far as they go: where the raters agree by chance alone,
	// kappa is 0 and not a rounding.
	chance := 0
	for i := range rows {
		chance += rows[i] * columns[i]
	}
	if n*n == chance {
		return 0, false
	}
	return float64(same*n-chance) / float64(n*n-chance), true
}

// summary is one line without the name of the question.
func (c Comparison) summary() string {
	if c.N == 0 {
		return fmt.Sprintf("no tool has two labels (%d lack one)", c.Missing)
	}
	kappa := "not defined"
	if c.Kappa != nil {
		kappa = fmt.Sprintf("%.3f", *c.Kappa)
	}
	s := fmt.Sprintf("%d of %d agree: %.3f (95%% %.3f to %.3f), kappa %s", c.Agreed, c.N, c.Share, c.Low, c.High, kappa)
	if c.Missing > 0 {
		s += fmt.Sprintf("; %d lack a label", c.Missing)
	}
	return s
}

// questions are the two comparisons with their names.
func (a *Agreement) questions() []struct {
	name string
	c    *Comparison
} {
	return []struct {
		name string
		c    *Comparison
	}{{"category", &a.Category}, {"domain", &a.Domain}}
}

// WriteText writes both tables for a terminal. Rows are the first rater's
// classes, columns the second's in the same order, by their first letters.
func (a *Agreement) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, q := range a.questions() {
		fmt.Fprintf(&b, "%s: %s\n", q.name, q.c.summary())
		if q.c.N == 0 {
			continue
		}
		fmt.Fprintf(&b, "rows: %s, columns: %s\n%-14s", a.First, a.Second, "")
		for _, name := range q.c.Classes {
			fmt.Fprintf(&b, "%6s", name[:5])
		}
		b.WriteByte('\n')
		for i, name := range q.c.Classes {
			fmt.Fprintf(&b, "%-14s", name)
			for _, n := range q.c.Counts[i] {
				if n == 0 {
					b.WriteString("     .")
					continue
				}
				fmt.Fprintf(&b, "%6d", n)
			}
			b.WriteByte('\n')
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteMarkdown writes both tables as Markdown.
func (a *Agreement) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Agreement of %s and %s\n\nRows: %s. Columns: %s.\n", a.First, a.Second, a.First, a.Second)
	for _, q := range a.questions() {
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n", q.name, q.c.summary())
		if q.c.N == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n| | %s |\n|---|%s\n", strings.Join(q.c.Classes, " | "), strings.Repeat("---:|", len(q.c.Classes)))
		for i, name := range q.c.Classes {
			fmt.Fprintf(&b, "| %s |", name)
			for j, n := range q.c.Counts[i] {
				if i == j {
					fmt.Fprintf(&b, " **%d** |", n)
				} else {
					fmt.Fprintf(&b, " %d |", n)
				}
			}
			b.WriteByte('\n')
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
