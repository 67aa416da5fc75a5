// Package e2e holds the end-to-end tests: the assay binary against a real
// Ollama server and two real servers on llama.cpp, with the model of package
// tinygguf, whose every answer is known beforehand.
//
// "make e2e" runs them by run.sh, which builds and starts what they need. They
// carry the build tag e2e, so that "go test ./..." needs no server.
package e2e
