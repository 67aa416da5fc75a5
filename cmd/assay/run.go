package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"assay/eval"
	"assay/match"
	"assay/model"
	"assay/qaoa"
)

type runOptions struct {
	modelOptions
	out, calls, flow, history, observe, parse, think, prompt, ids string
	temperature, topP                                             float64
	seed                                                          int64
	maxTokens, numCtx, repeat, maxRounds, concurrency, limit      int
	noProbe                                                       bool
}

func runCommand() command {
	return command{
		name: "run", args: "FILE… --out DIR --model NAME",
		does: "asks a model about records and keeps what it says in a run folder",
		help: `
The model decides what to do in each turn: it is asked, its calls are taken as one
step and answered, and it is asked again, until it answers without calls, repeats
itself, or --max-rounds is reached. The same command resumes a folder: what is
finished is not asked again. Ctrl-C lets what is in flight finish and exits with
130. Failures of the server are never answers; a run that has some left exits
with 5, and the same command tries them again.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			var o runOptions
			flags.StringVar(&o.out, "out", "", "run folder, new or to be resumed")
			o.bind(flags)
			flags.StringVar(&o.calls, "calls", "prompt", "prompt: tools in the system message, calls in the text; native: the server's own tool calling")
			flags.StringVar(&o.flow, "flow", "free", "free: the model decides")
			flags.StringVar(&o.history, "history", "own", "earlier turns as the model answered them (own) or as the record has them (gold)")
			flags.StringVar(&o.observe, "observe", "gold", "what calls return: gold (the record's, for calls that match) or empty")
			flags.StringVar(&o.parse, "parse", "repair", "repair: mend small faults of calls and note it; strict: do not")
			flags.StringVar(&o.think, "think", "off", "let a reasoning model think: off or on")
			flags.StringVar(&o.prompt, "system-prompt", "", "`FILE` with another system prompt; {tools} in it is replaced")
			flags.Float64Var(&o.temperature, "temperature", 0, "sampling temperature")
			flags.Float64Var(&o.topP, "top-p", 0, "nucleus sampling; 0 leaves it to the server")
			flags.Int64Var(&o.seed, "seed", 0, "sampling seed; repeat r is asked with seed + r, so give runs with repeats seeds that lie apart")
			flags.IntVar(&o.maxTokens, "max-tokens", 0, "longest answer in tokens; 0 leaves it to the server")
			flags.IntVar(&o.numCtx, "num-ctx", 0, "context length to ask Ollama for; 0 is from the longest prompt")
			flags.IntVar(&o.repeat, "repeat", 1, "ask each record that often")
			flags.IntVar(&o.maxRounds, "max-rounds", 0, "requests in one turn at most; 0 is 10, or what the gold calls need")
			flags.IntVar(&o.concurrency, "concurrency", 4, "conversations at a time")
			flags.IntVar(&o.limit, "limit", 0, "take only that many records; 0 is all")
			flags.StringVar(&o.ids, "ids", "", "`FILE` with the ids of the records to take, one a line")
			flags.BoolVar(&o.noProbe, "no-probe", false, "do not ask the server a question before the run")
			return func(ctx context.Context, std stdio, args []string) error {
				if err := wantFiles("run", args); err != nil {
					return err
				}
				return runRun(ctx, std, o, args)
			}
		},
	}
}

// options returns what eval needs, without what only the server can tell.
func (o runOptions) options() (eval.Options, error) {
	opt := eval.Options{
		Model: o.model, Calls: eval.CallMode(o.calls), History: eval.History(o.history), Observe: eval.Observe(o.observe),
		Strict: o.parse == "strict", MaxRounds: o.maxRounds, Repeats: o.repeat, Workers: o.concurrency,
		GiveUp: max(20, 2*o.concurrency),
		Sampling: model.Sampling{
			Temperature: o.temperature, TopP: o.topP, Seed: o.seed, MaxTokens: o.maxTokens, NumCtx: o.numCtx, Think: o.think == "on",
		},
	}
	switch {
	case o.out == "":
		return opt, usagef("run: want --out DIR, the folder that keeps the run")
	case o.model == "":
		return opt, usagef("run: want --model ollama/NAME, openai/NAME or baseline/NAME")
	case o.flow != "free":
		return opt, usagef("--flow %q: want free", o.flow)
	case o.parse != "repair" && o.parse != "strict":
		return opt, usagef("--parse %q: want repair or strict", o.parse)
	case o.think != "on" && o.think != "off":
		return opt, usagef("--think %q: want on or off", o.think)
	case o.repeat < 1 || o.concurrency < 1 || o.limit < 0 || o.maxRounds < 0 || o.maxTokens < 0 || o.numCtx < 0:
		return opt, usagef("run: --repeat and --concurrency want at least 1; --limit, --max-rounds, --max-tokens and --num-ctx no negative number")
	}
	if o.prompt != "" {
		text, err := os.ReadFile(o.prompt)
		if err != nil {
			return opt, usagef("--system-prompt: %v", err)
		}
		if opt.Prompt, err = eval.NewPrompt(string(text), opt.Calls); err != nil {
			return opt, usagef("--system-prompt %s: %v", o.prompt, err)
		}
	}
	return opt, nil
}

func runRun(ctx context.Context, std stdio, o runOptions, files []string) error {
	opt, err := o.options()
	if err != nil {
		return err
	}
	if slices.Contains(files, "-") {
		return usagef("run: want files, have stdin; a run reads its records more than once")
	}
	b, err := o.open(o.concurrency)
	if err != nil {
		return err
	}
	ids, err := readIDs(o.ids)
	if err != nil {
		return err
	}
	if err := opt.Check(); err != nil {
		return usagef("run: %v", err)
	}
	if o.repeat > 1 && o.temperature == 0 {
		fmt.Fprintln(std.err, "warning: --repeat with --temperature 0: most servers will answer all repeats alike")
	}
	lists := &listShape{}
	cases := func() iter.Seq2[qaoa.Record, error] { return pick(strictRecords(ctx, files), ids, o.limit) }
	survey, err := eval.Look(ctx, lists.watch(cases()), opt)
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
	info := model.Info{}
	if !o.noProbe {
		if info, err = b.probe(ctx); err != nil {
			return err
		}
	}
	if opt.Sampling.NumCtx == 0 && b.kind == "ollama" {
		if opt.Sampling.NumCtx, err = numCtx(survey.Longest.Estimate, o.maxTokens, info.Context, survey.Longest.ID); err != nil {
			return err
		}
	} else if b.kind == "openai" && info.Context > 0 && survey.Longest.Estimate >= info.Context {
		fmt.Fprintf(std.err, "warning: the longest prompt (record %q) is about %d tokens, and the server has a context of %d\n",
			printable(survey.Longest.ID), survey.Longest.Estimate, info.Context)
	}
	opt.Digest = info.Digest
	settings, err := runSettings(opt, survey, o, files, info, lists.String())
	if err != nil {
		return err
	}
	return ask(ctx, std, b, opt, o.out, settings, cases())
}

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
	return s, nil
}

// ask runs the conversations and tells how it went.
func ask(ctx context.Context, std stdio, b *backend, opt eval.Options, dir string, s eval.Settings, cases iter.Seq2[qaoa.Record, error]) (err error) {
	folder, err := eval.Open(dir, s)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	if folder.Dropped > 0 {
		fmt.Fprintf(std.err, "the journal ended in the middle of a line; its last %d bytes are dropped, and that conversation is asked again\n", folder.Dropped)
	}
	if n := folder.Finished(); n > 0 {
		fmt.Fprintf(std.err, "resuming %s: %d of %d conversations are finished\n", dir, n, s.Pairs)
	}
	status := newStatusLine(std.err, max(s.Pairs/20, 1))
	opt.Total = s.Pairs
	opt.Progress = func(p eval.Progress) {
		status.update("%d/%d, %.1f/s, %s left, %s, running SP %.3f", p.Done+p.Skipped, p.Total, p.Rate(), p.Left().Round(time.Second), failures(p.Classes), p.SP)
	}
	sum, err := folder.Run(ctx, b, cases, opt)
	status.end()
	if server, ok := b.Chatter.(interface{ Notes() []string }); ok {
		for _, note := range server.Notes() {
			fmt.Fprintf(std.err, "note: %s\n", printable(note))
		}
	}
	return runOutcome(std, dir, sum, err)
}

// failures lists failed conversations by class.
func failures(classes map[model.Class]int) string {
	if len(classes) == 0 {
		return "no failures"
	}
	var parts []string
	for _, c := range slices.Sorted(maps.Keys(classes)) {
		parts = append(parts, fmt.Sprintf("%d %s", classes[c], c))
	}
	return "failed: " + strings.Join(parts, ", ")
}

// runOutcome tells what came of a run, and with which exit code it ends.
func runOutcome(std stdio, dir string, sum eval.Summary, err error) error {
	c := sum.Counts
	fmt.Fprintf(std.err, "%s: %d of %d conversations finished, %d failed; %d replies, %d with a call that does not parse, %d cut at the length limit\n",
		dir, c.Finished, c.Planned, c.Failed, c.Replies, c.Malformed, c.Length)
	for _, f := range sum.Failed {
		fmt.Fprintf(std.err, "failed: %s (repeat %d): %s: %s\n", printable(f.ID), f.Repeat, f.Class, printable(f.Msg))
	}
	for _, a := range sum.Alarms {
		fmt.Fprintf(std.err, "ALARM: %s\n", printable(a))
	}
	switch {
	case err != nil && eval.Interrupted(err):
		return &exitError{exitInterrupted, fmt.Errorf("interrupted; the same command resumes: --out %s", dir)}
	case err != nil:
		if _, ok := errors.AsType[*eval.GiveUpError](err); ok {
			return &exitError{exitBackend, err}
		}
		return inputError(err)
	case c.Failed > 0:
		return &exitError{exitBackend, fmt.Errorf("%d conversations have no answer, because the server failed; the same command tries them again: --out %s", c.Failed, dir)}
	}
	return nil
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
