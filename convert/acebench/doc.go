// Package acebench converts ACEBench.
//
// A file holds one category of one language, JSON lines named .json. An
// element is
//
//	{"id":"normal_single_turn_parallel_function_3","question":"user: Book a desk and two lamps.\n","time":"",
//	 "function":[{"name":"desk_book","description":"Books a desk.","parameters":{"type":"object","properties":{}}}]}
//
// and its gold calls stand in possible_answer/, in the file of the same name,
// under the same id. Their order is that of the keys, and a tool that is called
// more than once has _1, _2 … behind its name:
//
//	{"id":"normal_single_turn_parallel_function_3","ground_truth":{"desk_book":{},"lamp_1":{"n":1},"lamp_2":{"n":2}}}
//
// Some files have the parameters of a tool under arguments. The calls of a
// record are one step.
//
// The paper's 250 conversions are the three files of the role Records: the two
// single-turn ones and special_incomplete, whose gold is not a call but the
// list of the parameters that the user forgot:
//
//	{"id":"special_incomplete_3","ground_truth":{"lamp":["n"]}}
//
// Profile Paper keeps that list as the arguments of the call, and Strict
// rejects it (arguments_not_object). The other normal files can be named. A
// question with more than one speaker is split into turns at the lines that
// begin with "user:" or "system:": system lines are the answer of their turn,
// and only the last turn has calls. Where there is one speaker, Paper keeps the
// question as it is, prefix and line break included; Strict trims it.
//
// Not converted are agent_multi_turn (needs_user_turns), special_irrelevant
// (irrelevant_type), special_error_param and agent_multi_step
// (invalid_category: what they ask for is no call, or a state), and the Chinese
// half (non_english) unless the language rule is off. The rules l1, l2 and cjk
// look at the question only; without one a question is foreign if it lies in
// data_zh or most of its letters are Chinese. The ids of data_zh, which are
// those of data_en, get the prefix zh_.
package acebench
