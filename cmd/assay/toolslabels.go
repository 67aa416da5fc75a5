package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/goccy/go-json"

	"assay/taxonomy"
	"assay/toolset"
)

// A labelSummary counts what "tools classify" did.
type labelSummary struct {
	By         string       `json:"by"`
	Tools      int          `json:"tools"`
	Labelled   int          `json:"labelled"`   // by By, now or in an earlier call
	Kept       int          `json:"kept"`       // left alone by --keep
	Unlabelled int          `json:"unlabelled"` // no usable answer
	Questions  int          `json:"questions"`  // tools asked about, each as often as it was
	Categories []labelCount `json:"categories"` // of the labelled tools, in the paper's order
	Domains    []labelCount `json:"domains"`
	// Mean scores are over the labelled tools, 0 if By has no scores.
	CategoryScore float64             `json:"mean_category_score,omitempty"`
	DomainScore   float64             `json:"mean_domain_score,omitempty"`
	Faults        []labelFault        `json:"faults,omitempty"` // the first ones
	Agreement     *taxonomy.Agreement `json:"agreement,omitempty"`
	Unmatched     int                 `json:"unmatched,omitempty"` // labelled tools that --agree does not have

	other *otherLabels
}

type labelCount struct {
	Name  string `json:"name"`
	Tools int    `json:"tools"`
}

// A labelFault is a tool without a usable answer.
type labelFault struct {
	Tool   string `json:"tool"`
	Reason string `json:"reason"`
}

func newLabelSummary(by string, other *otherLabels) *labelSummary {
	s := &labelSummary{By: by, other: other}
	if by == "lexical" {
		s.By = taxonomy.LexicalName
	}
	for _, c := range taxonomy.Categories() {
		s.Categories = append(s.Categories, labelCount{Name: string(c)})
	}
	for _, d := range taxonomy.Domains() {
		s.Domains = append(s.Domains, labelCount{Name: string(d)})
	}
	if other != nil {
		s.Agreement = taxonomy.NewAgreement(s.By, other.by)
	}
	return s
}

// add counts a tool.
func (s *labelSummary) add(l taxonomy.Labelled[toolset.Entry]) {
	s.Tools++
	s.Questions += l.Asked
	switch {
	case !l.Label.Complete() && l.Label.Reason == "":
		s.Kept++
		return
	case !l.Label.Complete():
		if s.Unlabelled++; s.Unlabelled <= maxShown {
			s.Faults = append(s.Faults, labelFault{l.Tool.Name, l.Label.Reason})
		}
		return
	}
	// Running means: no sum grows with the pool.
	s.Labelled++
	n := float64(s.Labelled)
	s.CategoryScore += (l.Label.CategoryScore - s.CategoryScore) / n
	s.DomainScore += (l.Label.DomainScore - s.DomainScore) / n
	count(s.Categories, string(l.Label.Category))
	count(s.Domains, string(l.Label.Domain))
	if s.other == nil {
		return
	}
	if o, ok := s.other.labels[toolset.Key(l.Tool)]; ok {
		s.Agreement.Add(l.Label, o)
	} else {
		s.Unmatched++
	}
}

func count(list []labelCount, name string) {
	if i := slices.IndexFunc(list, func(c labelCount) bool { return c.Name == name }); i >= 0 {
		list[i].Tools++
	}
}

// WriteText writes the summary for a terminal.
func (s *labelSummary) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d tools: %d labelled by %s", s.Tools, s.Labelled, s.By)
	if s.Kept > 0 {
		fmt.Fprintf(&b, ", %d left as they were", s.Kept)
	}
	if s.Unlabelled > 0 {
		fmt.Fprintf(&b, ", %d without a usable answer", s.Unlabelled)
	}
	if s.CategoryScore > 0 {
		fmt.Fprintf(&b, "; mean scores %.2f (category) and %.2f (domain)", s.CategoryScore, s.DomainScore)
	}
	fmt.Fprintf(&b, "\n  categories: %s\n  domains: %s\n", counted(s.Categories), counted(s.Domains))
	for _, f := range s.Faults {
		fmt.Fprintf(&b, "  no label: %s: %s\n", printable(cut(f.Tool, 60)), printable(cut(f.Reason, 200)))
	}
	if s.Unlabelled > len(s.Faults) {
		fmt.Fprintf(&b, "  … and %d more\n", s.Unlabelled-len(s.Faults))
	}
	if _, err := io.WriteString(w, b.String()); err != nil || s.Agreement == nil {
		return err
	}
	if s.Unmatched > 0 {
		fmt.Fprintf(w, "%d labelled tools are not in %s\n", s.Unmatched, s.other.by)
	}
	return s.Agreement.WriteText(w)
}

// counted returns "search 5, system 2", the most frequent first.
func counted(list []labelCount) string {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b labelCount) int { return b.Tools - a.Tools })
	var parts []string
	for _, c := range list {
		if c.Tools > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", c.Name, c.Tools))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// WriteMarkdown writes the summary as a page.
func (s *labelSummary) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Labels by %s\n\n%d tools, %d labelled, %d left as they were, %d without a usable answer.\n", s.By, s.Tools, s.Labelled, s.Kept, s.Unlabelled)
	for _, table := range []struct {
		name string
		list []labelCount
	}{{"category", s.Categories}, {"domain", s.Domains}} {
		fmt.Fprintf(&b, "\n| %s | tools |\n|---|---:|\n", table.name)
		for _, c := range table.list {
			fmt.Fprintf(&b, "| %s | %d |\n", c.Name, c.Tools)
		}
	}
	b.WriteByte('\n')
	if _, err := io.WriteString(w, b.String()); err != nil || s.Agreement == nil {
		return err
	}
	return s.Agreement.WriteMarkdown(w)
}

// labelDetails writes a line per tool, or nothing.
type labelDetails struct{ out *output }

func newLabelDetails(std stdio, path string) (*labelDetails, error) {
	if path == "" {
		return &labelDetails{}, nil
	}
	out, err := createOutput(std, path)
	return &labelDetails{out}, err
}

func (d *labelDetails) add(l taxonomy.Labelled[toolset.Entry], before toolset.Entry) error {
	if d.out == nil {
		return nil
	}
	type line struct {
		Name           string   `json:"name"`
		Origin         string   `json:"origin,omitempty"`
		Category       string   `json:"category"`
		Domain         string   `json:"domain"`
		By             string   `json:"by"`
		CategoryScore  *float64 `json:"category_score,omitempty"`
		CategoryMargin *float64 `json:"category_margin,omitempty"`
		DomainScore    *float64 `json:"domain_score,omitempty"`
		DomainMargin   *float64 `json:"domain_margin,omitempty"`
		CategoryBefore string   `json:"category_before,omitempty"`
		DomainBefore   string   `json:"domain_before,omitempty"`
		Asked          int      `json:"asked,omitempty"`
		Reason         string   `json:"reason,omitempty"`
	}
	out := line{
		Name: l.Tool.Name, Origin: l.Tool.Origin, Category: l.Item.Tool.Category, Domain: l.Item.Tool.Domain, By: l.Item.LabelledBy,
		CategoryBefore: before.Tool.Category, DomainBefore: before.Tool.Domain, Asked: l.Asked, Reason: l.Label.Reason,
	}
	if l.Label.CategoryScore > 0 {
		out.CategoryScore, out.CategoryMargin = &l.Label.CategoryScore, &l.Label.CategoryMargin
		out.DomainScore, out.DomainMargin = &l.Label.DomainScore, &l.Label.DomainMargin
	}
	enc := json.NewEncoder(d.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}

func (d *labelDetails) finish(err error) error {
	if d.out == nil {
		return err
	}
	return d.out.finish(err)
}
