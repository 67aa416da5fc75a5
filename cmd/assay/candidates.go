package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"assay/match"
	"assay/qaoa"
	"assay/toolset"
)

type candidateOptions struct {
	out, setting, negatives, sameName, compat, report string
	pool                                              []string
	k, easy, workers                                  int
	seed                                              uint64
	near                                              float64
	embed                                             embedOptions
}

func candidatesCommand() command {
	return command{
		name: "candidates", args: "FILE…",
		does: "gives each record its list of candidate tools (GT or Hybrid-k)",
		help: `
gt lists hold the tools that the record's gold calls use; hybrid lists hold them
among hard negatives (similar tools) and easy ones (random tools), shuffled. The
list of a record depends on the seed, its id and the pool, and on nothing else.
Without --pool the tools of the given files are the pool. --compat reference makes
lists as the released ones: gold first, the neighbours of all gold tools in one
ranking, no shuffle; those also allow distractors of one name (--same-name allow).
A report goes to stderr: lengths, gold coverage, position of gold (chi-square),
equal names, how similar the negatives are, near-duplicates of gold.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			var o candidateOptions
			d := toolset.Defaults()
			flags.StringVarP(&o.out, "output", "o", "-", "write the records to `FILE`")
			flags.StringVar(&o.setting, "setting", "hybrid", "gt or hybrid")
			flags.StringArrayVar(&o.pool, "pool", nil, "`FILE` of tools: what \"tools build\" writes, or anything that it reads; may be repeated; default: the tools of the given files")
			flags.IntVar(&o.k, "k", d.K, "length of a hybrid list")
			flags.IntVar(&o.easy, "easy", d.Easy, "how many of it are drawn at random")
			flags.Uint64Var(&o.seed, "seed", 0, "seed of all randomness")
			o.embed.bind(flags)
			flags.StringVar(&o.negatives, "negatives", string(d.Negatives), "hard negatives are similar to the gold tools (tool) or to the queries (query)")
			flags.StringVar(&o.sameName, "same-name", "forbid", "distractors named like another tool of the list: forbid or allow")
			flags.StringVar(&o.compat, "compat", "", "reference: gold first, descending similarity, no shuffle")
			flags.Float64Var(&o.near, "near-duplicate", d.NearDuplicate, "report distractors with a cosine above this with a gold tool")
			flags.StringVar(&o.report, "report", "", "write the report as JSON to `FILE`")
			flags.IntVar(&o.workers, "workers", 0, "records at a time; 0 is one per CPU")
			return func(ctx context.Context, std stdio, args []string) error {
				if err := wantFiles("candidates", args); err != nil {
					return err
				}
				if o.setting == string(toolset.Hybrid) && len(o.pool) == 0 && slices.Contains(args, "-") {
					return usagef("candidates: stdin can be read once only; give the pool by --pool FILE")
				}
				return runCandidates(ctx, std, o, args)
			}
		},
	}
}

func runCandidates(ctx context.Context, std stdio, o candidateOptions, files []string) (err error) {
	if o.sameName != "forbid" && o.sameName != "allow" {
		return usagef("--same-name %q: want forbid or allow", o.sameName)
	}
	opt := toolset.Options{
		Setting: toolset.Setting(o.setting), K: o.k, Easy: o.easy, Negatives: toolset.Negatives(o.negatives),
		Seed: o.seed, Compat: toolset.Compat(o.compat), SameName: o.sameName == "allow",
		NearDuplicate: o.near, Normalize: match.Name, Workers: o.workers,
	}
	if err := opt.Check(); err != nil {
		return usagef("candidates: %v", err)
	}
	var pool *toolset.Pool
	if opt.Setting == toolset.Hybrid {
		if opt.Embed, err = o.embed.open(std); err != nil {
			return err
		}
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
			return vectorError(err)
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

// readPool returns the pool in files, or the tools of the records.
func readPool(ctx context.Context, std stdio, files, records []string) (*toolset.Pool, error) {
	tools := toolset.ToolsOf(strictRecords(ctx, records))
	if len(files) > 0 {
		tools = entryTools(poolEntries(ctx, std, files))
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
