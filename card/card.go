// Package card writes the data card of a folder of shards: README.md with YAML
// front matter as dataset hubs read it, and figures (UniToolCall, Figure 8).
// It has no clock and no path: the same rows and manifest make the same bytes.
package card

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assay/census"
	"assay/qaoa"
	"assay/train"
)

// maxNames is how many categories and domains a table has.
const maxNames = 20

// A Card counts the rows of shards. Make one by New.
type Card struct {
	licence func(source string) string
	census  census.Census
	tokens  census.Dist
}

// New returns an empty card. Licence returns that of a source, "" if it is not
// known.
func New(licence func(source string) string) *Card { return &Card{licence: licence} }

// Add counts a row with its tokens, see [train.ShardOptions].OnRow.
func (c *Card) Add(rec qaoa.Record, tokens int) {
	c.census.Add(rec)
	c.tokens.Add(tokens)
}

// Write writes README.md and figures/rows.svg into dir, see
// [train.ShardOptions].Finish.
func (c *Card) Write(m train.Manifest, dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "figures"), 0o777); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, "figures", "rows.svg"))
	if err != nil {
		return err
	}
	err = c.census.WriteSVG(f, "Rows by shape and size")
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "README.md"), []byte(c.text(m)), 0o666) //nolint:gosec // data to be shared
}

func (c *Card) text(m train.Manifest) string {
	var b strings.Builder
	c.front(&b, m)
	fmt.Fprintf(&b, "\n# %s\n\n%d rows with %d turns and %d calls, in the format %s (%s), projection %s.\n\n![Rows by shape and size](figures/rows.svg)\n",
		escape(m.Choices.Name), m.Rows, m.Counts.Turns, m.Counts.Calls, m.Choices.Format, m.Choices.Container, m.Choices.Projection)
	b.WriteString("\n## Sources\n\n| source | rows | licence |\n|---|---:|---|\n")
	for _, s := range slices.Sorted(maps.Keys(m.Sources)) {
		fmt.Fprintf(&b, "| %s | %d | %s |\n", escape(s), m.Sources[s], escape(c.licenceOf(s)))
	}
	c.distributions(&b)
	account(&b, m)
	usage(&b, m)
	return b.String()
}

func (c *Card) licenceOf(source string) string {
	if l := c.licence(source); l != "" {
		return l
	}
	return "not known"
}

// front writes the front matter; names are quoted, since a quoted text of JSON
// is one of YAML.
func (c *Card) front(b *strings.Builder, m train.Manifest) {
	b.WriteString("---\n")
	licences := map[string]bool{}
	for s := range m.Sources {
		licences[c.licenceOf(s)] = true
	}
	if len(licences) == 1 && !licences["not known"] {
		for l := range licences {
			fmt.Fprintf(b, "license: %s\n", string(qaoa.Quote(strings.ToLower(l))))
		}
	} else {
		fmt.Fprintf(b, "license: other\nlicense_name: %s\n", string(qaoa.Quote(strings.Join(slices.Sorted(maps.Keys(licences)), ", "))))
	}
	fmt.Fprintf(b, "pretty_name: %s\ntask_categories:\n- text-generation\nlanguage:\n- en\ntags:\n- function-calling\n- tool-use\n- sft\nsize_categories:\n- %s\nconfigs:\n- config_name: default\n  data_files:\n  - split: train\n    path: data/*\n---\n", string(qaoa.Quote(m.Choices.Name)), size(m.Rows))
}

// size returns the hub's name of a size.
func size(rows int) string {
	steps := []struct {
		below int
		name  string
	}{{1000, "n<1K"}, {10_000, "1K<n<10K"}, {100_000, "10K<n<100K"}, {1_000_000, "100K<n<1M"}, {10_000_000, "1M<n<10M"}}
	for _, s := range steps {
		if rows < s.below {
			return s.name
		}
	}
	return "n>10M"
}

func (c *Card) distributions(b *strings.Builder) {
	s := &c.census
	b.WriteString("\n## Distributions\n\n| of a row | mean | median | 95 % | max |\n|---|---:|---:|---:|---:|\n")
	for _, d := range []struct {
		name string
		dist *census.Dist
	}{{"calls", &s.CallsPerRecord}, {"turns", &s.TurnsPerRecord}, {"messages", &s.Messages}, {"tools on offer", &s.ToolsPerRecord}, {"tokens", &c.tokens}} {
		fmt.Fprintf(b, "| %s | %.2f | %d | %d | %d |\n", d.name, d.dist.Mean(), d.dist.Quantile(.5), d.dist.Quantile(.95), d.dist.Max)
	}
	b.WriteString("\n| class | of | number |\n|---|---|---:|\n")
	for _, n := range []struct {
		name, of string
		n        int
	}{
		{"single-turn", "rows", s.SingleTurn},
		{"multi-turn", "rows", s.MultiTurn},
		{"no call", "turns", s.NoCall},
		{"single-hop", "turns", s.SingleHop},
		{"multi-hop", "turns", s.MultiHop},
		{"serial", "multi-hop turns", s.SerialTurns},
		{"parallel", "multi-hop turns", s.ParallelTurns},
	} {
		fmt.Fprintf(b, "| %s | %s | %d |\n", n.name, n.of, n.n)
	}
	for _, t := range []struct {
		name  string
		tally *census.Tally
	}{{"category", &s.Categories}, {"domain", &s.Domains}} {
		if t.tally.Named == 0 {
			continue
		}
		fmt.Fprintf(b, "\n| %s | tools on offer |\n|---|---:|\n", t.name)
		for _, n := range t.tally.Top(maxNames) {
			fmt.Fprintf(b, "| %s | %d |\n", escape(n.Name), n.N)
		}
	}
}

// account says what became of the records before they were rows.
func account(b *strings.Builder, m train.Manifest) {
	b.WriteString("\n## Selection\n\n| step | records |\n|---|---:|\n")
	if s := m.Selection; s != nil {
		fmt.Fprintf(b, "| read | %d |\n", s.Read)
		counts(b, "left out: ", s.Dropped)
		fmt.Fprintf(b, "| selected | %d |\n", s.Taken)
	}
	counts(b, "rejected: ", m.Rejects)
	fmt.Fprintf(b, "| rows | %d |\n", m.Rows)
	if p := m.Mixture; p != nil {
		b.WriteString("\n## Mixture\n\n| source | shape | records | rows |\n|---|---|---:|---:|\n")
		for _, g := range p.Groups {
			fmt.Fprintf(b, "| %s | %s | %d | %d |\n", escape(g.Source), escape(g.Shape), g.Records, g.Rows)
		}
	}
	b.WriteString("\n## Declared losses\n\nEverything else of a record is read back from its row exactly.\n\n| loss | places |\n|---|---:|\n")
	counts(b, "", m.Losses)
}

func counts[K ~string](b *strings.Builder, before string, n map[K]int) {
	for _, name := range slices.Sorted(maps.Keys(n)) {
		fmt.Fprintf(b, "| %s%s | %d |\n", before, escape(string(name)), n[name])
	}
}

func usage(b *strings.Builder, m train.Manifest) {
	fmt.Fprintf(b, "\n## Training\n\nTokens: %d, longest row %d (%s).\n", m.Tokens.Total, m.Tokens.Longest, escape(m.Tokens.Tokenizer))
	if m.Choices.Format == train.LlamaFactory {
		fmt.Fprintf(b, "In LLaMA-Factory, `dataset_dir` is this folder and `dataset` is %s.\n", escape(m.Choices.Name))
	}
	b.WriteString("`assay train preflight` tells what a trainer will do with the rows, `assay train recipe` writes the runs.\n")
	for _, n := range m.Notes {
		fmt.Fprintf(b, "\n- %s\n", escape(n))
	}
	b.WriteString("\n## Files\n\n| file | rows | bytes | SHA-256 |\n|---|---:|---:|---|\n")
	for _, f := range m.Files {
		fmt.Fprintf(b, "| %s | %d | %d | %s |\n", escape(f.Name), f.Rows, f.Bytes, f.SHA256)
	}
	b.WriteString("\n| input | bytes | SHA-256 |\n|---|---:|---|\n")
	for _, in := range m.Inputs {
		fmt.Fprintf(b, "| %s | %d | %s |\n", escape(in.Name), in.Bytes, in.SHA256)
	}
}

// escape returns text of a corpus as one line without markup.
func escape(s string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(s), " ") {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '&':
			b.WriteString("&amp;")
		case strings.ContainsRune("\\`*_{}[]()#!|>~", r):
			b.WriteString("\\" + string(r))
		case r < ' ' || r == 0x7f:
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
