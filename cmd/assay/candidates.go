package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/spf13/pflag"

	"assay/convert"
	"assay/internal/raw"
	"assay/match"
	"assay/qaoa"
	"assay/toolset"
)

type candidateOptions struct {
	out, pool, setting, negatives, sameName, compat, embed, report string
	k, easy, workers                                               int
	seed                                                           uint64
}

func candidatesCommand() command {
	return command{
		name: "candidates", args: "FILE…",
		does: "gives each record its list of candidate tools (GT or Hybrid-k)",
		help: `
gt lists hold the tools that the record's gold calls use; hybrid lists hold them
among hard negatives (similar tools) and easy ones (random tools), shuffled. The
list of a record depends on the seed, its id and the pool, and on nothing else.
Without --pool the tools of the given files are the pool. A report on lengths,
gold coverage, position of gold and name collisions goes to stderr.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			var o candidateOptions
			d := toolset.Defaults()
			flags.StringVarP(&o.out, "output", "o", "-", "write the records to `FILE`")
			flags.StringVar(&o.setting, "setting", "hybrid", "gt or hybrid")
			flags.StringVar(&o.pool, "pool", "", "`FILE` of tools (JSONL) or of records; default: the tools of the given files")
			flags.IntVar(&o.k, "k", d.K, "length of a hybrid list")
			flags.IntVar(&o.easy, "easy", d.Easy, "how many of it are drawn at random")
			flags.Uint64Var(&o.seed, "seed", 0, "seed of all randomness")
			flags.StringVar(&o.embed, "embed", "lexical", "source of vectors: lexical")
			flags.StringVar(&o.negatives, "negatives", string(d.Negatives), "hard negatives are similar to the gold tools (tool) or to the queries (query)")
			flags.StringVar(&o.sameName, "same-name", "forbid", "distractors named like another tool of the list: forbid or allow")
			flags.StringVar(&o.compat, "compat", "", "reference: gold first, descending similarity, no shuffle")
			flags.StringVar(&o.report, "report", "", "write the report as JSON to `FILE`")
			flags.IntVar(&o.workers, "workers", 0, "records at a time; 0 is one per CPU")
			return func(ctx context.Context, std stdio, args []string) error {
				if err := wantFiles("candidates", args); err != nil {
					return err
				}
				if o.setting == string(toolset.Hybrid) && o.pool == "" && slices.Contains(args, "-") {
					return usagef("candidates: stdin can be read once only; give the pool by --pool FILE")
				}
				return runCandidates(ctx, std, o, args)
			}
		},
	}
}

func runCandidates(ctx context.Context, std stdio, o candidateOptions, files []string) (err error) {
	if o.embed != "lexical" {
		return usagef("--embed %q: want lexical", o.embed)
	}
	if o.sameName != "forbid" && o.sameName != "allow" {
		return usagef("--same-name %q: want forbid or allow", o.sameName)
	}
	opt := toolset.Options{
		Setting: toolset.Setting(o.setting), K: o.k, Easy: o.easy, Negatives: toolset.Negatives(o.negatives),
		Seed: o.seed, Compat: toolset.Compat(o.compat), SameName: o.sameName == "allow",
		Normalize: match.Name, Workers: o.workers,
	}
	if err := opt.Check(); err != nil {
		return usagef("candidates: %v", err)
	}
	var pool *toolset.Pool
	if opt.Setting == toolset.Hybrid {
		if pool, err = readPool(ctx, std, o.pool, files); err != nil {
			return err
		}
	}
	out, err := createOutput(std, o.out)
	if err != nil {
		return err
	}
	defer func() { err = out.finish(err) }()
	in := &reader{std: std, paths: files}
	tally := toolset.NewTally(opt)
	var line []byte
	for listed, err := range toolset.Build(ctx, in.records(ctx), pool, opt) {
		if err != nil {
			return inputError(err)
		}
		tally.Add(listed)
		line = append(qaoa.AppendRecord(line[:0], listed.Record), '\n')
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	report := tally.Report()
	if err := report.WriteText(std.err); err != nil {
		return err
	}
	if o.report != "" {
		if err := writeFile(std, o.report, report); err != nil {
			return err
		}
	}
	if report.Coverage < 1 {
		fmt.Fprintln(std.err, "warning: some records do not offer a tool that they call, and no candidate list can mend that; \"assay validate\" names them")
	}
	return in.err()
}

// readPool returns the pool in file, or the tools of the records.
func readPool(ctx context.Context, std stdio, file string, records []string) (*toolset.Pool, error) {
	tools := toolset.ToolsOf(strictRecords(ctx, records))
	if file != "" {
		tools = poolTools(ctx, file)
	}
	pool, stats, err := toolset.NewPool(tools, match.Name)
	if err != nil {
		return nil, inputError(err)
	}
	fmt.Fprintf(std.err, "pool: %d tools", pool.Len())
	if stats.Read > pool.Len() {
		fmt.Fprintf(std.err, " (%d read, equal ones once)", stats.Read)
	}
	fmt.Fprintln(std.err)
	return pool, nil
}

// poolTools yields the tools of a file: lines of tools, or records, whose
// tools count.
func poolTools(ctx context.Context, path string) iter.Seq2[qaoa.Tool, error] {
	return func(yield func(qaoa.Tool, error) bool) {
		for el, err := range elements(ctx, path, raw.Auto) {
			var tools []qaoa.Tool
			if err == nil {
				tools, err = toolsIn(el.Data)
			}
			if err != nil {
				if bad, ok := errors.AsType[*qaoa.Error](err); ok {
					at := *bad
					at.Pos = el.Pos
					err = &at
				}
				yield(qaoa.Tool{}, err)
				return
			}
			for _, t := range tools {
				if !yield(t, nil) {
					return
				}
			}
		}
	}
}

// toolsIn returns the tools of one element: a tool, or a record.
func toolsIn(data []byte) ([]qaoa.Tool, error) {
	v, err := qaoa.ParseValue(data)
	if err != nil {
		return nil, err
	}
	if _, ok := v.Get("turns"); ok {
		rec, err := qaoa.DecodeRecord(data)
		return ownedBy(rec), err
	}
	if _, ok := v.Get("conversations"); ok {
		rec, err := qaoa.DecodeInterchange(data)
		return ownedBy(rec), err
	}
	t, err := convert.NormalizeTool(v)
	if err != nil {
		return nil, err
	}
	for name, field := range map[string]*string{"category": &t.Category, "domain": &t.Domain, "origin": &t.Origin} {
		if text, ok := v.Get(name); ok && text.Kind == qaoa.String {
			*field = text.Text
		}
	}
	return []qaoa.Tool{t}, nil
}

// ownedBy returns the tools of rec, with its source as their origin.
func ownedBy(rec qaoa.Record) []qaoa.Tool {
	tools := slices.Clone(rec.Tools)
	for i := range tools {
		if tools[i].Origin == "" {
			tools[i].Origin = rec.Source.Name
		}
	}
	return tools
}
