// Package filter holds the rules that decide which records are kept
// (UniToolCall, appendices A.3, A.4 and B.1): the test for temporal words, for
// schemas without parameters, for languages, and the filter that applies them
// to the tools that a conversation calls. The rules that the paper applies to
// training corpora only (direct answers, order of messages, empty arguments,
// all tools on offer) are options that are off, and on in [Training].
//
// It decides and gives a reason; it changes no record.
package filter
