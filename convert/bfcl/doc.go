// Package bfcl converts the Berkeley Function Calling Leaderboard, version 3,
// and the files of version 4 that have the same form.
//
// A file holds one category, JSON lines named .json. A single-turn element is
//
//	{"id":"simple_7","question":[[{"role":"user","content":"Area of a 3 by 4 plot?"}]],
//	 "function":[{"name":"geo.area","description":"Area of a rectangle.","parameters":{"type":"dict",
//	   "properties":{"w":{"type":"integer"},"h":{"type":"integer"},"u":{"type":"string"}},"required":["w","h"]}}]}
//
// and its gold calls stand in possible_answer/, in the file of the same name,
// under the same id, with alternatives for every value; "" among them means
// that the parameter may be left out:
//
//	{"id":"simple_7","ground_truth":[{"geo.area":{"w":[3],"h":[4],"u":["m",""]}}]}
//
// The gold value of a record is the first alternative; all of them are in
// Meta, as alternatives, one object per call. The calls of a single-turn
// element are one step, since the benchmark takes them in any order.
//
// A multi-turn element names classes instead of functions. Their tools stand
// in multi_turn_func_doc/, a file per class, and its gold calls are Python:
//
//	{"id":"multi_turn_base_7","question":[[{"role":"user","content":"Sort b.txt"}]],"involved_classes":["GorillaFileSystem"]}
//	{"id":"multi_turn_base_7","ground_truth":[["cd(folder='a')","sort('b.txt')"]]}
//
// Turns and lists of calls pair by position; calls beyond the last turn are in
// Meta as surplus_gold. Each of these calls is a step of its own. Positional
// arguments get the names of the properties, in order.
//
// Text of the role system becomes Record.System. Not converted are irrelevance,
// live_irrelevance and live_relevance (irrelevant_type), multi_turn_miss_func,
// in which every record has an empty turn (empty_turn), and categories of other
// versions (invalid_category). Records that break the language rule are
// rejected (non_english): l1, the default, looks at the messages, the functions
// and the gold calls, l2 at the messages of the user, cjk at all again.
//
// In the profile Paper a record offers the tools that its calls name; in Strict
// it offers all.
package bfcl
