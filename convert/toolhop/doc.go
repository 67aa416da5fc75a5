// Package toolhop converts ToolHop, questions that take three to seven hops.
//
// The file is a JSON array. An element is
//
//	{"id":7,"question":"Where was the painter of X born?","answer":"Rome","domain":"Art","answer_type":"string",
//	 "sub_task":{"Who painted X?":"Ann","Where was Ann born?":"Rome"},
//	 "tools":{"Who painted X?":{"name":"painter_of","description":"…","parameters":{"type":"object",…}},"Where was Ann born?":{…}},
//	 "functions":["def painter_of(work, lang='en'):\n    …\n\n# Example usage\nprint(painter_of('X'))\n", "def born_in(…): …"]}
//
// The hops of a record are in the order of functions, which is that of the
// members of sub_task and tools too, unless a program has sorted them: then a
// function and its tool are brought together by name. Where that leaves two
// ways, the first is taken and Meta has guessed.
//
// There are no calls in the data. Each hop is a step with one call: its tool,
// with the arguments of the first call of the function in its own source, which
// most examples of usage are. Sources are read as text and never run. Arguments
// by position take the names of the parameters; defaults are not filled in. The
// observation is the answer to the question of the hop. A record with a hop
// without such a call is rejected (no_call).
//
// A copy of some records has gold_calls, one call as text for each function, or
// none at all; these are taken where they can be read. There, source_id is what
// id is elsewhere.
package toolhop
