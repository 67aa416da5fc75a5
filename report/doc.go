// Package report turns scores into tables for people and for programs: the
// text of one scoring, the layouts of the paper's Tables 1, 6 and 7, summaries
// of repeated runs, and rankings of models.
//
// It computes no score. Fractions become percent here and nowhere else, with
// one decimal as in the paper (UniToolCall, section 4.2 and Appendix C.1); JSON
// output keeps fractions. Coverage comes before scores, an empty cell is "n/a",
// and every number can be traced to its n.
//
// Names of models, data sets and runs are other people's text: tables escape
// them, so they can break neither a Markdown table nor a terminal. Output
// depends on the arguments alone, byte for byte.
package report
