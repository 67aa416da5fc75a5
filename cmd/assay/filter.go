package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/spf13/pflag"

	"assay/convert"
	"assay/filter"
	"assay/internal/raw"
	"assay/qaoa"
)

type filterOptions struct {
	out, profile, schema, language, temporal, allow, ledger, summary string
	examples                                                         int
	byName, allTools, directAnswer, flow, emptyArguments, training   bool
}

func filterCommand() command {
	return command{
		name: "filter", args: "FILE…",
		does: "keeps the records whose every called tool passes the paper's rules",
		help: `
A record is kept if each of its turns has a call, and every called tool is on
offer, is not about time (a keyword test on its description and its top-level
parameters) and has parameters. What is dropped goes to the ledger with a code.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			var o filterOptions
			flags.StringVarP(&o.out, "output", "o", "-", "write the records to `FILE`")
			flags.StringVar(&o.profile, "profile", "paper", "paper or strict (also wants object arguments, known and required names)")
			flags.StringVar(&o.schema, "schema-filter", "empty", "tools without parameters: empty (truly none), metadata (the released script's rule) or off")
			flags.StringVar(&o.language, "language", "off", "also drop records in other languages: l1, l2, cjk or off")
			flags.StringVar(&o.temporal, "temporal", "on", "drop records that call tools about time: on or off")
			flags.StringVar(&o.allow, "allow-tools", "", "`FILE` of tools (name, description); a record may call no others")
			flags.BoolVar(&o.byName, "allow-by-name", false, "compare the names of --allow-tools only, not the descriptions")
			flags.BoolVar(&o.allTools, "all-tools", false, "test every tool on offer, not only those that are called")
			flags.BoolVar(&o.training, "training", false, "the paper's rules for training corpora in one: --language cjk, --schema-filter metadata, --all-tools and the three below")
			flags.BoolVar(&o.emptyArguments, "drop-empty-arguments", false, "drop records with a call without arguments (the paper's rule for training corpora)")
			flags.BoolVar(&o.directAnswer, "drop-direct-answers", false, "drop records with a turn that is answered without a call, or without tools (likewise)")
			flags.BoolVar(&o.flow, "check-flow", false, "drop records whose messages are out of order or stop in the middle (likewise)")
			flags.StringVar(&o.ledger, "ledger", "", "write every reject as a line to `FILE`")
			flags.StringVar(&o.summary, "summary", "", "write the balance as JSON to `FILE`")
			flags.IntVar(&o.examples, "examples", 0, "show that many rejects of each code on stderr")
			return func(ctx context.Context, std stdio, args []string) error {
				if err := wantFiles("filter", args); err != nil {
					return err
				}
				return runFilter(ctx, std, o, args)
			}
		},
	}
}

// filter returns the rules that o asks for.
func (o filterOptions) filter(ctx context.Context) (*filter.Filter, error) {
	f := &filter.Filter{
		Profile: convert.Profile(o.profile), SchemaFilter: filter.SchemaFilter(o.schema),
		Language: o.language, KeepTemporal: o.temporal == "off",
		AllTools: o.allTools, DirectAnswer: o.directAnswer, Flow: o.flow, EmptyArguments: o.emptyArguments,
	}
	if o.training {
		t := filter.Training()
		t.Profile, t.KeepTemporal = f.Profile, f.KeepTemporal
		f = &t
	}
	if o.temporal != "on" && o.temporal != "off" {
		return nil, usagef("--temporal %q: want on or off", o.temporal)
	}
	if err := f.Validate(); err != nil {
		return nil, &exitError{exitUsage, err}
	}
	if o.allow == "" {
		return f, nil
	}
	allow, err := filter.ReadAllow(elements(ctx, o.allow, raw.Auto))
	if err != nil {
		return nil, inputError(fmt.Errorf("--allow-tools: %w", err))
	}
	if o.byName {
		f.AllowNames = filter.Names(allow)
	} else {
		f.Allow = allow
	}
	return f, nil
}

// elements yields the raw elements of the files that path names.
func elements(ctx context.Context, path string, layout raw.Layout) iter.Seq2[raw.Element, error] {
	return func(yield func(raw.Element, error) bool) {
		files, err := raw.Expand([]string{path})
		if err != nil {
			yield(raw.Element{}, err)
			return
		}
		for _, f := range files {
			if !yieldElements(ctx, f, layout, yield) {
				return
			}
		}
	}
}

// yieldElements yields the elements of one file and reports whether to go on.
func yieldElements(ctx context.Context, f raw.InputFile, layout raw.Layout, yield func(raw.Element, error) bool) bool {
	r, err := f.Open()
	if err != nil {
		yield(raw.Element{}, err)
		return false
	}
	defer func() { _ = r.Close() }() // it was only read
	for el, err := range raw.Read(ctx, r, f.Name, raw.Options{Layout: layout}) {
		if !yield(el, err) || err != nil {
			return false
		}
	}
	return true
}

func runFilter(ctx context.Context, std stdio, o filterOptions, files []string) (err error) {
	f, err := o.filter(ctx)
	if err != nil {
		return err
	}
	out, err := createOutput(std, o.out)
	if err != nil {
		return err
	}
	b, err := newBooks(std, "filter", o.ledger, o.summary, o.examples)
	if err != nil {
		return out.finish(err)
	}
	in := &reader{std: std, paths: files}
	in.onBad = func(bad *qaoa.Error) error {
		b.sum.AddRead(1)
		rej := convert.Rejectf(convert.ParseError, bad.Path, "%s", bad.Msg)
		rej.Source, rej.Pos, rej.Stage = "filter", bad.Pos, convert.StageRead
		return b.reject(rej)
	}
	err = filterAll(in.records(ctx), f, out, b)
	if errors.Is(err, context.Canceled) {
		return inputError(errors.Join(b.drop(), out.finish(err)))
	}
	err = errors.Join(out.keep(err), b.close(std.err, "kept"))
	if err != nil {
		return inputError(err)
	}
	return in.err()
}

func filterAll(recs iter.Seq2[qaoa.Record, error], f *filter.Filter, out io.Writer, b *books) error {
	var line []byte
	for rec, err := range recs {
		if err != nil {
			return err
		}
		b.sum.AddRead(1)
		if rej := f.Check(rec); rej != nil {
			if err := b.reject(rej); err != nil {
				return err
			}
			continue
		}
		line = append(qaoa.AppendRecord(line[:0], rec), '\n')
		if _, err := out.Write(line); err != nil {
			return err
		}
		b.sum.AddRecord(rec, category(rec))
	}
	return nil
}
