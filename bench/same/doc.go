// Command same tells whether two interchange files hold the same
// conversations. It is the check that stands behind a comparison of speed: two
// converters may be compared only if they did the same work.
//
//	same PEER OURS
//
// PEER is what a converter of the benchmark wrote, OURS what assay wrote, both
// JSON lines. They differ in layout (the peer has the id at the top, we have it
// in properties; either place is read in both files), so they are compared
// element by element, by meaning:
//
//   - the id, without the name of the corpus before it;
//   - the messages: same number, same roles, same texts, where
//     <answer></answer> is the empty answer, and calls are compared as JSON
//     values;
//   - the tools: same number, name, description, and of every parameter name,
//     type, description and default;
//   - which parameters are required. The rule of the two differs in one case: a
//     parameter that has a default and no word "optional" in its type is
//     required for the peer and optional for us. Such parameters are counted
//     and are no difference.
//
// What only we write (steps, labels of shape, further members of a schema) is
// not compared. Numbers are equal if their text is, or, where one of them has a
// point or an exponent, their value as float64.
//
// The exit code is 0 if the files mean the same, 1 if they do not, and 2 if
// they cannot be compared.
//
// It reads with the standard library and imports nothing of assay, so that a
// fault of ours cannot hide itself.
package main
