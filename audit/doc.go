// Package audit tests published tables of scores for numbers that cannot all
// be right: bounds, orders of metrics, fractions that no count gives, printed
// gains, sums and averages, columns that are copies of others, mean ± SD
// against a single run, rank correlations, one thing under two names. It never
// sees the runs behind a table, so it finds contradictions and does not settle
// them.
//
// Tables come in as CSV or JSON ([ReadCSV], [ReadJSON]), rules as lines of text
// ([ParseRules]). Rules without facts to check are about any table; those that
// name rows, sizes or other tables say what the source claims.
package audit
