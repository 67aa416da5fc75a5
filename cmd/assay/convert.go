package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"assay/convert"
	"assay/convert/all"
	"assay/qaoa"
)

func sourcesCommand() command {
	return command{
		name: "sources",
		does: "lists what can be converted: kind, licence, home page, files expected",
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			asJSON := flags.Bool("json", false, "print one JSON array")
			return func(_ context.Context, std stdio, args []string) error {
				if len(args) > 0 {
					return usagef("sources: want no arguments, have %q", args)
				}
				if *asJSON {
					return writeJSON(std.out, sourceList())
				}
				for _, s := range all.Sources() {
					gated := ""
					if s.Gated {
						gated = ", gated"
					}
					fmt.Fprintf(std.out, "%s (%s, %s%s)\n  %s\n  %s\n", s.Name, s.Kind, s.Licence, gated, s.About, s.Home)
					for _, f := range s.Files {
						fmt.Fprintf(std.out, "  %-8s %s: %s\n", f.Role, f.Glob, f.Note)
					}
				}
				return nil
			}
		},
	}
}

type sourceEntry struct {
	Name    string      `json:"name"`
	Kind    string      `json:"kind"`
	Home    string      `json:"home"`
	Licence string      `json:"licence"`
	Gated   bool        `json:"gated"`
	About   string      `json:"about"`
	Files   []fileEntry `json:"files"`
}

type fileEntry struct {
	Glob string `json:"glob"`
	Role string `json:"role"`
	Note string `json:"note"`
}

func sourceList() []sourceEntry {
	var out []sourceEntry
	for _, s := range all.Sources() {
		e := sourceEntry{s.Name, string(s.Kind), s.Home, s.Licence, s.Gated, s.About, nil}
		for _, f := range s.Files {
			e.Files = append(e.Files, fileEntry{f.Glob, string(f.Role), f.Note})
		}
		out = append(out, e)
	}
	return out
}

type convertOptions struct {
	out, to, profile, language, tools, ledger, summary string
	workers, limit, maxBad, examples                   int
	columns                                            map[string]string
}

func convertCommand() command {
	return command{
		name: "convert", args: "SOURCE PATH…",
		does: "turns raw files of a source into records",
		help: `
PATH is a folder (the files of the source are found in it), a file, a pattern,
or - for stdin. Files may be JSON lines, a JSON array or map, Parquet or CSV, plain,
gzip or zstd, told apart by content. Every raw instance ends as a
record or, with a code, in the ledger; converted + rejected = read. A truncated
file ends the run with exit code 3 after everything before the break was
written. With -o FILE, the same command resumes after Ctrl-C or a kill, and
writes the same bytes as an undisturbed run.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			var o convertOptions
			flags.StringVarP(&o.out, "output", "o", "-", "write the records to `FILE`")
			flags.StringVar(&o.to, "to", "qaoa", "form: qaoa (native) or sharegpt (the paper's interchange layout)")
			flags.StringVar(&o.profile, "profile", "paper", "paper (its counts, quirks included) or strict (for training)")
			flags.StringVar(&o.language, "language", "", "language rule: l1, l2, cjk or off; default: as the source and profile say")
			flags.StringVar(&o.tools, "tools", "", "`FILE` with the tool list of a source that keeps it apart")
			flags.StringToStringVar(&o.columns, "map", nil, "columns of a CSV file, as role=header: query, tools, calls, answer, chat, system")
			flags.StringVar(&o.ledger, "ledger", "", "write every reject as a line to `FILE`")
			flags.StringVar(&o.summary, "summary", "", "write the balance as JSON to `FILE`")
			flags.IntVar(&o.workers, "workers", 0, "processors that convert; 0 is all; the output is the same for any number")
			flags.IntVar(&o.limit, "limit", 0, "read at most that many elements; 0 is all")
			flags.IntVar(&o.maxBad, "max-bad", -1, "end the run after that many broken elements; -1 is never")
			flags.IntVar(&o.examples, "examples", 0, "show that many rejects of each code on stderr")
			return func(ctx context.Context, std stdio, args []string) error {
				if len(args) < 2 {
					return usagef("convert: want SOURCE and at least one PATH, have %d arguments; \"assay sources\" lists the sources", len(args))
				}
				return runConvert(ctx, std, o, args[0], args[1:])
			}
		},
	}
}

// check returns the options for the source.
func (o convertOptions) check() (convert.RunOptions, error) {
	opt := convert.RunOptions{
		Options: convert.Options{Profile: convert.Profile(o.profile), Language: o.language, Tools: o.tools, Map: o.columns},
		Workers: o.workers, Limit: o.limit,
	}
	switch {
	case o.to != "qaoa" && o.to != "sharegpt":
		return opt, usagef("--to %q: want qaoa or sharegpt", o.to)
	case o.profile != string(convert.Paper) && o.profile != string(convert.Strict):
		return opt, usagef("--profile %q: want paper or strict", o.profile)
	case !slices.Contains([]string{"", "l1", "l2", "cjk", "off"}, o.language):
		return opt, usagef("--language %q: want l1, l2, cjk or off", o.language)
	case o.workers < 0 || o.limit < 0:
		return opt, usagef("--workers and --limit: want no negative number")
	case o.maxBad == 0:
		opt.MaxBad = -1
	case o.maxBad > 0:
		opt.MaxBad = o.maxBad
	}
	return opt, nil
}

func runConvert(ctx context.Context, std stdio, o convertOptions, source string, paths []string) (err error) {
	opt, err := o.check()
	if err != nil {
		return err
	}
	if o.workers == 1 {
		// One worker does everything itself. A second processor would only
		// look for work, which costs up to a tenth of the time.
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	}
	src, err := all.Lookup(source)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	inputs, skipped, err := convert.Find(src, paths)
	if err != nil {
		return inputError(err)
	}
	tellSkipped(std.err, skipped)
	b, err := newBooks(std, src.Name, "", o.summary, o.examples)
	if err != nil {
		return err
	}
	status := newStatusLine(std.err, 2000)
	opt.Progress = func(p convert.Progress) {
		share := ""
		if p.TotalBytes > 0 {
			share = fmt.Sprintf(" (%.0f %%)", 100*float64(p.Bytes)/float64(p.TotalBytes))
		}
		status.update("%s: %s: %d elements, %d records, %d rejects%s", src.Name, printable(p.File), p.Elements, p.Records, p.Rejects, share)
	}
	job := convert.Job{
		Source: src, Inputs: inputs, Options: opt, Output: o.out, Ledger: o.ledger, Form: o.to, Append: qaoa.AppendRecord, Category: category,
		OnReject: b.show,
		OnResume: func(n int) { fmt.Fprintf(std.err, "resuming: %d elements are converted\n", n) },
	}
	if o.to == "sharegpt" {
		job.Append = qaoa.AppendInterchange
	}
	if o.out == "-" || o.ledger == "-" || convert.Special(o.out) || convert.Special(o.ledger) {
		err = convertStream(ctx, std, job, b)
	} else {
		b.sum, err = job.Run(ctx)
	}
	status.end()
	if errors.Is(err, context.Canceled) {
		if o.out != "-" && o.ledger != "-" {
			err = fmt.Errorf("interrupted after %d instances; the same command resumes: %w", b.sum.Read, err)
		}
		return inputError(err)
	}
	// A broken file ends the run, but what was good before it is kept.
	return inputError(errors.Join(err, b.close(std.err, "converted")))
}

// convertStream converts to stdout, which cannot be resumed.
func convertStream(ctx context.Context, std stdio, job convert.Job, b *books) (err error) {
	out, err := createOutput(std, job.Output)
	if err != nil {
		return err
	}
	defer func() { err = out.keep(err) }()
	if job.Ledger != "" {
		if b.file, err = createOutput(std, job.Ledger); err != nil {
			return err
		}
		b.ledger = convert.NewLedger(b.file)
	}
	return convertAll(ctx, job.Source, job.Inputs, job.Options, out, b, job.Append)
}

func convertAll(ctx context.Context, src convert.Source, inputs []convert.Input, opt convert.RunOptions, out io.Writer, b *books, write func([]byte, qaoa.Record) []byte) error {
	var line []byte
	for o, err := range convert.Run(ctx, src, inputs, opt) {
		if err != nil {
			return err
		}
		b.sum.AddRead(o.Read)
		for _, rec := range o.Records {
			line = append(write(line[:0], rec), '\n')
			if _, err := out.Write(line); err != nil {
				return err
			}
			b.sum.AddRecord(rec, category(rec))
		}
		for _, rej := range o.Rejects {
			if err := b.reject(rej); err != nil {
				return err
			}
		}
	}
	return nil
}

// category returns what the source calls the kind of a record, or "".
func category(rec qaoa.Record) string {
	if rec.Meta == "" || !strings.Contains(string(rec.Meta), `"category"`) {
		return ""
	}
	meta, err := rec.Meta.Value()
	if err != nil {
		return ""
	}
	c, _ := meta.Get("category")
	return c.Text
}

// tellSkipped says which files of a folder could be converted and are not, one
// line for each reason.
func tellSkipped(w io.Writer, skipped []convert.Skipped) {
	var reasons []string
	first, count := map[string]string{}, map[string]int{}
	for _, s := range skipped {
		if s.Role != convert.Extra && s.Role != convert.Trap {
			continue
		}
		reason := fmt.Sprintf("%s: %s", s.Role, s.Note)
		if count[reason]++; count[reason] == 1 {
			reasons = append(reasons, reason)
			first[reason] = s.Name
		}
	}
	for _, r := range reasons {
		fmt.Fprintf(w, "not converted: %s", printable(first[r]))
		if n := count[r] - 1; n > 0 {
			fmt.Fprintf(w, " and %d more", n)
		}
		fmt.Fprintf(w, " (%s); name a file to convert it\n", r)
	}
}

// books keep the account of a command that accepts and rejects: the ledger,
// the summary, and examples for a person to look at.
type books struct {
	sum      convert.Summary
	summary  string // path, "" for none
	std      stdio
	file     *output // of the ledger, nil for none
	ledger   *convert.Ledger
	examples int
	shown    map[convert.Code]int
}

func newBooks(std stdio, source, ledger, summary string, examples int) (*books, error) {
	b := &books{sum: convert.Summary{Source: source}, summary: summary, std: std, examples: examples, shown: map[convert.Code]int{}}
	if ledger != "" {
		var err error
		if b.file, err = createOutput(std, ledger); err != nil {
			return nil, err
		}
		b.ledger = convert.NewLedger(b.file)
	}
	return b, nil
}

func (b *books) reject(rej *convert.Reject) error {
	b.sum.AddReject(rej)
	b.show(rej)
	if b.ledger == nil {
		return nil
	}
	return b.ledger.Write(rej)
}

// show prints a reject if not enough of its code have been shown.
func (b *books) show(rej *convert.Reject) {
	if b.shown[rej.Code] < b.examples {
		b.shown[rej.Code]++
		fmt.Fprintln(b.std.err, printable(rej.Error()))
	}
}

// drop leaves no ledger behind.
func (b *books) drop() error {
	if b.file == nil {
		return nil
	}
	err := b.file.finish(context.Canceled)
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// close completes the ledger, prints the balance, checks it, and writes the
// summary.
func (b *books) close(w io.Writer, done string) error {
	var err error
	if b.file != nil {
		err = b.file.finish(nil)
	}
	fmt.Fprintf(w, "%s: %d read, %d %s, %d rejected\n", b.sum.Source, b.sum.Read, b.sum.Converted, done, b.sum.Rejected)
	for _, code := range slices.Sorted(maps.Keys(b.sum.Codes)) {
		fmt.Fprintf(w, "  %-24s %d\n", code, b.sum.Codes[code])
	}
	err = errors.Join(err, b.sum.Check())
	if b.summary != "" {
		err = errors.Join(err, writeFile(b.std, b.summary, b.sum))
	}
	return err
}
