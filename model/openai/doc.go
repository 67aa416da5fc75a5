// Package openai is a client for servers that speak OpenAI's chat completions:
// vLLM, llama.cpp, SGLang, LM Studio, Ollama's /v1, and hosted ones.
//
// It does not stream, since a reply is parsed as a whole, and since partial
// tool calls are where servers err most. Request bodies are written byte by
// byte: schemas reach the server as the record holds them, and equal requests
// are equal bytes. It offers no way to set the context length: the server does.
package openai
