package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-json"
	"github.com/spf13/pflag"

	"assay/convert"
	"assay/eval"
	"assay/match"
	"assay/predfile"
	"assay/qaoa"
	"assay/report"
)

type scoreOptions struct {
	gold, pred, presets, fix []string
	items                    string
	aligned, explain         bool
	asJSON                   bool
	minCoverage              float64
	format, prefix           string
	metric                   string
	skipUnknown              bool

	diagnose, cross, diff bool

	junit, summaryMD string
}

func scoreCommand() command {
	return command{
		name: "score", args: "[RUN_FOLDER | --diff A B]",
		does: "compares predictions with gold calls: SP, FP, SPA, FPA",
		help: `
With a run folder, its predictions are scored, against --gold or the files that
run.json names, and the scores are kept in RUN_FOLDER/scores. With --pred, any
prediction file is: lines {"id","repeat"?,"turns":[{"steps":[{"calls":[…]}]}]} or
{"id","calls":[…]}, the interchange layout, BFCL results, OpenAI batch output and
chat logs, EvalScope and inspect logs, or lines of raw text, told apart by content.
No model and no network is needed. Predictions join gold by id (exactly, else by
a part that is unique); one that is missing scores 0, is counted, and the score is
printed with its bounds.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			var o scoreOptions
			flags.StringSliceVar(&o.gold, "gold", nil, "`FILE`s of gold records, or SOURCE:PATH of raw files, such as bfcl:download/")
			flags.StringSliceVar(&o.pred, "pred", nil, "`FILE`s of predictions")
			flags.StringVar(&o.format, "format", "", "form of --pred; default: told by content: "+formatNames())
			flags.StringVar(&o.prefix, "prefix", "", "put before the ids of the predictions, such as bfcl/")
			flags.BoolVar(&o.skipUnknown, "skip-unknown", false, "leave out predictions whose id is not in the gold data, and count them")
			flags.StringSliceVar(&o.presets, "preset", []string{"paper"}, "matching rules, or all: "+strings.Join(match.Presets(), ", ")+"; NAME+FAULT repairs a fault, see \"assay match --list\"")
			flags.StringSliceVar(&o.fix, "fix", nil, "repair these named faults in every preset that has them")
			flags.BoolVar(&o.aligned, "aligned", false, "match conversations turn by turn and sum, instead of pooling their calls")
			flags.BoolVar(&o.diagnose, "diagnose", false, "tell the errors by class, cell and data set, and the scores by size and similarity")
			flags.BoolVar(&o.cross, "cross", false, "tell on which items the presets disagree, and the argument that decides")
			flags.BoolVar(&o.diff, "diff", false, "compare two run folders or prediction files: items gained, lost and unstable")
			flags.StringVar(&o.metric, "metric", "", "metric of --cross and --diff: SP, FP, SPA (default), FPA or FPA_arg")
			flags.StringVar(&o.items, "items", "", "write every instance as a line to `FILE`; with -, the scores go to stderr")
			flags.BoolVar(&o.explain, "explain", false, "items say which calls were paired and why")
			flags.BoolVar(&o.asJSON, "json", false, "print one JSON object, or an array for several presets")
			flags.StringVar(&o.junit, "junit", "", "also write every instance as a test case of JUnit XML to `FILE`, under the first preset")
			flags.StringVar(&o.summaryMD, "summary-md", "", "also write what is printed as Markdown to `FILE`, such as the summary of a CI job")
			flags.Float64Var(&o.minCoverage, "min-coverage", 0, "exit with code 4 if a smaller share of the planned answers is there")
			return func(ctx context.Context, std stdio, args []string) error {
				if err := o.checkWays(); err != nil {
					return err
				}
				if o.diff {
					return runDiff(ctx, std, o, args)
				}
				return runScore(ctx, std, o, args)
			}
		},
	}
}

// A scoreJob is what is compared.
type scoreJob struct {
	gold, pred []string
	dir        string     // run folder that keeps the scores, or ""
	failed     int        // pairs that a back end failed on
	ids        idSet      // the records that the run took, nil for all
	limit      int        // the same, as a number; 0 is all
	shard      eval.Shard // the same, as a part
	repeats    int        // planned for each record, 0 if not known
}

func (o scoreOptions) job(args []string) (scoreJob, error) {
	job := scoreJob{gold: o.gold, pred: o.pred}
	switch {
	case len(args) > 1:
		return job, usagef("score: want one run folder, have %d; score them one by one, and compare them with \"assay stats\"", len(args))
	case len(args) == 1 && len(o.pred) > 0:
		return job, usagef("score: want a run folder or --pred, have both")
	case len(args) == 0 && len(o.pred) == 0:
		return job, usagef("score: want a run folder, or --gold and --pred")
	case len(args) == 1:
		job.dir = args[0]
		info, err := eval.ReadRun(job.dir)
		if errors.Is(err, fs.ErrNotExist) {
			return job, usagef("%s holds no run (no %s); give predictions by --pred FILE", job.dir, eval.RunFile)
		}
		if err != nil {
			return job, inputError(err)
		}
		job.pred = []string{filepath.Join(job.dir, eval.PredictionsFile)}
		job.failed, job.repeats = info.Counts.Failed, info.Settings.Repeats
		if !exists(job.pred[0]) {
			return job, usagef("%s has no predictions yet: its run is going on or was killed; run the same \"assay run\" command again to finish it", job.dir)
		}
		if len(job.gold) == 0 {
			if err := job.goldOf(info.Settings); err != nil {
				return job, err
			}
		}
	}
	if len(job.gold) == 0 {
		return job, usagef("score: want the gold records by --gold FILE")
	}
	return job, nil
}

// goldOf takes the records that the run was about.
func (job *scoreJob) goldOf(s eval.Settings) (err error) {
	for _, in := range s.Data {
		if in.SHA256 != "" {
			sum, err := hashFile(in.Path)
			if err != nil {
				return usagef("%s: the run was about %s: %v; give the gold records by --gold FILE", job.dir, in.Path, err)
			}
			if sum != in.SHA256 {
				return usagef("%s: %s is not the file any more that the run was about; give the gold records by --gold FILE", job.dir, in.Path)
			}
		}
		job.gold = append(job.gold, in.Path)
	}
	job.limit = s.Limit
	if job.shard, err = eval.ParseShard(s.Shard); err != nil {
		return inputError(err)
	}
	if s.IDs != nil {
		job.ids, err = readIDs(s.IDs.Path)
	}
	return err
}

// records yields the gold records that the run took.
func (job scoreJob) records(ctx context.Context) iter.Seq2[qaoa.Record, error] {
	return func(yield func(qaoa.Record, error) bool) {
		for rec, err := range pick(strictRecords(ctx, job.gold), job.ids, job.limit) {
			if (err != nil || job.shard.Takes(rec.ID)) && !yield(rec, err) {
				return
			}
		}
	}
}

func runScore(ctx context.Context, std stdio, o scoreOptions, args []string) error {
	job, err := o.job(args)
	if err != nil {
		return err
	}
	presets, err := presetList(o.presets, o.fix)
	if err != nil {
		return err
	}
	preds, err := job.reader(ctx, std, o)
	if err != nil {
		return err
	}
	switch {
	case o.diagnose:
		return job.diagnose(ctx, std, presets[0], preds, o)
	case o.cross:
		return job.cross(ctx, std, presets, preds, o)
	}
	scores, err := job.score(ctx, std, presets, preds, o)
	if err != nil {
		return inputError(err)
	}
	w := std.out
	if o.items == "-" {
		w = std.err // stdout has the items
	}
	switch {
	case o.asJSON && len(scores) == 1:
		err = writeJSON(w, scores[0])
	case o.asJSON:
		err = writeJSON(w, scores)
	default:
		err = report.ScoreText(w, scores)
	}
	if err != nil {
		return err
	}
	if err := preds.finish(); err != nil {
		return err
	}
	if c := scores[0].Coverage; float64(c.Scored) < o.minCoverage*float64(c.Planned) {
		return &exitError{exitCoverage, fmt.Errorf("%d of %d planned answers are there, under the %g asked for by --min-coverage; resume the run", c.Scored, c.Planned, o.minCoverage)}
	}
	return nil
}

// formatNames lists the forms of predictions.
func formatNames() string {
	var names []string
	for _, f := range predfile.Formats() {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

// presetList returns the presets, with those of the faults repaired that each
// has. A fault that none of them has is an error.
func presetList(names, fix []string) ([]match.Options, error) {
	if len(names) == 1 && names[0] == "all" {
		names = match.Presets()
	}
	var out []match.Options
	for _, name := range names {
		p, err := match.Preset(name)
		if err != nil {
			return nil, &exitError{exitUsage, fmt.Errorf("--preset: %w", err)}
		}
		out = append(out, p)
	}
	for _, fault := range fix {
		found := false
		for i, p := range out {
			if fixed, err := p.WithFix(fault); err == nil {
				out[i], found = fixed, true
			}
		}
		if !found {
			return nil, usagef("--fix %q: no preset given has this fault; \"assay match --list\" names them", fault)
		}
	}
	return out, nil
}

// score compares, writes the items where they are asked for, and keeps the
// scores in the run folder if there is one.
func (job scoreJob) score(ctx context.Context, std stdio, presets []match.Options, preds *predictionReader, o scoreOptions) (scores []eval.Scores, err error) {
	opt := eval.ScoreOptions{Presets: presets, Aligned: o.aligned, Explain: o.explain, Failed: job.failed, Repeats: job.repeats}
	var keep *eval.ScoreWriter
	if job.dir != "" {
		opt.Explain = true // the folder is what a viewer looks at later
		if keep, err = eval.NewScoreWriter(job.dir, presets); err != nil {
			return nil, fmt.Errorf("%w; to score a folder that cannot be written to: --gold FILE --pred %s", err, job.pred[0])
		}
		defer func() {
			if err != nil {
				err = errors.Join(err, keep.Abort())
			}
		}()
	}
	var items *output
	if o.items != "" {
		if items, err = createOutput(std, o.items); err != nil {
			return nil, err
		}
		defer func() { err = items.finish(err) }()
	}
	suite := report.Suite{Name: "score " + presets[0].Resolved().Name}
	opt.Explain = opt.Explain || o.junit != ""
	opt.Item = func(preset string, it eval.Item) error {
		if o.junit != "" && preset == presets[0].Resolved().Name {
			suite.Cases = append(suite.Cases, report.ItemCase(it))
		}
		if keep != nil {
			if err := keep.Item(preset, it); err != nil {
				return err
			}
		}
		if items == nil {
			return nil
		}
		return writeItem(items, preset, it)
	}
	scores, err = eval.Score(ctx, job.records(ctx), preds.predictions(ctx), opt)
	if err == nil && keep != nil {
		err = keep.Commit(scores)
	}
	if err == nil {
		err = writeCI(std, o.junit, o.summaryMD, suite, func(w io.Writer) error { return report.ScoreMarkdown(w, scores) })
	}
	return scores, err
}

// writeItem writes an item as one line, with its preset first.
func writeItem(w *output, preset string, it eval.Item) error {
	line := struct {
		Preset string `json:"preset"`
		eval.Item
	}{preset, it}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(line)
}

// strictPredictions yields the predictions of the files and ends at the first
// bad one.
func strictPredictions(ctx context.Context, paths []string) iter.Seq2[qaoa.Prediction, error] {
	return func(yield func(qaoa.Prediction, error) bool) {
		for p, err := range convert.ReadPredictionFiles(ctx, paths) {
			if !yield(p, inputError(err)) || err != nil {
				return
			}
		}
	}
}

// exists reports whether path can be looked at.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
