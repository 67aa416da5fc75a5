// Package vikhr converts the training corpus Vikhr tool-plannings-v0.2.
//
// A file is a Parquet shard <config>/<split>-*, or a dump as JSON. An element is
//
//	{"id": 7, "tools": "[{\"type\": \"function\", \"function\": {\"name\": \"price\", …}}]",
//	 "conversation": "[{\"role\": \"user\", \"content\": \"What does lot 1 cost?\"},
//	   {\"role\": \"assistant\", \"tool_plan\": \"Look it up.\", \"tool_calls\": [{\"function\": {\"name\": \"price\", \"arguments\": \"{\\\"lot\\\": 1}\"}}]},
//	   {\"role\": \"tool\", \"content\": \"12\"}, {\"role\": \"assistant\", \"content\": \"It costs 12.\"}]"}
//
// where conversation may be called conversations or messages, and both may be
// lists. A call is {"name","arguments"}, or that in a member function;
// arguments are an object or a text that holds one. The plan is reasoning, and
// kept in Meta. A call that failed and its correction are two steps.
//
// The number of a row is not unique: it is kept in Meta, and records are named
// by their place. English and Russian are kept; the option language removes
// Russian (l1). A conversation without a call, which all of the configurations
// rejected_by_… are, is no_call.
package vikhr
