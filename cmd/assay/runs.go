package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"assay/eval"
	"assay/runs"
)

func runsListCommand() command {
	return command{
		name: "runs ls", args: "[DIR…]",
		does: "lists the run folders in and below folders: state, model, counts, scores, size",
		help: `
Without DIR the current folder is looked through, four levels deep. States: running
(a process works on it), killed (none does, but it was not ended), interrupted,
incomplete (the server failed on some), complete. All but the first and the last
are resumed by the same "assay run" command. The scores are SPA of single-hop and
multi-hop turns and of single-turn and multi-turn conversations, under preset paper
if the run was scored by it; (+2) says that there are two presets more.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			asJSON := flags.Bool("json", false, "print a JSON array with all that is known")
			return func(ctx context.Context, std stdio, args []string) error {
				if len(args) == 0 {
					args = []string{"."}
				}
				all := []runs.Run{}
				for _, dir := range args {
					list, err := runs.List(ctx, dir)
					if err != nil {
						return inputError(err)
					}
					all = append(all, list...)
				}
				if *asJSON {
					return writeJSON(std.out, all)
				}
				return printRuns(std, all)
			}
		},
	}
}

// printRuns prints a table.
func printRuns(std stdio, all []runs.Run) error {
	if len(all) == 0 {
		fmt.Fprintln(std.err, "no run folders; \"assay run FILE… --out DIR --model NAME\" makes one")
		return nil
	}
	w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "FOLDER\tSTATE\tMODEL\tSHARD\tFINISHED\tFAILED\tSPA SH/MH/ST/MT\tSIZE\tUPDATED (UTC)")
	for _, r := range all {
		if r.Fault != "" {
			fmt.Fprintf(w, "%s\tunreadable\t%s\n", printable(r.Dir), printable(r.Fault))
			continue
		}
		s := r.Info.Settings
		finished := fmt.Sprintf("%d/%d", r.Info.Counts.Finished, s.Pairs)
		if r.State == eval.StateRunning || r.State == runs.StateKilled {
			finished = fmt.Sprintf("?/%d", s.Pairs) // counted at the end
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", printable(r.Dir), r.State, printable(s.Model), dash(s.Shard),
			finished, r.Info.Counts.Failed, dash(spaShort(r.Scores)), byteSize(r.Bytes), r.Updated.Format("2006-01-02 15:04"))
	}
	return w.Flush()
}

// spaShort returns the four cells of preset paper, or else of the first, and
// how many others there are.
func spaShort(scores []eval.Scores) string {
	if len(scores) == 0 {
		return ""
	}
	at := max(slices.IndexFunc(scores, func(s eval.Scores) bool { return s.Preset == "paper" }), 0)
	text := spaCells(scores[at])
	if n := len(scores) - 1; n > 0 {
		text += fmt.Sprintf(" (+%d)", n)
	}
	return text
}

// spaCells returns the four cells of a preset.
func spaCells(s eval.Scores) string {
	var cells []string
	for _, c := range []eval.Cell{s.Cells.SH, s.Cells.MH, s.Cells.ST, s.Cells.MT} {
		text := "n/a"
		if c.SPA != nil {
			text = fmt.Sprintf("%.3f", *c.SPA)
		}
		cells = append(cells, text)
	}
	return printable(s.Preset) + " " + strings.Join(cells, "/")
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// byteSize returns n in B, kB, MB or GB of powers of ten.
func byteSize(n int64) string {
	const step = 1000
	if n < step {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n)/step, 0
	units := []string{"kB", "MB", "GB", "TB"}
	for value >= step && unit < len(units)-1 {
		value, unit = value/step, unit+1
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}

func runsShowCommand() command {
	return command{
		name: "runs show", args: "DIR",
		does: "tells all about one run folder: settings, counts, failures, alarms, scores",
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			asJSON := flags.Bool("json", false, "print one JSON object")
			return func(_ context.Context, std stdio, args []string) error {
				if len(args) != 1 {
					return usagef("runs show: want one run folder, have %d", len(args))
				}
				r, err := runs.Look(args[0])
				if err != nil {
					return inputError(err)
				}
				if *asJSON {
					return writeJSON(std.out, r)
				}
				return printRun(std.out, r)
			}
		},
	}
}

// printRun prints one run for people.
func printRun(out io.Writer, r runs.Run) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%s\t%s\n", name, printable(fmt.Sprintf(format, args...)))
	}
	s, c := r.Info.Settings, r.Info.Counts
	row("folder", "%s (%s)", r.Dir, byteSize(r.Bytes))
	row("state", "%s", r.State)
	if r.Holder != "" {
		row("", "%s works on it", r.Holder)
	}
	row("model", "%s", s.Model)
	row("digest", "%s", dash(s.Digest))
	for _, in := range s.Data {
		row("data", "%s", in.Path)
	}
	if s.Shard != "" {
		row("shard", "%s", s.Shard)
	}
	row("asked", "calls %s, flow %s, history %s, observe %s, parse %s", s.Calls, s.Flow, s.History, s.Observe, s.Parse)
	row("sampling", "temperature %g, top p %g, seed %d, max tokens %d, context %d, think %t",
		s.Sampling.Temperature, s.Sampling.TopP, s.Sampling.Seed, s.Sampling.MaxTokens, s.Sampling.NumCtx, s.Sampling.Think)
	row("pairs", "%d records, %d repeats: %d pairs, %d finished, %d failed", s.Records, s.Repeats, s.Pairs, c.Finished, c.Failed)
	row("replies", "%d, of which %d from the cache, %d with a call that does not parse, %d cut at the length limit", c.Replies, c.Cached, c.Malformed, c.Length)
	row("tokens", "%d of prompts, %d of answers", c.PromptTokens, c.CompletionTokens)
	for _, sc := range r.Scores {
		row("scores", "SPA SH/MH/ST/MT %s", spaCells(sc))
	}
	for _, f := range r.Info.Failed {
		row("failed", "%s (repeat %d): %s: %s", f.ID, f.Repeat, f.Class, f.Msg)
	}
	for _, a := range r.Info.Alarms {
		row("ALARM", "%s", a)
	}
	for _, n := range r.Info.Notes {
		row("note", "%s", n)
	}
	return w.Flush()
}

func runsRemoveCommand() command {
	return command{
		name: "runs rm", args: "DIR…",
		does: "deletes run folders, after asking",
		help: `
A folder that holds no run, that a process works on, or that holds a file which no
run wrote is refused. Without a terminal, --yes is needed.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			yes := flags.Bool("yes", false, "do not ask")
			return func(ctx context.Context, std stdio, args []string) error {
				if len(args) == 0 {
					return usagef("runs rm: want run folders, have none")
				}
				return removeRuns(ctx, std, args, *yes)
			}
		},
	}
}

// removeRuns deletes one after the other. One that is refused does not keep
// the others.
func removeRuns(ctx context.Context, std stdio, dirs []string, yes bool) error {
	in, ok := std.in.(*os.File)
	asks := ok && terminal(in)
	if !yes && !asks {
		return usagef("runs rm: want --yes, since there is no terminal to ask at")
	}
	answers := bufio.NewReader(std.in)
	refused := 0
	for _, dir := range dirs {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r, err := runs.Look(dir)
		if err == nil && !yes {
			fmt.Fprintf(std.err, "delete %s (%s, %d of %d finished, %s)? [y/N] ", printable(dir), r.State, r.Info.Counts.Finished, r.Info.Settings.Pairs, byteSize(r.Bytes))
			line, readErr := answers.ReadString('\n')
			if readErr != nil || !strings.EqualFold(strings.TrimSpace(line), "y") {
				fmt.Fprintln(std.err, "kept")
				continue
			}
		}
		if err == nil {
			err = runs.Remove(dir)
		}
		if err != nil {
			refused++
			fmt.Fprintf(std.err, "not deleted: %s\n", printable(err.Error()))
			continue
		}
		fmt.Fprintf(std.err, "deleted %s\n", printable(dir))
	}
	if refused > 0 {
		return &exitError{exitUsage, fmt.Errorf("%d of %d folders were not deleted", refused, len(dirs))}
	}
	return nil
}

func runsMergeCommand() command {
	return command{
		name: "runs merge", args: "OUT SHARD…",
		does: "joins the folders of \"run --shard i/n\" into one run folder",
		help: `
OUT is then as the folder of a run on one machine: the same predictions byte for
byte, the same scores, and the run without --shard resumes it. All shards must be
there once, be complete, and have equal settings; what is missing is told, and the
exit code is 4.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			allowGaps := flags.Bool("allow-gaps", false, "join what is there; resuming OUT asks for the rest")
			return func(_ context.Context, std stdio, args []string) error {
				if len(args) < 2 {
					return usagef("runs merge: want a new folder and the folders of the shards, have %d arguments", len(args))
				}
				sum, err := runs.Merge(args[0], args[1:], *allowGaps)
				if _, ok := errors.AsType[*runs.GapError](err); ok {
					return &exitError{exitCoverage, fmt.Errorf("%w (--allow-gaps)", err)}
				}
				if err != nil {
					return inputError(err)
				}
				fmt.Fprintf(std.err, "%s: %d of %d conversations finished, %d failed, from %d shards\n",
					printable(args[0]), sum.Counts.Finished, sum.Counts.Planned, sum.Counts.Failed, len(args)-1)
				return nil
			}
		},
	}
}
