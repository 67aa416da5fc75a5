package page

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"assay/eval"
	"assay/match"
	"assay/report"
)

// Format is the format of the data of a page.
const Format = "assay-page/1"

// An overview is what the page begins with: all numbers, and where the items
// are.
type overview struct {
	Format  string       `json:"format"`
	Title   string       `json:"title"`
	Preset  string       `json:"preset"`
	Level   float64      `json:"level"`
	Records int          `json:"records"`
	Items   int          `json:"items"`
	Blobs   blobNumbers  `json:"blobs"`
	Runs    []runView    `json:"runs"`
	Columns []columnView `json:"columns"`
	// Groups are the means over runs; nil if the runs cannot be averaged, and
	// then Notes say why.
	Groups   []report.Group  `json:"groups"`
	Pairs    []report.Paired `json:"pairs"`
	Notes    []string        `json:"notes"`
	Datasets []string        `json:"datasets"`
	Cells    []string        `json:"cells"`
	Shapes   []string        `json:"shapes"`
	Classes  []className     `json:"classes"`
	Statuses []status        `json:"statuses"`
}

// blobNumbers say which blobs hold what.
type blobNumbers struct {
	Index     []int `json:"index"`
	Details   []int `json:"details"`
	Tools     []int `json:"tools"`
	ToolNames int   `json:"tool_names"`
}

type columnView struct {
	Run    int    `json:"run"`
	Repeat int    `json:"repeat"`
	Label  string `json:"label"`
}

type className struct {
	Name eval.ErrorClass `json:"name"`
	Doc  string          `json:"doc"`
}

// A runView is one run in the overview.
type runView struct {
	Name       string             `json:"name"`
	Model      string             `json:"model"`
	Setting    string             `json:"setting"`
	Seed       string             `json:"seed"`
	State      string             `json:"state,omitempty"`
	Alarms     []string           `json:"alarms,omitempty"`
	Asked      [][2]string        `json:"asked,omitempty"` // settings, name and value
	Scores     eval.Scores        `json:"scores"`
	Columns    []report.WithinRun `json:"columns"`
	Errors     eval.ErrorCells    `json:"errors"`
	Breakdowns []eval.Breakdown   `json:"breakdowns"`
	Presets    []presetView       `json:"presets,omitempty"`
	Cross      []crossView        `json:"cross,omitempty"`
}

type presetView struct {
	Preset string     `json:"preset"`
	Cells  eval.Cells `json:"cells"`
}

// A crossView says on how many turns two presets disagree about SPA.
type crossView struct {
	A     string `json:"a"`
	B     string `json:"b"`
	N     int    `json:"n"`
	OnlyA int    `json:"only_a"`
	OnlyB int    `json:"only_b"`
}

func (b *builder) overview(ctx context.Context) (*overview, error) {
	o := &overview{
		Format: Format, Title: b.in.Title, Preset: b.in.Preset.Resolved().Name, Level: b.in.Options.Level,
		Runs: []runView{}, Columns: []columnView{}, Groups: []report.Group{}, Pairs: []report.Paired{}, Notes: []string{},
		Datasets: b.datasets.list, Cells: cellNames, Shapes: shapeNames, Statuses: statuses,
	}
	if o.Level == 0 {
		o.Level = 0.95
	}
	for _, c := range classNames() {
		o.Classes = append(o.Classes, className{c, classDocs[c]})
	}
	var runs []report.Run
	for i, run := range b.in.Runs {
		var err error
		if run.LoadItems != nil {
			if run.Items, err = run.LoadItems(ctx); err != nil {
				return nil, err
			}
		}
		v, err := b.runView(ctx, i, run)
		if err != nil {
			return nil, err
		}
		o.Runs = append(o.Runs, v)
		runs = append(runs, run.Run)
	}
	for _, c := range b.columns {
		o.Columns = append(o.Columns, columnView{c.run, c.repeat, b.label(c)})
	}
	sum, err := report.Summarize(runs, b.in.Options)
	if err != nil {
		o.Notes = append(o.Notes, fmt.Sprintf("The runs are not averaged: %v", err))
		return o, ctx.Err()
	}
	for _, g := range sum.Groups {
		g.Runs = nil // shown run by run
		o.Groups = append(o.Groups, g)
	}
	o.Notes = append(o.Notes, sum.Notes...)
	for _, e := range sum.Extremes {
		o.Notes = append(o.Notes, e.String())
	}
	b.compare(o, sum.Groups, runs)
	return o, ctx.Err()
}

// label names a column: the shortest that tells it from the others.
func (b *builder) label(c *column) string {
	run := b.in.Runs[c.run]
	same := func(f func(Run) string) bool {
		return !slices.ContainsFunc(b.in.Runs, func(r Run) bool { return f(r) != f(run) })
	}
	parts := []string{run.Model}
	if !same(func(r Run) string { return r.Setting }) {
		parts = append(parts, report.SettingLabel(run.Setting))
	}
	twins, doubles := 0, 0
	for _, r := range b.in.Runs {
		if r.Model == run.Model && r.Setting == run.Setting {
			twins++
			if r.Seed == run.Seed {
				doubles++
			}
		}
	}
	if twins > 1 {
		parts = append(parts, "seed "+run.Seed)
	}
	if doubles > 1 {
		parts = append(parts, run.Name)
	}
	if slices.ContainsFunc(b.columns, func(d *column) bool { return d.run == c.run && d.repeat != c.repeat }) {
		parts = append(parts, fmt.Sprintf("repeat %d", c.repeat))
	}
	return strings.Join(parts, " · ")
}

func (b *builder) runView(ctx context.Context, i int, run Run) (runView, error) {
	d := b.diagnoses[i]
	v := runView{
		Name: run.Name, Model: run.Model, Setting: report.SettingLabel(run.Setting), Seed: run.Seed,
		Scores: run.Scores, Errors: d.All, Breakdowns: d.Breakdowns,
	}
	if run.Info != nil {
		v.State, v.Alarms, v.Asked = string(run.Info.State), run.Info.Alarms, asked(*run.Info)
	}
	if sum, err := report.Summarize([]report.Run{run.Run}, b.in.Options); err == nil && len(sum.Groups) == 1 && len(sum.Groups[0].Runs) == 1 {
		v.Columns = sum.Groups[0].Runs[0].Columns
	}
	var presets []match.Options
	for _, s := range run.Presets {
		v.Presets = append(v.Presets, presetView{s.Preset, s.Cells})
		if p, err := match.Preset(s.Preset); err == nil && s.Aligned == run.Scores.Aligned {
			presets = append(presets, p)
		}
	}
	if len(presets) < 2 {
		return v, nil
	}
	cross, err := eval.Cross(ctx, run.Gold(ctx), run.Preds(ctx), eval.CrossOptions{
		Presets: presets, Aligned: run.Scores.Aligned, Failed: run.Failed, Repeats: run.Repeats, Examples: -1,
	})
	if err != nil {
		return v, err
	}
	for _, p := range cross.Pairs {
		v.Cross = append(v.Cross, crossView{p.A, p.B, p.Turns.N, p.Turns.OnlyA, p.Turns.OnlyB})
	}
	return v, nil
}

// asked are the settings that a reader of the scores wants to know.
func asked(info eval.RunInfo) [][2]string {
	s, c := info.Settings, info.Counts
	var files []string
	for _, in := range s.Data {
		files = append(files, in.Path)
	}
	out := [][2]string{
		{"data", strings.Join(files, ", ")},
		{"records, repeats", fmt.Sprintf("%d, %d", s.Records, max(s.Repeats, 1))},
		{"how asked", fmt.Sprintf("calls %s, flow %s, history %s, observe %s, parse %s", s.Calls, s.Flow, s.History, s.Observe, s.Parse)},
		{"sampling", fmt.Sprintf("temperature %g, top p %g, seed %d, max tokens %d, context %d", s.Sampling.Temperature, s.Sampling.TopP, s.Sampling.Seed, s.Sampling.MaxTokens, s.Sampling.NumCtx)},
		{"replies", fmt.Sprintf("%d, of which %d have a call that does not parse and %d were cut at the length limit", c.Replies, c.Malformed, c.Length)},
		{"tokens", fmt.Sprintf("%d of prompts, %d of answers", c.PromptTokens, c.CompletionTokens)},
		{"program", s.Assay},
	}
	if s.Digest != "" {
		out = append(out, [2]string{"weights", s.Digest})
	}
	if s.Compat != "" {
		out = append(out, [2]string{"reproduces", string(s.Compat)})
	}
	return slices.DeleteFunc(out, func(p [2]string) bool { return p[1] == "" })
}

// maxPairs bounds the comparisons of systems in one report.
const maxPairs = 12

// compare compares the models of each setting two by two, and each model under
// two settings.
func (b *builder) compare(o *overview, groups []report.Group, runs []report.Run) {
	of := func(g report.Group) (out []report.Run) {
		for _, r := range runs {
			if r.Model == g.Model && report.SettingLabel(r.Setting) == g.Setting {
				out = append(out, r)
			}
		}
		return out
	}
	for i, x := range groups {
		for _, y := range groups[:i] {
			if x.Setting != y.Setting && x.Model != y.Model {
				continue
			}
			if len(o.Pairs) == maxPairs {
				o.Notes = append(o.Notes, fmt.Sprintf("Only the first %d comparisons are made; \"assay stats compare\" makes any.", maxPairs))
				return
			}
			p, err := report.Compare(of(x), of(y), report.PairOptions{Options: b.in.Options})
			if err != nil {
				o.Notes = append(o.Notes, fmt.Sprintf("%s, %s and %s, %s are not compared: %v", x.Model, x.Setting, y.Model, y.Setting, err))
				continue
			}
			p.Flips = nil // the items have them
			o.Pairs = append(o.Pairs, p)
		}
	}
}

// classDocs say what a class is, in the words of the report.
var classDocs = map[eval.ErrorClass]string{
	eval.ClassRight:           "every call is equal to gold under the preset",
	eval.ClassAbstained:       "no call was made at all",
	eval.ClassMalformed:       "there were attempts at calls, and none of them parsed",
	eval.ClassMissing:         "there is no prediction, or the server failed",
	eval.ClassWrongTool:       "another tool on offer was called",
	eval.ClassNearDuplicate:   "another tool was called, whose text is much like that of the right one",
	eval.ClassHallucinated:    "a tool was called that was not on offer",
	eval.ClassMissingCall:     "a gold call was not made",
	eval.ClassExtraCall:       "a call was made that gold does not have",
	eval.ClassUnparsable:      "an attempt at a call did not parse",
	eval.ClassMissingRequired: "an argument is absent that the schema requires",
	eval.ClassMissingOptional: "an argument is absent that gold has",
	eval.ClassUnknownArgument: "an argument was given that the schema does not know",
	eval.ClassExtraArgument:   "an argument was given that gold does not have",
	eval.ClassWrongType:       "a value has another JSON type",
	eval.ClassWrongValue:      "a value is another one of the same type",
	eval.ClassFormatOnly:      "the difference is in writing only, or within the flexible match",
}
