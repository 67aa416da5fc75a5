package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"assay/chat"
	"assay/eval"
	"assay/model"
	"assay/parity"
	"assay/qaoa"
	"assay/tokenizer"
	"assay/train"
)

// parityOptions say what served prompts are compared with.
type parityOptions struct {
	only                                    bool
	template, templateName, date, tokenizer string
	trained, projection, against            string
}

const parityHelp = `
--parity-only asks the model nothing. It compares the prompts that the server makes of
the requests of this run with the text that a model is trained on: the rows that
"assay train shard" makes of the same records, rendered by --template. It prints PASS
or the first difference, and exits with 0 or 1. What PASS proves depends on what the
server tells: its tokens (llama.cpp, vLLM; with --tokenizer), its text (Ollama), or only
how many tokens it read. --trained DIR takes the way rows are written from shards.
--parity-against messages compares the templates alone: the very messages of the run,
rendered by the server and by --template.
`

func (o *parityOptions) bind(flags *pflag.FlagSet) {
	flags.BoolVar(&o.only, "parity-only", false, "compare the prompts of the server with the training text, and ask the model nothing")
	flags.StringVar(&o.template, "template", "", "with --parity-only: the trainer's chat template: "+strings.Join(chat.Builtins(), ", ")+", or a file or folder with a chat_template")
	flags.StringVar(&o.templateName, "template-name", "", "which of several templates of a file; default: tool_use, else default")
	flags.StringVar(&o.date, "template-date", "", "today, for templates that name it, as \"26 Jul 2024\"")
	flags.StringVar(&o.tokenizer, "tokenizer", "", "with --parity-only: tokenizer.json of the model")
	flags.StringVar(&o.against, "parity-against", string(parity.AgainstRows), "rows: what \"assay train shard\" writes; messages: the messages of the run")
	flags.StringVar(&o.trained, "trained", "", "with --parity-only: `DIR` that \"assay train shard\" wrote, for the way its rows are written; default: as that verb does with its defaults, with the system prompt of this run")
	flags.StringVar(&o.projection, "projection", string(train.ActionOnly), "without --trained: rows are action-only or full, as in \"assay train shard\"")
}

// rows returns how training rows are written.
func (o *parityOptions) rows(opt eval.Options) (train.ShardOptions, error) {
	if o.trained != "" {
		m, err := train.ReadManifest(o.trained)
		if err != nil {
			return train.ShardOptions{}, inputError(fmt.Errorf("--trained %s: %w", filepath.Clean(o.trained), err))
		}
		return m.Choices.Options(), nil
	}
	p := opt.Prompt
	if p == (eval.Prompt{}) {
		p = eval.PromptFor(eval.CallsNative)
	}
	system := strings.TrimSpace(strings.ReplaceAll(p.Text(), eval.ToolsMark, ""))
	return train.ShardOptions{Projection: train.Projection(o.projection), SystemPrompt: system}, nil
}

// open returns what prompts are compared with.
func (o *parityOptions) open(opt eval.Options) (check parity.Options, err error) {
	if o.template == "" {
		return check, usagef("run --parity-only: want --template, one of %s, or a file or folder with the chat_template of the trainer", strings.Join(chat.Builtins(), ", "))
	}
	for _, f := range []struct {
		flag, value string
		want        []string
	}{
		{"parity-against", o.against, []string{string(parity.AgainstRows), string(parity.AgainstMessages)}},
		{"projection", o.projection, []string{string(train.ActionOnly), string(train.Full)}},
	} {
		if !slices.Contains(f.want, f.value) {
			return check, usagef("--%s %q: want %s", f.flag, f.value, strings.Join(f.want, " or "))
		}
	}
	check = parity.Options{Against: parity.Against(o.against), Chat: chat.Options{Date: o.date}}
	if check.Template, err = openTemplate(o.template, o.templateName); err != nil {
		return check, err
	}
	if o.tokenizer != "" {
		if check.Tokenizer, err = tokenizer.LoadFile(o.tokenizer); err != nil {
			return check, inputError(err)
		}
	}
	check.Rows, err = o.rows(opt)
	return check, err
}

// runParity compares the prompts of the server with the training text.
func runParity(ctx context.Context, std stdio, o runOptions, files []string) (err error) {
	opt, err := o.options()
	if err != nil {
		return err
	}
	if slices.Contains(files, "-") {
		return usagef("run: want files, have stdin; a run reads its records more than once")
	}
	check, err := o.parity.open(opt)
	if err != nil {
		return err
	}
	o.cache = "" // nothing is asked
	sc, err := o.prepare(&opt)
	if err != nil {
		return err
	}
	ids, err := readIDs(o.ids)
	if err != nil {
		return err
	}
	b, err := o.open(sc.workers)
	if err != nil {
		return err
	}
	if b.fleet == nil {
		return usagef("run --parity-only: want --model ollama/NAME or openai/NAME; a baseline reads no prompt")
	}
	opt.Workers = max(opt.Workers, 1)
	if err := opt.Check(); err != nil {
		return usagef("run: %v", err)
	}
	cases := func() iter.Seq2[qaoa.Record, error] { return pick(strictRecords(ctx, files), ids, o.limit) }
	if b.kind == "ollama" && opt.Sampling.NumCtx == 0 {
		// Ollama renders no prompt that does not fit.
		survey, err := eval.Look(ctx, cases(), opt)
		if err != nil {
			return inputError(err)
		}
		if opt.Sampling.NumCtx, err = numCtx(survey.Longest.Estimate, opt.Sampling.MaxTokens, 0, survey.Longest.ID); err != nil {
			return err
		}
	}
	check.Run = opt
	rep, err := parity.Check(ctx, b.Chatter, cases(), check)
	if err != nil {
		return parityError(err)
	}
	out, err := createOutput(std, "-")
	if err != nil {
		return err
	}
	defer func() { err = out.finish(err) }()
	if o.asJSON {
		err = writeJSON(out, rep)
	} else {
		err = rep.WriteText(out)
	}
	if err == nil && !rep.Pass {
		err = &exitError{exitGate, errors.New("the served prompts are not the training text")}
	}
	return err
}

// parityError gives an error of a check its exit code.
func parityError(err error) error {
	if errors.Is(err, context.Canceled) {
		return &exitError{exitInterrupted, errors.New("interrupted")}
	}
	if _, ok := errors.AsType[*model.Error](err); ok {
		return &exitError{exitBackend, err}
	}
	if errors.Is(err, parity.ErrCountsOnly) {
		return usagef("run --parity-only: %v (--tokenizer)", err)
	}
	return inputError(err)
}
