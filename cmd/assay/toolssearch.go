package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"assay/match"
	"assay/qaoa"
	"assay/toolset"
)

type toolsSearchOptions struct {
	pool   []string
	k      int
	asJSON bool
	embed  embedOptions
}

func toolsSearchCommand() command {
	return command{
		name: "tools search", args: "TEXT",
		does: "finds the tools of a pool that are most similar to a text",
		help: `
The text is compared with the name and description of each tool, by words and
n-grams or with --embed by the vectors of a model. The search is exact.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			var o toolsSearchOptions
			flags.StringArrayVar(&o.pool, "pool", nil, "`FILE` of tools: what \"tools build\" writes, or anything that it reads; may be repeated")
			flags.IntVarP(&o.k, "k", "k", 10, "how many tools to show")
			o.embed.bind(flags)
			flags.BoolVar(&o.asJSON, "json", false, "print one JSON object")
			return func(ctx context.Context, std stdio, args []string) error {
				text := strings.TrimSpace(strings.Join(args, " "))
				switch {
				case text == "":
					return usagef("tools search: want a text to look for, have none")
				case len(o.pool) == 0:
					return usagef("tools search: want a pool; give --pool FILE")
				case o.k < 1:
					return usagef("tools search: --k %d: want at least 1", o.k)
				}
				return runToolsSearch(ctx, std, o, text)
			}
		},
	}
}

// A foundTool is one line of what a search prints.
type foundTool struct {
	Similarity  float64 `json:"similarity"`
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Origin      string  `json:"origin,omitempty"`
	Category    string  `json:"category,omitempty"`
	Domain      string  `json:"domain,omitempty"`
	Signature   string  `json:"signature"`
}

func runToolsSearch(ctx context.Context, std stdio, o toolsSearchOptions, text string) error {
	embed, err := o.embed.open(std)
	if err != nil {
		return err
	}
	pool, _, err := toolset.NewPool(entryTools(poolEntries(ctx, std, o.pool)), match.Name)
	if err != nil {
		return inputError(err)
	}
	found, err := pool.Search(ctx, text, o.k, embed)
	if err != nil {
		return vectorError(err)
	}
	list := make([]foundTool, len(found))
	for i, f := range found {
		list[i] = foundTool{f.Similarity, f.Tool.Name, f.Tool.Description, f.Tool.Origin, f.Tool.Category, f.Tool.Domain, toolset.Signature(f.Tool)}
	}
	if o.asJSON {
		return writeJSON(std.out, struct {
			Query   string      `json:"query"`
			Vectors string      `json:"vectors"`
			Pool    int         `json:"pool"`
			Tools   []foundTool `json:"tools"`
		}{text, o.embed.spec, pool.Len(), list})
	}
	if len(list) == 0 {
		fmt.Fprintf(std.err, "none of %d tools has anything in common with it; other words, or --embed with a model, may find more\n", pool.Len())
		return nil
	}
	return writeFound(std.out, list)
}

// entryTools yields the tools of entries.
func entryTools(entries iter.Seq2[toolset.Entry, error]) iter.Seq2[qaoa.Tool, error] {
	return func(yield func(qaoa.Tool, error) bool) {
		for e, err := range entries {
			if !yield(e.Tool, err) || err != nil {
				return
			}
		}
	}
}

// Widths of the table, in characters.
const (
	maxSignature = 90
	maxSummary   = 100
)

// writeFound writes tools as a table, two lines each.
func writeFound(w io.Writer, list []foundTool) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, f := range list {
		origin := f.Origin
		if origin == "" {
			origin = "-"
		}
		fmt.Fprintf(t, "%d\t%.3f\t%s\t%s\n", i+1, f.Similarity, cut(printable(origin), 24), cut(printable(f.Signature), maxSignature))
		fmt.Fprintf(t, "\t\t\t  %s\n", cut(printable(f.Description), maxSummary))
	}
	return t.Flush()
}

// cut returns s with at most n characters.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return strings.TrimRight(string(r[:n-1]), " ") + "…"
	}
	return s
}
