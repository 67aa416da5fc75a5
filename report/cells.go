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
