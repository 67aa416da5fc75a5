// Package toolset holds pools of tools and builds the candidate lists that a
// model chooses from: the tools of the gold calls alone (GT), or these among
// hard and easy distractors of a pool (Hybrid-k; UniToolCall, section 4.1).
//
// A list is a function of the record, the pool, the options and the seed.
// Neither the order of the records nor the number of workers changes a byte.
package toolset
