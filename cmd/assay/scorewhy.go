package main

import (
	"context"
	"io"
	"path/filepath"
	"slices"

	"assay/eval"
	"assay/match"
	"assay/predfile"
	"assay/report"
)

// printed writes v for a person or for a program, and, where it is asked for, as
// Markdown into a file.
func printed[T any](std stdio, o scoreOptions, v T, text, json, markdown func(io.Writer, T) error) error {
	write := text
	if o.asJSON {
		write = json
	}
	if err := write(std.out, v); err != nil {
		return err
	}
	return writeCI(std, "", o.summaryMD, report.Suite{}, func(w io.Writer) error { return markdown(w, v) })
}

// diagnose tells which errors the predictions make.
func (job scoreJob) diagnose(ctx context.Context, std stdio, preset match.Options, preds *predictionReader, o scoreOptions) error {
	d, err := eval.Diagnose(ctx, job.records(ctx), preds.predictions(ctx),
		eval.DiagnoseOptions{Preset: preset, Aligned: o.aligned, Failed: job.failed, Repeats: job.repeats})
	if err != nil {
		return inputError(err)
	}
	if err := printed(std, o, d, report.DiagnosisText, report.DiagnosisJSON, report.DiagnosisMarkdown); err != nil {
		return err
	}
	return preds.finish()
}

// cross tells on which items the presets disagree, and why.
func (job scoreJob) cross(ctx context.Context, std stdio, presets []match.Options, preds *predictionReader, o scoreOptions) error {
	c, err := eval.Cross(ctx, job.records(ctx), preds.predictions(ctx),
		eval.CrossOptions{Presets: presets, Metric: o.metric, Aligned: o.aligned, Failed: job.failed, Repeats: job.repeats})
	if err != nil {
		return inputError(err)
	}
	if err := printed(std, o, c, report.CrossText, report.CrossJSON, report.CrossMarkdown); err != nil {
		return err
	}
	return preds.finish()
}

// runDiff compares two sets of predictions for the same gold.
func runDiff(ctx context.Context, std stdio, o scoreOptions, args []string) error {
	if len(args) != 2 {
		return usagef("score --diff: want two run folders or prediction files, have %d arguments", len(args))
	}
	var jobs [2]scoreJob
	var preds [2]*predictionReader
	for i, arg := range args {
		one := o
		var rest []string
		if exists(filepath.Join(arg, eval.RunFile)) {
			rest = []string{arg}
		} else {
			one.pred = []string{arg}
		}
		var err error
		if jobs[i], err = one.job(rest); err != nil {
			return err
		}
		if preds[i], err = jobs[i].reader(ctx, std, o); err != nil {
			return err
		}
	}
	presets, err := presetList(o.presets[:1], o.fix)
	if err != nil {
		return err
	}
	a, b := jobs[0], jobs[1]
	d, err := eval.Diff(ctx, a.records(ctx), preds[0].predictions(ctx), preds[1].predictions(ctx),
		eval.DiffOptions{Preset: presets[0], Metric: o.metric, Aligned: o.aligned, FailedA: a.failed, FailedB: b.failed, RepeatsA: a.repeats, RepeatsB: b.repeats})
	if err != nil {
		return inputError(err)
	}
	if err := printed(std, o, d, report.DiffText, report.DiffJSON, report.DiffMarkdown); err != nil {
		return err
	}
	for _, p := range preds {
		if err := p.finish(); err != nil {
			return err
		}
	}
	return nil
}

// reader returns what reads the predictions of the job.
func (job scoreJob) reader(ctx context.Context, std stdio, o scoreOptions) (*predictionReader, error) {
	format, err := predfile.ParseFormat(o.format)
	if err != nil {
		return nil, usagef("--format: %v", err)
	}
	r := &predictionReader{std: std, paths: job.pred, opt: predfile.Options{Format: format, Prefix: o.prefix}, skipUnknown: o.skipUnknown}
	if job.dir != "" {
		return r, nil
	}
	if slices.Contains(job.gold, "-") {
		return r, nil // it can be read once only, and scoring does that
	}
	if r.gold, err = indexGold(strictRecords(ctx, job.gold)); err != nil {
		return nil, inputError(err)
	}
	return r, nil
}

// checkWays wants at most one of the ways to look at predictions.
func (o scoreOptions) checkWays() error {
	n := 0
	for _, on := range []bool{o.diagnose, o.cross, o.diff} {
		if on {
			n++
		}
	}
	if n > 1 {
		return usagef("score: --diagnose, --cross and --diff are three ways to look; give one")
	}
	if n == 1 && o.junit != "" {
		return usagef("score: --junit has the instances of a score; leave out --diagnose, --cross or --diff, or write their Markdown by --summary-md")
	}
	if o.metric != "" && !slices.Contains(eval.Metrics(), o.metric) {
		return usagef("--metric %q: want one of %v", o.metric, eval.Metrics())
	}
	return nil
}
