// Package vector searches dense vectors exactly: for every query the rows of a
// matrix with the largest inner products, which are cosines once both sides
// are normalised. There is no approximate index behind it; a pool of a few ten
// thousand tools is searched in milliseconds.
//
// # What is promised
//
// The score of two rows is [Dot]: the sum of their products in float64, in one
// fixed order, rounded once to float32. Products of float32 numbers are exact
// in float64, so a fused multiply-add changes nothing, and the score is the
// same number on every machine. Hits are ordered by score, the largest first,
// and equal scores by row. Results therefore do not depend on the processor,
// the number of workers, or the size of batches.
//
// Most products are computed in float32, by whatever kernel is fastest here,
// and only to rule rows out. A sum of n products of float32 numbers, in
// whatever order it is taken, is off by at most about
//
//	n · 2^-24 · |x| · |y|
//
// (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1, and the
// inequality of Cauchy and Schwarz). Rows that could reach the k best within
// twice this bound are kept, and their scores computed as above. So the result
// is that of the plain loop over all pairs, not nearly that.
//
// All scores are finite: a value that is NaN or infinite, or a row so long that
// squares overflow float32, is an error that names the row.
package vector
