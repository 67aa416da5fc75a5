// Package apigen converts the training corpus APIGen, also called xLAM-60k.
//
// A file is one JSON array, JSON lines, or Parquet with the same columns. An
// element is
//
//	{"id": 7, "query": "What do lots 1 and 2 cost?",
//	 "answers": "[{\"name\": \"price\", \"arguments\": {\"lot\": 1}}, {\"name\": \"price\", \"arguments\": {\"lot\": 2}}]",
//	 "tools": "[{\"name\": \"price\", \"description\": \"Price of a lot.\",
//	   \"parameters\": {\"lot\": {\"type\": \"int\", \"description\": \"Number.\"}, \"hall\": {\"type\": \"str, optional\", \"description\": \"Hall.\", \"default\": \"A\"}}}]"}
//
// where answers and tools are JSON in strings; mirrors have them as lists too,
// tools in OpenAI's wrapper, and further columns, of which origin is kept in
// Meta. The answers are the calls of one step: they are parallel. There are no
// observations and no answer in words.
//
// Parameters are a flat map with types in the way of Python. One is optional if
// its type says so or if it has a default, even an empty one; all others are
// required, also where none is marked as optional. The name of a tool is kept
// as it is, with dots, slashes and blanks.
//
// An element whose answers are an empty list is no_call.
package apigen
