// Package jinja renders chat templates: the part of Jinja 3 that the templates
// of language models use, as Hugging Face's transformers set it up (trim_blocks,
// lstrip_blocks, loop controls, a generation tag, tojson with Python's
// separators, no escaping, an immutable sandbox).
//
// A template comes with a model, so it is foreign input. It can read nothing but
// the variables it is given: there are no includes, imports, files, clocks or
// random numbers. What it may cost is bounded by [Limits], which count steps and
// bytes and not time, so that the same input always ends the same way. A
// template that wants what is not known here fails when it is parsed or
// rendered, with the line; nothing is guessed.
//
// Values are Python's: a [*Dict] keeps the order of its keys, None is not the
// same as undefined, text is indexed by characters, and what is printed looks as
// Python prints it. gonja, the Jinja of the Go world, differs in these (its maps
// have no order, its empty dictionaries are true, undefined is none) and cannot
// be stopped in the middle of an expression.
package jinja
