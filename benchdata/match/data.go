// Package matchdata holds the conformance vectors of the matcher as data, for
// any implementation to be run on. It holds no logic.
package matchdata

import "embed"

// Files holds arguments.jsonl (pairs of argument objects with the verdicts
// strict, flexible and, where given, flexible_arg and the deciding rule),
// sets.jsonl (sets of calls with the five metrics as fractions; "f:1" is a call
// of f with the one argument v, in which hyphens stand for blanks, and "!" is a
// call that did not parse), names.jsonl (tool names with their forms) and a file
// per preset of another benchmark. A line of the latter has gold and pred, each
// the arguments of one call of f or a list of [name, arguments]; schema, the
// type of each parameter of f, [type, type of the items] for a list; perhaps
// required, alternatives and category as a record's meta has them, and fix, a
// fault that is repaired; and want, the FPA of the instance, with FP, SPA and
// the rule and path that decide about the first gold call where they are given.
//
//go:embed *.jsonl
var Files embed.FS
