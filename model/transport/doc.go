// Package transport sends requests to model servers over HTTP: with a time
// limit and a size limit for each, again after failures that may pass, and
// with failures sorted into the classes of package model.
//
// It does not know what requests and answers mean, but for the few pieces of
// JSON that the protocols share. The clients are in openai and ollama.
package transport
