// Package matchdata holds the conformance vectors of the matcher as data, for
// any implementation to be run on. It holds no logic.
package matchdata

import "embed"

// Files holds arguments.jsonl (pairs of argument objects with the verdicts
// strict, flexible and, where given, flexible_arg and the deciding rule),
// sets.jsonl (sets of calls with the five metrics as fractions; "f:1" is a call
// of f with the one argument v, in which hyphens stand for blanks, and "!" is a
// call that did not parse) and names.jsonl (tool names with their forms).
//
//go:embed *.jsonl
var Files embed.FS
