package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"assay/audit"
	"assay/benchdata/paper"
	"assay/report"
)

func statsAuditCommand() command {
	return command{
		name: "stats audit", args: "TABLE.csv…",
		does: "test a table of scores for numbers that cannot all be right",
		help: `
A table has a header line, columns of labels, and columns of percentages such as SP_SH
or "MH FPA", with or without "± SD". JSON of the form {"table": {"row": {"column": 1}}}
holds several tables. A table is named after its file, without the extension. Exits
with 1 if there is a contradiction. Rows labelled gain, delta or difference are no
scores. Without --rules these apply: range 0 100; order SP <= FP; order SPA <= FPA <= FP;
twins; identical; extremes; aliases. All rules:

` + audit.Help,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			rules := flags.StringArray("rules", nil, "`FILE` of rules, or rules separated by semicolons; may be repeated")
			own := flags.Bool("paper", false, "audit the tables of the UniToolCall paper, which the program holds")
			asJSON := flags.Bool("json", false, "print one JSON object")
			markdown := flags.Bool("markdown", false, "print Markdown")
			return func(_ context.Context, std stdio, args []string) error {
				tables, text, err := auditInput(args, *rules, *own)
				if err != nil {
					return err
				}
				parsed, err := audit.ParseRules(text)
				if err != nil {
					return &exitError{exitUsage, err}
				}
				found, err := audit.Check(tables, parsed)
				if err != nil {
					return &exitError{exitUsage, err}
				}
				return printAudit(std, report.Audit{Report: found}, *asJSON, *markdown)
			}
		},
	}
}

func printAudit(std stdio, a report.Audit, asJSON, markdown bool) error {
	write := a.Text
	switch {
	case asJSON:
		write = a.JSON
	case markdown:
		write = a.Markdown
	}
	if err := write(std.out); err != nil {
		return err
	}
	if n := a.Count(audit.Contradiction); n > 0 {
		return &exitError{exitGate, fmt.Errorf("the tables contradict themselves or their rules in %d places", n)}
	}
	return nil
}

// auditInput reads tables and rules.
func auditInput(paths, rules []string, own bool) ([]audit.Table, string, error) {
	var tables []audit.Table
	var texts []string
	if own {
		if len(paths) > 0 {
			return nil, "", usagef("--paper audits tables that the program holds, and %q is another: want one or the other", paths[0])
		}
		held, claims := paper.Audited()
		texts = append(texts, claims)
		for _, name := range slices.Sorted(maps.Keys(held)) {
			t, err := audit.ReadCSV(strings.NewReader(held[name]), name)
			if err != nil {
				return nil, "", inputError(err)
			}
			tables = append(tables, t)
		}
	} else if len(paths) == 0 {
		return nil, "", usagef("want at least one TABLE.csv or TABLES.json, have none")
	}
	for _, path := range paths {
		more, err := readTables(path)
		if err != nil {
			return nil, "", err
		}
		tables = append(tables, more...)
	}
	for _, r := range rules {
		data, err := os.ReadFile(r)
		switch {
		case err == nil:
			texts = append(texts, string(data))
		case errors.Is(err, fs.ErrNotExist) && !strings.Contains(r, " ") && strings.Contains(r, "."):
			return nil, "", usagef("--rules %q: no such file", r)
		default:
			texts = append(texts, r)
		}
	}
	if len(texts) == 0 {
		texts = []string{audit.DefaultRules}
	}
	return tables, strings.Join(texts, "\n"), nil
}

func readTables(path string) ([]audit.Table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	defer f.Close()
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if strings.EqualFold(filepath.Ext(path), ".json") {
		tables, err := audit.ReadJSON(f, name)
		return tables, inputError(err)
	}
	t, err := audit.ReadCSV(io.LimitReader(f, 64<<20), name)
	return []audit.Table{t}, inputError(err)
}
