package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"assay/eval"
	"assay/qaoa"
	"assay/report"
)

type statsOptions struct {
	preset, setting, layout, model string
	level                          float64
	resamples                      int
	seed                           uint64
	bold                           string
	asJSON, within                 bool
	noItems                        bool // leave report.Run.Items to the caller
}

func (o *statsOptions) bind(flags *pflag.FlagSet) {
	flags.StringVar(&o.preset, "preset", "paper", "take the scores under these matching rules; rank compares several, separated by commas")
	flags.StringVar(&o.setting, "setting", "", "name of the setting for all runs (gt, hybrid); default: told from their candidate lists")
	flags.StringVar(&o.model, "model", "", "name of the model for all runs, to average fine-tunes that were served under several names")
	flags.Float64Var(&o.level, "level", .95, "level of the intervals")
	flags.IntVar(&o.resamples, "resamples", 0, "bootstrap resamples; 0 is 10,000")
	flags.Uint64Var(&o.seed, "bootstrap-seed", 1, "seed of the bootstrap")
	flags.BoolVar(&o.asJSON, "json", false, "print one JSON object, in fractions")
}

// bindBold is for verbs that print tables of models; of says of which tables it
// is, "" for all.
func (o *statsOptions) bindBold(flags *pflag.FlagSet, of string) {
	flags.StringVar(&o.bold, "bold", string(report.BoldPaired), of+"which best values of a column are bold: paired (where the paired test against the second best is significant), best (always), none")
}

func (o *statsOptions) check() (report.Options, error) {
	if !(o.level > 0 && o.level < 1) {
		return report.Options{}, usagef("--level %g: want a number between 0 and 1, such as 0.95", o.level)
	}
	if o.resamples < 0 {
		return report.Options{}, usagef("--resamples %d: want no negative number", o.resamples)
	}
	if rules := report.Bolds(); o.bold != "" && !slices.Contains(rules, report.Bold(o.bold)) {
		return report.Options{}, usagef("--bold %q: want paired, best or none", o.bold)
	}
	return report.Options{Level: o.level, Resamples: o.resamples, Seed: o.seed, Bold: report.Bold(o.bold)}, nil
}

func statsSummarizeCommand() command {
	return command{
		name: "stats summarize", args: "RUN_FOLDER…",
		does: "mean ± sample SD over runs, with intervals (the paper's Tables 1, 6 and 7)",
		help: `
The folders are runs that "assay score" has scored. Those of one model under one
setting are repeats, such as training seeds; they are averaged only if they were
asked the same records with the same candidate lists under the same rules, and no
two have equal predictions. The t interval over runs says how little a few runs
prove; the intervals within a run are over conversations.

The best value of a column is bold where it beats the second best, which is
underlined, by a paired test on the same items: McNemar's exact one where scores are
0 or 1 and both models have one run, else a permutation of signs by record. P-values
are corrected by Holm for all columns and settings of the table, at 1 - --level. A
shared first place and models without the same items are never bold. --bold best is
the plain habit of marking the largest value.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			var o statsOptions
			o.bind(flags)
			o.bindBold(flags, "")
			flags.BoolVar(&o.within, "within", false, "also print the intervals within each run (--json always has them)")
			flags.StringVar(&o.layout, "table", "summary", "summary (Tables 6 and 7) or comparison (Table 1)")
			return func(ctx context.Context, std stdio, args []string) error {
				return runSummarize(ctx, std, o, args)
			}
		},
	}
}

// A table is what can be printed for people and for programs.
type table interface {
	Markdown(w io.Writer) error
	JSON(w io.Writer) error
}

func printTable(std stdio, t table, asJSON bool) error {
	if asJSON {
		return t.JSON(std.out)
	}
	return t.Markdown(std.out)
}

func runSummarize(ctx context.Context, std stdio, o statsOptions, dirs []string) error {
	opt, err := o.check()
	if err != nil {
		return err
	}
	runs, err := readRuns(ctx, dirs, o)
	if err != nil {
		return err
	}
	var t table
	switch o.layout {
	case "summary":
		var sum report.Summary
		if sum, err = report.Summarize(runs, opt); err == nil && !o.within && !o.asJSON {
			sum = withoutRuns(sum)
		}
		t = sum
	case "comparison":
		t, err = report.Table1(runs, opt)
	default:
		return usagef("--table %q: want summary or comparison", o.layout)
	}
	if err != nil {
		return inputError(err)
	}
	return printTable(std, t, o.asJSON)
}

// withoutRuns leaves out what is said of each run by itself.
func withoutRuns(s report.Summary) report.Summary {
	for g := range s.Groups {
		for r := range s.Groups[g].Runs {
			s.Groups[g].Runs[r].Columns = nil
			s.Groups[g].Runs[r].Warnings = nil
		}
	}
	return s
}

func statsRankCommand() command {
	return command{
		name: "stats rank", args: "RUN_FOLDER…",
		does: "rank correlation of metrics and settings over models",
		help: `
The folders are scored runs of several models. Spearman and Kendall (ties share
ranks; exact p up to nine models) tell whether metrics, and the settings GT and
Hybrid, put the models in the same order; so do presets and seeds where there are
several. Their intervals are from resamples of records, the same for all models.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			var o statsOptions
			o.bind(flags)
			return func(ctx context.Context, std stdio, args []string) error {
				opt, err := o.check()
				if err != nil {
					return err
				}
				var runs []report.Run
				for preset := range strings.SplitSeq(o.preset, ",") {
					one := o
					one.preset = strings.TrimSpace(preset)
					more, err := readRuns(ctx, args, one)
					if err != nil {
						return err
					}
					runs = append(runs, more...)
				}
				t, err := report.Rank(runs, opt)
				if err != nil {
					return inputError(err)
				}
				return printTable(std, t, o.asJSON)
			}
		},
	}
}

// readRuns reads scored run folders.
func readRuns(ctx context.Context, dirs []string, o statsOptions) ([]report.Run, error) {
	if len(dirs) == 0 {
		return nil, usagef("want at least one run folder, have none")
	}
	var runs []report.Run
	for _, dir := range dirs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		run, err := readRun(ctx, dir, o)
		if err != nil {
			return nil, inputError(err)
		}
		runs = append(runs, run)
	}
	return runs, nil
}

func readRun(ctx context.Context, dir string, o statsOptions) (report.Run, error) {
	info, err := eval.ReadRun(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return report.Run{}, usagef("%s holds no run (no %s)", dir, eval.RunFile)
	}
	if err != nil {
		return report.Run{}, err
	}
	scores, err := eval.ReadScores(dir, o.preset)
	if errors.Is(err, fs.ErrNotExist) {
		return report.Run{}, usagef("%s has no scores under preset %q; run: assay score %s --preset %s", dir, o.preset, dir, o.preset)
	}
	if err != nil {
		return report.Run{}, err
	}
	run := report.Run{
		Name: filepath.Clean(dir), Model: info.Settings.Model, Setting: o.setting,
		Seed:   fmt.Sprint(info.Settings.Sampling.Seed),
		Scores: scores, Data: info.Settings.DataHash, Candidates: info.Settings.CandidateHash,
		Adapter: info.Settings.Digest,
	}
	if o.model != "" {
		run.Model = o.model
	}
	if run.Setting == "" {
		run.Setting = info.Settings.Environment["setting"]
	}
	if !o.noItems {
		if run.Items, err = eval.ReadItems(dir, o.preset); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return report.Run{}, err
		}
	}
	run.Predictions, err = hashPredictions(ctx, filepath.Join(dir, eval.PredictionsFile))
	return run, err
}

// hashPredictions returns the SHA-256 sum of what was predicted: ids and calls,
// without what differs between two runs that say the same.
func hashPredictions(ctx context.Context, path string) (string, error) {
	h := sha256.New()
	var line []byte
	for p, err := range strictPredictions(ctx, []string{path}) {
		if err != nil {
			return "", err
		}
		line = append(qaoa.AppendPrediction(line[:0], p), '\n')
		_, _ = h.Write(line) // a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// hashFile returns the SHA-256 sum of a file in hexadecimal.
func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
