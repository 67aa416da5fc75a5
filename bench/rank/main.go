// Command rank measures how well each ranking of a pool finds the tools that a
// question needs. Its arguments are files of records, as "assay convert" writes
// them, and files of tools, as "assay tools build" does, told apart by the name
// .tools; the pool is all of their tools.
//
//	go run ./bench/rank bfcl.jsonl seal-tools.jsonl … more.tools
//
// A question is a turn with a query and a call of a tool on its record's list;
// its gold tools are those that it calls. The recall of a question at k is the
// share of its gold tools among the first k, or of k if it has more than k. The
// figures are means over the questions of a file, then over all questions, and
// over files.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"assay/match"
	"assay/qaoa"
	"assay/toolset"
)

// depths are the k of recall at k.
var depths = [...]int{1, 5, 20}

// maxLine bounds a record.
const maxLine = 64 << 20

type question struct {
	text string
	gold []string // keys of tools, distinct
}

// A file is one set of questions.
type file struct {
	name      string
	questions []question
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "rank:", err)
		os.Exit(1)
	}
}

func run(paths []string, w io.Writer) error {
	var files []file
	var tools []qaoa.Tool
	for _, path := range paths {
		f, more, err := read(path)
		if err != nil {
			return err
		}
		tools = append(tools, more...)
		if len(f.questions) > 0 {
			files = append(files, f)
		}
	}
	pool, stats, err := toolset.NewPool(func(yield func(qaoa.Tool, error) bool) {
		for _, t := range tools {
			if !yield(t, nil) {
				return
			}
		}
	}, match.Name)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "%d tools\tquestions\t", stats.Kept)
	for _, by := range toolset.Rankings() {
		for _, k := range depths {
			fmt.Fprintf(t, "%s@%d\t", by, k)
		}
	}
	fmt.Fprintln(t)
	columns := len(toolset.Rankings()) * len(depths)
	all, means, n := make([]float64, columns), make([]float64, columns), 0
	for _, f := range files {
		sums := recalls(pool, f.questions)
		for i, s := range sums {
			all[i] += s
			means[i] += s / float64(len(f.questions))
		}
		n += len(f.questions)
		row(t, f.name, sums, len(f.questions), len(f.questions))
	}
	row(t, "all questions", all, n, n)
	row(t, "mean of files", means, n, len(files))
	return t.Flush()
}

// row writes sums divided by n.
func row(w io.Writer, name string, sums []float64, questions, n int) {
	fmt.Fprintf(w, "%s\t%d\t", name, questions)
	for _, s := range sums {
		fmt.Fprintf(w, "%.1f\t", 100*s/float64(max(n, 1)))
	}
	fmt.Fprintln(w)
}

// recalls returns the sum of the recalls of questions for each ranking and
// depth.
func recalls(pool *toolset.Pool, questions []question) []float64 {
	var sums []float64
	for _, by := range toolset.Rankings() {
		at := make([]float64, len(depths))
		for _, q := range questions {
			found := pool.Rank(by, q.text, depths[len(depths)-1])
			for i, k := range depths {
				hits := 0
				for _, f := range found[:min(k, len(found))] {
					if slices.Contains(q.gold, toolset.Key(f.Tool)) {
						hits++
					}
				}
				at[i] += float64(hits) / float64(min(len(q.gold), k))
			}
		}
		sums = append(sums, at...)
	}
	return sums
}

// read returns the questions and the tools of a file.
func read(path string) (f file, tools []qaoa.Tool, err error) {
	in, err := os.Open(path)
	if err != nil {
		return file{}, nil, err
	}
	defer in.Close()
	f.name = strings.TrimSuffix(filepath.Base(path), ".jsonl")
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if strings.HasSuffix(path, ".tools") {
			t, err := qaoa.DecodeTool(lines.Bytes())
			if err != nil {
				return file{}, nil, fmt.Errorf("%s:%d: %w", path, n, err)
			}
			tools = append(tools, t)
			continue
		}
		rec, err := qaoa.DecodeRecord(lines.Bytes())
		if err != nil {
			return file{}, nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		tools = append(tools, rec.Tools...)
		f.questions = append(f.questions, ask(rec)...)
	}
	return f, tools, lines.Err()
}

// ask returns the questions of a record.
func ask(rec qaoa.Record) []question {
	var out []question
	for _, t := range rec.Turns {
		q := question{text: t.Query}
		for _, c := range t.Calls() {
			i := slices.IndexFunc(rec.Tools, func(tool qaoa.Tool) bool { return tool.Name == c.Name })
			if i < 0 {
				continue
			}
			if key := toolset.Key(rec.Tools[i]); !slices.Contains(q.gold, key) {
				q.gold = append(q.gold, key)
			}
		}
		if q.text != "" && len(q.gold) > 0 {
			out = append(out, q)
		}
	}
	return out
}
