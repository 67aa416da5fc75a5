// Package model asks language models. A [Chatter] answers one conversation
// with one reply; its sub-packages talk to Ollama, to OpenAI-compatible
// servers, and play models that need no server (baselines, recordings).
//
// A failure of a back end is an [Error] and never an answer; the text of a
// reply is what the model said, as received. What calls it holds is the
// business of package toolcall.
package model
