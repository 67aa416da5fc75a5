// Package modeltest is a model server for tests. It speaks the protocols of
// OpenAI and of Ollama over real HTTP on loopback, answers by a script, and
// breaks on demand: delays, error statuses, cut connections, answers that are
// not JSON, huge answers, slow bodies.
//
// It is no model, and no part of the program: only tests import it.
package modeltest
