package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"assay/contam"
	"assay/train"
)

// selectOptions are the flags by which records are taken.
type selectOptions struct {
	sources, shapes, against []string
	calls, tools             string
	strict                   bool
	language, dedup          string
	threshold                float64
	contaminated             []string
}

func (o *selectOptions) bind(flags *pflag.FlagSet) {
	flags.StringSliceVar(&o.sources, "source", nil, "take only these sources")
	flags.StringSliceVar(&o.shapes, "shape", nil, "take only these shapes: "+strings.Join(train.ShapeTerms(), ", ")+", or two of them as in multi-turn/serial")
	flags.StringVar(&o.calls, "calls", "", "take only records with so many calls: `N`, N- or N-M")
	flags.StringVar(&o.tools, "tools", "", "take only records that offer so many tools: `N`, N- or N-M")
	flags.BoolVar(&o.strict, "strict", false, "leave out what \"assay validate\" calls an error, and calls with unknown or missing arguments")
	flags.StringVar(&o.language, "language", "off", "leave out other languages: l1, l2, cjk or off, see \"assay help filter\"")
	flags.StringVar(&o.dedup, "dedup", string(train.DedupExact), "leave out repetitions: exact (queries and calls), near (queries much alike too) or off")
	flags.Float64Var(&o.threshold, "near", 0.8, "similarity of near duplicates (Jaccard index of five-word shingles)")
	flags.StringArrayVar(&o.against, "against", nil, "`FILE` of benchmark records, or SOURCE:PATH, to compare with (contamination); may be repeated")
	flags.StringSliceVar(&o.contaminated, "contaminated", nil, "what becomes of hits: drop, report, or by level as in query=drop,ngram=drop,tool=report,calls=drop (the default)")
}

// levels returns the levels at which a hit leaves a record out.
func (o *selectOptions) levels() ([]contam.Level, error) {
	action := map[contam.Level]string{contam.Query: "drop", contam.NGram: "drop", contam.Tool: "report", contam.Calls: "drop"}
	for _, term := range o.contaminated {
		name, what, byLevel := strings.Cut(term, "=")
		if !byLevel {
			name, what = "", term
		}
		if what != "drop" && what != "report" {
			return nil, usagef("--contaminated %s: want drop or report", term)
		}
		if byLevel && action[contam.Level(name)] == "" {
			return nil, usagef("--contaminated %s: want query, ngram, tool or calls", term)
		}
		for l := range action {
			if !byLevel || string(l) == name {
				action[l] = what
			}
		}
	}
	var drop []contam.Level
	for _, l := range contam.Levels() {
		if action[l] == "drop" {
			drop = append(drop, l)
		}
	}
	return drop, nil
}

func (o *selectOptions) selection(ctx context.Context, std stdio, workers int) (train.Selection, error) {
	s := train.Selection{
		Sources: o.sources, Shapes: o.shapes, Strict: o.strict, Language: o.language,
		Dedup: train.Dedup(o.dedup), Threshold: o.threshold, Workers: workers,
	}
	if o.threshold == 0 {
		return s, usagef("--near 0: want more than 0 and at most 1")
	}
	for _, r := range []struct {
		flag, text string
		to         *train.Range
	}{{"calls", o.calls, &s.Calls}, {"tools", o.tools, &s.Tools}} {
		var err error
		if *r.to, err = parseRange(r.text); err != nil {
			return s, usagef("--%s %v", r.flag, err)
		}
	}
	var err error
	if s.Contaminated, err = o.levels(); err != nil {
		return s, err
	}
	if err := s.Check(); err != nil {
		return s, usagef("train shard: %v", err)
	}
	if len(o.against) == 0 {
		return s, nil
	}
	s.Against = contam.New()
	for rec, err := range strictRecords(ctx, o.against) {
		if err != nil {
			return s, inputError(fmt.Errorf("--against: %w", err))
		}
		s.Against.Add(rec)
	}
	fmt.Fprintf(std.err, "against: %d items of %s\n", s.Against.Len(), printable(strings.Join(s.Against.Benchmarks(), ", ")))
	return s, nil
}

// parseRange reads N, N- or N-M; "" is any number.
func parseRange(text string) (train.Range, error) {
	if text == "" {
		return train.Range{}, nil
	}
	low, high, open := strings.Cut(text, "-")
	bad := fmt.Errorf("%q: want N, N- or N-M", text)
	n, err := strconv.Atoi(low)
	if err != nil || n < 0 {
		return train.Range{}, bad
	}
	if !open {
		if n == 0 {
			return train.Range{}, fmt.Errorf("%q: a range of none cannot be asked for; take the shape no-call", text)
		}
		return train.Range{Min: n, Max: n}, nil
	}
	if high == "" {
		return train.Range{Min: n}, nil
	}
	m, err := strconv.Atoi(high)
	if err != nil || m < max(n, 1) {
		return train.Range{}, bad
	}
	return train.Range{Min: n, Max: m}, nil
}
