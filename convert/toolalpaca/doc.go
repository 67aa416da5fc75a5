// Package toolalpaca converts the evaluation files of ToolAlpaca.
//
// A file is a JSON array. An element is an API with its instructions, so it
// makes an outcome for each of them:
//
//	{"Name":"Bees","Instructions":["Find hive 4"],
//	 "Golden_Answers":[[{"Action":"getHive","Action_Input":"{\"id\": 4}"}]],
//	 "Function_Description":{"getHive":"Read one hive\nParameters: {\"id\": \"Required. integer. Hive number.\"}\nOutput: …",
//	   "components":"…"}}
//
// Action_Input is a string that holds JSON. Where a value depends on an earlier
// call, some answers have a reference without quotes, as in
// {"id": ${id from searchHives}}: if the text is no JSON, each reference is
// replaced by [convert.Unresolved] and the text read again; what is no JSON
// even then is rejected (bad_args_json). The references stand in Meta as
// unresolved; profile Strict rejects them (unresolved_placeholder).
//
// The actions of an answer follow each other, each a step of its own. An action
// may name a function that does not exist, such as getDetails, which asks the
// user: Paper keeps the call and offers no tool for it, Strict rejects it
// (unknown_tool).
//
// A function is described by a text. Its first line is the description of the
// tool, and Parameters a map whose values begin with "Required." where they are
// and with the type; the whole value is the description of the parameter.
// Paper offers the functions that the answer names, Strict all.
//
// The training file has Instances instead of Golden_Answers, and belongs to
// another source.
package toolalpaca
