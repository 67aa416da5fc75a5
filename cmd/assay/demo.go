package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-json"
	"github.com/spf13/pflag"

	"assay/benchdata/demo"
	"assay/convert"
	"assay/report"
)

func demoCommand() command {
	return command{
		name: "demo", args: "",
		does: "runs the whole chain on embedded data, without a server or a network",
		help: `
Writes small invented files in every raw format, converts and filters them, makes
candidate lists, asks three models that need no server, scores them, sums up three
seeds, makes a report to open in a browser, and a training shard. Every command is printed, so it can be repeated
on real files. What the commands say goes to demo.log in the folder.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			out := flags.String("out", "demo-out", "folder to write to; what an earlier demo wrote there is replaced")
			return func(ctx context.Context, std stdio, args []string) error {
				if len(args) > 0 {
					return usagef("demo: want no arguments, have %q", args)
				}
				return runDemo(ctx, std, *out)
			}
		},
	}
}

// demoFolders are what a demo writes, beside its log.
var demoFolders = []string{"raw", "records", "lists", "runs", "tables", "shards", demoReport}

const (
	demoLog    = "demo.log"
	demoReport = "report.html"
)

// A demonstration runs verbs as a user would.
type demonstration struct {
	std  stdio
	dir  string
	log  *os.File
	hush bool // print no command
}

func runDemo(ctx context.Context, std stdio, dir string) error {
	if err := clearDemo(dir); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(dir, demoLog))
	if err != nil {
		return err
	}
	defer log.Close()
	d := &demonstration{std: std, dir: dir, log: log}
	for _, step := range []func(context.Context) error{d.convert, d.candidates, d.models, d.tables, d.shard, d.report} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("%w; see %s", err, log.Name())
		}
	}
	fmt.Fprintf(std.out, "\nEverything is under %s. To look closer:\n  assay describe %s\n  assay score %s --gold %s --explain --items -\n",
		dir, d.path("records", "kept.jsonl"), d.path("runs", "lexical-hybrid"), d.path("lists", "hybrid.jsonl"))
	return nil
}

// clearDemo makes dir, or removes what an earlier demo wrote there.
func clearDemo(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return usagef("--out: %v", err)
	}
	if len(entries) > 0 && !exists(filepath.Join(dir, demoLog)) {
		return usagef("--out %s: holds files that no demo wrote; give an empty or a new folder", dir)
	}
	for _, name := range demoFolders {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

func (d *demonstration) path(parts ...string) string {
	return filepath.Join(append([]string{d.dir}, parts...)...)
}

// do runs a verb, and returns what it writes to stdout.
func (d *demonstration) do(ctx context.Context, args ...string) (string, error) {
	line := "assay " + strings.Join(args, " ")
	if !d.hush {
		fmt.Fprintf(d.std.out, "  $ %s\n", line)
	}
	fmt.Fprintf(d.log, "$ %s\n", line)
	var out bytes.Buffer
	err := dispatch(ctx, args, stdio{in: strings.NewReader(""), out: &out, err: d.log})
	if err != nil {
		fmt.Fprintf(d.log, "error: %v\n", err)
		return "", fmt.Errorf("%s: %w", line, err)
	}
	return out.String(), nil
}

// quietly is do without printing the command.
func (d *demonstration) quietly(ctx context.Context, args ...string) (string, error) {
	defer func(before bool) { d.hush = before }(d.hush)
	d.hush = true
	return d.do(ctx, args...)
}

func (d *demonstration) section(title string) { fmt.Fprintf(d.std.out, "\n%s\n", title) }

// convert writes the raw files, converts and filters them.
func (d *demonstration) convert(ctx context.Context) error {
	raw, err := fs.Sub(demo.Raw, "raw")
	if err != nil {
		return err
	}
	if err := os.CopyFS(d.path("raw"), raw); err != nil {
		return err
	}
	if err := os.MkdirAll(d.path("records"), 0o755); err != nil {
		return err
	}
	sources, err := fs.ReadDir(raw, ".")
	if err != nil {
		return err
	}
	d.section("1. Raw files become records; what becomes none is in the ledger.")
	var kept, all []string
	var table strings.Builder
	fmt.Fprintf(&table, "  %-12s %5s %9s %5s  %s\n", "source", "read", "converted", "kept", "rejected or dropped")
	for _, s := range sources {
		name := s.Name()
		records, filtered := d.path("records", name+".jsonl"), d.path("records", name+".kept.jsonl")
		sum1, sum2 := d.path("records", name+".summary.json"), d.path("records", name+".kept.summary.json")
		if _, err := d.do(ctx, "convert", name, d.path("raw", name), "-o", records, "--summary", sum1, "--ledger", d.path("records", name+".ledger.jsonl")); err != nil {
			return err
		}
		if _, err := d.do(ctx, "filter", records, "-o", filtered, "--summary", sum2, "--ledger", d.path("records", name+".kept.ledger.jsonl")); err != nil {
			return err
		}
		row, err := balance(name, sum1, sum2)
		if err != nil {
			return err
		}
		table.WriteString(row)
		all, kept = append(all, records), append(kept, filtered)
		d.hush = true // one source shows how it goes
	}
	d.hush = false
	fmt.Fprintf(d.std.out, "  … and the same for the other sources\n\n%s", &table)
	if err := concat(d.path("records", "kept.jsonl"), kept); err != nil {
		return err
	}
	return concat(d.path("records", "all.jsonl"), all)
}

// balance is the row of one source.
func balance(name, converted, filtered string) (string, error) {
	var sums [2]convert.Summary
	for i, path := range []string{converted, filtered} {
		data, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		if err := json.Unmarshal(data, &sums[i]); err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
	}
	var codes []string
	for _, s := range sums {
		for code, n := range s.Codes {
			codes = append(codes, fmt.Sprintf("%s %d", code, n))
		}
	}
	slices.Sort(codes)
	return fmt.Sprintf("  %-12s %5d %9d %5d  %s\n", name, sums[0].Read, sums[0].Converted, sums[1].Converted, strings.Join(codes, ", ")), nil
}

// concat writes the files one after the other.
func concat(path string, files []string) error {
	var all []byte
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		all = append(all, data...)
	}
	return os.WriteFile(path, all, 0o644)
}

// demoSettings are the settings of the paper.
var demoSettings = []string{"gt", "hybrid"}

func (d *demonstration) candidates(ctx context.Context) error {
	d.section("2. Each record gets its list of tools: those it needs (GT), and those among 20 (Hybrid-20).")
	if err := os.MkdirAll(d.path("lists"), 0o755); err != nil {
		return err
	}
	for _, setting := range demoSettings {
		if _, err := d.do(ctx, "candidates", d.path("records", "kept.jsonl"), "--pool", d.path("raw", "seal-tools", "tool.jsonl"),
			"--setting", setting, "--seed", "7", "-o", d.path("lists", setting+".jsonl"), "--report", d.path("lists", setting+".report.json")); err != nil {
			return err
		}
	}
	return nil
}

// models asks the baselines and scores what they say.
func (d *demonstration) models(ctx context.Context) error {
	d.section("3. Models are asked and scored. These need no server; ollama/NAME and openai/NAME work the same way.")
	type ask struct {
		model, seed, dir string
	}
	for _, setting := range demoSettings {
		asks := []ask{
			{"baseline/gold", "1", "gold-" + setting},
			{"baseline/lexical", "1", "lexical-" + setting},
			{"baseline/random", "1", "random-" + setting + "-seed1"},
			{"baseline/random", "2", "random-" + setting + "-seed2"},
			{"baseline/random", "3", "random-" + setting + "-seed3"},
		}
		for _, a := range asks {
			run := d.path("runs", a.dir)
			if _, err := d.do(ctx, "run", d.path("lists", setting+".jsonl"), "--out", run, "--model", a.model, "--seed", a.seed); err != nil {
				return err
			}
			if _, err := d.do(ctx, "score", run, "--preset", "all"); err != nil {
				return err
			}
			d.hush = true
		}
	}
	d.hush = false
	fmt.Fprintln(d.std.out, "  … and the same for the other models, seeds and the other setting")
	return nil
}

// runs returns the run folders whose name has the prefix, in order.
func (d *demonstration) runs(prefix string) ([]string, error) {
	return filepath.Glob(d.path("runs", prefix+"*"))
}

// tables writes the tables of the paper, and prints the gist of them.
func (d *demonstration) tables(ctx context.Context) error {
	d.section("4. How good, and how sure: per cent, mean ± sample SD where three seeds were run.")
	every, err := d.runs("")
	if err != nil {
		return err
	}
	random, err := d.runs("random-")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(d.path("tables"), 0o755); err != nil {
		return err
	}
	tables := []struct {
		file string
		args []string
		dirs []string
	}{
		{"comparison.md", []string{"stats", "summarize", "--table", "comparison"}, every},
		{"seeds.md", []string{"stats", "summarize"}, random},
		{"rank.md", []string{"stats", "rank"}, every},
	}
	for _, t := range tables {
		text, err := d.quietly(ctx, append(t.args, t.dirs...)...)
		if err != nil {
			return err
		}
		if err := os.WriteFile(d.path("tables", t.file), []byte(text), 0o644); err != nil {
			return err
		}
		fmt.Fprintf(d.std.out, "  $ assay %s %s > %s\n", strings.Join(t.args, " "), d.path("runs", "…"), d.path("tables", t.file))
	}
	return d.gist(ctx, every)
}

// gistColumns are what the demo prints of the paper's tables.
var gistColumns = []report.Column{
	{Metric: "SP", Cell: "SH"},
	{Metric: "SPA", Cell: "SH"},
	{Metric: "FPA", Cell: "SH"},
	{Metric: "SP", Cell: "MH"},
	{Metric: "SPA", Cell: "MH"},
	{Metric: "FPA", Cell: "MH"},
}

func (d *demonstration) gist(ctx context.Context, dirs []string) error {
	opt := statsOptions{preset: "paper", level: .95, seed: 1}
	runs, err := readRuns(ctx, dirs, opt)
	if err != nil {
		return err
	}
	sum, err := report.Summarize(runs, report.Options{Level: opt.level, Seed: opt.seed})
	if err != nil {
		return err
	}
	t := report.Table{Header: []string{"  list", "model", "runs"}, Left: 2}
	for _, c := range gistColumns {
		t.Header = append(t.Header, c.Cell+" "+c.Metric)
	}
	for _, g := range sum.Groups {
		row := []string{"  " + report.SettingLabel(g.Setting), g.Model, fmt.Sprint(len(g.Runs))}
		for _, want := range gistColumns {
			for _, c := range g.Columns {
				if c.Column == want {
					row = append(row, percentCell(c))
				}
			}
			if g.Model == "baseline/gold" && row[len(row)-1] != "100.0" {
				return fmt.Errorf("baseline/gold scores %s in %s, not 100: the chain is broken", row[len(row)-1], want)
			}
		}
		t.Add(row...)
	}
	fmt.Fprintln(d.std.out)
	return t.Text(d.std.out)
}

// percentCell is "93.9", or "93.9 ± 1.0" over several runs.
func percentCell(c report.OverRuns) string {
	switch {
	case c.Mean == nil:
		return "n/a"
	case c.SD == nil:
		return fmt.Sprintf("%.1f", 100**c.Mean)
	}
	return fmt.Sprintf("%.1f ± %.1f", 100**c.Mean, 100**c.SD)
}

func (d *demonstration) shard(ctx context.Context) error {
	d.section("5. The records become a training shard; every row was read back and compared.")
	if _, err := d.do(ctx, "train", "shard", d.path("records", "kept.jsonl"), "--format", "llamafactory", "--shards", "2", "--out", d.path("shards")); err != nil {
		return err
	}
	return fs.WalkDir(os.DirFS(d.path("shards")), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			fmt.Fprintf(d.std.out, "    %s\n", d.path("shards", filepath.FromSlash(name)))
		}
		return err
	})
}

// report makes the page on two models under both settings, which is what a
// newcomer should open.
func (d *demonstration) report(ctx context.Context) error {
	d.section("6. All of it is in one page: scores, comparisons, and every item with gold beside what was predicted.")
	var dirs []string
	for _, model := range []string{"lexical-", "random-"} {
		some, err := d.runs(model)
		if err != nil {
			return err
		}
		dirs = append(dirs, some...)
	}
	args := []string{"report", "-o", d.path(demoReport), "--title", "Assay demo: a word-matching and a random model"}
	if _, err := d.quietly(ctx, append(args, dirs...)...); err != nil {
		return err
	}
	fmt.Fprintf(d.std.out, "  $ assay report %s -o %s\n\n  Open %s in a browser: \"Items\", then n for the next wrong one, ? for help.\n",
		d.path("runs", "…"), d.path(demoReport), d.path(demoReport))
	return nil
}
