// Package qaoa holds the one record that everything speaks: a conversation in
// Query-Action-Observation-Answer form, with its codecs, its shape and its
// validation (UniToolCall, section 3.1).
//
// A [Record] is a conversation of turns; a turn is one user query, the steps
// that answer it and the answer; the calls of one step are parallel, the steps
// are serial. (A "hop" in the paper is a call: two parallel calls are one step
// and a multi-hop turn.)
//
// Arguments, schemas and meta data are [JSON]: texts that keep key order and
// number text, because neither survives a Go map or a float64. Records are
// plain values: a package that changes one works on a copy.
//
// The package reads one element at a time. Files, containers and compression
// are the business of package convert.
package qaoa
