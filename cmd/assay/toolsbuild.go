package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"assay/embed"
	"assay/filter"
	"assay/toolset"
)

type toolsBuildOptions struct {
	out, stages, temporal, depth, schema, language string
	ledger, summary, figure                        string
	origins, protect                               []string
	threshold                                      float64
	workers                                        int
	embed                                          embedOptions
}

func toolsBuildCommand() command {
	return command{
		name: "tools build", args: "INPUT…",
		does: "makes a pool of the tools in files, by the paper's stages",
		help: `
INPUT is a file, a folder or a pattern, told by its content: records (QAOA),
lists or maps of tools in any dialect, rows of corpora that hold tools (BFCL,
ACEBench, HammerBench, ToolRet, FC-RewardBench …), results of MCP's tools/list,
OpenAPI 3 documents (JSON or YAML). SOURCE:PATH converts the raw files of a
benchmark as it reads ("assay sources"), mcp:stdio:COMMAND and mcp:https://HOST/PATH
ask a live MCP server. ORIGIN=INPUT names the origin of its tools;
else it is what they say themselves, or the name of the file. Tools of earlier
inputs have priority over those of later ones.

The stages, in this order: normalise (schemas), exact (same name and description),
temporal (tools about times and dates), empty (no parameters), language (only with
--language), semantic (nearly the same text). What is removed goes to the ledger
with its reason; the table on stderr counts what each stage left of each origin.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			var o toolsBuildOptions
			d := toolset.AssembleDefaults()
			flags.StringVarP(&o.out, "output", "o", "-", "write the pool to `FILE`, a tool a line")
			flags.StringArrayVar(&o.origins, "origin", nil, "`NAME=INPUT` names the origin of an input; may be repeated")
			flags.StringSliceVar(&o.protect, "protect", nil, "`ORIGIN`s, with commas between, that come first and are never removed for being similar")
			flags.StringVar(&o.stages, "stages", "all", "run these stages only, with commas between; all or none")
			flags.StringVar(&o.temporal, "temporal", string(d.Temporal.Rule), "words about time: repaired (whole words, without \"when\" and ordinal \"second\" in text), paper or off")
			flags.StringVar(&o.depth, "temporal-depth", "top", "parameters that are looked at: top or all (nested ones too)")
			flags.StringVar(&o.schema, "schema-filter", string(d.Schema), "tools without parameters: empty (truly none), metadata (the released script's list of names) or off")
			flags.StringVar(&o.language, "language", "off", "remove tools with text in other languages: chinese (the paper's later maintenance), cjk, l1 (letters that are not Latin) or off")
			flags.Float64Var(&o.threshold, "threshold", d.Threshold, "cosine above which two texts are the same")
			o.embed.bind(flags)
			flags.StringVar(&o.ledger, "ledger", "", "write every removed tool as a line to `FILE`, with what it lost against")
			flags.StringVar(&o.summary, "summary", "", "write the table as JSON to `FILE`")
			flags.StringVar(&o.figure, "figure", "", "draw the table to `FILE` (SVG)")
			flags.IntVar(&o.workers, "workers", 0, "elements at a time; 0 is one per CPU")
			return func(ctx context.Context, std stdio, args []string) error {
				if len(args) == 0 {
					return usagef("tools build: want at least one input (- is stdin), have none")
				}
				return runToolsBuild(ctx, std, o, args)
			}
		},
	}
}

// options returns the rules that o asks for.
func (o toolsBuildOptions) options() (toolset.AssembleOptions, error) {
	stages, err := toolset.ParseStages(o.stages)
	if err != nil {
		return toolset.AssembleOptions{}, usagef("--stages: %v", err)
	}
	opt := toolset.AssembleOptions{
		Stages: stages, Protect: o.protect, Schema: filter.SchemaFilter(o.schema), Language: toolset.Language(o.language),
		Temporal:  filter.TemporalTest{Rule: filter.TemporalRule(o.temporal), Nested: o.depth == "all"},
		Threshold: o.threshold, Workers: o.workers,
	}
	without := func(s toolset.Stage) {
		opt.Stages = slices.DeleteFunc(opt.Stages, func(have toolset.Stage) bool { return have == s })
	}
	if o.temporal == "off" {
		without(toolset.StageTemporal)
		opt.Temporal.Rule = filter.PaperWords
	}
	if o.schema == "off" {
		without(toolset.StageEmpty)
		opt.Schema = filter.Empty
	}
	if o.language == "off" {
		opt.Language = toolset.AnyLanguage
	}
	if o.depth != "top" && o.depth != "all" {
		return opt, usagef("--temporal-depth %q: want top or all", o.depth)
	}
	if err := opt.Check(); err != nil {
		return opt, usagef("tools build: %v", err)
	}
	return opt, nil
}

// A poolSummary is what --summary writes: the rules, and the table.
type poolSummary struct {
	Temporal      string   `json:"temporal"`
	TemporalDepth string   `json:"temporal_depth"`
	SchemaFilter  string   `json:"schema_filter"`
	Language      string   `json:"language"`
	Threshold     float64  `json:"threshold"`
	Vectors       string   `json:"vectors"`
	Protect       []string `json:"protect"`
	toolset.Flow
}

func runToolsBuild(ctx context.Context, std stdio, o toolsBuildOptions, args []string) (err error) {
	opt, err := o.options()
	if err != nil {
		return err
	}
	inputs, err := toolInputs(args, o.origins)
	if err != nil {
		return err
	}
	if opt.Embed, err = o.embed.open(std); err != nil {
		return err
	}
	out, err := createOutput(std, o.out)
	if err != nil {
		return err
	}
	defer func() { err = out.finish(err) }()
	ledger, err := newRemovalLedger(std, o.ledger)
	if err != nil {
		return err
	}
	defer func() { err = ledger.finish(err) }()

	r := &toolReader{std: std, inputs: inputs}
	pool, flow, err := toolset.Assemble(ctx, r.elements(ctx), opt, ledger.add)
	if err != nil {
		return vectorError(err)
	}
	r.end()
	ledger.end()
	var line []byte
	for _, e := range pool {
		line = append(toolset.AppendEntry(line[:0], e), '\n')
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return o.report(std, flow)
}

// report tells what became of the tools.
func (o toolsBuildOptions) report(std stdio, flow toolset.Flow) error {
	if err := flow.WriteText(std.err); err != nil {
		return err
	}
	if n := flow.Codes[toolset.SimilarTool]; n > 0 && o.embed.spec == embed.Lexical {
		fmt.Fprintf(std.err, "note: %d tools were removed for being similar by their words; those of one family with a long common preamble look alike (see the ledger): --embed names a model, --protect and --stages keep them\n", n)
	}
	for _, name := range o.protect {
		if !slices.ContainsFunc(flow.Origins, func(f toolset.OriginFlow) bool { return f.Origin == name }) {
			fmt.Fprintf(std.err, "warning: --protect %s: no tool has that origin\n", printable(name))
		}
	}
	if o.summary != "" {
		s := poolSummary{
			Temporal: o.temporal, TemporalDepth: o.depth, SchemaFilter: o.schema, Language: o.language,
			Threshold: o.threshold, Vectors: o.embed.spec, Protect: slices.Concat([]string{}, o.protect), Flow: flow,
		}
		if s.Protect == nil {
			s.Protect = []string{}
		}
		if err := writeFile(std, o.summary, s); err != nil {
			return err
		}
	}
	if o.figure != "" {
		if err := writeFigure(std, o.figure, flow); err != nil {
			return err
		}
	}
	if flow.Total.Read == 0 {
		return &exitError{exitInput, errors.New("no input holds a tool; \"assay help tools build\" says what is read")}
	}
	return nil
}

func writeFigure(std stdio, path string, flow toolset.Flow) (err error) {
	out, err := createOutput(std, path)
	if err != nil {
		return err
	}
	defer func() { err = out.finish(err) }()
	return flow.Figure("Tool pool").WriteSVG(out)
}

// A removalLedger writes what is removed, and shows elements that hold no tool.
type removalLedger struct {
	std   stdio
	file  *output // nil for none
	line  []byte
	shown map[string]int // faults by file: a few of each are shown
	more  int
}

// maxShownPerFile is how many faults of one file are shown: those after them are
// of the same kind as a rule.
const maxShownPerFile = 2

func newRemovalLedger(std stdio, path string) (*removalLedger, error) {
	l := &removalLedger{std: std, shown: map[string]int{}}
	if path == "" {
		return l, nil
	}
	var err error
	l.file, err = createOutput(std, path)
	return l, err
}

func (l *removalLedger) add(r toolset.Removal) error {
	if r.Name == "" || r.Code == toolset.BadTool {
		if l.shown[r.Pos.File]++; l.shown[r.Pos.File] > maxShownPerFile || len(l.shown) > maxShown {
			l.more++
		} else {
			place := r.Pos.String()
			if r.Path != "" {
				place += ": " + r.Path
			}
			fmt.Fprintln(l.std.err, printable(fmt.Sprintf("%s: %s: %s", place, r.Code, r.Detail)))
		}
	}
	if l.file == nil {
		return nil
	}
	l.line = append(toolset.AppendRemoval(l.line[:0], r), '\n')
	_, err := l.file.Write(l.line)
	return err
}

// end tells how many faults were not shown.
func (l *removalLedger) end() {
	if l.more > 0 {
		fmt.Fprintf(l.std.err, "… and %d more that hold no tool; --ledger FILE has all of them\n", l.more)
	}
}

// finish completes the ledger, or drops it if err is not nil.
func (l *removalLedger) finish(err error) error {
	if l.file == nil {
		return err
	}
	return l.file.finish(err)
}
