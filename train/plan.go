package train

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"assay/qaoa"
)

// A Plan is a mixture that can be drawn from what there is.
type Plan struct {
	Scheme Scheme `json:"scheme,omitempty"`
	// Records is how many there are to draw from, Wanted the total asked for
	// (0 is as many as can be), and Rows how many will be drawn.
	Records int     `json:"records"`
	Wanted  int     `json:"wanted,omitempty"`
	Rows    int     `json:"rows"`
	Seed    uint64  `json:"seed"`
	Repeat  float64 `json:"max_repeat"`
	// Groups holds every pair of a source group and a shape group that has
	// records or was to have some.
	Groups []Group `json:"groups"`
	// Sources and Shapes are the groups on their own, with what each was to
	// have. They are empty where nothing was asked.
	Sources []Margin `json:"sources,omitempty"`
	Shapes  []Margin `json:"shapes,omitempty"`
	// LeftOut counts records of no group.
	LeftOut int `json:"left_out,omitempty"`

	namedSources, namedShapes []string
}

// A Group is the records of some sources with some shapes.
type Group struct {
	Source  string `json:"source"` // a name, or [Rest]
	Shape   string `json:"shape"`  // a term, or [Rest]
	Records int    `json:"records"`
	Rows    int    `json:"rows"`
}

// Repetition is how many rows a record of the group makes on average; 0 if
// there are none.
func (g Group) Repetition() float64 {
	if g.Records == 0 {
		return 0
	}
	return float64(g.Rows) / float64(g.Records)
}

// A Margin is a group of sources, or of shapes, over all of the others.
type Margin struct {
	Name    string  `json:"name"`
	Share   float64 `json:"share,omitempty"` // as asked for
	Records int     `json:"records"`
	Wanted  int     `json:"wanted"`
	Rows    int     `json:"rows"`
}

// Short returns how many rows fewer there are than were wanted.
func (p Plan) Short() int {
	short := max(0, p.Wanted-p.Rows)
	for _, margins := range [][]Margin{p.Sources, p.Shapes} {
		sum := 0
		for _, m := range margins {
			sum += max(0, m.Wanted-m.Rows)
		}
		short = max(short, sum)
	}
	return short
}

// A cell is the finest group: one source, one shape.
type cell struct {
	source string
	shape  shape
}

// A cellIndex counts records by cell, in the order of their first record.
type cellIndex struct {
	list []cell
	n    []int
	at   map[cell]int
}

// of counts a record and returns its cell's place plus one.
func (x *cellIndex) of(rec qaoa.Record) uint16 {
	c := cell{rec.Source.Name, shapeOf(rec)}
	i, ok := x.at[c]
	if !ok {
		if x.at == nil {
			x.at = map[cell]int{}
		}
		i = min(len(x.list), math.MaxUint16-1)
		x.at[c] = i
		if i == len(x.list) {
			x.list, x.n = append(x.list, c), append(x.n, 0)
		}
	}
	x.n[i]++
	return uint16(i + 1)
}

func (x *cellIndex) counts() ([]cell, []int) { return x.list, x.n }

// group returns the name in named that a source or shape belongs to, "" if
// none does.
func group(named []string, matches func(name string) bool) string {
	rest := ""
	for _, n := range named {
		if n == Rest {
			rest = Rest
		} else if matches(n) {
			return n
		}
	}
	return rest
}

// groupOf returns the group of a cell, -1 if it is left out.
func (p *Plan) groupOf(c cell) int {
	source := group(p.namedSources, func(n string) bool { return n == c.source })
	shp := group(p.namedShapes, func(n string) bool { return matchesTerm(n, c.shape) })
	return slices.IndexFunc(p.Groups, func(g Group) bool { return g.Source == source && g.Shape == shp })
}

// plan shares rows out over the cells, of which there are n[i] records each.
func (m Mixture) plan(cells []cell, n []int) (Plan, error) {
	p := Plan{Scheme: m.Scheme, Wanted: m.Total, Seed: m.Seed, Repeat: m.MaxRepeat}
	for _, k := range n {
		p.Records += k
	}
	p.namedSources, p.namedShapes = names(m.SourceShares, m.SourceCounts), names(m.ShapeShares, m.ShapeCounts)
	if m.Scheme == PublicMixed {
		for _, c := range cells {
			if !slices.Contains(p.namedSources, c.source) {
				p.namedSources = append(p.namedSources, c.source)
			}
		}
	}
	noSources, noShapes := len(p.namedSources) == 0, len(p.namedShapes) == 0
	if noSources {
		p.namedSources = []string{Rest}
	}
	if noShapes {
		p.namedShapes = []string{Rest}
	}
	have := make([][]int, len(p.namedSources))
	for r, source := range p.namedSources {
		have[r] = make([]int, len(p.namedShapes))
		for _, term := range p.namedShapes {
			p.Groups = append(p.Groups, Group{Source: source, Shape: term})
		}
	}
	for i, c := range cells {
		if g := p.groupOf(c); g >= 0 {
			p.Groups[g].Records += n[i]
			have[g/len(p.namedShapes)][g%len(p.namedShapes)] += n[i]
		} else {
			p.LeftOut += n[i]
		}
	}
	rows := margin{names: p.namedSources, shares: m.SourceShares, counts: m.SourceCounts, free: noSources}
	cols := margin{names: p.namedShapes, shares: m.ShapeShares, counts: m.ShapeCounts, free: noShapes}
	for _, kind := range []struct {
		name   string
		margin margin
	}{{"source", rows}, {"shape", cols}} {
		if err := kind.margin.agrees(kind.name, m.Total); err != nil {
			return p, err
		}
	}
	var take [][]int
	if m.Scheme == PublicMixed {
		take = publicMixed(have, m.Total)
	} else {
		t := newTable(have, m.MaxRepeat)
		take = t.solve(m.Total, rows, cols)
		p.Sources, p.Shapes = rows.report(take, have, t.total, false), cols.report(take, have, t.total, true)
	}
	p.fillIn(take)
	return p, nil
}

// fillIn sets the rows of groups, and drops groups that have nothing.
func (p *Plan) fillIn(take [][]int) {
	for i := range p.Groups {
		p.Groups[i].Rows = take[i/len(p.namedShapes)][i%len(p.namedShapes)]
		p.Rows += p.Groups[i].Rows
	}
	p.Groups = slices.DeleteFunc(p.Groups, func(g Group) bool { return g.Records == 0 })
}

// publicMixed returns the rows of each source, of which there is one column.
func publicMixed(have [][]int, total int) [][]int {
	all := 0
	for _, h := range have {
		all += h[0]
	}
	left := total
	take := make([][]int, len(have))
	for i, h := range have {
		n := left
		if i < len(have)-1 {
			n = int(float64(total) * (float64(h[0]) / float64(all)))
		}
		left -= n
		take[i] = []int{min(n, h[0])}
	}
	return take
}

// WriteText writes the plan for people.
func (p Plan) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "plan: %d rows of %d records", p.Rows, p.Records)
	if p.Wanted > 0 {
		fmt.Fprintf(&b, ", wanted %d", p.Wanted)
	}
	if p.LeftOut > 0 {
		fmt.Fprintf(&b, "; %d records are of no group", p.LeftOut)
	}
	b.WriteByte('\n')
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	margins := func(title string, list []Margin) {
		if len(list) == 0 {
			return
		}
		fmt.Fprintf(t, "%s\trecords\twanted\trows\t\n", title)
		for _, m := range list {
			note := ""
			if m.Rows < m.Wanted {
				note = fmt.Sprintf("  %d short", m.Wanted-m.Rows) // the last cell is not padded
			}
			fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%s\n", m.Name, m.Records, m.Wanted, m.Rows, note)
		}
	}
	margins("source", p.Sources)
	margins("shape", p.Shapes)
	fmt.Fprintf(t, "source\tshape\trecords\trows\trepeated\t\n")
	for _, g := range p.Groups {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%.2f\t\n", g.Source, g.Shape, g.Records, g.Rows, g.Repetition())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if p.Short() > 0 {
		fmt.Fprintf(&b, "warning: %d rows short of what was wanted: allow repetition (--max-repeat), lower the total, or name more sources\n", p.Short())
	}
	_, err := io.WriteString(w, b.String())
	return err
}
