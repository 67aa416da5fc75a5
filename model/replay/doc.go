// Package replay answers from a recording: a run without a model, for tests
// and for machines without a network, and a way to keep what a model said.
//
// A recording is JSON lines, one reply each:
//
//	{"id":"acme/1","repeat":0,"turn":0,"round":0,"reply":{"text":"…","finish":"stop"}}
//
// with the place that the reply belongs to: the record, the repeat (0 if left
// out), the turn, and the request within the turn ("round", 0 if left out). A
// line with "key" instead of them answers every request whose [Key] it is. The
// reply is an object with text, reasoning, calls, finish, prompt_tokens and
// completion_tokens, or just the text; a line with "error":{"class","message"}
// instead of it fails in that way.
package replay
