package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"assay/card"
	"assay/chat"
	"assay/convert"
	"assay/convert/all"
	"assay/eval"
	"assay/match"
	"assay/qaoa"
	"assay/tokenizer"
	"assay/toolset"
	"assay/train"
)

type shardOptions struct {
	train.ShardOptions
	selectOptions
	mixOptions
	input                                                           []string
	format, projection, answer, grouping, container, prompt, ledger string
	tags, lists, tokenizer, template, overLong                      string
	pool                                                            []string
	k, easy, maxTokens                                              int
	plan, json                                                      bool
}

func trainShardCommand() command {
	return command{
		name: "train shard", args: "FILE… --out DIR | CONFIG.yaml",
		does: "selects and mixes records, and writes them as training shards",
		help: `
FILE holds records, or is SOURCE:PATH, raw files that are converted as they are
read. Of records that repeat each other the first wins, so the order of files is
their priority. CONFIG.yaml holds flags by their names, at the top or in the
sections select, mix, project and export, with the files under "input".

Every row is read back and compared with its record; a record that the format
cannot take is a reject with a code. The folder holds the shards, for
LLaMA-Factory the data set's description, and manifest.json with hashes, counts
and declared losses. The same records and flags make the same bytes.`,
		sections: shardSections(),
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			var o shardOptions
			flags.StringArrayVar(&o.input, "input", nil, "`FILE` of records, as if named after the flags; may be repeated")
			flags.StringVar(&o.Out, "out", "", "folder to make")
			flags.StringVar(&o.ledger, "ledger", "", "write every decision about a record as a line to `FILE`")
			flags.BoolVar(&o.json, "json", false, "print the manifest (or the plan) as JSON")
			flags.IntVar(&o.Workers, "workers", 0, "records at a time; 0 is one per CPU; changes no byte")
			flags.BoolVar(&o.Overwrite, "overwrite", false, "replace a folder that an earlier run of this verb wrote")
			o.selectOptions.bind(flags)
			o.mixOptions.bind(flags)
			flags.BoolVar(&o.plan, "plan", false, "print the plan of the mixture and stop")
			bindProject(flags, &o)
			bindExport(flags, &o)
			return func(ctx context.Context, std stdio, args []string) error {
				args, err := shardArgs(flags, args)
				if err != nil {
					return err
				}
				args = append(args, o.input...)
				if err := wantFiles("train shard", args); err != nil {
					return err
				}
				if o.Out == "" && !o.plan {
					return usagef("train shard: want --out DIR, the folder to make")
				}
				return runShard(ctx, std, o, args)
			}
		},
	}
}

// shardSections names the flags that may stand in each section of a file.
func shardSections() map[string][]string {
	names := func(bind func(*pflag.FlagSet)) []string {
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		bind(fs)
		var out []string
		fs.VisitAll(func(f *pflag.Flag) { out = append(out, f.Name) })
		return out
	}
	var o shardOptions
	return map[string][]string{
		"select":  names(o.selectOptions.bind),
		"mix":     names(o.mixOptions.bind),
		"project": names(func(fs *pflag.FlagSet) { bindProject(fs, &o) }),
		"export":  append(names(func(fs *pflag.FlagSet) { bindExport(fs, &o) }), "out", "overwrite", "ledger"),
	}
}

func bindProject(flags *pflag.FlagSet, o *shardOptions) {
	d := toolset.Defaults()
	flags.StringVar(&o.projection, "projection", string(train.ActionOnly), "action-only (the paper: calls alone) or full (observations and answers too)")
	flags.StringVar(&o.answer, "final-answer", "", "keep, empty or drop; default: empty under action-only, keep under full")
	flags.StringVar(&o.tags, "answer-tags", "on", "on (the paper: answers in <answer> tags) or off")
	flags.StringVar(&o.grouping, "parallel", string(train.TogetherCalls), "calls of one step together, or as a step each (each)")
	flags.StringVar(&o.prompt, "system-prompt", "native", "native (what \"assay run --calls native\" says; the trainer's template adds the tools, as the server's does), record (the record's own) or none")
	flags.StringVar(&o.lists, "candidates", "given", "tools that a row offers: given (the record's), gt or hybrid, see \"assay help candidates\"")
	flags.StringArrayVar(&o.pool, "pool", nil, "`FILE` of tools or records to take distractors from; may be repeated; default: the tools of the given files")
	flags.IntVar(&o.k, "k", d.K, "length of a hybrid list")
	flags.IntVar(&o.easy, "easy", d.Easy, "how many of it are drawn at random")
	flags.StringVar(&o.tokenizer, "tokenizer", "", "`FILE` (tokenizer.json) to count tokens with; default: an estimate, bytes/3")
	flags.StringVar(&o.template, "template", "", "chat template to count tokens over: "+strings.Join(chat.Builtins(), ", ")+", or a `FILE` (tokenizer_config.json, chat_template.jinja); default: the texts alone")
	flags.IntVar(&o.maxTokens, "max-tokens", 0, "tokens that a row may have; 0 is any number")
	flags.StringVar(&o.overLong, "over-long", string(train.DropLong), "longer rows: drop, split (at ends of turns) or keep")
}

func bindExport(flags *pflag.FlagSet, o *shardOptions) {
	var formats, containers []string
	for _, f := range train.Formats() {
		formats = append(formats, string(f))
	}
	for _, c := range train.Containers() {
		containers = append(containers, string(c))
	}
	flags.StringVar(&o.format, "format", string(train.LlamaFactory), "trainer: "+strings.Join(formats, ", "))
	flags.StringVar(&o.container, "container", string(train.JSONL), strings.Join(containers, ", "))
	flags.StringVar(&o.Name, "name", "", "name of the data set; default: assay")
	flags.IntVar(&o.Shards, "shards", 0, "number of shards; a row's shard depends on its id alone")
	flags.IntVar(&o.RowsPerShard, "rows-per-shard", 0, "fill shards one after the other instead")
	flags.Uint64Var(&o.Seed, "seed", 0, "seed of lists, draws and the assignment to shards")
}

// shardArgs reads the file of flags that args name, if they do, and returns the
// rest.
func shardArgs(flags *pflag.FlagSet, args []string) ([]string, error) {
	isConfig := func(arg string) bool {
		ext := filepath.Ext(arg)
		return ext == ".yaml" || ext == ".yml"
	}
	i := slices.IndexFunc(args, isConfig)
	if i < 0 {
		return args, nil
	}
	rest := slices.Delete(slices.Clone(args), i, i+1)
	if slices.ContainsFunc(rest, isConfig) {
		return nil, usagef("train shard: want one file of flags, have several")
	}
	if _, err := os.Stat(args[i]); err != nil {
		return nil, usagef("train shard: %v", err)
	}
	return rest, applyConfig(commands(), "train shard", flags, args[i], os.LookupEnv)
}

func (o *shardOptions) build() (train.ShardOptions, error) {
	opt := o.ShardOptions
	opt.Format, opt.Projection = train.Format(o.format), train.Projection(o.projection)
	opt.FinalAnswer, opt.Grouping = train.FinalAnswer(o.answer), train.Grouping(o.grouping)
	opt.Container, opt.Version = train.Container(o.container), version
	switch o.prompt {
	case "native":
		opt.SystemPrompt = eval.PromptFor(eval.CallsNative).Text()
	case "record":
		opt.KeepSystem = true
	case "none":
	default:
		return opt, usagef("--system-prompt %q: want native, record or none", o.prompt)
	}
	switch o.tags {
	case "on":
	case "off":
		opt.PlainAnswers = true
	default:
		return opt, usagef("--answer-tags %q: want on or off", o.tags)
	}
	var err error
	if opt.Length, err = o.length(); err != nil {
		return opt, err
	}
	return opt, nil
}

// length returns how rows are measured.
func (o *shardOptions) length() (train.Length, error) {
	l := train.Length{Max: o.maxTokens, OverLong: train.OverLong(o.overLong)}
	what := ", texts without a chat template"
	if o.template != "" {
		load := func() (*chat.Template, error) { return chat.Load(o.template, "") }
		if slices.Contains(chat.Builtins(), o.template) {
			load = func() (*chat.Template, error) { return chat.Builtin(o.template) }
		}
		t, err := load()
		if err != nil {
			return l, usagef("--template: want %s or a file: %v", strings.Join(chat.Builtins(), ", "), err)
		}
		l.Template, what = t, ", template "+filepath.Base(t.Name)
	}
	if o.tokenizer != "" {
		tok, err := tokenizer.LoadFile(o.tokenizer)
		if err != nil {
			return l, usagef("--tokenizer: %v", err)
		}
		l.Counter, l.Name = tok, filepath.Base(o.tokenizer)+what
	}
	return l, nil
}

// candidates returns the lists that o asks for, nil for those of the records.
func (o *shardOptions) candidates(ctx context.Context, std stdio, files []string) (*train.Candidates, error) {
	if o.lists == "given" {
		return nil, nil
	}
	c := &train.Candidates{Options: toolset.Defaults()}
	c.Setting, c.K, c.Easy, c.Seed, c.Normalize = toolset.Setting(o.lists), o.k, o.easy, o.Seed, match.Name
	if err := c.Check(); err != nil {
		return nil, usagef("--candidates: %v", err)
	}
	if c.Setting != toolset.Hybrid {
		return c, nil
	}
	c.PoolName = "the tools of the inputs"
	if len(o.pool) > 0 {
		names := make([]string, len(o.pool))
		for i, path := range o.pool {
			names[i] = filepath.Base(path)
		}
		c.PoolName = strings.Join(names, ", ")
	} else if slices.Contains(files, "-") {
		return nil, usagef("train shard: stdin can be read once only; give the pool by --pool FILE")
	}
	pool, err := readPool(ctx, std, o.pool, files)
	c.Pool = pool
	return c, err
}

// printCounts prints a table of counts, in the order of names.
func printCounts[K ~string](std stdio, format string, counts map[K]int) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(std.err, format, name, counts[name])
	}
}

func runShard(ctx context.Context, std stdio, o shardOptions, files []string) (err error) {
	opt, err := o.build()
	if err != nil {
		return err
	}
	if o.plan && opt.Out == "" {
		opt.Out = "plan" // which is not made
	}
	if err := opt.Check(); err != nil {
		return usagef("train shard: %v", err)
	}
	mix, err := o.mixture(o.Seed)
	if err != nil {
		return err
	}
	if (o.plan || !mix.Empty()) && slices.Contains(files, "-") {
		return usagef("train shard: a mixture reads its input twice, and stdin can be read once only; give files")
	}
	job := &shardJob{o: o, opt: opt, mix: mix, in: newShardInput(std, files)}
	if job.sel, err = o.selection(ctx, std, o.Workers); err != nil {
		return err
	}
	if opt.Candidates, err = o.candidates(ctx, std, files); err != nil {
		return err
	}
	job.opt.Candidates = opt.Candidates
	if o.ledger != "" {
		if job.ledger, err = createOutput(std, o.ledger); err != nil {
			return err
		}
		defer func() { err = job.ledger.finish(err) }()
	}
	if err := job.run(ctx, std); err != nil {
		return err
	}
	return job.in.err()
}

// A shardJob is one run of train shard.
type shardJob struct {
	o      shardOptions
	opt    train.ShardOptions
	sel    train.Selection
	mix    train.Mixture
	in     *shardInput
	ledger *output
	err    error // of the ledger
}

func (j *shardJob) run(ctx context.Context, std stdio) error {
	j.in.onReject = func(r *convert.Reject) error {
		if j.ledger == nil {
			return nil
		}
		_, err := j.ledger.Write(append(convert.AppendLedger(nil, r), '\n'))
		return err
	}
	j.sel.OnDecision = func(d train.Decision) { j.note(stageOf(d), d) }
	j.opt.OnReject = func(r train.Reject) { j.note("train", train.Decision{Reject: r, Dropped: true}) }
	j.opt.OnNotice = func(r train.Reject) { j.note("train", train.Decision{Reject: r}) }
	j.opt.Inputs = j.in.inputs
	recs, counts, err := j.choose(ctx, std)
	if err != nil || j.o.plan {
		return err
	}
	j.opt.Selection = counts
	page := card.New(licenceOf)
	benchmarks := map[string]int{}
	j.opt.Finish = page.Write
	j.opt.OnRow = func(rec qaoa.Record, tokens int) {
		if rec.Source.Split == string(convert.Test) {
			benchmarks[rec.Source.Name]++
		}
		page.Add(rec, tokens)
	}
	m, err := train.Shard(ctx, recs, j.opt)
	if errors.Is(err, train.ErrNoRows) {
		for _, code := range slices.Sorted(maps.Keys(counts.Dropped)) {
			err = fmt.Errorf("%w; the selection left out %d with %s", err, counts.Dropped[code], code)
		}
		return &exitError{exitInput, err}
	}
	if err := errors.Join(err, j.err); err != nil {
		return inputError(err)
	}
	j.print(std, m)
	for _, name := range slices.Sorted(maps.Keys(benchmarks)) {
		fmt.Fprintf(std.err, "warning: %d rows are of %s, a benchmark: do not score with it what is trained on them\n", benchmarks[name], name)
	}
	if j.o.json {
		return writeJSON(std.out, m)
	}
	return nil
}

// licenceOf returns the licence of a source, "" if it is none of ours.
func licenceOf(source string) string {
	src, err := all.Lookup(source)
	if err != nil {
		return ""
	}
	return src.Licence
}

// choose returns the records that selection and mixture take, and tells the
// plan.
func (j *shardJob) choose(ctx context.Context, std stdio) (iter.Seq2[qaoa.Record, error], *train.Selected, error) {
	if j.mix.Empty() && !j.o.plan {
		recs, counts, err := train.Select(ctx, j.in.records(ctx), j.sel)
		return recs, counts, inputError(err)
	}
	c, err := train.Choose(ctx, j.in.records, j.sel, j.mix)
	if err != nil {
		return nil, nil, inputError(err)
	}
	j.opt.Mixture = &c.Plan
	if j.o.plan && j.o.json {
		return nil, nil, writeJSON(std.out, c.Plan)
	}
	out := std.err
	if j.o.plan {
		out = std.out
		printSelected(std, c.Selected, j.in.rejected)
	}
	return c.Records(ctx), &c.Selected, c.Plan.WriteText(out)
}

// stageOf returns the stage of a decision in a ledger.
func stageOf(d train.Decision) string {
	if d.Code == train.NotInMixture {
		return "mix"
	}
	return "select"
}

// note writes a ledger line.
func (j *shardJob) note(stage string, d train.Decision) {
	if j.ledger == nil || j.err != nil {
		return
	}
	member := func(name, text string) qaoa.Member {
		return qaoa.Member{Name: name, Value: qaoa.StringValue(text)}
	}
	line := []qaoa.Member{
		member("source", d.Source.Name), member("file", d.Source.File),
		{Name: "index", Value: qaoa.NumberValue(fmt.Sprint(d.Source.Index))},
		member("id", d.ID), member("stage", stage), member("code", d.Code), member("path", d.Path), member("detail", d.Detail),
		{Name: "dropped", Value: qaoa.BoolValue(d.Dropped)},
	}
	if d.Benchmark != "" {
		line = append(line, member("benchmark", d.Benchmark))
	}
	if d.Item != "" {
		line = append(line, member("item", d.Item))
	}
	_, j.err = fmt.Fprintln(j.ledger, qaoa.ObjectValue(line...).JSON())
}

func (j *shardJob) print(std stdio, m train.Manifest) {
	printSelected(std, *m.Selection, j.in.rejected)
	fmt.Fprintf(std.err, "%s: %d records, %d rows in %d shards, %d rejected\n", j.o.Out, m.Records, m.Rows, len(m.Files), m.Rejected)
	printCounts(std, "  reject %-24s %d\n", m.Rejects)
	printCounts(std, "  declared loss %-17s %d\n", m.Losses)
	fmt.Fprintf(std.err, "  tokens %d, longest row %d (%s)\n", m.Tokens.Total, m.Tokens.Longest, printable(m.Tokens.Tokenizer))
	if m.Tokens.Beyond > 0 {
		fmt.Fprintf(std.err, "  %d rows have more than %d tokens, and were kept\n", m.Tokens.Beyond, m.Tokens.Limit)
	}
	if m.Split > 0 {
		fmt.Fprintf(std.err, "  %d rows more than records, from splitting\n", m.Split)
	}
	for _, note := range m.Notes {
		fmt.Fprintf(std.err, "  note: %s\n", printable(note))
	}
}

// printSelected prints what became of the records before they were rows.
func printSelected(std stdio, s train.Selected, unconverted int) {
	if unconverted > 0 {
		fmt.Fprintf(std.err, "converting: %d elements rejected\n", unconverted)
	}
	fmt.Fprintf(std.err, "selected: %d of %d records\n", s.Taken, s.Read)
	printCounts(std, "  left out %-22s %d\n", s.Dropped)
	for _, level := range slices.Sorted(maps.Keys(s.Contaminated)) {
		what := "only reported"
		if slices.Contains(s.DropLevels, level) {
			what = "left out"
		}
		for _, bench := range slices.Sorted(maps.Keys(s.Contaminated[level])) {
			fmt.Fprintf(std.err, "  contaminated by %-16s %d with %s, %s\n", level, s.Contaminated[level][bench], printable(bench), what)
		}
	}
	if s.Crowded > 0 {
		fmt.Fprintf(std.err, "  note: %d entries of the index of near duplicates found no room, for their queries share a phrase with many; some near duplicates may be left\n", s.Crowded)
	}
}
