package main

import (
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"assay/train"
)

// mixOptions are the flags of a mixture.
type mixOptions struct {
	scheme                    string
	total                     int
	sourceShares, shapeShares map[string]string
	sourceCounts, shapeCounts map[string]int
	maxRepeat                 float64
}

func (o *mixOptions) bind(flags *pflag.FlagSet) {
	flags.StringVar(&o.scheme, "mix", "", "public-mixed: from each source in proportion to its size, as the paper's script does")
	flags.IntVar(&o.total, "total", 0, "rows to draw in all; 0 is as many as can be (979 with --mix public-mixed)")
	flags.StringToStringVar(&o.sourceShares, "source-share", nil, "share of each source, as in bfcl=2,apigen=1,*=1; * is all others")
	flags.StringToIntVar(&o.sourceCounts, "source-count", nil, "rows of each source, as in bfcl=500")
	flags.StringToStringVar(&o.shapeShares, "shape-share", nil, "share of each shape, as in multi-hop=1,*=3; names as in --shape")
	flags.StringToIntVar(&o.shapeCounts, "shape-count", nil, "rows of each shape")
	flags.Float64Var(&o.maxRepeat, "max-repeat", 1, "how often a record may be drawn on average, where there are too few")
}

func (o *mixOptions) mixture(seed uint64) (train.Mixture, error) {
	m := train.Mixture{
		Scheme: train.Scheme(o.scheme), Total: o.total, SourceCounts: o.sourceCounts, ShapeCounts: o.shapeCounts,
		MaxRepeat: o.maxRepeat, Seed: seed,
	}
	var err error
	if m.SourceShares, err = parseShares("source-share", o.sourceShares); err != nil {
		return m, err
	}
	if m.ShapeShares, err = parseShares("shape-share", o.shapeShares); err != nil {
		return m, err
	}
	if o.maxRepeat == 0 {
		return m, usagef("--max-repeat 0: want 1 to 1000")
	}
	if err := m.Check(); err != nil {
		return m, usagef("train shard: %v", err)
	}
	return m, nil
}

func parseShares(flag string, texts map[string]string) (map[string]float64, error) {
	out := map[string]float64{}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		share, err := strconv.ParseFloat(texts[name], 64)
		if err != nil {
			return nil, usagef("--%s %s=%s: want a number", flag, name, texts[name])
		}
		out[name] = share
	}
	return out, nil
}
