// Package pylit reads Python literals and Python call expressions, the form in
// which some corpora write gold calls and in which models write arguments. It
// also reads the heads of functions, which name positional arguments.
//
// It is a reader of data, not an interpreter: nothing is evaluated, names other
// than the constants are errors, and so are operators, prefixes (r, b, u, f),
// sets, comprehensions, complex numbers and strings over several lines. Its
// input may be hostile: time is linear in the length of the text, nesting is
// bounded by [MaxDepth], and no input makes it panic.
package pylit
