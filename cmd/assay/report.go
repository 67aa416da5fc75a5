package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"assay/eval"
	"assay/match"
	"assay/page"
	"assay/qaoa"
	"assay/report"
)

type reportOptions struct {
	stats statsOptions
	gold  []string
	title string
	out   string

	table, format string
	share         report.ShareOptions
}

func (o *reportOptions) bind(flags *pflag.FlagSet) {
	flags.StringVar(&o.title, "title", "", "title of the page")
	flags.StringSliceVar(&o.gold, "gold", nil, "`FILE`s of gold records for all runs; default: those that each run.json names")
	flags.StringVar(&o.stats.preset, "preset", "paper", "take the scores under these matching rules")
	flags.StringVar(&o.stats.setting, "setting", "", "name of the setting for all runs (gt, hybrid); default: told from their candidate lists")
	flags.StringVar(&o.stats.model, "model", "", "name of the model for all runs, to average fine-tunes that were served under several names")
	flags.Float64Var(&o.stats.level, "level", .95, "level of the intervals")
	flags.IntVar(&o.stats.resamples, "resamples", 0, "bootstrap resamples; 0 is 10,000")
	flags.Uint64Var(&o.stats.seed, "bootstrap-seed", 1, "seed of the bootstrap")
}

func reportCommand() command {
	return command{
		name: "report", args: "RUN_FOLDER…",
		does: "makes one HTML file with scores, comparisons and every item; or a table for a paper",
		help: `
The folders are runs that "assay score" has scored. The file opens from disk in any
browser and asks no network: coverage, scores with intervals, errors, comparisons
of the runs, and a browser of all items with gold and predicted calls side by side.
What models said is shown as text and cannot run. For runs too big for one file,
"assay view" serves the same page.

With --table, one table is made instead: table1 (models by setting), table6 and table7
(mean ± sample SD over runs, hop and turn level), figure4 (each benchmark), or figure5
(multi-hop turns against the share of parallel ones: for 1:N, as many serial and N
times as many parallel turns as there are, drawn at random --samples times). In table1,
table6 and table7 the best value of a column is bold where a paired test on the same
items says so, and the second best underlined: see "assay stats summarize --help".`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			var o reportOptions
			flags.StringVarP(&o.out, "out", "o", "", "`FILE` to write, - is stdout; default: report.html, and stdout for a table")
			o.bind(flags)
			flags.StringVar(&o.table, "table", "", "make this table instead: "+strings.Join(tableNames, ", "))
			flags.StringVar(&o.format, "format", "", "form of the table: "+strings.Join(report.SheetFormats(), ", ")+"; default: told by the name of -o, else md")
			o.stats.bindBold(flags, "table1, table6, table7: ")
			flags.StringVar(&o.share.Dataset, "dataset", "", "figure5: only this data set, such as bfcl (the paper's choice)")
			flags.IntVar(&o.share.Samples, "samples", 200, "figure5: draws for each ratio")
			flags.Uint64Var(&o.share.Seed, "seed", 1, "figure5: seed of the draws")
			return func(ctx context.Context, std stdio, args []string) error {
				if o.table != "" {
					return runReportTable(ctx, std, o, args)
				}
				if o.format != "" && o.format != "html" {
					return usagef("--format %s: want --table as well; the report itself is HTML", o.format)
				}
				return runReport(ctx, std, o, args)
			}
		},
	}
}

func runReport(ctx context.Context, std stdio, o reportOptions, dirs []string) (err error) {
	if o.out == "" {
		o.out = "report.html"
	}
	r, err := buildReport(ctx, o, dirs, false)
	if err != nil {
		return err
	}
	defer func() { err = joinClose(err, r.Close()) }()
	out, err := createOutput(std, o.out)
	if err != nil {
		return err
	}
	defer func() { err = out.finish(err) }()
	if err := r.WriteHTML(out); err != nil {
		return err
	}
	if o.out != "-" {
		fmt.Fprintf(std.err, "%s: open it in a browser\n", printable(o.out))
	}
	return nil
}

// joinClose is err, or else what closing returned.
func joinClose(err, closing error) error {
	if err != nil {
		return err
	}
	return closing
}

// buildReport reads the run folders and builds the page; paged is for a server.
func buildReport(ctx context.Context, o reportOptions, dirs []string, paged bool) (*page.Report, error) {
	opt, err := o.stats.check()
	if err != nil {
		return nil, err
	}
	opt.Bold = report.BoldNone // the page shows intervals and comparisons, and marks no cell
	o.stats.noItems = true
	runs, err := readRuns(ctx, dirs, o.stats)
	if err != nil {
		return nil, err
	}
	preset, err := match.Preset(o.stats.preset)
	if err != nil {
		return nil, &exitError{exitUsage, fmt.Errorf("--preset: %w", err)}
	}
	in := page.Input{Title: o.title, Preset: preset, Options: opt, Paged: paged}
	if in.Title == "" {
		in.Title = reportTitle(runs[0].Model, len(runs))
	}
	for i, dir := range dirs {
		run, err := pageRun(ctx, dir, o)
		if err != nil {
			return nil, err
		}
		run.Run = runs[i]
		run.LoadItems = func(ctx context.Context) ([]eval.Item, error) {
			items, err := eval.ReadItemScores(dir, o.stats.preset)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			return items, ctx.Err()
		}
		in.Runs = append(in.Runs, run)
	}
	r, err := page.Build(ctx, in)
	return r, inputError(err)
}

func reportTitle(model string, n int) string {
	if n == 1 {
		return "Report on " + model
	}
	return fmt.Sprintf("Report on %d runs", n)
}

// pageRun finds what is behind the scores of a run folder.
func pageRun(ctx context.Context, dir string, o reportOptions) (page.Run, error) {
	job, err := scoreOptions{gold: o.gold}.job([]string{dir})
	if err != nil {
		return page.Run{}, err
	}
	info, err := eval.ReadRun(dir)
	if err != nil {
		return page.Run{}, inputError(err)
	}
	run := page.Run{
		Info: &info, Data: fmt.Sprintf("%q %d %s %d %q", job.gold, job.limit, job.shard, len(job.ids), idsPath(info)),
		Gold: job.records, File: job.pred[0], Failed: job.failed, Repeats: job.repeats,
		Preds: func(ctx context.Context) iter.Seq2[qaoa.Prediction, error] { return strictPredictions(ctx, job.pred) },
	}
	files, err := filepath.Glob(filepath.Join(dir, eval.ScoresDir, "*.json"))
	if err != nil {
		return run, err
	}
	slices.Sort(files)
	for _, f := range files {
		s, err := eval.ReadScores(dir, strings.TrimSuffix(filepath.Base(f), ".json"))
		if err != nil {
			return run, inputError(err)
		}
		run.Presets = append(run.Presets, s)
	}
	return run, ctx.Err()
}

func idsPath(info eval.RunInfo) string {
	if info.Settings.IDs == nil {
		return ""
	}
	return info.Settings.IDs.Path
}
