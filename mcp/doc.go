// Package mcp lists and calls the tools of Model Context Protocol servers: of
// commands that speak it over standard input and output, and of servers behind
// streamable HTTP.
//
// # Schemas
//
// The protocol's Go library passes schemas through maps, which lose the order
// of their members. A pool of tools must not: the order of parameters is what
// a model sees. So this package reads the raw messages next to the library,
// and the schemas that it returns are those of the server, in the project's
// form. It does not normalise them: dialects are package convert's business.
//
// # Trust
//
// A server is a stranger. What it sends is data, bounded in size and number and
// never executed, and it can neither hold a call beyond its time nor keep its
// process alive. A command is only ever one that the user gave, and is started
// without a shell. No error shows the value of an environment variable, of a
// header or of a query that may be a key.
package mcp
