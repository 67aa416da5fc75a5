package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/pflag"

	"assay/census"
	"assay/qaoa"
)

func validateCommand() command {
	return command{
		name: "validate", args: "FILE…",
		does: "lists what is wrong with records",
		help: `
Every finding is printed, one a line: place, severity, code, JSON path, detail.
Errors make a record unusable and end in exit code 3; warnings are counted.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			asJSON := flags.Bool("json", false, "print one JSON object a finding, and the counts last")
			quiet := flags.Bool("quiet", false, "print only the counts")
			return func(ctx context.Context, std stdio, args []string) error {
				if err := wantFiles("validate", args); err != nil {
					return err
				}
				return runValidate(ctx, std, args, *asJSON, *quiet)
			}
		},
	}
}

func runValidate(ctx context.Context, std stdio, files []string, asJSON, quiet bool) error {
	in := &reader{std: std, paths: files}
	records, unusable := 0, 0
	counts := map[string]int{}
	for rec, err := range in.records(ctx) {
		if err != nil {
			return err
		}
		records++
		findings := qaoa.Validate(rec)
		if !qaoa.Usable(findings) {
			unusable++
		}
		for _, f := range findings {
			counts[string(f.Severity)+" "+f.Code]++
			if quiet {
				continue
			}
			if err := printFinding(std, rec, f, asJSON); err != nil {
				return err
			}
		}
	}
	if asJSON {
		if err := writeJSON(std.out, map[string]any{"records": records, "unreadable": in.bad, "unusable": unusable, "findings": counts}); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(std.out, "%d records, %d with errors, %d unreadable\n", records, unusable, in.bad)
		for _, code := range slices.Sorted(maps.Keys(counts)) {
			fmt.Fprintf(std.out, "  %-28s %d\n", code, counts[code])
		}
	}
	if err := in.err(); err != nil {
		return err
	}
	if unusable > 0 {
		return &exitError{exitInput, fmt.Errorf("%d of %d records have errors", unusable, records)}
	}
	return nil
}

func printFinding(std stdio, rec qaoa.Record, f qaoa.Finding, asJSON bool) error {
	if !asJSON {
		_, err := fmt.Fprintf(std.out, "%s: %s: %s: %s: %s\n", printable(rec.ID), f.Path, f.Severity, f.Code, printable(f.Detail))
		return err
	}
	member := func(name, text string) qaoa.Member {
		return qaoa.Member{Name: name, Value: qaoa.StringValue(text)}
	}
	line := qaoa.ObjectValue(member("id", rec.ID), member("severity", string(f.Severity)), member("code", f.Code),
		member("path", f.Path), member("detail", f.Detail))
	_, err := fmt.Fprintln(std.out, line.JSON())
	return err
}

func describeCommand() command {
	return command{
		name: "describe", args: "FILE…",
		does: "counts records: turns, hops, strategies, calls, tools, lengths",
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			asJSON := flags.Bool("json", false, "print one JSON object")
			svg := flags.String("svg", "", "draw the figure of the paper's analysis into `FILE`")
			title := flags.String("title", "", "title of the figure; default: what is counted")
			return func(ctx context.Context, std stdio, args []string) error {
				if err := wantFiles("describe", args); err != nil {
					return err
				}
				in := &reader{std: std, paths: args}
				var c census.Census
				for rec, err := range in.records(ctx) {
					if err != nil {
						return err
					}
					c.Add(rec)
				}
				if err := printCensus(std, &c, *asJSON, *svg, *title); err != nil {
					return err
				}
				return in.err()
			}
		},
	}
}

// printCensus writes the counts to stdout, and the figure to a file.
func printCensus(std stdio, c *census.Census, asJSON bool, svg, title string) (err error) {
	if asJSON {
		err = writeJSON(std.out, c)
	} else {
		err = c.WriteText(std.out)
	}
	if err != nil || svg == "" {
		return err
	}
	out, err := createOutput(std, svg)
	if err != nil {
		return err
	}
	defer func() { err = out.finish(err) }()
	return c.WriteSVG(out, title)
}
