// Package ollama is a client for Ollama's own protocol (/api/chat and its
// neighbours). Unlike the server's OpenAI endpoint it can set the length of the
// context, and be told not to drop the front of a prompt that is too long,
// which is what the server does by default.
//
// In native mode the server keeps only some keywords of a schema, and numbers
// of arguments pass through a float64 in it; nothing on this side can help
// that. In prompt mode the text of the model arrives untouched.
package ollama
