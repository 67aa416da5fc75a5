package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"assay/qaoa"
	"assay/report"
)

// tableNames are the tables of "report --table", named as in the paper.
var tableNames = []string{"table1", "table6", "table7", "figure4", "figure5"}

// tableFormat returns the form of a table: what was asked for, or what the name
// of the file says.
func tableFormat(format, path string) (string, error) {
	formats := report.SheetFormats()
	if format == "" {
		switch ext := strings.TrimPrefix(filepath.Ext(path), "."); {
		case ext == "tex":
			format = "latex"
		case slices.Contains(formats, ext):
			format = ext
		default:
			format = "md"
		}
	}
	if !slices.Contains(formats, format) {
		return "", usagef("--format %q: want one of %s%s", format, strings.Join(formats, ", "), didYouMean(format, formats))
	}
	return format, nil
}

// runReportTable makes one table of run folders.
func runReportTable(ctx context.Context, std stdio, o reportOptions, dirs []string) (err error) {
	if !slices.Contains(tableNames, o.table) {
		return usagef("--table %q: want one of %s%s", o.table, strings.Join(tableNames, ", "), didYouMean(o.table, tableNames))
	}
	format, err := tableFormat(o.format, o.out)
	if err != nil {
		return err
	}
	if o.share.Samples < 1 {
		return usagef("--samples %d: want at least 1", o.share.Samples)
	}
	opt, err := o.stats.check()
	if err != nil {
		return err
	}
	runs, err := readRuns(ctx, dirs, o.stats)
	if err != nil {
		return err
	}
	sheet, err := makeSheet(ctx, o, dirs, runs, opt)
	if err != nil {
		return inputError(err)
	}
	// What cannot be drawn is found before a file is made.
	var b bytes.Buffer
	if err := sheet.Write(&b, format); err != nil {
		return fmt.Errorf("%s as %s: %w", o.table, format, err)
	}
	out, err := createOutput(std, o.out)
	if err != nil {
		return err
	}
	defer func() { err = out.finish(err) }()
	_, err = out.Write(b.Bytes())
	return err
}

func makeSheet(ctx context.Context, o reportOptions, dirs []string, runs []report.Run, opt report.Options) (report.Sheet, error) {
	switch o.table {
	case "table1":
		c, err := report.Table1(runs, opt)
		if err != nil {
			return report.Sheet{}, err
		}
		return c.Sheet(), nil
	case "figure4":
		return report.ByDataset(runs)
	case "figure5":
		strategy, err := strategies(ctx, o, dirs)
		if err != nil {
			return report.Sheet{}, err
		}
		return report.ParallelShare(runs, strategy, o.share)
	}
	sum, err := report.Summarize(runs, opt)
	switch {
	case err != nil:
		return report.Sheet{}, err
	case o.table == "table6":
		return sum.HopSheet(), nil
	}
	return sum.TurnSheet(), nil
}

// strategies reads the gold records of the runs, and returns what tells serial
// from parallel turns.
func strategies(ctx context.Context, o reportOptions, dirs []string) (func(id string, turn int) qaoa.Strategy, error) {
	type key struct {
		id   string
		turn int
	}
	of := map[key]qaoa.Strategy{}
	done := map[string]bool{}
	for _, dir := range dirs {
		run, err := pageRun(ctx, dir, o)
		if err != nil {
			return nil, err
		}
		if done[run.Data] {
			continue
		}
		done[run.Data] = true
		for rec, err := range run.Gold(ctx) {
			if err != nil {
				return nil, err
			}
			for i, t := range qaoa.ShapeOf(rec).Turns {
				if t.Strategy != "" {
					of[key{rec.ID, i}] = t.Strategy
				}
			}
		}
	}
	return func(id string, turn int) qaoa.Strategy { return of[key{id, turn}] }, nil
}

// writeCI writes what CI systems read, where it is asked for.
func writeCI(std stdio, junit, summary string, suite report.Suite, markdown func(io.Writer) error) error {
	for _, f := range []struct {
		path  string
		write func(io.Writer) error
	}{{junit, suite.WriteJUnit}, {summary, markdown}} {
		if f.path == "" {
			continue
		}
		out, err := createOutput(std, f.path)
		if err != nil {
			return err
		}
		if err := out.finish(f.write(out)); err != nil {
			return err
		}
	}
	return nil
}
