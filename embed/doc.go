// Package embed turns texts into vectors for similarity search (UniToolCall,
// section 4.1 and appendix A.3), by a source that a word names:
//
//	lexical        words and character n-grams, no model, no download
//	ollama:MODEL   a model that Ollama serves
//	openai:MODEL   a model behind any OpenAI-compatible /v1/embeddings
//
// Vectors of a model may be kept in a cache file, so that a text is paid for
// once: see [Options.CacheFile]. The search itself is in package vector.
package embed
