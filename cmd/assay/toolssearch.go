package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"assay/embed"
	"assay/match"
	"assay/qaoa"
	"assay/toolset"
)

type toolsSearchOptions struct {
	pool   []string
	k      int
	rank   string
	asJSON bool
	embed  embedOptions
}

func toolsSearchCommand() command {
	return command{
		name: "tools search", args: "TEXT",
		does: "finds the tools of a pool that are most similar to a text",
		help: `
The text is compared with the name and description of each tool, by words or with
--embed by the vectors of a model. The search is exact. With words, --rank cosine
looks at words and n-grams and shows a similarity up to 1; --rank bm25 adds up what
the words in common weigh, and shows a score without an upper end.`,
		bind: func(flags *pflag.FlagSet) func(context.Context, stdio, []string) error {
			var o toolsSearchOptions
			flags.StringArrayVar(&o.pool, "pool", nil, "`FILE` of tools: what \"tools build\" writes, or anything that it reads; may be repeated")
			flags.IntVarP(&o.k, "k", "k", 10, "how many tools to show")
			flags.StringVar(&o.rank, "rank", string(toolset.Rankings()[0]), "how words are compared: cosine (of words and n-grams) or bm25 (words only)")
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
				if !slices.Contains(toolset.Rankings(), toolset.Ranking(o.rank)) {
					return usagef("tools search: --rank %q: want cosine or bm25", o.rank)
				}
				if o.rank != string(toolset.Cosine) && o.embed.spec != embed.Lexical {
					return usagef("tools search: --rank %s compares words, --embed %s vectors; give one of them", o.rank, o.embed.spec)
				}
				return runToolsSearch(ctx, std, o, text)
			}
		},
	}
}

// A foundTool is one line of what a search prints.
type foundTool struct {
	Similarity  float64 `json:"similarity"` // by rank bm25 a score
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Origin      string  `json:"origin,omitempty"`
	Category    string  `json:"category,omitempty"`
	Domain      string  `json:"domain,omitempty"`
	Signature   string  `json:"signature"`
}

func runToolsSearch(ctx context.Context, std stdio, o toolsSearchOptions, text string) error {
	vectors, err := o.embed.open(std)
	if err != nil {
		return err
	}
	pool, _, err := toolset.NewPool(entryTools(poolEntries(ctx, std, o.pool)), match.Name)
	if err != nil {
		return inputError(err)
	}
	var found []toolset.Match
	if vectors == nil {
		found = pool.Rank(toolset.Ranking(o.rank), text, o.k)
	} else if found, err = pool.Search(ctx, text, o.k, vectors); err != nil {
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
			Rank    string      `json:"rank"` // what "similarity" is
			Pool    int         `json:"pool"`
			Tools   []foundTool `json:"tools"`
		}{text, o.embed.spec, o.rank, pool.Len(), list})
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
