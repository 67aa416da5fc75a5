// Package convert turns raw corpora and benchmarks into QAOA records
// (UniToolCall, appendix A). Each source is a folder below this one; package
// convert/all lists them.
//
// Every raw instance ends as a record or as a [Reject] with a code, so that
// converted + rejected = read in every [Summary].
package convert
