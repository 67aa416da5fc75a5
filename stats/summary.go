package stats

import (
	"fmt"
	"math"
)

// A Summary describes a sample, such as one metric over repeated runs: the
// paper's mean ± sample SD, and how little a few runs say.
type Summary struct {
	N      int
	Mean   float64 // NaN if N is 0
	SD     float64 // sample SD; NaN if N < 2
	StdErr float64 // of the mean; NaN if N < 2
	// CI is the t interval of the mean, and HalfWidth half its width.
	CI        Interval
	HalfWidth float64
	// SDRange is the chi-square interval of the SD.
	SDRange  Interval
	Warnings []string // what to know before the numbers are believed
}

// fewRuns is the sample size below which a summary warns. At five runs the t
// interval is 1.24·SD and the SD is known to a factor of 2.9; there is no
// sharp border, so this is a convention.
const fewRuns = 5

// Summarize returns the summary of xs at a level in (0,1); it panics at
// others. A value that is not finite makes every number NaN, with a warning.
func Summarize(xs []float64, level float64) Summary {
	s := Summary{
		N:       len(xs),
		Mean:    Mean(xs),
		SD:      SD(xs),
		StdErr:  StdErr(xs),
		CI:      TInterval(xs, level),
		SDRange: SDInterval(xs, level),
	}
	s.HalfWidth = TFactor(len(xs), level) * s.SD
	switch {
	case len(xs) == 0:
		s.Warnings = append(s.Warnings, "no value: nothing to summarise")
	case !finite(xs):
		s.Warnings = append(s.Warnings, "a value is not a finite number: no summary")
	case len(xs) == 1:
		s.Warnings = append(s.Warnings, "one value: no SD and no interval; repeat with other seeds")
	case s.SD == 0:
		s.Warnings = append(s.Warnings, fmt.Sprintf(
			"all %d values are equal: an SD of 0 shows no spread, it does not prove that there is none", len(xs)))
	case len(xs) < fewRuns:
		low, high := SDFactors(len(xs), level)
		s.Warnings = append(s.Warnings, fmt.Sprintf(
			"%d values: the %s interval is mean ± %.2f·SD, and the SD itself is known only to %.2f–%.2f times its value",
			len(xs), percentLevel(level), TFactor(len(xs), level), low, high))
	}
	return s
}

// percentLevel words a level: "95 %".
func percentLevel(level float64) string {
	return fmt.Sprintf("%g %%", math.Round(level*1e6)/1e4)
}
