package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"assay/eval"
	"assay/internal/raw"
	"assay/qaoa"
	"assay/train"
)

type shardOptions struct {
	train.ShardOptions
	format, projection, answer, grouping, container, prompt, ledger string
}

func trainShardCommand() command {
	return command{
		name: "train shard", args: "FILE… --out DIR",
		does: "writes records as training shards that a trainer takes as they are",
		help: `
Every row is read back and compared with its record; a record that the format
cannot take is a reject with a code. The folder holds the shards, the data set's
description for the trainer, and manifest.json with hashes, counts and declared
losses. The same records and flags make the same bytes.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			var o shardOptions
			flags.StringVar(&o.Out, "out", "", "folder to make")
			flags.StringVar(&o.format, "format", string(train.LlamaFactory), "trainer: llamafactory")
			flags.StringVar(&o.projection, "projection", string(train.ActionOnly), "action-only (the paper: calls alone) or full (observations and answers too)")
			flags.StringVar(&o.answer, "final-answer", "", "keep, empty or drop; default: empty under action-only, keep under full")
			flags.StringVar(&o.grouping, "parallel", string(train.TogetherCalls), "calls of one step in one message (together), or a message each (each)")
			flags.StringVar(&o.container, "container", string(train.JSONL), "jsonl, jsonl.gz or jsonl.zst")
			flags.StringVar(&o.prompt, "system-prompt", "native", "native (what \"assay run --calls native\" says; the trainer's template adds the tools, as the server's does), record (the record's own) or none")
			flags.StringVar(&o.Name, "name", "", "name of the data set; default: assay")
			flags.IntVar(&o.Shards, "shards", 0, "number of shards; a row's shard depends on its id alone")
			flags.IntVar(&o.RowsPerShard, "rows-per-shard", 0, "fill shards one after the other instead")
			flags.Uint64Var(&o.Seed, "seed", 0, "seed of the assignment to shards")
			flags.IntVar(&o.Workers, "workers", 0, "records at a time; 0 is one per CPU; changes no byte")
			flags.BoolVar(&o.Overwrite, "overwrite", false, "replace a folder that an earlier run of this verb wrote")
			flags.StringVar(&o.ledger, "ledger", "", "write every reject as a line to `FILE`")
			return func(ctx context.Context, std stdio, args []string) error {
				if err := wantFiles("train shard", args); err != nil {
					return err
				}
				if o.Out == "" {
					return usagef("train shard: want --out DIR, the folder to make")
				}
				return runShard(ctx, std, o, args)
			}
		},
	}
}

func (o shardOptions) build() (train.ShardOptions, error) {
	opt := o.ShardOptions
	opt.Format, opt.Projection = train.Format(o.format), train.Projection(o.projection)
	opt.FinalAnswer, opt.Grouping = train.FinalAnswer(o.answer), train.Grouping(o.grouping)
	opt.Container, opt.Version = train.Container(o.container), version
	switch o.prompt {
	case "native":
		opt.SystemPrompt = eval.PromptFor(eval.CallsNative).Text()
	case "record":
		opt.KeepSystem = true
	case "none":
	default:
		return opt, usagef("--system-prompt %q: want native, record or none", o.prompt)
	}
	return opt, nil
}

func runShard(ctx context.Context, std stdio, o shardOptions, files []string) (err error) {
	opt, err := o.build()
	if err != nil {
		return err
	}
	if err := opt.Check(); err != nil {
		return usagef("train shard: %v", err)
	}
	var ledger *output
	if o.ledger != "" {
		if ledger, err = createOutput(std, o.ledger); err != nil {
			return err
		}
		defer func() { err = ledger.finish(err) }()
	}
	var ledgerErr error
	opt.OnReject = func(r train.Reject) {
		if ledger != nil && ledgerErr == nil {
			ledgerErr = writeReject(ledger, r)
		}
	}
	in := &reader{std: std, paths: files}
	opt.Inputs = func() []train.Input { return shardInputs(files) }
	m, err := train.Shard(ctx, in.records(ctx), opt)
	if errors.Is(err, train.ErrNoRows) {
		return &exitError{exitInput, err}
	}
	if err := errors.Join(err, ledgerErr); err != nil {
		return inputError(err)
	}
	fmt.Fprintf(std.err, "%s: %d records, %d rows in %d shards, %d rejected\n", o.Out, m.Records, m.Rows, len(m.Files), m.Rejected)
	for _, code := range slices.Sorted(maps.Keys(m.Rejects)) {
		fmt.Fprintf(std.err, "  reject %-24s %d\n", code, m.Rejects[code])
	}
	for _, loss := range slices.Sorted(maps.Keys(m.Losses)) {
		fmt.Fprintf(std.err, "  declared loss %-17s %d\n", loss, m.Losses[loss])
	}
	for _, note := range m.Notes {
		fmt.Fprintf(std.err, "  note: %s\n", printable(note))
	}
	return in.err()
}

// writeReject writes a ledger line of the stage train.
func writeReject(w *output, r train.Reject) error {
	member := func(name, text string) qaoa.Member {
		return qaoa.Member{Name: name, Value: qaoa.StringValue(text)}
	}
	line := qaoa.ObjectValue(member("id", r.ID), member("stage", "train"), member("code", r.Code), member("path", r.Path), member("detail", r.Detail))
	_, err := fmt.Fprintln(w, line.JSON())
	return err
}

// shardInputs describes the files of records, by their base names: a manifest
// holds no path of a machine. What cannot be read any more is left out, since
// its records have been read.
func shardInputs(paths []string) []train.Input {
	files, err := raw.Expand(paths)
	if err != nil {
		return nil
	}
	var out []train.Input
	for _, f := range files {
		if f.Root == "" {
			out = append(out, train.Input{Name: f.Name})
			continue
		}
		path := filepath.Join(f.Root, filepath.FromSlash(f.Name))
		sum, err := hashFile(path)
		if err != nil {
			continue
		}
		out = append(out, train.Input{Name: f.Name, SHA256: sum, Bytes: f.Size})
	}
	return out
}
