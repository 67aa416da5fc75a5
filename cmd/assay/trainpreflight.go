package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-json"
	"github.com/spf13/pflag"

	"assay/chat"
	trainer "assay/preflight"
	"assay/tokenizer"
)

type preflightOptions struct {
	trainer.Options
	trainerName, template, name, tokenizer, dataset, ledger, colour string
	allow                                                           []string
	asJSON                                                          bool
}

func trainPreflightCommand() command {
	var trainers []string
	for _, t := range trainer.Trainers() {
		trainers = append(trainers, string(t))
	}
	return command{
		name: "train preflight", args: "--trainer NAME --template NAME|FILE DIR|FILE…",
		does: "tells what a trainer will drop, cut, mask or read otherwise, before it runs",
		help: `
DIR is what "assay train shard" wrote, or any folder of rows; FILE holds rows. The
trainer's rules are applied to every row: order and roles of messages, columns and
tags of dataset_info.json, JSON in tools and calls, the chat template, the cutoff
and where it cuts, packing, the mask, and the types that Arrow gives to columns.
The last line names the codes by which something would be lost or trained wrong;
they end in exit code 1 unless allowed by --allow.

The template is a family (` + strings.Join(chat.Builtins(), ", ") + `) or the model's:
tokenizer_config.json, chat_template.jinja, or the folder of both.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			var o preflightOptions
			flags.StringVar(&o.trainerName, "trainer", "", strings.Join(trainers, ", "))
			flags.StringVar(&o.template, "template", "", "family, or file or folder with a chat_template")
			flags.StringVar(&o.name, "template-name", "", "which of several templates of a file; default: tool_use, else default")
			flags.StringVar(&o.tokenizer, "tokenizer", "", "tokenizer.json of the model; default: an estimate, bytes/3")
			flags.IntVar(&o.Cutoff, "cutoff", 0, "tokens that are taken of a row; default: the trainer's")
			flags.BoolVar(&o.Packing, "packing", false, "rows are packed into sequences of that length")
			flags.BoolVar(&o.AssistantOnly, "assistant-only", false, "assistant_only_loss of trl")
			flags.StringVar(&o.dataset, "dataset", "", "data set of dataset_info.json; default: the only one")
			flags.StringSliceVar(&o.allow, "allow", nil, "`CODE` that is no reason to fail; may be repeated")
			flags.StringVar(&o.PreviewID, "preview", "", "`ID` of a row whose text and mask to show")
			flags.StringVar(&o.colour, "color", "auto", "of the preview: auto (on a terminal, unless NO_COLOR is set), always or never")
			flags.StringVar(&o.ledger, "ledger", "", "write every row with findings as a line of JSON to `FILE`")
			flags.BoolVar(&o.asJSON, "json", false, "print the report as one JSON object")
			flags.IntVar(&o.Workers, "workers", 0, "rows at a time; 0 is one per CPU; changes nothing")
			return func(ctx context.Context, std stdio, args []string) error {
				if len(args) == 0 {
					return usagef("train preflight: want a folder of shards or files of rows, have none")
				}
				return runPreflight(ctx, std, o, args)
			}
		},
	}
}

func (o *preflightOptions) complete() (allow []trainer.Code, err error) {
	o.Trainer = trainer.Trainer(o.trainerName)
	if o.template == "" {
		return nil, usagef("train preflight: want --template, one of %s, or a file or folder", strings.Join(chat.Builtins(), ", "))
	}
	if o.Template, err = openTemplate(o.template, o.name); err != nil {
		return nil, err
	}
	if o.tokenizer != "" {
		if o.Tokenizer, err = tokenizer.LoadFile(o.tokenizer); err != nil {
			return nil, usagef("--tokenizer: %v", err)
		}
	}
	if err := o.Check(); err != nil {
		return nil, usagef("train preflight: %v", err)
	}
	var names []string
	for _, c := range trainer.Codes() {
		names = append(names, string(c))
	}
	for _, a := range o.allow {
		if !slices.Contains(names, a) {
			return nil, usagef("--allow %q: want one of %s%s", a, strings.Join(names, ", "), didYouMean(a, names))
		}
		allow = append(allow, trainer.Code(a))
	}
	if !slices.Contains([]string{"auto", "always", "never"}, o.colour) {
		return nil, usagef("--color %q: want auto, always or never", o.colour)
	}
	return allow, nil
}

func runPreflight(ctx context.Context, std stdio, o preflightOptions, paths []string) error {
	allow, err := o.complete()
	if err != nil {
		return err
	}
	in, err := trainer.Open(o.Trainer, paths, o.dataset)
	if errors.Is(err, fs.ErrNotExist) {
		return usagef("train preflight: %v", err)
	}
	if err != nil {
		return inputError(err)
	}
	var ledger *output
	var ledgerErr error
	if o.ledger != "" {
		if ledger, err = createOutput(std, o.ledger); err != nil {
			return err
		}
		o.OnRow = func(r trainer.Row) {
			if len(r.Findings) == 0 || ledgerErr != nil {
				return
			}
			line, err := json.MarshalWithOption(r, json.DisableHTMLEscape())
			if err == nil {
				_, err = ledger.Write(append(line, '\n'))
			}
			ledgerErr = err
		}
	}
	var preview *trainer.Preview
	o.OnPreview = func(p trainer.Preview) { preview = &p }
	rep, err := trainer.Run(ctx, in, o.Options)
	err = errors.Join(err, ledgerErr)
	if ledger != nil {
		err = ledger.finish(err) // a gate that fails keeps it
	}
	if err != nil {
		return inputError(err)
	}
	if err := o.print(std, rep, preview); err != nil {
		return err
	}
	if rep.Rows == 0 {
		return &exitError{exitInput, fmt.Errorf("%s: no rows", strings.Join(rep.Files, ", "))}
	}
	if failing := rep.Failing(allow); len(failing) > 0 {
		var names []string
		for _, c := range failing {
			names = append(names, string(c))
		}
		return &exitError{exitGate, fmt.Errorf("something would be lost or trained wrong: %s (see above; --allow CODE accepts one)", strings.Join(names, ", "))}
	}
	return nil
}

func (o *preflightOptions) print(std stdio, rep trainer.Report, preview *trainer.Preview) error {
	if o.asJSON {
		return writeJSON(std.out, struct {
			trainer.Report
			Share   float64          `json:"trained_share"`
			Preview *trainer.Preview `json:"preview,omitempty"`
		}{rep, rep.Share(), preview})
	}
	if err := rep.WriteText(std.out, printable); err != nil {
		return err
	}
	switch {
	case preview != nil:
		fmt.Fprintln(std.out)
		colour := o.colour == "always" || o.colour == "auto" && terminal(std.out) && os.Getenv("NO_COLOR") == ""
		return preview.WriteText(std.out, colour)
	case o.PreviewID != "":
		return usagef("--preview %q: no row of that ID reaches the template", o.PreviewID)
	}
	return nil
}
