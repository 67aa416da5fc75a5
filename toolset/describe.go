package toolset

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"assay/qaoa"
)

// maxExamples is how many tools a description names for each problem.
const maxExamples = 3

// A Description says what is in a pool.
type Description struct {
	Tools      int     `json:"tools"`
	Names      int     `json:"names"` // distinct ones
	Origins    []Count `json:"origins"`
	Categories []Count `json:"categories"`
	Domains    []Count `json:"domains"`
	// Labellers counts the tools by who made their category and domain.
	Labellers []Count `json:"labelled_by"`
	// Types counts the parameters of the first level by their type, and
	// NestedTypes those below it. Several types are joined with |; a parameter
	// without one is "any", or the keyword that stands for it (anyOf, enum …).
	Types       []Count `json:"types"`
	NestedTypes []Count `json:"nested_types"`
	// Parameters counts the parameters of the first level, Required those of
	// them that must be given.
	Parameters int `json:"parameters"`
	Required   int `json:"required"`
	// PerTool counts the tools by their number of parameters of the first
	// level, ascending.
	PerTool []PerTool `json:"parameters_per_tool"`
	// Problems are in the order of [Problems], those that no tool has left out.
	Problems []Problem `json:"problems"`
}

// A Count is how many tools, or parameters, have a value.
type Count struct {
	Value string `json:"value"`
	N     int    `json:"n"`
}

// PerTool is how many tools have that many parameters.
type PerTool struct {
	Parameters int `json:"parameters"`
	Tools      int `json:"tools"`
}

// A Problem is something amiss with the tools of a pool.
type Problem struct {
	Code  ProblemCode `json:"code"`
	Tools int         `json:"tools"` // that have it
	// Places is how often it is there: a tool may have it several times.
	Places   int       `json:"places"`
	Examples []Example `json:"examples"` // of the first tools that have it
}

// An Example is one place with a problem.
type Example struct {
	Tool   string `json:"tool"`
	Origin string `json:"origin,omitempty"`
	Path   string `json:"path"` // JSON Pointer into the parameters
	Detail string `json:"detail"`
}

// Describe reads a pool and counts. An error of entries is returned.
func Describe(entries iter.Seq2[Entry, error]) (Description, error) {
	d := describer{
		names: map[string]bool{}, problems: map[ProblemCode]*Problem{}, perTool: map[int]int{},
	}
	for i := range d.counts {
		d.counts[i] = map[string]int{}
	}
	for e, err := range entries {
		if err != nil {
			return Description{}, err
		}
		d.add(e)
	}
	return d.description(), nil
}

// What a describer counts by value.
const (
	byOrigin = iota
	byCategory
	byDomain
	byLabeller
	byType
	byNestedType
	counters
)

type describer struct {
	out      Description
	names    map[string]bool
	counts   [counters]map[string]int
	perTool  map[int]int
	problems map[ProblemCode]*Problem
}

func (d *describer) add(e Entry) {
	d.out.Tools++
	for by, value := range []string{byOrigin: e.Tool.Origin, byCategory: e.Tool.Category, byDomain: e.Tool.Domain, byLabeller: e.LabelledBy} {
		d.counts[by][value]++
	}
	findings := CheckTool(e.Tool)
	if d.names[e.Tool.Name] {
		findings = append(findings, ToolProblem{SameName, "", fmt.Sprintf("%.60q is the name of an earlier tool too", e.Tool.Name)})
	}
	d.names[e.Tool.Name] = true
	d.note(e.Tool, findings)

	schema, err := e.Tool.Parameters.Value()
	if err != nil {
		return // bad_schema, which is among the findings
	}
	props, _ := schema.Get("properties")
	required, _ := schema.Get("required")
	d.perTool[len(props.Members)]++
	d.out.Parameters += len(props.Members)
	for _, p := range props.Members {
		d.counts[byType][typeName(p.Value)]++
		d.nested(p.Value)
		if slices.ContainsFunc(required.Items, func(r qaoa.Value) bool { return r.Kind == qaoa.String && r.Text == p.Name }) {
			d.out.Required++
		}
	}
}

// nested counts the types of what is in a parameter.
func (d *describer) nested(schema qaoa.Value) {
	props, _ := schema.Get("properties")
	for _, p := range props.Members {
		d.counts[byNestedType][typeName(p.Value)]++
		d.nested(p.Value)
	}
	if items, ok := schema.Get("items"); ok && items.Kind == qaoa.Object {
		d.counts[byNestedType][typeName(items)]++
		d.nested(items)
	}
}

// typeName returns the type of a parameter in words.
func typeName(schema qaoa.Value) string {
	switch typ, _ := schema.Get("type"); typ.Kind {
	case qaoa.String:
		return typ.Text
	case qaoa.Array:
		words := make([]string, len(typ.Items))
		for i, t := range typ.Items {
			words[i] = t.Text
		}
		return strings.Join(words, "|")
	}
	for _, word := range []string{"anyOf", "oneOf", "allOf", "$ref", "enum", "const"} {
		if _, ok := schema.Get(word); ok {
			return word
		}
	}
	return "any"
}

// note adds the problems of one tool.
func (d *describer) note(t qaoa.Tool, findings []ToolProblem) {
	seen := map[ProblemCode]bool{}
	for _, f := range findings {
		p := d.problems[f.Code]
		if p == nil {
			p = &Problem{Code: f.Code}
			d.problems[f.Code] = p
		}
		p.Places++
		if seen[f.Code] {
			continue
		}
		seen[f.Code] = true
		p.Tools++
		if len(p.Examples) < maxExamples {
			p.Examples = append(p.Examples, Example{t.Name, t.Origin, f.Path, f.Detail})
		}
	}
}

func (d *describer) description() Description {
	out := d.out
	out.Names = len(d.names)
	for by, to := range []*[]Count{
		byOrigin: &out.Origins, byCategory: &out.Categories, byDomain: &out.Domains, byLabeller: &out.Labellers,
		byType: &out.Types, byNestedType: &out.NestedTypes,
	} {
		*to = sorted(d.counts[by])
	}
	out.PerTool = []PerTool{}
	for _, n := range slices.Sorted(maps.Keys(d.perTool)) {
		out.PerTool = append(out.PerTool, PerTool{n, d.perTool[n]})
	}
	out.Problems = []Problem{}
	for _, code := range Problems() {
		if p := d.problems[code]; p != nil {
			out.Problems = append(out.Problems, *p)
		}
	}
	return out
}

// sorted returns counts, the largest first and equal ones by value.
func sorted(counts map[string]int) []Count {
	out := make([]Count, 0, len(counts))
	for v, n := range counts {
		out = append(out, Count{v, n})
	}
	slices.SortFunc(out, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Value, b.Value))
	})
	return out
}

// maxRows is how many values of a kind the text shows.
const maxRows = 20

// WriteText writes the description for people.
func (d Description) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d tools with %d distinct names\n", d.Tools, d.Names)
	if d.Tools > 0 {
		fmt.Fprintf(&b, "%d parameters, %.2f a tool, %d of them required\n", d.Parameters, float64(d.Parameters)/float64(d.Tools), d.Required)
	}
	for _, s := range []struct {
		title string
		of    []Count
	}{
		{"origin", d.Origins},
		{"category", d.Categories},
		{"domain", d.Domains},
		{"labelled by", d.Labellers},
		{"type of a parameter", d.Types},
		{"type of a nested one", d.NestedTypes},
	} {
		if len(s.of) > 0 {
			writeCounts(&b, s.title, s.of)
		}
	}
	d.writePerTool(&b)
	d.writeProblems(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func writeCounts(b *strings.Builder, title string, counts []Count) {
	total := 0
	for _, c := range counts {
		total += c.N
	}
	fmt.Fprintf(b, "\n%s\n", title)
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for i, c := range counts {
		if i == maxRows {
			fmt.Fprintf(t, "  … %d more\t\t\n", len(counts)-maxRows)
			break
		}
		fmt.Fprintf(t, "  %s\t%d\t%.1f %%\n", printableName(c.Value), c.N, 100*float64(c.N)/float64(total))
	}
	_ = t.Flush() // to a strings.Builder
}

func (d Description) writePerTool(b *strings.Builder) {
	if len(d.PerTool) == 0 {
		return
	}
	b.WriteString("\nparameters of a tool: tools\n ")
	for _, p := range d.PerTool {
		fmt.Fprintf(b, " %d:%d", p.Parameters, p.Tools)
	}
	b.WriteByte('\n')
}

func (d Description) writeProblems(b *strings.Builder) {
	if len(d.Problems) == 0 {
		b.WriteString("\nno problems\n")
		return
	}
	b.WriteString("\nproblems\n")
	for _, p := range d.Problems {
		fmt.Fprintf(b, "  %s: %d tools, %d places\n", p.Code, p.Tools, p.Places)
		for _, e := range p.Examples {
			detail := e.Detail
			if e.Path != "" {
				detail = e.Path + ": " + detail
			}
			fmt.Fprintf(b, "    %s (%s): %s\n", printableName(e.Tool), printableName(e.Origin), printableName(detail))
		}
	}
}
