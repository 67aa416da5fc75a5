package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/stats"
)

// PlanOptions are the settings of [NewPlan].
type PlanOptions struct {
	Alpha float64 // of two-sided tests, in (0,0.5); 0 means 0.05
	Power float64 // wanted, in (alpha,1); 0 means 0.8
	// Want is the difference to be found, a fraction; 0 asks for none.
	Want float64
}

// A PlanInput is what is known before an experiment. Scores and SDs are
// fractions; what is 0 is not known.
type PlanInput struct {
	Name         string  // of the column, or of the plan
	SDA, SDB     float64 // of mean scores over trainings
	RunsA, RunsB int     // trainings a side
	// Items is how many independent items (records) there are, and ItemSD the
	// SD of their paired differences. For right-or-wrong scores it is the root
	// of the share of items on which exactly one side is right.
	Items  int
	ItemSD float64
	// Discordant is the share of items on which exactly one side is right. It
	// is for right-or-wrong scores with one run a side and one instance in each
	// record, where McNemar's exact test is to be planned for.
	Discordant float64
}

// A Plan says what an experiment can find.
type Plan struct {
	Unit    string       `json:"unit"` // "fraction"
	Alpha   float64      `json:"alpha"`
	Power   float64      `json:"power"`
	Want    *float64     `json:"want"` // difference to be found; nil if none was named
	Columns []PlanColumn `json:"columns"`
	Notes   []string     `json:"notes,omitempty"`
}

// A PlanColumn is one line of a [Plan].
type PlanColumn struct {
	Name   string   `json:"name"`
	SDA    *float64 `json:"sd_a"`
	SDB    *float64 `json:"sd_b"`
	RunsA  int      `json:"runs_a"`
	RunsB  int      `json:"runs_b"`
	Items  int      `json:"items"`
	ItemSD *float64 `json:"item_sd"`
	// Detectable is the smallest difference that Welch's test over runs finds
	// with the power asked for, DetectableItems that of the paired test over
	// items for given runs. BySeeds is the first for other numbers of runs.
	Detectable      *float64  `json:"detectable"`
	BySeeds         []SeedRow `json:"by_seeds,omitempty"`
	DetectableItems *float64  `json:"detectable_items"`
	ByItems         []ItemRow `json:"by_items,omitempty"`
	// RunsNeeded (a side) and ItemsNeeded find Want; nil if it was not asked
	// or more than a thousand runs would be needed.
	RunsNeeded  *int `json:"runs_needed"`
	ItemsNeeded *int `json:"items_needed"`
	// Exact plans for McNemar's test; nil where it is not the one to be used.
	Exact *McNemarPlan `json:"mcnemar,omitempty"`
}

// A McNemarPlan is about the exact test of one right-or-wrong run a side.
type McNemarPlan struct {
	Discordant float64 `json:"discordant"` // share of items
	Items      int     `json:"items"`      // 0 if not known
	// Pairs is the number of discordant items to expect among Items.
	Pairs float64 `json:"pairs"`
	// Detectable is the smallest difference found among Items with the power
	// asked for; nil if not even one of all discordant items is.
	Detectable *float64 `json:"detectable"`
	// Power is the chance to find Want among Items. ItemsNeeded find it with
	// the power asked for, and PairsNeeded is how many discordant ones are to be
	// expected among them. Nil if nothing is wanted, if Want is more than
	// Discordant, which cannot be, or if [maxPlanItems] do not do.
	Power       *float64 `json:"power"`
	ItemsNeeded *int     `json:"items_needed"`
	PairsNeeded *float64 `json:"pairs_needed"`
}

// A SeedRow is the smallest difference found with that many runs a side.
type SeedRow struct {
	Runs       int     `json:"runs"`
	Detectable float64 `json:"detectable"`
}

// An ItemRow is the smallest difference found with that many items.
type ItemRow struct {
	Items      int     `json:"items"`
	Detectable float64 `json:"detectable"`
}

var (
	planSeeds = []int{2, 3, 4, 5, 8, 10, 20}
	planItems = []int{50, 100, 200, 500, 1000, 2000, 5000, 10_000}
)

// maxPlanRuns is the number of runs a side above which a plan gives up.
const maxPlanRuns = 1000

// maxPlanItems is the number of items above which an exact plan gives up, and
// the normal approximation is as good.
const maxPlanItems = 50_000

// NewPlan says for each input which difference is found with the power asked
// for ([stats.Design], [stats.PairedDetectable]), and what is needed to find
// the one that is wanted.
func NewPlan(inputs []PlanInput, opt PlanOptions) (Plan, error) {
	opt.Alpha, opt.Power = cmp.Or(opt.Alpha, 0.05), cmp.Or(opt.Power, 0.8)
	switch {
	case !(opt.Alpha > 0 && opt.Alpha < 0.5):
		return Plan{}, fmt.Errorf("alpha %v: want a number between 0 and 0.5, such as 0.05", opt.Alpha)
	case !(opt.Power > opt.Alpha && opt.Power < 1):
		return Plan{}, fmt.Errorf("power %v: want a number between alpha (%v) and 1, such as 0.8", opt.Power, opt.Alpha)
	case !(math.Abs(opt.Want) <= 1):
		return Plan{}, fmt.Errorf("wanted difference %v: want a fraction between -1 and 1", opt.Want)
	}
	p := Plan{Unit: "fraction", Alpha: opt.Alpha, Power: opt.Power}
	if opt.Want != 0 {
		p.Want = &opt.Want
	}
	few, guess := 0, false
	for _, in := range inputs {
		if err := in.check(); err != nil {
			return Plan{}, err
		}
		p.Columns = append(p.Columns, planColumn(in, opt))
		if in.SDA > 0 && in.RunsA >= 2 {
			few, guess = in.RunsA, true
		}
	}
	if guess && few < 5 {
		low, high := stats.SDFactors(few, 0.95)
		p.Notes = append(p.Notes, fmt.Sprintf("an SD that comes from %d runs is known only to %.2f–%.2f times its value (95 %%), and every difference here with it", few, low, high))
	}
	return p, nil
}

func (in PlanInput) check() error {
	if !(in.Discordant >= 0 && in.Discordant <= 1) {
		return fmt.Errorf("%s: discordant %v: want a fraction from 0 to 1", in.Name, in.Discordant)
	}
	for _, x := range []float64{in.SDA, in.SDB, in.ItemSD} {
		if !(x >= 0 && x <= 1) {
			return fmt.Errorf("%s: SD %v: want a fraction from 0 to 1", in.Name, x)
		}
	}
	if in.RunsA < 0 || in.RunsB < 0 || in.Items < 0 {
		return fmt.Errorf("%s: %d and %d runs, %d items: want no negative number", in.Name, in.RunsA, in.RunsB, in.Items)
	}
	return nil
}

func planColumn(in PlanInput, opt PlanOptions) PlanColumn {
	c := PlanColumn{Name: in.Name, RunsA: in.RunsA, RunsB: in.RunsB, Items: in.Items}
	if in.SDA > 0 || in.SDB > 0 {
		c.SDA, c.SDB = known(in.SDA), known(in.SDB)
		d := stats.Design{SDA: in.SDA, SDB: in.SDB, Alpha: opt.Alpha}
		for _, n := range planSeeds {
			d.RunsA, d.RunsB = n, n
			c.BySeeds = append(c.BySeeds, SeedRow{n, d.Detectable(opt.Power)})
		}
		if in.RunsA >= 2 && in.RunsB >= 2 {
			d.RunsA, d.RunsB = in.RunsA, in.RunsB
			c.Detectable = known(d.Detectable(opt.Power))
		}
		if opt.Want != 0 {
			if n := d.RunsFor(opt.Want, opt.Power, maxPlanRuns); n > 0 {
				c.RunsNeeded = &n
			}
		}
	}
	if in.ItemSD > 0 {
		c.ItemSD = known(in.ItemSD)
		for _, n := range planItems {
			c.ByItems = append(c.ByItems, ItemRow{n, stats.PairedDetectable(n, in.ItemSD, opt.Alpha, opt.Power)})
		}
		if in.Items > 0 {
			c.DetectableItems = known(stats.PairedDetectable(in.Items, in.ItemSD, opt.Alpha, opt.Power))
		}
		if opt.Want != 0 {
			n := stats.ItemsFor(opt.Want, in.ItemSD, opt.Alpha, opt.Power)
			c.ItemsNeeded = &n
		}
	}
	if in.Discordant > 0 {
		c.Exact = mcnemarPlan(in, opt)
	}
	return c
}

func mcnemarPlan(in PlanInput, opt PlanOptions) *McNemarPlan {
	p := &McNemarPlan{Discordant: in.Discordant, Pairs: in.Discordant * float64(in.Items)}
	some := in.Items > 0 && in.Items <= maxPlanItems
	if some {
		p.Items = in.Items
		p.Detectable = known(stats.McNemarDetectable(in.Items, in.Discordant, opt.Alpha, opt.Power))
	}
	want := math.Abs(opt.Want)
	if want == 0 || want > in.Discordant {
		return p
	}
	if some {
		p.Power = known(stats.McNemarPower(in.Items, in.Discordant, want, opt.Alpha))
	}
	if n := stats.McNemarItems(want, in.Discordant, opt.Alpha, opt.Power, maxPlanItems); n > 0 {
		pairs := in.Discordant * float64(n)
		p.ItemsNeeded, p.PairsNeeded = &n, &pairs
	}
	return p
}

// PlanInputs takes from runs what a plan wants: the SD over the runs of each
// side, and that of paired differences by record. Without a second side both
// have the SD of the first, and nothing is said of items.
func PlanInputs(runsA, runsB []Run, opt PairOptions) ([]PlanInput, error) {
	if len(runsB) == 0 {
		if len(runsA) < 2 {
			return nil, fmt.Errorf("%d run: want at least two repeats of one experiment, or a second side to pair it with", len(runsA))
		}
		g, err := oneGroup(runsA, "first")
		if err != nil {
			return nil, err
		}
		var out []PlanInput
		for _, col := range opt.family() {
			if xs := overRuns(cellsOf(g), col); len(xs) > 1 {
				sd := stats.SD(xs)
				out = append(out, PlanInput{Name: col.String(), SDA: sd, SDB: sd, RunsA: len(xs), RunsB: len(xs)})
			}
		}
		return out, nil
	}
	g, err := newGrid(runsA, runsB, opt)
	if err != nil {
		return nil, err
	}
	var out []PlanInput
	for _, col := range opt.family() {
		if in, ok := g.planInput(col); ok {
			out = append(out, in)
		}
	}
	return out, nil
}

func (g *pairGrid) planInput(col Column) (PlanInput, bool) {
	keys, ids := g.instances(col.Cell, "")
	if len(keys) == 0 {
		return PlanInput{}, false
	}
	m := slices.Index(metrics, col.Metric)
	a, b := g.matrix(0, m, keys), g.matrix(1, m, keys)
	var c PairedColumn
	d := pairDiffs(a, b, &c)
	in := PlanInput{Name: col.String(), RunsA: len(a), RunsB: len(b)}
	if len(a) > 1 && len(b) > 1 {
		in.SDA, in.SDB = stats.SD(rowMeans(a)), stats.SD(rowMeans(b))
	}
	in.Items = distinct(ids)
	if in.Items == len(ids) && g.single() && g.binary(m, keys) {
		in.Discordant = float64(c.Better+c.Worse) / float64(len(ids))
	}
	if in.Items > 1 {
		in.ItemSD = min(1, stats.ClusterStdErr(d, ids)*math.Sqrt(float64(in.Items)))
	}
	return in, true
}

func rowMeans(rows [][]float64) []float64 {
	out := make([]float64, len(rows))
	for i, r := range rows {
		out[i] = stats.Mean(r)
	}
	return out
}

// JSON writes p as one object, in fractions.
func (p Plan) JSON(w io.Writer) error { return encode(w, p) }

// Text writes p for people, in percent points.
func (p Plan) Text(w io.Writer) error { return p.write(w, textDocument) }

// Markdown writes the same as Markdown.
func (p Plan) Markdown(w io.Writer) error { return p.write(w, markdownDocument) }

func (p Plan) write(w io.Writer, doc document) error {
	var b strings.Builder
	b.WriteString(doc.line(fmt.Sprintf("smallest differences, in percent points, that are found in %g %% of experiments at alpha %g (two-sided)", 100*p.Power, p.Alpha)))
	for _, s := range []struct {
		title string
		table Table
	}{
		{"As planned", p.planned()},
		{"By training seeds a side (Welch's test over runs)", p.bySeeds()},
		{"By items (paired test, for given runs)", p.byItems()},
		{"One run a side, right or wrong (McNemar's exact test)", p.exact()},
	} {
		if len(s.table.Rows) == 0 {
			continue
		}
		b.WriteString("\n" + doc.heading(s.title))
		if err := doc.table(s.table, &b); err != nil {
			return err
		}
	}
	if len(p.Notes) > 0 {
		b.WriteString("\n")
	}
	for _, n := range p.Notes {
		b.WriteString(doc.item(n))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (p Plan) planned() Table {
	t := Table{Header: []string{"column", "SD A", "SD B", "seeds A", "seeds B", "found over seeds", "items", "SD of item differences", "found over items"}, Left: 1}
	if p.Want != nil {
		t.Header = append(t.Header, "to find", "seeds a side", "items")
	}
	for _, c := range p.Columns {
		row := []string{
			c.Name, percent(c.SDA), percent(c.SDB), number(c.RunsA), number(c.RunsB), found(c.Detectable),
			number(c.Items), percent(c.ItemSD), found(c.DetectableItems),
		}
		if p.Want != nil {
			runs, items := "n/a", "n/a"
			if c.RunsNeeded != nil {
				runs = strconv.Itoa(*c.RunsNeeded)
			} else if c.SDA != nil {
				runs = fmt.Sprintf("> %d", maxPlanRuns)
			}
			if c.ItemsNeeded != nil {
				items = strconv.Itoa(*c.ItemsNeeded)
			}
			row = append(row, percent(p.Want), runs, items)
		}
		t.Add(row...)
	}
	return t
}

// found returns a difference in percent points; scores do not differ by more
// than 100.
func found(diff *float64) string {
	if diff != nil && *diff > 1 {
		return "> 100"
	}
	return percent(diff)
}

// number returns n, "n/a" for 0.
func number(n int) string {
	if n == 0 {
		return "n/a"
	}
	return strconv.Itoa(n)
}

func (p Plan) bySeeds() Table {
	t := Table{Header: []string{"column"}, Left: 1}
	for _, n := range planSeeds {
		t.Header = append(t.Header, strconv.Itoa(n))
	}
	for _, c := range p.Columns {
		if len(c.BySeeds) == 0 {
			continue
		}
		row := []string{c.Name}
		for _, s := range c.BySeeds {
			row = append(row, found(&s.Detectable))
		}
		t.Add(row...)
	}
	return t
}

func (p Plan) byItems() Table {
	t := Table{Header: []string{"column"}, Left: 1}
	for _, n := range planItems {
		t.Header = append(t.Header, strconv.Itoa(n))
	}
	for _, c := range p.Columns {
		if len(c.ByItems) == 0 {
			continue
		}
		row := []string{c.Name}
		for _, s := range c.ByItems {
			row = append(row, found(&s.Detectable))
		}
		t.Add(row...)
	}
	return t
}

// exact has a line for each column that McNemar's test is planned for.
func (p Plan) exact() Table {
	t := Table{Header: []string{"column", "discordant", "items", "pairs", "found"}, Left: 1}
	if p.Want != nil {
		t.Header = append(t.Header, "to find", "power", "items wanted", "pairs wanted")
	}
	for _, c := range p.Columns {
		e := c.Exact
		if e == nil {
			continue
		}
		row := []string{c.Name, percent(&e.Discordant), number(e.Items), count1(&e.Pairs), percent(e.Detectable)}
		if p.Want != nil {
			items, pairs := fmt.Sprintf("> %d", maxPlanItems), "n/a"
			switch {
			case math.Abs(*p.Want) > e.Discordant:
				items = "impossible"
			case e.ItemsNeeded != nil:
				items, pairs = strconv.Itoa(*e.ItemsNeeded), count1(e.PairsNeeded)
			}
			row = append(row, percent(p.Want), percent(e.Power), items, pairs)
		}
		t.Add(row...)
	}
	return t
}

// count1 returns an expected number with one decimal, "n/a" for none.
func count1(n *float64) string {
	if n == nil || *n == 0 {
		return "n/a"
	}
	return strconv.FormatFloat(*n, 'f', 1, 64)
}
