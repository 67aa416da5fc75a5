// Package parity compares what a model was trained on with what it is asked
// with. A model that is served another text than the one it learnt scores less
// than it could, and no error tells of it: a blank in a schema, tools in another
// wrapper, observations that the training rows had emptied.
//
// [Check] leads each record through the requests of a run, with a model that
// says what its training row says, and takes of each request the prompt that
// the server makes of it. The training text is the row that package train would
// write, rendered by the chat template of the trainer. Every prompt has to be
// the beginning of that text, up to where the model's own message begins.
//
// How much that proves depends on what the server tells, see [Method].
package parity
