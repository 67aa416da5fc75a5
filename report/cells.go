package report

import (
	"assay/eval"
	"assay/stats"
)

// meanCells returns the mean over runs, column by column. A column that one
// run lacks is empty, because a mean over the others would compare unlike
// runs. n is that of the first run: the runs of a group agree on it.
func meanCells(runs []eval.Cells) eval.Cells {
	var out eval.Cells
	for _, name := range allCells {
		c := cellOf(&out, name)
		c.N = cellOf(&runs[0], name).N
		for _, m := range metrics {
			if xs := overRuns(runs, Column{Metric: m, Cell: name}); len(xs) > 0 {
				*metricOf(c, m) = known(stats.Mean(xs))
			}
		}
	}
	return out
}

// overRuns returns a column of all runs, or nil if one of them lacks it.
func overRuns(runs []eval.Cells, col Column) []float64 {
	xs := make([]float64, 0, len(runs))
	for _, r := range runs {
		v := value(r, col)
		if v == nil {
			return nil
		}
		xs = append(xs, *v)
	}
	return xs
}

// marks returns the mark of each value of a column. Values are compared as
// they are printed, so rows that look equal are marked alike. A column whose
// values all look equal has no best, and two that share the first place leave
// no second.
func marks(values []*float64) []Mark {
	out := make([]Mark, len(values))
	best, bests := largest(values, "")
	second, seconds := largest(values, best)
	if seconds == 0 {
		return out
	}
	for i, v := range values {
		switch {
		case v == nil:
		case percent(v) == best:
			out[i] = Best
		case percent(v) == second && bests == 1:
			out[i] = Second
		}
	}
	return out
}

// largest returns how the largest value that is not printed as except is
// printed, and how many are printed so.
func largest(values []*float64, except string) (printed string, n int) {
	var top *float64
	for _, v := range values {
		if v != nil && percent(v) != except && (top == nil || *v > *top) {
			top = v
		}
	}
	for _, v := range values {
		if v != nil && top != nil && percent(v) == percent(top) {
			n++
		}
	}
	if top == nil {
		return "", 0
	}
	return percent(top), n
}
