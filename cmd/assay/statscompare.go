package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"assay/report"
)

// against is the flag that divides run folders in two sides: what stands
// before it is A, what follows is B.
type against struct {
	flags  *pflag.FlagSet
	dirs   []string
	before int // folders before the flag
}

func bindAgainst(flags *pflag.FlagSet) *against {
	a := &against{flags: flags}
	flags.Var(a, "against", "the run `FOLDER…` of the system to compare with; all that follow belong to it")
	return a
}

func (a *against) String() string { return strings.Join(a.dirs, ",") }
func (a *against) Type() string   { return "folders" }

// Set takes a folder, or several separated by commas.
func (a *against) Set(dirs string) error {
	if len(a.dirs) == 0 {
		a.before = a.flags.NArg()
	}
	a.dirs = append(a.dirs, strings.Split(dirs, ",")...)
	return nil
}

// sides divides the folders.
func (a *against) sides(args []string) (one, other []string) {
	if len(a.dirs) == 0 {
		return args, nil
	}
	return args[:a.before], slices.Concat(a.dirs, args[a.before:])
}

// pairOptions are the flags of verbs that compare two systems.
type pairOptions struct {
	statsOptions
	against              *against
	otherModel           string
	metrics, cells, flip string
	markdown, datasets   bool
}

func (o *pairOptions) bind(flags *pflag.FlagSet) {
	o.against = bindAgainst(flags)
	flags.StringVar(&o.preset, "preset", "paper", "take the scores under these matching rules")
	flags.StringVar(&o.setting, "setting", "", "name of the setting for all runs (gt, hybrid); default: told from their candidate lists")
	flags.StringVar(&o.model, "model", "", "name of the first system, when its runs were served under several names")
	flags.StringVar(&o.otherModel, "against-model", "", "name of the other system, likewise")
	flags.Uint64Var(&o.seed, "bootstrap-seed", 1, "seed of the bootstrap and of permutations")
	flags.IntVar(&o.resamples, "resamples", 0, "bootstrap resamples, and draws of a permutation test that is not exact; 0 is 10,000")
	flags.BoolVar(&o.asJSON, "json", false, "print one JSON object, in fractions")
	flags.BoolVar(&o.markdown, "markdown", false, "print Markdown")
}

// check returns the settings for package report.
func (o *pairOptions) check() (report.PairOptions, error) {
	if o.level == 0 {
		o.level = .95
	}
	base, err := o.statsOptions.check()
	if err != nil {
		return report.PairOptions{}, err
	}
	opt := report.PairOptions{
		Options: base, Metrics: metricNames(o.metrics), Cells: cellNames(o.cells),
		Datasets: o.datasets, FlipMetric: strings.Join(metricNames(o.flip), ","),
	}
	if err := opt.Check(); err != nil {
		return report.PairOptions{}, &exitError{exitUsage, err}
	}
	return opt, nil
}

// metricNames reads "spa,fpa-arg" as SPA and FPA_arg; nil if empty.
func metricNames(list string) []string {
	var out []string
	for name := range strings.SplitSeq(list, ",") {
		switch name = strings.ToUpper(strings.TrimSpace(name)); name {
		case "":
		case "FPA-ARG", "FPA_ARG":
			out = append(out, "FPA_arg")
		default:
			out = append(out, name)
		}
	}
	return out
}

// cellNames reads "mt,turns" as MT and turns; nil if empty.
func cellNames(list string) []string {
	var out []string
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if len(name) == 2 {
			name = strings.ToUpper(name)
		}
		if name != "" {
			out = append(out, name)
		}
	}
	return out
}

// read reads the runs of both sides.
func (o *pairOptions) read(ctx context.Context, args []string) (a, b []report.Run, err error) {
	one, other := o.against.sides(args)
	if len(one) == 0 || len(other) == 0 {
		return nil, nil, usagef("%d run folders before --against and %d after it: want at least one on each side", len(one), len(other))
	}
	if a, err = readRuns(ctx, one, o.statsOptions); err != nil {
		return nil, nil, err
	}
	second := o.statsOptions
	second.model = o.otherModel
	b, err = readRuns(ctx, other, second)
	return a, b, err
}

// A document is what can be printed as text, Markdown and JSON.
type document interface {
	table
	Text(w io.Writer) error
}

func (o *pairOptions) print(std stdio, d document) error {
	if o.markdown || o.asJSON {
		return printTable(std, d, o.asJSON)
	}
	return d.Text(std.out)
}

func statsCompareCommand() command {
	return command{
		name: "stats compare", args: "RUN_FOLDER… --against RUN_FOLDER…",
		does: "two systems item by item: differences, paired tests, flips",
		help: `
The folders before --against are runs of one system, those after it of the other;
all were asked the same records and are scored ("assay score"). For each metric and
cell: the difference with its bootstrap interval over records, McNemar's exact test
where scores are 0 or 1, else a permutation test, and p-values corrected for all of
them (Holm; Benjamini and Hochberg). With several seeds a side, intervals over
trainings say whether the difference would be there for other seeds. Gained and lost
items are listed, all of them by --json.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			var o pairOptions
			o.bind(flags)
			flags.Float64Var(&o.level, "level", .95, "level of the intervals")
			flags.StringVar(&o.metrics, "metric", "", "compare only these metrics (sp, fp, spa, fpa, fpa-arg), separated by commas")
			flags.StringVar(&o.cells, "cell", "", "compare only these cells (SH, MH, ST, MT, turns, conversations), separated by commas")
			flags.BoolVar(&o.datasets, "datasets", false, "also compare within each data set")
			flags.StringVar(&o.flip, "flip-metric", "spa", "an item is right if this metric is 1")
			return func(ctx context.Context, std stdio, args []string) error {
				opt, err := o.check()
				if err != nil {
					return err
				}
				a, b, err := o.read(ctx, args)
				if err != nil {
					return err
				}
				p, err := report.Compare(a, b, opt)
				if err != nil {
					return inputError(err)
				}
				return o.print(std, p)
			}
		},
	}
}

func statsGateCommand() command {
	return command{
		name: "stats gate", args: "RUN_FOLDER… --against RUN_FOLDER…",
		does: "GO, NO-GO or INCONCLUSIVE for a gain (exit codes 0, 1, 6)",
		help: `
The folders before --against are runs of the new system, those after it of the one to
beat. GO means that the gain is at least --min-gain points, with a risk of --alpha to
be wrong; NO-GO that it is less, with the same risk; INCONCLUSIVE that the runs cannot
tell. Several runs on both sides make the training seed the replicate; with one run on
a side the verdict is about these very runs. Several metrics or cells must all be GO.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			var o pairOptions
			var gain, alpha float64
			var junit, summary string
			o.bind(flags)
			flags.StringVar(&o.metrics, "metric", "spa", "metrics that must gain (sp, fp, spa, fpa, fpa-arg), separated by commas")
			flags.StringVar(&o.cells, "cell", report.CellConversations, "where (SH, MH, ST, MT, turns, conversations), separated by commas")
			flags.Float64Var(&gain, "min-gain", 0, "gain asked for, in percent points; below 0 a loss that is borne")
			flags.Float64Var(&alpha, "alpha", .05, "risk of a wrong GO, and of a wrong NO-GO")
			flags.StringVar(&junit, "junit", "", "also write the verdicts as JUnit XML to `FILE`: what is not GO fails")
			flags.StringVar(&summary, "summary-md", "", "also write the verdict as Markdown to `FILE`, such as the summary of a CI job")
			return func(ctx context.Context, std stdio, args []string) error {
				opt, err := o.check()
				if err != nil {
					return err
				}
				if !(alpha > 0 && alpha < .5) {
					return usagef("--alpha %g: want a number between 0 and 0.5, such as 0.05", alpha)
				}
				if !(gain >= -100 && gain <= 100) {
					return usagef("--min-gain %g: want percent points from -100 to 100", gain)
				}
				a, b, err := o.read(ctx, args)
				if err != nil {
					return err
				}
				g, err := report.Gate(a, b, report.GateOptions{PairOptions: opt, MinGain: gain / 100, Alpha: alpha})
				if err != nil {
					return inputError(err)
				}
				if err := o.print(std, g); err != nil {
					return err
				}
				if err := writeCI(std, junit, summary, g.Suite(), g.Markdown); err != nil {
					return err
				}
				return gateError(g)
			}
		},
	}
}

// gateError gives a verdict its exit code.
func gateError(g report.GateResult) error {
	switch g.Verdict {
	case report.NoGo:
		return &exitError{exitGate, fmt.Errorf("%s: %s", g.Verdict, g.Why)}
	case report.Inconclusive:
		return &exitError{exitInconclusive, fmt.Errorf("%s: %s", g.Verdict, g.Why)}
	}
	return nil
}

func statsPlanCommand() command {
	return command{
		name: "stats plan", args: "[RUN_FOLDER… [--against RUN_FOLDER…]]",
		does: "which difference an experiment can find, and what it needs",
		help: `
From given spreads (--sd 1.3,1.0 --seeds 3) or from run folders: the smallest
difference that is found with --power, over training seeds (Welch's test) and over
items (paired test), and the seeds and items that --want needs. For right-or-wrong
scores with one run a side (--discordant, or such folders) McNemar's exact test is
planned for as well: its power, and the items and discordant pairs that it needs. All
in percent points.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			var o pairOptions
			var p planFlags
			o.bind(flags)
			flags.StringVar(&o.metrics, "metric", "", "plan only for these metrics of the folders, separated by commas")
			flags.StringVar(&o.cells, "cell", "", "plan only for these cells of the folders, separated by commas")
			p.bind(flags)
			return func(ctx context.Context, std stdio, args []string) error {
				return runPlan(ctx, std, o, p, args)
			}
		},
	}
}

type planFlags struct {
	sd, seeds                            string
	items                                int
	itemSD, discordant, want, alpha, pow float64
}

func (p *planFlags) bind(flags *pflag.FlagSet) {
	flags.StringVar(&p.sd, "sd", "", "`SD` over training seeds, in percent points: one for both systems, or two separated by a comma")
	flags.StringVar(&p.seeds, "seeds", "3", "training seeds of each system, or of both separated by a comma")
	flags.IntVar(&p.items, "items", 0, "independent items (records)")
	flags.Float64Var(&p.discordant, "discordant", 0, "share of items, in percent, on which exactly one of the systems is right")
	flags.Float64Var(&p.itemSD, "item-sd", 0, "SD of the differences of items, in percent points, instead of --discordant")
	flags.Float64Var(&p.want, "want", 0, "difference to be found, in percent points")
	flags.Float64Var(&p.alpha, "alpha", .05, "of the two-sided tests")
	flags.Float64Var(&p.pow, "power", .8, "share of experiments that shall find the difference")
}

func runPlan(ctx context.Context, std stdio, o pairOptions, p planFlags, args []string) error {
	opt, err := o.check()
	if err != nil {
		return err
	}
	inputs, err := p.inputs()
	if err != nil {
		return err
	}
	one, other := o.against.sides(args)
	switch {
	case len(one) == 0 && len(other) > 0:
		return usagef("no run folder before --against: want the runs of the first system there")
	case len(one) > 0:
		a, err := readRuns(ctx, one, o.statsOptions)
		if err != nil {
			return err
		}
		var b []report.Run
		if len(other) > 0 {
			second := o.statsOptions
			second.model = o.otherModel
			if b, err = readRuns(ctx, other, second); err != nil {
				return err
			}
		}
		more, err := report.PlanInputs(a, b, opt)
		if err != nil {
			return inputError(err)
		}
		inputs = append(inputs, more...)
	case len(inputs) == 0:
		return usagef("nothing to plan from: give --sd, --discordant or --item-sd, or run folders")
	}
	plan, err := report.NewPlan(inputs, report.PlanOptions{Alpha: p.alpha, Power: p.pow, Want: p.want / 100})
	if err != nil {
		return &exitError{exitUsage, err}
	}
	return o.print(std, plan)
}

// inputs reads what the flags say; nil if they say nothing of spreads.
func (p planFlags) inputs() ([]report.PlanInput, error) {
	if p.sd == "" && p.discordant == 0 && p.itemSD == 0 {
		return nil, nil
	}
	in := report.PlanInput{Name: "given", Items: p.items, ItemSD: p.itemSD / 100}
	if p.discordant != 0 {
		if p.itemSD != 0 {
			return nil, usagef("--discordant and --item-sd say the same: want one of them")
		}
		if !(p.discordant > 0 && p.discordant <= 100) {
			return nil, usagef("--discordant %g: want percent above 0 and up to 100", p.discordant)
		}
		in.Discordant = p.discordant / 100
		in.ItemSD = math.Sqrt(in.Discordant)
	}
	if p.sd == "" {
		return []report.PlanInput{in}, nil
	}
	sds, err := twoNumbers("--sd", p.sd)
	if err != nil {
		return nil, err
	}
	in.SDA, in.SDB = sds[0]/100, sds[1]/100
	seeds, err := twoNumbers("--seeds", p.seeds)
	if err != nil {
		return nil, err
	}
	in.RunsA, in.RunsB = int(seeds[0]), int(seeds[1])
	if in.RunsA < 2 || in.RunsB < 2 || float64(in.RunsA) != seeds[0] || float64(in.RunsB) != seeds[1] || seeds[0] > 1e6 || seeds[1] > 1e6 {
		return nil, usagef("--seeds %q: want whole numbers from 2", p.seeds)
	}
	return []report.PlanInput{in}, nil
}

// twoNumbers reads "1.3" as 1.3 twice, and "1.3,1" as both.
func twoNumbers(flag, text string) ([2]float64, error) {
	first, second, two := strings.Cut(text, ",")
	if !two {
		second = first
	}
	var out [2]float64
	for i, s := range []string{first, second} {
		x, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err != nil || !(x >= 0 && x <= 1e9) {
			return out, usagef("%s %q: want a number, or two separated by a comma", flag, text)
		}
		out[i] = x
	}
	return out, nil
}
