package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"assay/eval"
	"assay/match"
	"assay/model"
	"assay/qaoa"
)

type runOptions struct {
	modelOptions
	scaleOptions
	parity                                                                parityOptions
	out, calls, flow, history, observe, compat, parse, think, prompt, ids string
	toolChoice, parallelCalls, prices                                     string
	temperature, topP                                                     float64
	seed                                                                  int64
	maxTokens, numCtx, repeat, maxRounds, limit                           int
	skipProbes, quiet, asJSON                                             bool

	given func(flag string) bool // whether the user set a flag
}

func runCommand() command {
	return command{
		name: "run", args: "FILE… --out DIR --model NAME",
		does: "asks a model about records and keeps what it says in a run folder",
		help: runHelp(),
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			var o runOptions
			o.bindRun(flags)
			return func(ctx context.Context, std stdio, args []string) error {
				if err := wantFiles("run", args); err != nil {
					return err
				}
				if o.parity.only {
					return runParity(ctx, std, o, args)
				}
				return runRun(ctx, std, o, args)
			}
		},
	}
}

func runHelp() string {
	var b strings.Builder
	b.WriteString(`
In the free flow the model decides what to do in each turn: it is asked, its calls
are taken as one step and answered, and it is asked again, until it answers without
calls, repeats itself, or --max-rounds is reached. In the guided flow there is one
request per gold call and no more. The same command resumes a folder: what is
finished is not asked again. Ctrl-C lets what is in flight finish and exits with
130. Failures of the server are never answers; a run that has some left exits
with 5, and the same command tries them again.

Before the run the server is asked for a plain tool call, twice, and what came of it
is told and kept in run.json; --skip-probes leaves that out, and run.json says so.

--prices names a YAML file of models and what a million tokens cost:
    qwen3:8b: {input: 0.05, output: 0.20}

--compat reference makes the requests of the runner that was released with
UniToolCall: their structure, with assay's own wording of the prompt. Name a fault
behind it to have it repaired (--compat reference+last-query+stop):
`)
	for _, f := range eval.CompatFaults() {
		fmt.Fprintf(&b, "  +%-16s %s\n", f.Name, f.Doc)
	}
	b.WriteString(parityHelp)
	return b.String()
}

func (o *runOptions) bindRun(flags *pflag.FlagSet) {
	flags.StringVar(&o.out, "out", "", "run folder, new or to be resumed")
	o.modelOptions.bind(flags)
	flags.StringVar(&o.calls, "calls", "prompt", "prompt: tools in the system message, calls in the text; native: the server's own tool calling")
	flags.StringVar(&o.flow, "flow", "free", "free: the model decides; guided: one request per gold call")
	flags.StringVar(&o.history, "history", "own", "earlier turns (guided: and calls) as the model made them (own) or as the record has them (gold)")
	flags.StringVar(&o.observe, "observe", "gold", "what calls return: gold (the record's, for calls that match), empty, or mcp:ENDPOINT (they are really made there)")
	flags.StringVar(&o.compat, "compat", "", "ask as another runner does: reference, or reference+FAULT to have a fault repaired")
	flags.StringVar(&o.parse, "parse", "repair", "repair: mend small faults of calls and note it; strict: do not")
	flags.StringVar(&o.think, "think", "off", "let a reasoning model think: off or on")
	flags.StringVar(&o.toolChoice, "tool-choice", "", "with --calls native: auto, required or none; default: left to the server")
	flags.StringVar(&o.parallelCalls, "parallel-tool-calls", "", "with --calls native: on or off; default: left to the server")
	flags.StringVar(&o.prompt, "system-prompt", "", "`FILE` with another system prompt; {tools} in it is replaced")
	flags.Float64Var(&o.temperature, "temperature", 0, "sampling temperature; with --compat 0.6 unless given")
	flags.Float64Var(&o.topP, "top-p", 0, "nucleus sampling; 0 leaves it to the server; with --compat 0.95 unless given")
	flags.Int64Var(&o.seed, "seed", 0, "sampling seed; repeat r is asked with seed + r, so give runs with repeats seeds that lie apart")
	flags.IntVar(&o.maxTokens, "max-tokens", 0, "longest answer in tokens; 0 leaves it to the server")
	flags.IntVar(&o.numCtx, "num-ctx", 0, "context length to ask Ollama for; 0 is from the longest prompt")
	flags.IntVar(&o.repeat, "repeat", 1, "ask each record that often")
	flags.IntVar(&o.maxRounds, "max-rounds", 0, "requests in one turn at most; 0 is 10, or what the gold calls need")
	flags.IntVar(&o.limit, "limit", 0, "take only that many records; 0 is all")
	o.scaleOptions.bind(flags)
	o.parity.bind(flags)
	flags.StringVar(&o.ids, "ids", "", "`FILE` with the ids of the records to take, one a line")
	flags.StringVar(&o.prices, "prices", "", "YAML `FILE` with the price of models, for the cost of the run")
	flags.BoolVar(&o.skipProbes, "skip-probes", false, "ask the server nothing before the run")
	flags.BoolVar(&o.skipProbes, "no-probe", false, "the old name of --skip-probes")
	hide(flags, "no-probe")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "tell only alarms and errors")
	flags.BoolVar(&o.asJSON, "json", false, "print how the run ended as one JSON object on stdout")
	o.given = flags.Changed
}

// hide keeps a flag out of the help.
func hide(flags *pflag.FlagSet, name string) {
	if err := flags.MarkHidden(name); err != nil {
		panic(err) // the flag was bound in the line before
	}
}

// options returns what eval needs, without what only the server can tell.
func (o *runOptions) options() (eval.Options, error) {
	if o.compat != "" {
		o.asReference()
	}
	observe, _, _ := strings.Cut(o.observe, ":")
	opt := eval.Options{
		Model: o.model, Calls: eval.CallMode(o.calls), Flow: eval.Flow(o.flow), History: eval.History(o.history), Observe: eval.Observe(observe),
		Compat: eval.Compat(o.compat), ToolChoice: o.toolChoice, ParallelCalls: o.parallelCalls,
		Strict: o.parse == "strict", MaxRounds: o.maxRounds, Repeats: o.repeat,
		Sampling: model.Sampling{
			Temperature: o.temperature, TopP: o.topP, Seed: o.seed, MaxTokens: o.maxTokens, NumCtx: o.numCtx, Think: o.think == "on",
		},
	}
	switch {
	case o.out == "" && !o.parity.only:
		return opt, usagef("run: want --out DIR, the folder that keeps the run")
	case o.model == "":
		return opt, usagef("run: want --model ollama/NAME, openai/NAME or baseline/NAME")
	case o.parse != "repair" && o.parse != "strict":
		return opt, usagef("--parse %q: want repair or strict", o.parse)
	case o.think != "on" && o.think != "off":
		return opt, usagef("--think %q: want on or off", o.think)
	case o.repeat < 1 || o.limit < 0 || o.maxRounds < 0 || o.maxTokens < 0 || o.numCtx < 0:
		return opt, usagef("run: --repeat wants at least 1; --limit, --max-rounds, --max-tokens and --num-ctx no negative number")
	case observe != string(eval.ObserveMCP) && observe != o.observe:
		return opt, usagef("--observe %q: want gold, empty or mcp:ENDPOINT", o.observe)
	}
	return opt, o.readPrompt(&opt)
}

// asReference sets what the reference runner asks with, where the user left it
// alone.
func (o *runOptions) asReference() {
	if !o.given("flow") {
		o.flow = string(eval.FlowGuided)
	}
	if !o.given("temperature") {
		o.temperature = 0.6
	}
	if !o.given("top-p") {
		o.topP = 0.95
	}
}

// readPrompt reads the system prompt of the user's into opt.
func (o *runOptions) readPrompt(opt *eval.Options) error {
	if o.prompt == "" {
		return nil
	}
	text, err := os.ReadFile(o.prompt)
	if err != nil {
		return usagef("--system-prompt: %v", err)
	}
	mode := opt.Calls
	if o.compat != "" {
		mode = eval.CallsNative // the tools are added elsewhere, so no mark is wanted
	}
	if opt.Prompt, err = eval.NewPrompt(string(text), mode); err != nil {
		return usagef("--system-prompt %s: %v", o.prompt, err)
	}
	return nil
}

func runRun(ctx context.Context, std stdio, o runOptions, files []string) (err error) {
	opt, err := o.options()
	if err != nil {
		return err
	}
	if slices.Contains(files, "-") {
		return usagef("run: want files, have stdin; a run reads its records more than once")
	}
	sc, err := o.prepare(&opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sc.close()) }()
	o.budget = sc.budget
	b, err := o.open(sc.workers)
	if err != nil {
		return err
	}
	if opt.Price, err = readPrice(o.prices, o.model); err != nil {
		return err
	}
	ids, err := readIDs(o.ids)
	if err != nil {
		return err
	}
	made, err := o.openTools(ctx, &opt, sc.workers)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, made.close()) }()
	if err := opt.Check(); err != nil {
		return usagef("run: %v", err)
	}
	talk := stdio{std.in, std.out, std.err}
	if o.quiet {
		talk.err = io.Discard
	}
	if o.repeat > 1 && o.temperature == 0 {
		fmt.Fprintln(talk.err, "warning: --repeat with --temperature 0: most servers will answer all repeats alike")
	}
	lists, loss := &listShape{}, newLossWatch(b, opt)
	cases := func() iter.Seq2[qaoa.Record, error] { return pick(strictRecords(ctx, files), ids, o.limit) }
	survey, err := eval.Look(ctx, made.watch(loss.watch(lists.watch(cases()))), opt)
	if errors.Is(err, context.Canceled) {
		return &exitError{exitInterrupted, errors.New("interrupted before anything was asked")}
	}
	if err != nil {
		return inputError(err)
	}
	if survey.Records == 0 {
		return &exitError{exitInput, errors.New("no records to ask about")}
	}
	if missing := ids.missing(survey.IDs); o.limit == 0 && len(missing) > 0 {
		return usagef("--ids %s: %d ids are not among the records, such as %q", o.ids, len(missing), missing[0])
	}
	ready, err := preflight(ctx, talk, b, &opt, survey, made.probe(), o.skipProbes)
	if err != nil {
		return err
	}
	loss.tell(talk)
	settings, err := runSettings(opt, survey, o, files, ready.info, lists.String())
	if err != nil {
		return err
	}
	settings.Probes, settings.SkippedProbes, settings.SchemaLoss = ready.probes, o.skipProbes, loss.found()
	sc.attach(b, &opt)
	return ask(ctx, std, o, b, sc, opt, settings, cases())
}

// serverSettings are the variables by which a server that was started from the
// same environment changes what models answer.
var serverSettings = []string{"OLLAMA_CONTEXT_LENGTH", "OLLAMA_NUM_PARALLEL", "OLLAMA_KV_CACHE_TYPE", "OLLAMA_FLASH_ATTENTION"}

// runSettings describes the run.
func runSettings(opt eval.Options, survey eval.Survey, o runOptions, files []string, info model.Info, setting string) (eval.Settings, error) {
	s, err := eval.NewSettings(opt, survey)
	if err != nil {
		return s, &exitError{exitUsage, err}
	}
	s.Assay, s.Limit = version, o.limit
	for _, f := range files {
		in := eval.Input{Path: f}
		if st, err := os.Stat(f); err == nil && st.Mode().IsRegular() {
			if in.SHA256, err = hashFile(f); err != nil {
				return s, inputError(err)
			}
		}
		s.Data = append(s.Data, in)
	}
	if o.ids != "" {
		sum, err := hashFile(o.ids)
		if err != nil {
			return s, inputError(err)
		}
		s.IDs = &eval.Input{Path: o.ids, SHA256: sum}
	}
	s.Environment = map[string]string{"setting": setting}
	for name, value := range map[string]string{"server": info.Server, "server_version": info.Version} {
		if value != "" {
			s.Environment[name] = value
		}
	}
	for _, name := range serverSettings {
		if value := os.Getenv(name); value != "" {
			s.Environment[name] = value
		}
	}
	return s, nil
}

// An idSet is the records to take; nil is all.
type idSet map[string]bool

// readIDs reads a file with one id a line; "" is all.
func readIDs(path string) (idSet, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, usagef("--ids: %v", err)
	}
	defer f.Close()
	ids := idSet{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if id := strings.TrimSpace(lines.Text()); id != "" {
			ids[id] = true
		}
	}
	if err := lines.Err(); err != nil {
		return nil, usagef("--ids %s: %v", path, err)
	}
	return ids, nil
}

// missing returns the ids of s that are not in have, sorted.
func (s idSet) missing(have []string) []string {
	left := maps.Clone(s)
	for _, id := range have {
		delete(left, id)
	}
	return slices.Sorted(maps.Keys(left))
}

// pick yields the records in ids, at most limit of them (0 is all).
func pick(recs iter.Seq2[qaoa.Record, error], ids idSet, limit int) iter.Seq2[qaoa.Record, error] {
	return func(yield func(qaoa.Record, error) bool) {
		n := 0
		for rec, err := range recs {
			if err == nil && ids != nil && !ids[rec.ID] {
				continue
			}
			if !yield(rec, err) || err != nil {
				return
			}
			if n++; n == limit {
				return
			}
		}
	}
}

// A listShape tells the setting of a run from its candidate lists.
type listShape struct {
	records  int
	onlyGold bool
	lengths  map[int]int
}

// watch passes recs on and looks at their lists.
func (l *listShape) watch(recs iter.Seq2[qaoa.Record, error]) iter.Seq2[qaoa.Record, error] {
	l.onlyGold, l.lengths = true, map[int]int{}
	return func(yield func(qaoa.Record, error) bool) {
		for rec, err := range recs {
			if err == nil && len(rec.Calls()) > 0 { // without a call any list is as good
				l.records++
				l.lengths[len(rec.Tools)]++
				called := map[string]bool{}
				for _, c := range rec.Calls() {
					called[match.Name(c.Name)] = true
				}
				for _, t := range rec.Tools {
					l.onlyGold = l.onlyGold && called[match.Name(t.Name)]
				}
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// String returns "gt" if every list holds called tools only, "hybrid-k" if
// nearly all lists have k tools, and "own lists" else.
func (l *listShape) String() string {
	if l.onlyGold {
		return "gt"
	}
	for k, n := range l.lengths {
		if 10*n >= 9*l.records {
			return fmt.Sprintf("hybrid-%d", k)
		}
	}
	return "own lists"
}
