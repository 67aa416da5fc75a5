// Package tinygguf writes a language model of under a megabyte that says what it
// is told to, as a GGUF file that Ollama and llama.cpp serve like any other.
// The end-to-end tests need a real server whose answers are known beforehand;
// a downloaded model has neither.
//
// It is a Llama of one layer in which every attention and feed-forward weight
// is zero, so the residual stream carries the embedding of the current token
// to the output unchanged: the next token depends on the current one alone.
// The embedding of a scripted token is a row of a Walsh-Hadamard matrix, whose
// rows are orthogonal, and the output row of a token is the scaled sum of the
// embeddings of those it follows. The logit of a successor is then exactly
// what the script says, and every other logit exactly 0.
//
// It is test equipment and no part of the product.
package tinygguf
