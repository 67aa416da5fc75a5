// Package toolalpaca converts the evaluation files of ToolAlpaca, and its
// training file as another source.
//
// An evaluation file is a JSON array. An element is an API with its instructions, so it
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
// The training file, train_data.json, is another source. An element has
// Instances instead of instructions and answers, dialogues in which a model
// played the assistant, and makes an outcome for each:
//
//	{"Name":"Bees","Function_Description":{"getHive":"…"},"Instances":[
//	  {"input":"Find hive 4","output":"It is full.","Final Thought":"I know it.","intermediate_steps":[
//	    [["getHive","{\"id\": 4}","I need the hive.\nAction: getHive\nAction Input: …"],"Status Code: 200. Response: full"]]}]}
//
// Each of the steps is a step with one call, and output the answer. Thoughts
// are in Meta as reasoning. Where the input of an action is no JSON, Paper takes
// {} and marks it in Meta as decoded; Strict reads Python as well, and rejects
// the rest (bad_args_json). Strict also cuts a hint off the query ("\nHint: …")
// into Meta. An instance with an error instead of a dialogue is rejected. An
// element may also be one instance with the members of its API beside it.
package toolalpaca
