// Package toolset holds pools of tools and builds the candidate lists that a
// model chooses from: the tools of the gold calls alone (GT), or these among
// hard and easy distractors of a pool (Hybrid-k; UniToolCall, section 4.1).
//
// [Assemble] makes a pool of whatever holds tools, by the stages of appendix
// A.3 (schema normalisation, exact and semantic deduplication, tests for
// temporal words and for missing parameters), with a reason for every tool that
// is lost. [Describe] counts and checks one, [Pool.Search] searches it.
//
// A list is a function of the record, the pool, the options and the seed.
// Neither the order of the records nor the number of workers changes a byte.
// Texts are compared by words and n-grams, or by the vectors of an [Embedder];
// every search is exact.
package toolset
