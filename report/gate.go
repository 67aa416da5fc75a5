package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A Verdict is what a gate says.
type Verdict string

// The verdicts. A gate that is not sure says so: it never reads "not shown to
// be better" as "not better".
const (
	Go           Verdict = "GO"
	NoGo         Verdict = "NO-GO"
	Inconclusive Verdict = "INCONCLUSIVE"
)

// GateOptions are the settings of [Gate].
type GateOptions struct {
	PairOptions // Metrics and Cells say what is looked at; nil is SPA of all conversations
	// MinGain is the gain asked for, as a fraction: 0.01 is one point. At 0
	// the question is whether A is at least as good as B; below 0 a loss of
	// that size is borne.
	MinGain float64
	// Alpha is the risk of a wrong GO, and of a wrong NO-GO, each in (0,0.5);
	// 0 means 0.05.
	Alpha float64
}

// A GateResult is the verdict on A against B.
type GateResult struct {
	Verdict Verdict     `json:"verdict"`
	Why     string      `json:"why"` // one sentence
	Preset  string      `json:"preset"`
	Unit    string      `json:"unit"` // "fraction"
	MinGain float64     `json:"min_gain"`
	Alpha   float64     `json:"alpha"`
	A       Side        `json:"a"`
	B       Side        `json:"b"`
	Checks  []GateCheck `json:"checks"`
	Notes   []string    `json:"notes,omitempty"`
}

// A GateCheck is the verdict on one column.
type GateCheck struct {
	Column
	Unit       string   `json:"unit"` // of an instance: "turn" or "conversation"
	Instances  int      `json:"instances"`
	Records    int      `json:"records"`
	MeanA      *float64 `json:"mean_a"`
	MeanB      *float64 `json:"mean_b"`
	Difference *float64 `json:"difference"`
	// Interval has the level 1-2·alpha, so that the gain lies below Low, and
	// above High, with a risk of alpha each.
	Interval *Interval `json:"interval"`
	Level    float64   `json:"level"`
	Method   string    `json:"method"`
	Verdict  Verdict   `json:"verdict"`
	Why      string    `json:"why"`
}

// Gate decides whether A gains at least MinGain over B. For each column it is
// GO if the interval of the gain at level 1-2·alpha begins at MinGain or
// above, NO-GO if it ends below, and INCONCLUSIVE if MinGain lies inside: two
// one-sided tests of size alpha (D. J. Schuirmann, 1987). With several runs on
// both sides the interval is the t interval over trainings and items
// ([stats.CompareGrids], Both), so the seed is the replicate; with one run on
// a side it is the BCa bootstrap interval over records, and the verdict is
// about these very runs.
//
// All columns must be GO for GO, and one NO-GO is enough for NO-GO. A wrong GO
// needs every column to err, so alpha is not divided among them (R. L. Berger,
// 1982, intersection-union test). Gate refuses what [Compare] refuses.
func Gate(runsA, runsB []Run, opt GateOptions) (GateResult, error) {
	if opt.Alpha == 0 {
		opt.Alpha = 0.05
	}
	if !(opt.Alpha > 0 && opt.Alpha < 0.5) {
		return GateResult{}, fmt.Errorf("alpha %v: want a number between 0 and 0.5, such as 0.05", opt.Alpha)
	}
	if !(opt.MinGain >= -1 && opt.MinGain <= 1) {
		return GateResult{}, fmt.Errorf("minimum gain %v: want a fraction between -1 and 1; scores cannot differ by more", opt.MinGain)
	}
	if opt.Metrics == nil {
		opt.Metrics = []string{"SPA"}
	}
	if opt.Cells == nil {
		opt.Cells = []string{CellConversations}
	}
	opt.Level, opt.Datasets = 1-2*opt.Alpha, false
	p, err := Compare(runsA, runsB, opt.PairOptions)
	if err != nil {
		return GateResult{}, err
	}
	g := GateResult{
		Verdict: Go, Preset: p.Preset, Unit: p.Unit, MinGain: opt.MinGain, Alpha: opt.Alpha, A: p.A, B: p.B,
		Notes: p.Notes,
	}
	for _, col := range opt.family() {
		c, ok := p.Column(col)
		if !ok {
			return GateResult{}, fmt.Errorf("%s: no instance, or not scored: want a column that these runs have", col)
		}
		g.Checks = append(g.Checks, g.check(c, p))
	}
	g.decide()
	return g, nil
}

// check judges one column.
func (g GateResult) check(c PairedColumn, p Paired) GateCheck {
	out := GateCheck{
		Column: c.Column, Unit: c.Unit, Instances: c.Instances, Records: c.Records,
		MeanA: c.MeanA, MeanB: c.MeanB, Difference: c.Difference,
		Interval: c.BCa, Level: p.Level, Method: fmt.Sprintf("BCa bootstrap over %d records", c.Records),
		Verdict: Inconclusive,
	}
	if both := c.OverBoth; both != nil && both.T != nil {
		out.Interval = both.T
		out.Method = fmt.Sprintf("t over %d and %d runs and %d records", len(p.A.Runs), len(p.B.Runs), c.Records)
	}
	where := c.Cell // also what people call turns and conversations
	what := fmt.Sprintf("the %s of %s is that of B", metricLabel(c.Metric), where)
	switch d := *c.Difference; {
	case d > 0:
		what = fmt.Sprintf("the %s of %s is %s points above that of B", metricLabel(c.Metric), where, points(d))
	case d < 0:
		what = fmt.Sprintf("the %s of %s is %s points below that of B", metricLabel(c.Metric), where, points(-d))
	}
	wanted := points(g.MinGain)
	iv := out.Interval
	switch {
	case iv == nil:
		out.Why = what + fmt.Sprintf(", but %d record%s give no interval: score more records", c.Records, plural(c.Records))
		return out
	case iv.Low == iv.High && c.Records < fewRecords:
		out.Why = what + fmt.Sprintf(", alike on all of the %d records, which are too few to say how others would be: score more records", c.Records)
		return out
	}
	what += fmt.Sprintf(" (%s %% interval %s to %s, %s)", strconv.FormatFloat(100*p.Level, 'g', 6, 64), points(iv.Low), points(iv.High), out.Method)
	switch {
	case iv.Low >= g.MinGain:
		out.Verdict, out.Why = Go, what+fmt.Sprintf(", at least the %s asked for", wanted)
	case iv.High < g.MinGain:
		out.Verdict, out.Why = NoGo, what+fmt.Sprintf(", short of the %s asked for", wanted)
	default:
		out.Why = what + fmt.Sprintf(", which is not sure to be, or not to be, the %s asked for: score more records, or train more seeds", wanted)
	}
	return out
}

// decide joins the verdicts of columns.
func (g *GateResult) decide() {
	for _, want := range []Verdict{NoGo, Inconclusive, Go} {
		for _, c := range g.Checks {
			if c.Verdict == want {
				g.Verdict, g.Why = want, c.Why
				return
			}
		}
	}
}

// points returns a fraction as percent points with one decimal, two where one
// would round something away to nothing.
func points(f float64) string {
	s := strconv.FormatFloat(100*f, 'f', 1, 64)
	if f != 0 && (s == "0.0" || s == "-0.0") {
		return strconv.FormatFloat(100*f, 'f', 2, 64)
	}
	return strings.Replace(s, "-0.0", "0.0", 1)
}

// JSON writes g as one object, in fractions.
func (g GateResult) JSON(w io.Writer) error { return encode(w, g) }

// Text writes the verdict for people: the sentence, then the checks.
func (g GateResult) Text(w io.Writer) error { return g.write(w, textDocument) }

// Markdown writes the same as Markdown.
func (g GateResult) Markdown(w io.Writer) error { return g.write(w, markdownDocument) }

func (g GateResult) write(w io.Writer, doc document) error {
	var b strings.Builder
	b.WriteString(doc.line(fmt.Sprintf("%s: %s.", g.Verdict, g.Why)))
	b.WriteString("\n" + doc.line("A: "+sideLine(g.A)) + "\n" + doc.line("B: "+sideLine(g.B)) + "\n")
	t := Table{Header: []string{"column", "unit", "n", "records", "A", "B", "A - B", "interval", "asked for", "verdict"}, Left: 2}
	for _, c := range g.Checks {
		iv := "n/a"
		if c.Interval != nil {
			iv = points(c.Interval.Low) + " to " + points(c.Interval.High)
		}
		t.Add(c.String(), c.Unit, strconv.Itoa(c.Instances), strconv.Itoa(c.Records), percent(c.MeanA), percent(c.MeanB),
			points(*c.Difference), iv, points(g.MinGain), string(c.Verdict))
	}
	if err := doc.table(t, &b); err != nil {
		return err
	}
	b.WriteString("\n" + doc.line(fmt.Sprintf("percent; preset %s; a wrong GO and a wrong NO-GO have a risk of %g each", g.Preset, g.Alpha)))
	for _, n := range g.Notes {
		b.WriteString(doc.item(n))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
