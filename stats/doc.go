// Package stats holds the statistics of the project: summaries of few runs,
// bootstrap intervals over instances, paired tests and corrections for families
// of them, variance split over seeds, repeats and items, power and planning, and
// rank correlations. Numbers go in and numbers come out; what they measure, and in which unit, is the caller's
// business.
//
// Everything is a pure function of its arguments. Random numbers come from
// seeds that the caller gives, and no result depends on the number of
// processors. What cannot be computed is NaN, and what should not be trusted
// comes with warnings beside the value, because a small sample makes a wide
// interval and not an error.
//
// The paper reports mean ± sample standard deviation over three runs
// (UniToolCall, Appendix C.1): [Summarize]. It says nothing of intervals; the
// ones here are named by method and level.
package stats
