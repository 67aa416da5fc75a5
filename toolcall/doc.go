// Package toolcall reads the tool calls that a model wrote as text, and writes
// calls as the text that models are shown.
//
// Models write calls in many forms. [Parse] tries them in a fixed order, its
// ladder, and says on which rung it found calls, what it had to repair, and
// whether a text without a call is an abstention, a failed attempt or nothing
// at all. A failed attempt is never counted as an abstention.
//
// The text is hostile: it is never executed, time and memory are linear in its
// length, and nothing makes the package panic. Whether a call names a tool on
// offer, and whether its arguments are right, is not decided here.
package toolcall
