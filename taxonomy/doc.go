// Package taxonomy sorts tools into 6 functional categories and 13 domains of
// application (UniToolCall, section 3.1 and appendix A.2).
//
// Two classifiers do it. [Lexical] needs no model and says the same on every
// machine; it was made from definitions and tools written for this package, and
// its accuracy is what [Lexical.LeaveOneOut] and the package's tests say, no
// more. [Asker] asks a language model and takes no answer that is not of the
// taxonomy. [Agree] compares the labels of two of them, or those of one with
// labels that the tools came with.
package taxonomy
